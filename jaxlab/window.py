"""A window that shows pictures, for ``render_mode="human"``; pygame is imported here only."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from jaxlab.errors import needs_extra


class Window:
    """Opens with the first picture.

    Raises:
        ImportError: pygame is not installed.
    """

    def __init__(self, title: str, fps: int) -> None:
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        try:
            import pygame
        except ImportError:
            raise needs_extra("pygame", "human") from None
        self._pygame = pygame
        self._title, self._fps = title, fps
        self._screen: Any = None
        self._clock: Any = None

    def show(self, picture: np.ndarray) -> None:
        """Draw ``uint8[S, S, 3]`` and wait until the frame's time is over."""
        pygame = self._pygame
        if self._screen is None or self._screen.get_size() != picture.shape[1::-1]:
            pygame.display.init()
            pygame.display.set_caption(self._title)
            self._screen = pygame.display.set_mode(picture.shape[1::-1])
            self._clock = pygame.time.Clock()
        self._screen.blit(pygame.surfarray.make_surface(picture.swapaxes(0, 1)), (0, 0))
        pygame.event.pump()
        pygame.display.flip()
        self._clock.tick(self._fps)

    def close(self) -> None:
        """Close it, if it is open."""
        if self._screen is not None:
            self._pygame.display.quit()
            self._screen = None
