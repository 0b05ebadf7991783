"""imitation: behavioural cloning from an .npz that jaxlab wrote (jaxlab itself is not needed here)."""

import sys
from importlib.metadata import version

import gymnasium
import numpy as np
from imitation.algorithms import bc
from imitation.data import rollout, types

if __name__ == "__main__":
    data = np.load(sys.argv[1])
    first = np.flatnonzero(data["episode_starts"])
    trajectories = [
        types.Trajectory(data["obs"][low:high], data["actions"][low : high - 1], infos=None, terminal=True)
        for low, high in zip(first, [*first[1:], len(data["obs"])], strict=True)
    ]
    transitions = rollout.flatten_trajectories(trajectories)
    seen = transitions.obs
    trainer = bc.BC(
        observation_space=gymnasium.spaces.Box(-1, 100, seen.shape[1:], np.float32),
        action_space=gymnasium.spaces.Discrete(4),
        demonstrations=transitions,
        rng=np.random.default_rng(0),
        device="cpu",
    )

    def accuracy():
        return (trainer.policy.predict(seen, deterministic=True)[0] == transitions.acts).mean()

    before = accuracy()
    trainer.train(n_epochs=200, progress_bar=False, log_interval=10**9)
    after = accuracy()
    assert after > before + 0.1, (before, after)
    print(
        f"imitation {version('imitation')} (gymnasium {version('gymnasium')}): BC on {len(trajectories)} episodes, "
        f"accuracy {before:.2f} before and {after:.2f} after 200 epochs"
    )
