"""A session view indexed for proofs: texts normalised for comparing quotes, and the positions of
each word.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property

from msgspec import Struct

from reviewer.proposing.values import SessionView, ViewLine
from reviewer.text.controls import without_controls
from reviewer.text.normalise import UNSPACED

NEIGHBOUR_CHARS = 1_500
"""Characters of an adjacent part of an entry that count as around a quote."""

_ONE_SPELLING = str.maketrans("‘’‚‛“”„‟«»–—‑−\u00a0", '\'\'\'\'""""""---- ', "`*\u200b\ufeff")
_SPACE = re.compile(r"\s+")
ENDS = " .,;:!…\"'"


def normalised(text: str) -> str:
    """The form for comparing quotes: uniform quotation marks and dashes, no emphasis or escapes,
    single spaces.
    """
    text = without_controls(text).translate(_ONE_SPELLING).replace("...", "…")
    return _SPACE.sub(" ", text).strip()


NAME = re.compile(r"\w[\w-]*\w|\w")
"""A word or part of a name."""


def has(text: str, part: str) -> bool:
    """Whether a text contains a part, at word boundaries."""
    return find_whole(text, part) >= 0


def find_whole(text: str, part: str) -> int:
    """Where a text contains a part, at word boundaries, or -1."""
    at = text.find(part)
    while at >= 0:
        end = at + len(part)
        if not (
            (at and _are_one_word(text[at - 1], part[0]))
            or (end < len(text) and _are_one_word(part[-1], text[end]))
        ):
            return at
        at = text.find(part, at + 1)
    return -1


def _are_one_word(one: str, other: str) -> bool:
    """Whether two adjacent characters belong to one word; where no blanks are written between
    words, as in Chinese, that is unknown.
    """
    return one.isalnum() and other.isalnum() and not any(map(UNSPACED.match, (one, other)))


class FoundQuote(Struct, frozen=True):
    """A quote that was found: the view position, and a part of its normalised text."""

    position: int
    start: int
    end: int


class ProofIndex:
    """A session view, indexed once for proving many proposals."""

    def __init__(self, view: SessionView) -> None:
        self.view = view
        self.lines: Sequence[ViewLine] = view.lines
        self._at: dict[int, list[int]] = {}
        for position, line in enumerate(view.lines):
            self._at.setdefault(line.line, []).append(position)
        self._numbers = sorted(self._at)
        self._normalised: dict[int, str] = {}

    def positions(self, line: int) -> list[int]:
        """View positions of the parts of a file line."""
        return self._at.get(line, [])

    def first_at_or_after(self, line: int) -> int:
        """Position of the first part at or after a file line."""
        after = bisect_left(self._numbers, line)
        if after == len(self._numbers):
            return len(self.lines)
        return self._at[self._numbers[after]][0]

    def normalised_at(self, position: int) -> str:
        """The normalised text at a position."""
        if position not in self._normalised:
            self._normalised[position] = normalised(self.lines[position].text)
        return self._normalised[position]

    def around(self, quotes: Sequence[FoundQuote], characters: int, neighbours: int) -> list[str]:
        """The text around quotes: the nearest parts of their entries, and of this many neighbouring
        entries.
        """
        found = []
        for quote in quotes:
            text = self.normalised_at(quote.position)
            found.append(text[max(0, quote.start - characters) : quote.end + characters])
            at = bisect_left(self._numbers, self.lines[quote.position].line)
            for number in self._numbers[max(at - neighbours, 0) : at + neighbours + 1]:
                for position in self._at[number]:
                    near = self.normalised_at(position)
                    if position < quote.position:
                        found.append(near[-NEIGHBOUR_CHARS:])
                    elif position > quote.position:
                        found.append(near[:NEIGHBOUR_CHARS])
        return found

    def has(self, name: str) -> bool:
        """Whether a name occurs anywhere in the session."""
        wanted = normalised(name).lower()
        words = NAME.findall(wanted)
        return bool(words) and any(
            has(self.normalised_at(position).lower(), wanted)
            for position in self.mentions.get(words[-1], ())
        )

    @cached_property
    def mentions(self) -> dict[str, list[int]]:
        """Positions by lower-case word or name."""
        found: dict[str, list[int]] = {}
        for position, line in enumerate(self.lines):
            for word in set(NAME.findall(line.text.lower())):
                found.setdefault(word, []).append(position)
        return found
