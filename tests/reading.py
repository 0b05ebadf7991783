"""An independent reading of the rules, in plain Python with dictionaries: what the tests believe."""

from __future__ import annotations

from collections import deque

import numpy as np

import jaxlab

STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))  # up, right, down, left as (row, column)


class Reading:
    """One maze as sets of cells and passages."""

    def __init__(self, maze: jaxlab.Maze) -> None:
        self.rows, self.cols = maze.shape
        self.open = set(jaxlab.to_edges(maze))
        self.start, self.goal, self.key, self.door = (
            int(getattr(maze, name)) for name in ("start", "goal", "key", "door")
        )
        self.ice = set(np.flatnonzero(maze.ice).tolist())
        self.modes = 3 if self.key >= 0 else 1

    def move(self, cell: int, mode: int, action: int) -> tuple[int, int, bool]:
        """(cell, mode, fell) after an action."""
        row, col = divmod(cell, self.cols)
        row, col = row + STEPS[action][0], col + STEPS[action][1]
        if not (0 <= row < self.rows and 0 <= col < self.cols):
            return cell, mode, False
        to = row * self.cols + col
        if (min(cell, to), max(cell, to)) not in self.open:
            return cell, mode, False
        if self.key >= 0 and to == self.door and mode == 0:
            return cell, mode, False
        if to == self.key and mode == 0:
            mode = 1
        if self.key >= 0 and to == self.door and mode == 1:
            mode = 2
        return to, mode, to in self.ice

    def distances(self) -> dict[tuple[int, int], int]:
        """Moves to the goal from every (mode, cell) from which it can be reached alive."""
        into: dict[tuple[int, int], list[tuple[int, int]]] = {}
        states = [(mode, cell) for mode in range(self.modes) for cell in range(self.rows * self.cols)]
        for mode, cell in states:
            for action in range(4):
                to, after, fell = self.move(cell, mode, action)
                if not fell and cell != self.goal:
                    into.setdefault((after, to), []).append((mode, cell))
        distance = {(mode, self.goal): 0 for mode in range(self.modes)}
        queue = deque(distance)
        while queue:
            state = queue.popleft()
            for before in into.get(state, ()):
                if before not in distance:
                    distance[before] = distance[state] + 1
                    queue.append(before)
        return distance

    def optimal(self, distance: dict[tuple[int, int], int], mode: int, cell: int) -> set[int]:
        """The optimal actions of a state."""
        if cell == self.goal or (mode, cell) not in distance:
            return set()
        best = set()
        for action in range(4):
            to, after, fell = self.move(cell, mode, action)
            if not fell and distance.get((after, to), 10**9) + 1 == distance[mode, cell]:
                best.add(action)
        return best

    def play(self, actions: list[int], max_steps: int, shortest: int) -> list[tuple[int, int, float, bool, bool]]:
        """(cell, mode, reward, terminated, truncated) after each action, by Eq. 1 with L = ``shortest``."""
        u = 0.1 / (self.rows * self.cols)
        cell, mode, t, terminated, truncated = self.start, 0, 0, False, False
        out = []
        for action in actions:
            reward = 0.0
            if not (terminated or truncated):
                cell, mode, fell = self.move(cell, mode, action)
                t += 1
                reward = -u
                if fell:
                    reward, terminated = -u * (max_steps - (t - 1)), True
                elif cell == self.goal:
                    reward, terminated = 1 + (shortest - 1) * u, True
                truncated = not terminated and t >= max_steps
            out.append((cell, mode, reward, terminated, truncated))
        return out
