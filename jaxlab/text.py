"""The ``.labyrinth`` language: parse and format."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Settings:
    """The settings header of a file, in the file's own words."""

    key_and_lock: bool = False
    icy_floor: bool = False
    occlusion: bool = False
