"""Stable-Baselines3: PPO for 5,000 steps on the Gymnasium environment."""

from importlib.metadata import version

import gymnasium
from stable_baselines3 import PPO

import jaxlab

if __name__ == "__main__":
    env = gymnasium.make("Labyrinth-v0", shape=(3, 3), max_steps=60, mazes=jaxlab.splits.load("3x3-v1")["train"])
    model = PPO("MlpPolicy", env, n_steps=256, batch_size=64, seed=0, device="cpu").learn(5000)
    print(f"stable-baselines3 {version('stable-baselines3')}: PPO trained {model.num_timesteps} steps")
