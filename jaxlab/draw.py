"""A maze as rows of text: the picture of the ``.labyrinth`` language and of ``repr``."""

from __future__ import annotations

import numpy as np

from jaxlab.grid import RIGHT, UP

POST = "+"
HORIZONTAL = "-"
VERTICAL = "|"


def rows(walls: np.ndarray, marks: dict[int, str]) -> list[str]:
    """Draw ``walls`` (``uint8[H, W]``), top row first, with a letter in each cell of ``marks``.

    Token ``k`` of a line stands in text column ``2 + 2k``; even lines hold cells and
    the walls between them, odd lines the walls between two rows. The frame is drawn.
    """
    height, width = walls.shape
    frame = HORIZONTAL * (4 * width + 1)
    out = [frame]
    for row in range(height - 1, -1, -1):
        cells = [marks.get(row * width + col, " ") for col in range(width)]
        sides = [VERTICAL if walls[row, col] >> RIGHT & 1 else " " for col in range(width - 1)]
        line = " ".join(token for pair in zip(cells, [*sides, ""], strict=True) for token in pair)
        out.append(f"{VERTICAL} {line}{VERTICAL}")
        if row:
            below = [HORIZONTAL if walls[row - 1, col] >> UP & 1 else " " for col in range(width)]
            out.append(f"{VERTICAL} {f' {POST} '.join(below)} {VERTICAL}")
    return [*out, frame]
