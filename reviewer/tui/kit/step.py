"""The choices that only the program remembers, so that undo takes them back."""

from __future__ import annotations

from typing import NamedTuple


class Step(NamedTuple):
    """A choice made on a screen."""

    words: str
    after: int
    """The latest act at that time: a later one is undone before it."""
    choices: object
    """What was chosen before it, or of an undone step with it, as its screen reads it."""


class Steps:
    """The choices made on a screen, the latest last."""

    def __init__(self) -> None:
        self.done: list[Step] = []
        self.undone: list[Step] = []
