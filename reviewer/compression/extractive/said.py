"""Whether what was chosen says what another piece does, found without comparing all with all.

Two pieces say the same when one's words stand in the other, or when most of their words are the
same. Pieces with most words in common share at least one of each one's rarest words, so only those
that do are compared (prefix filtering; Chaudhuri et al. 2006, "A Primitive Operator for Similarity
Joins in Data Cleaning").
"""

from __future__ import annotations

from collections.abc import Iterable

from reviewer.compression.extractive.pieces import Piece

SAME = 0.8
"""Jaccard similarity of words above which two pieces say the same."""
BETWEEN = "\0"
"""Stands between two pieces."""


class Said:
    """An index of pieces by their words."""

    def __init__(self, pieces: Iterable[Piece]) -> None:
        self._text = BETWEEN
        self._by_word: dict[str, list[Piece]] = {}
        for piece in pieces:
            self.add(piece)

    def add(self, piece: Piece) -> None:
        """The piece is said."""
        self._text += piece.key + BETWEEN
        for word in piece.bag:
            self._by_word.setdefault(word, []).append(piece)

    def holds(self, piece: Piece) -> bool:
        """Whether one of the pieces says what this one does. Another number is another fact."""
        if piece.key in self._text:
            return True
        return any(_same(piece, other) for other in self._alike(piece))

    def _alike(self, piece: Piece) -> Iterable[Piece]:
        """Those that may say it: they have its numbers and one of its rarest words."""
        numbers = [self._by_word.get(word, []) for word in piece.bag if _is_number(word)]
        if numbers:
            return min(numbers, key=len)
        found = sorted((self._by_word.get(word, []) for word in piece.bag), key=len)
        enough = int((1 - SAME) * len(found)) + 1
        return {id(other): other for some in found[:enough] for other in some}.values()


def _same(piece: Piece, other: Piece) -> bool:
    if not piece.names.keys() <= other.names.keys():
        return False
    common = len(piece.bag & other.bag)
    if common <= SAME * (len(piece.bag) + len(other.bag) - common):
        return False
    return not any(map(_is_number, piece.bag - other.bag))


def _is_number(word: str) -> bool:
    return any(map(str.isdigit, word))
