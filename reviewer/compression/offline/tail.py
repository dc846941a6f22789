"""The turns at the end of a range, kept while it is read."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from msgspec import Struct, structs

from reviewer.compression.values import Turn

MOST_TURNS = 1_500
MOST_CHARS = 600_000
"""Characters of all turns together, so that a long session needs no more memory."""
LONGEST = 12_000
"""Characters of a result from which on only its two ends are kept."""


class Numbered(Struct, frozen=True):
    """A turn with its place in the range."""

    number: int
    turn: Turn


class Tail:
    """The last turns of a range, those of its main conversation and its sub-agents."""

    def __init__(self, turns: Iterable[Turn] = ()) -> None:
        self._turns: deque[Numbered] = deque()
        self._chars = 0
        for number, turn in enumerate(turns):
            self.add(number, turn)

    def clear(self) -> None:
        self._turns.clear()
        self._chars = 0

    def add(self, number: int, turn: Turn) -> None:
        if turn.kind == "tool_result" and len(turn.text) > LONGEST:
            half = LONGEST // 2
            turn = structs.replace(turn, text=f"{turn.text[:half]}\n{turn.text[-half:]}")
        self._turns.append(Numbered(number, turn))
        self._chars += len(turn.text)
        while len(self._turns) > 1 and (len(self._turns) > MOST_TURNS or self._chars > MOST_CHARS):
            self._chars -= len(self._turns.popleft().turn.text)

    def __iter__(self) -> Iterator[Numbered]:
        return iter(self._turns)
