"""The peer's side of `benchmarks.gail_speed`: GAIL of the library ``imitation``, in its own interpreter.

    python benchmarks/gail_peer.py WORLD.npz CHOICES.json

imports nothing of this project. WORLD.npz holds where every action leads, what every state looks like and the
demonstrations; the environment is a Stable-Baselines3 ``VecEnv`` of one walker a maze that gathers from these
tables in numpy, all walkers at once: faster than Gymnasium environments in a loop. Prints one line of JSON.
"""

from __future__ import annotations

import itertools
import json
import platform
import sys
import time
from importlib import metadata
from typing import Any

import gymnasium
import numpy as np
import torch
from imitation.algorithms.adversarial.gail import GAIL
from imitation.data.types import Transitions
from imitation.rewards.reward_nets import BasicRewardNet
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecEnv


class Mazes(VecEnv):
    """One walker in each maze; an episode ends at the goal or is cut after ``limit`` moves. It pays nothing."""

    def __init__(self, world: dict[str, np.ndarray], limit: int) -> None:
        self.following, self.reached, self.seen = world["following"], world["reached"], world["seen"]
        self.start, self.limit = world["start"], limit
        space = gymnasium.spaces.Box(0, 1, self.seen.shape[1:], np.float32)
        super().__init__(len(self.start), space, gymnasium.spaces.Discrete(4))

    def reset(self) -> np.ndarray:
        """Every walker at its start."""
        self.at, self.t = self.start.copy(), np.zeros(self.num_envs, int)
        return self.seen[self.at]

    def step_async(self, actions: np.ndarray) -> None:
        """Note what to do."""
        self.actions = actions

    def step_wait(self) -> Any:
        """Do it; a walker whose episode is over begins again."""
        reached = self.reached[self.at, self.actions]
        after = self.following[self.at, self.actions]
        self.t += 1
        over = reached | (self.t >= self.limit)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(over):
            infos[i] = {"terminal_observation": self.seen[after[i]], "TimeLimit.truncated": not reached[i]}
        self.at, self.t = np.where(over, self.start, after), np.where(over, 0, self.t)
        return self.seen[self.at], np.zeros(self.num_envs, np.float32), over, infos

    def close(self) -> None:
        """Nothing to close."""

    def get_attr(self, name: str, indices: Any = None) -> list[Any]:
        """The same of every walker."""
        return [getattr(self, name, None)] * self.num_envs

    def set_attr(self, name: str, value: Any, indices: Any = None) -> None:
        """Refused."""
        raise AttributeError(name)

    def env_method(self, name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Refused."""
        raise AttributeError(name)

    def env_is_wrapped(self, wrapper: Any, indices: Any = None) -> list[bool]:
        """It is not."""
        return [False] * self.num_envs


def trainer(world: dict[str, np.ndarray], choices: dict[str, Any]) -> GAIL:
    """The library's trainer with these choices."""
    mazes = Mazes(world, choices["limit"])
    state, after = world["shown_state"], world["shown_following"]
    demonstrations = Transitions(
        obs=mazes.seen[state],
        acts=world["shown_action"].astype(int),
        infos=np.array([{}] * len(state)),
        next_obs=mazes.seen[after],
        dones=world["shown_done"],
    )
    ppo = PPO(
        "MlpPolicy",
        mazes,
        n_steps=choices["steps"],
        batch_size=mazes.num_envs * choices["steps"] // choices["minibatches"],
        n_epochs=choices["passes"],
        learning_rate=choices["learning_rate"],
        gamma=choices["gamma"],
        gae_lambda=choices["trace"],
        clip_range=choices["clip"],
        ent_coef=choices["entropy_weight"],
        vf_coef=choices["value_weight"],
        max_grad_norm=choices["clip_gradient"],
        policy_kwargs={
            "net_arch": {"pi": choices["hidden"], "vf": choices["hidden"]},
            "activation_fn": torch.nn.LeakyReLU,
        },
        device="cpu",
        seed=0,
    )
    judge = BasicRewardNet(mazes.observation_space, mazes.action_space, hid_sizes=choices["judge_hidden"])
    return GAIL(
        demonstrations=demonstrations,
        demo_batch_size=choices["judge_batch"],
        venv=mazes,
        gen_algo=ppo,
        reward_net=judge,
        n_disc_updates_per_round=choices["judge_passes"] * choices["minibatches"],
        disc_opt_kwargs={"lr": choices["judge_rate"]},
        allow_variable_horizon=True,
    )


def main() -> None:
    with open(sys.argv[2], encoding="utf-8") as file:
        choices = json.load(file)
    torch.set_num_threads(choices["threads"])
    with np.load(sys.argv[1]) as arrays:
        gail = trainer(dict(arrays), choices)
    ends: list[tuple[float, float]] = []  # of every round; what the first took is not counted
    round_steps = gail.venv.num_envs * choices["steps"]
    gail.train(
        (choices["rounds"] + 1) * round_steps,
        callback=lambda _: ends.append((time.perf_counter(), time.process_time())),
    )
    parameters = {
        "policy": sum(p.numel() for p in gail.gen_algo.policy.parameters()),
        "judge": sum(p.numel() for p in gail._reward_net.parameters()),
    }
    packages = ("imitation", "stable-baselines3", "gymnasium", "torch", "numpy")
    print(
        json.dumps(
            {
                "round_steps": round_steps,
                "seconds": [b[0] - a[0] for a, b in itertools.pairwise(ends)],
                "cpu_seconds": [b[1] - a[1] for a, b in itertools.pairwise(ends)],
                "parameters": parameters,
                "versions": {"python": platform.python_version()} | {name: metadata.version(name) for name in packages},
            }
        )
    )


if __name__ == "__main__":
    main()
