"""Pieces one below the other: the text of a packet and exactly what it costs."""

from __future__ import annotations

from collections.abc import Iterable

from reviewer.packets.measuring import Piece
from reviewer.packets.values import Section


class Layout:
    """Takes pieces in order. An empty line follows where one was asked for, not at the end."""

    def __init__(self) -> None:
        self._laid: list[tuple[Section, Piece, bool]] = []

    def add(self, section: Section, piece: Piece, *, spaced: bool = True) -> None:
        """Put a piece below the others, with an empty line behind it where it is `spaced`."""
        self._laid.append((section, piece, spaced))

    def listed(self, section: Section, pieces: Iterable[tuple[Piece, bool]]) -> None:
        """Put pieces below each other: items of a list close together, all else with an empty
        line between; one behind the last.
        """
        pairs = list(pieces)
        for at, (piece, tight) in enumerate(pairs, 1):
            close = tight and at < len(pairs) and pairs[at][1]
            self.add(section, piece, spaced=not close)

    def tokens(self) -> int:
        """What the whole costs."""
        return sum(self.used().values())

    def ceiling(self) -> int:
        """What it costs at most when more stands below it."""
        return sum(piece.cost for _, piece, _ in self._laid)

    def used(self) -> dict[Section, int]:
        """What each section costs, its headings included."""
        used = dict.fromkeys(Section, 0)
        for section, piece, spaced in self._spaced():
            used[section] += piece.tokens + (piece.gap if spaced else 0)
        return used

    def masked(self) -> int:
        """How many secrets were masked in it."""
        return sum(piece.masked for _, piece, _ in self._laid)

    def markdown(self) -> str:
        """The text, ended by a line end."""
        return "".join(
            f"{piece.text}\n\n" if spaced else f"{piece.text}\n"
            for _, piece, spaced in self._spaced()
        )

    def _spaced(self) -> list[tuple[Section, Piece, bool]]:
        last = [(section, piece, False) for section, piece, _ in self._laid[-1:]]
        return [*self._laid[:-1], *last]
