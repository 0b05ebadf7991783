"""IL-Datasets: BaselineDataset opens what jaxlab wrote, as .npz and as a Hugging Face folder."""

import sys
from importlib.metadata import version

import numpy as np
from imitation_datasets.dataset import BaselineDataset

if __name__ == "__main__":
    npz, folder = sys.argv[1:]
    data = np.load(npz)
    episodes = int(data["episode_starts"].sum())
    lengths = np.diff([*np.flatnonzero(data["episode_starts"]), len(data["obs"])]) - 1
    train = BaselineDataset(npz, n_episodes=20, split="train")
    rest = BaselineDataset(npz, n_episodes=20, split="eval")
    assert len(train) == lengths[:20].sum() and len(rest) == lengths[20:].sum()
    assert train.average_reward == data["episode_returns"].mean()
    assert set(train.actions.numpy().ravel()) <= {0, 1, 2, 3}
    whole = BaselineDataset(folder, source="huggingface", hf_split="train")
    state, action, next_state, done = whole[0]
    assert state.shape == next_state.shape and state.shape[0] == 3 and int(action[0]) in range(4) and not bool(done)
    print(
        f"il-datasets {version('il-datasets')} (datasets {version('datasets')}): {episodes} episodes, 20 of them are "
        f"{len(train)} pairs and the rest {len(rest)}; {len(whole)} pairs of {tuple(state.shape)} from the folder"
    )
