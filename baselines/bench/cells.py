"""The grid of a benchmark: which method with which encoder on mazes of which size, and its presets."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from baselines import networks
from baselines.bench.entries import LONG_EPOCHS, PAPER_EPOCHS, TITLES
from baselines.train import METHODS
from jaxlab.errors import choose


@dataclasses.dataclass(frozen=True)
class Cell:
    """One run of one method, over several training seeds.

    Attributes:
        method: of `train.METHODS`.
        encoder: of `networks.ENCODERS`.
        size: side of the mazes.
        seeds: how many training seeds.
        options: what differs from the method's own choices, by name.
        variant: sets apart two cells that are otherwise alike.
    """

    method: str
    encoder: str
    size: int
    seeds: int
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    variant: str = ""

    @property
    def name(self) -> str:
        """Its folder."""
        return "-".join([f"{self.size}x{self.size}", self.method, self.encoder, *filter(None, [self.variant])])

    def config(self) -> Any:
        """The method's config.

        Raises:
            ValueError: a choice that the method does not have.
        """
        kind = method_of(self.method).Config
        allowed = [field.name for field in dataclasses.fields(kind)]
        for name in self.options:
            choose(f"choice of {self.method}", name, allowed)
        return kind(encoder=self.encoder, **self.options)


def method_of(name: str) -> Any:
    """The module of a method."""
    return importlib.import_module(METHODS[choose("method", name, METHODS)])


def all_methods() -> list[str]:
    """Every method there is, in the paper's order."""
    return [name for name in TITLES if name in METHODS]


def grid(
    methods: Sequence[str],
    sizes: Sequence[int],
    encoders: Sequence[str],
    seeds: int,
    options: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[Cell]:
    """Every method with every encoder on every size, small mazes first.

    Args:
        methods, sizes, encoders: what to combine.
        seeds: training seeds of each cell.
        options: ``{method: {choice: value}}``; the key ``""`` is for every method that has the choice.
    """
    options = options or {}
    for encoder in encoders:
        choose("encoder", encoder, networks.ENCODERS)
    out = []
    for size in sizes:
        for encoder in encoders:
            for method in methods:
                fields = {field.name for field in dataclasses.fields(method_of(method).Config)}
                common = {name: value for name, value in options.get("", {}).items() if name in fields}
                out.append(Cell(method, encoder, size, seeds, {**common, **options.get(method, {})}))
    return out


# -- presets -----------------------------------------------------------------------------------------

SMOKE = {
    "bc": {"epochs": 200},
    "dagger": {"epochs": 10, "round_updates": 40},
    "gail": {"epochs": 20, "steps": 64},
    "bco": {"epochs": 200, "model_updates": 500},
    "sqil": {"epochs": 10},
    "iupe": {"epochs": 200, "model_updates": 500},
}
"""Short runs on vectors: enough to see every part work, too short for good numbers."""


def smoke(methods: Sequence[str]) -> list[Cell]:
    """All methods on 3x3 mazes and vectors, one seed: minutes on two cores."""
    return grid(methods, [3], ["mlp"], 1, SMOKE)


def cpu(methods: Sequence[str]) -> list[Cell]:
    """The paper's three sizes with the CNN and the methods' own budgets, and the planner: hours on two cores."""
    out = grid(methods, [3, 4, 5], ["cnn"], 5)
    planned = [name for name in ("bc", "dagger") if name in methods]
    if "planner" in networks.ENCODERS:
        out += grid(planned, [5], ["planner"], 5)
    return out


def paper(methods: Sequence[str]) -> list[Cell]:
    """The paper's budget: 1000 epochs for all; BC also 10,000 epochs, and with ResNet-18; made for a GPU.

    The paper does not give its batch. One update an epoch is the reading that fits its figures
    (docs/results.md), so methods that pass over the demonstrations do that.
    """
    adam: dict[str, Any] = {"epochs": PAPER_EPOCHS, "decay": "constant"}
    full = {**adam, "batch": "full"}
    budget: dict[str, Mapping[str, Any]] = {"": adam, "bc": full, "bco": full, "iupe": full}
    out = grid(methods, [3, 4, 5], ["cnn"], 5, budget)
    if "bc" in methods:
        out.append(Cell("bc", "cnn", 5, 5, {**full, "epochs": LONG_EPOCHS}, "long"))
        if "resnet18" in networks.ENCODERS:
            out.append(Cell("bc", "resnet18", 5, 5, full))
    return out


PRESETS: dict[str, Callable[[Sequence[str]], list[Cell]]] = {"smoke": smoke, "cpu": cpu, "paper": paper}
