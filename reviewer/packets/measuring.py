"""Pieces of a packet with their tokens, counted once and kept (settled.md: the real encoding).

A piece begins with something that is no white space and is followed by one or two line ends. The
encodings cut behind line ends, so the tokens of a packet are exactly the sum of its pieces'.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

ESTIMATE = "estimate"
"""The counter that takes four bytes for a token (`smart-retrieval.md`, Token Estimation)."""


class Piece(Struct, frozen=True):
    """A text that may leave: without secrets, and harmless for a terminal.

    `tokens` are those of the text and one line end, `gap` those that an empty line behind it adds.
    """

    text: str
    tokens: int
    gap: int
    masked: int = 0
    """How many secrets were masked in it."""

    @property
    def cost(self) -> int:
        """What it needs at most, wherever it stands."""
        return self.tokens + max(self.gap, 0)


class Kept(Protocol):
    """Where pieces are kept between calls."""

    def get(self, text: str) -> Piece | None:
        """What is kept of a text."""
        ...

    def put(self, text: str, piece: Piece) -> None:
        """Keep a piece."""
        ...

    def write(self, *, forget: bool = False) -> None:
        """Make what was kept last; `forget` leaves out what was not asked for this time."""
        ...

    @property
    def problem(self) -> str:
        """Why keeping does not work, as a sentence; empty when it does."""
        ...


class Measurer:
    """Turns texts into pieces. The encoding is loaded when a text was never counted before."""

    def __init__(self, counting: str, kept: Kept | None = None) -> None:
        """`counting`: the name of an encoding, or `estimate`.

        `kept` answers for what was counted in an earlier call.
        """
        self.name = counting
        self.loaded = False
        """Whether the encoding had to be loaded."""
        self._kept = kept
        self._count: Callable[[str], int] | None = estimate if counting == ESTIMATE else None
        self._pieces: dict[str, Piece] = {}

    def piece(self, text: str) -> Piece:
        """The piece of a text. Raises ReviewerError where the encoding is not there."""
        found = self._pieces.get(text)
        if found is None:
            found = self._kept.get(text) if self._kept else None
            if found is None:
                found = self._counted(text)
                if self._kept:
                    self._kept.put(text, found)
            self._pieces[text] = found
        return found

    def keep(self, *, forget: bool = False) -> str:
        """Keep what was counted for the next call; a sentence when something is wrong with that.

        `forget`: what was not asked for this time is no longer kept.
        """
        if self._kept is None:
            return ""
        self._kept.write(forget=forget)
        return self._kept.problem

    def shown(self, text: str) -> str:
        """The text as it may leave, without counting it."""
        found = self._pieces.get(text) or (self._kept.get(text) if self._kept else None)
        return found.text if found else _harmless(text)[0]

    def _counted(self, text: str) -> Piece:
        shown, masked = _harmless(text)
        count = self._counter()
        last = shown.rpartition("\n")[2]
        gap = count(f"{last}\n\n") - count(f"{last}\n")
        return Piece(shown, count(f"{shown}\n"), gap, masked)

    def _counter(self) -> Callable[[str], int]:
        if self._count is None:
            from reviewer.text.tokens import counter

            self._count = counter(self.name).count
            self.loaded = True
        return self._count


def estimate(text: str) -> int:
    """A quarter of the bytes, rounded up."""
    return (len(text.encode("utf-8", "replace")) + 3) // 4


def _harmless(text: str) -> tuple[str, int]:
    """A text as it may leave, and how many secrets were masked in it.

    Whole lines and no white space in front: what the exact sum of tokens rests on.
    """
    from reviewer.text.display import display_text
    from reviewer.text.secrets import mask

    without = mask(text)
    shown = display_text(without.text).strip()
    return "\n".join(line.rstrip() for line in shown.split("\n")), len(without.kinds)
