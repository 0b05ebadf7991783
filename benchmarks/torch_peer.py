"""The peer in PyTorch: the paper's networks, trained eagerly as a user would write it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

FORMATS = ("contiguous", "channels_last")
"""How PyTorch lays out pictures in memory; which is faster depends on the network and the machine."""


def cnn() -> Any:
    """Table 3a."""
    from torch import nn

    return nn.Sequential(
        *(nn.Conv2d(3, 32, 8, 4), nn.LeakyReLU()),
        *(nn.Conv2d(32, 64, 4, 2), nn.BatchNorm2d(64), nn.LeakyReLU()),
        *(nn.Conv2d(64, 64, 3, 1), nn.BatchNorm2d(64), nn.LeakyReLU(), nn.Flatten()),
        *_head(1024),
    )


def resnet18() -> Any:
    """ResNet-18 with the paper's head."""
    from torch import nn

    class Block(nn.Module):
        def __init__(self, inputs: int, outputs: int, stride: int) -> None:
            super().__init__()
            self.body = nn.Sequential(
                *(nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()),
                *(nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs)),
            )
            self.shortcut = nn.Sequential()
            if stride != 1 or inputs != outputs:
                self.shortcut.extend([nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)])

        def forward(self, x: Any) -> Any:
            return nn.functional.relu(self.body(x) + self.shortcut(x))

    stem = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)
    widths = ((64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2))
    blocks = [Block(*width) for width in (*widths, (512, 512, 1))]
    return nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), *_head(512))


def _head(inputs: int) -> tuple[Any, ...]:
    from torch import nn

    return (
        *(nn.Linear(inputs, 512), nn.LeakyReLU(), nn.Dropout(0.3)),
        *(nn.Linear(512, 512), nn.LeakyReLU(), nn.Dropout(0.3), nn.Linear(512, 4)),
    )


NETWORKS = {"cnn": cnn, "resnet18": resnet18}


def epochs(
    encoder: str, pictures: np.ndarray, actions: np.ndarray, batch: int, count: int, threads: int, layout: str
) -> Callable[[int], None]:
    """A function of the run's number that trains for some epochs.

    Args:
        encoder: of `NETWORKS`.
        pictures: ``uint8[n, H, W, 3]``.
        actions: ``int[n]``.
        batch: examples an update.
        count: epochs.
        threads: of PyTorch.
        layout: of `FORMATS`.
    """
    import torch
    from torch import nn

    torch.set_num_threads(threads)
    form = {"contiguous": torch.contiguous_format, "channels_last": torch.channels_last}[layout]
    images = torch.from_numpy(pictures).permute(0, 3, 1, 2).contiguous(memory_format=form)
    wanted = torch.from_numpy(actions).long()
    net = NETWORKS[encoder]().to(memory_format=form)
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-4)

    def run(number: int) -> None:
        torch.manual_seed(number)
        for _ in range(count):
            order = torch.randperm(len(images))
            # As ours: batches of one size, the last filled from the beginning.
            for rows in order[torch.arange(-(-len(images) // batch) * batch) % len(images)].split(batch):
                optimizer.zero_grad()
                logits = net(images[rows].contiguous(memory_format=form).float() / 255)
                nn.functional.cross_entropy(logits, wanted[rows]).backward()
                optimizer.step()

    return run
