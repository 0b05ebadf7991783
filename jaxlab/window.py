"""What ``render_mode="human"`` shows: a pygame window, or a drawing in the terminal where there is none."""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np

from jaxlab.errors import needs_extra


class Window:
    """Opens with the first picture.

    Without pygame, and on a machine without a display, the text is printed instead; the first
    time it says why.
    """

    def __init__(self, title: str, fps: int) -> None:
        self._title, self._fps = title, fps
        self._pygame: Any = None
        self._screen: Any = None
        self._clock: Any = None
        self._missing = False

    def show(self, picture: np.ndarray, text: str) -> None:
        """Draw ``uint8[S, S, 3]`` and wait until the frame's time is over; or print ``text``."""
        if not self._missing and (self._screen is None or self._screen.get_size() != picture.shape[1::-1]):
            self._open(picture.shape[1::-1])
        if self._missing:
            print(text)
            return
        pygame = self._pygame
        self._screen.blit(pygame.surfarray.make_surface(picture.swapaxes(0, 1)), (0, 0))
        pygame.event.pump()
        pygame.display.flip()
        self._clock.tick(self._fps)

    def close(self) -> None:
        """Close it, if it is open."""
        if self._screen is not None:
            self._pygame.display.quit()
            self._screen = None

    def _open(self, size: tuple[int, int]) -> None:
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        try:
            import pygame
        except ImportError:
            self._to_terminal(str(needs_extra("pygame", "human")))
            return
        try:
            pygame.display.init()
            pygame.display.set_caption(self._title)
            self._screen = pygame.display.set_mode(size)
        except pygame.error as error:
            self._to_terminal(f"no window can be opened ({error})")
            return
        self._pygame, self._clock = pygame, pygame.time.Clock()

    def _to_terminal(self, why: str) -> None:
        self._missing = True
        print(f"{why}; drawing in the terminal", file=sys.stderr)
