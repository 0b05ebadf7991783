"""Makes ``Labyrinth-v0`` known to Gymnasium, without importing Gymnasium.

Gymnasium before 1.0 finds `register` through the entry point of the package. From 1.0 on it
looks for no plugins, so that ``import jaxlab`` has to register (as ``import labyrinth`` does in
the paper's listing), in whichever order the two are imported and at no cost where Gymnasium is
never used.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

ID = "Labyrinth-v0"


def register() -> None:
    """Add ``Labyrinth-v0`` to Gymnasium's registry; a second call changes nothing.

    No order checks, passive checks or time limit of Gymnasium's are wrapped round it: the
    environment does its own, and ``gymnasium.make`` returns it as it is, so that its own
    methods (``solve``, ``load``, ...) can be called under Gymnasium 1.x.
    """
    from gymnasium.envs import registration

    if ID not in registration.registry:
        registration.register(
            ID,
            entry_point="jaxlab.gym:LabyrinthEnv",
            vector_entry_point="jaxlab.gym_vector:LabyrinthVectorEnv",
            order_enforce=False,
            disable_env_checker=True,
        )


def register_when_imported() -> None:
    """Register now if Gymnasium is there already, or as soon as it has been imported."""
    if sys.modules.get("gymnasium") is not None:
        register()
    elif not any(isinstance(finder, _Gymnasium) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Gymnasium())


class _Gymnasium(importlib.abc.MetaPathFinder):
    """Sees the import of Gymnasium go by once, and registers after it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "gymnasium":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_register(module: ModuleType) -> None:
                execute(module)
                register()

            spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec
