"""First pass over a Claude Code session: where the words are, and the tree they hang in."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from msgspec import Struct

from reviewer.sources.claude_lines import LineFields, Turn, parse_words
from reviewer.sources.claude_tree import Node, SessionTree
from reviewer.sources.json_pieces import json_pieces
from reviewer.sources.lines import TextForm, read_lines, reading
from reviewer.sources.records import Role

KEPT = 2_000_000
"""Bytes that the words kept from the first pass to the second may take; what is beyond is read
again, so that memory stays flat.
"""
_FIELDS = 1_200
"""Bytes that the fields of one record take besides its text."""


class Words(Struct, frozen=True):
    """What a record says, and the sha256 (hex) of its bytes."""

    line: LineFields
    turn: Turn
    sha256: str


class Place(Struct, frozen=True):
    """Where one record with words stands in the file, and its words if they were kept."""

    line: int
    start: int
    length: int
    rewound: bool
    words: Words | None = None


class SessionIndex:
    """The places of all records with words, a few bytes each, and hashes of what was typed.

    The words of the first records are kept, too, but not with `every_turn`.
    """

    def __init__(self, every_turn: bool = False) -> None:
        self._every_turn = every_turn
        self._room = 0 if every_turn else KEPT
        self._kept: list[Words] = []
        self.tree = SessionTree()
        self._typed = array("q")
        """Hash of the text of every turn of the person."""
        self._queued: set[int] = set()
        """Hashes of the texts that were queued while the agent was busy."""
        self._taken_back: Counter[int] = Counter()
        """Hash of a queued text -> how often the person took it back into the editor."""
        self._lines = array("q")
        self._starts = array("q")
        self._lengths = array("q")
        self._nodes = array("q")

    def note(
        self,
        line: LineFields,
        turn: Turn | None,
        place: tuple[int, int],
        raw: bytes,
        inside: bool,
        tally: Counter[str],
    ) -> None:
        """Hang one record into the tree; keep its place if it has words.

        `place`: its line and where in the file its bytes `raw` begin.
        """
        node = -1
        if line.uuid:
            kind = turn.node if turn else Node.OTHER
            node = self.tree.add(line.uuid, line.parent_uuid or line.logical_parent_uuid, kind)
        if turn is None or not (turn.text or self._every_turn):
            return
        if turn.queued == "popAll":
            self._taken_back[text_hash(turn)] += 1
            tally["queued text taken back"] += 1
            return
        if turn.role is Role.USER and not turn.queued:
            self._typed.append(text_hash(turn))
        elif turn.queued:
            self._queued.add(text_hash(turn))
        if inside:
            if self._room > 0:
                # A queued text keeps its whole line in memory.
                self._room -= _FIELDS + (len(raw) if turn.queued else len(turn.text))
                self._kept.append(Words(line, turn, hashlib.sha256(raw).hexdigest()))
            self._lines.append(place[0])
            self._starts.append(place[1])
            self._lengths.append(len(raw))
            self._nodes.append(node)

    def expected(self) -> Counter[int]:
        """Hash of a queued text -> how often it came again as a turn, or was taken back."""
        typed = Counter(text for text in self._typed if text in self._queued)
        return typed + self._taken_back

    def places(self) -> Iterator[Place]:
        """All places in the order of the file."""
        left = self.tree.rewound()
        rows = zip(self._lines, self._starts, self._lengths, self._nodes, strict=True)
        for (line, start, length, node), words in zip_longest(rows, self._kept):
            yield Place(line, start, length, node >= 0 and bool(left[node]), words)


def index_session(
    path: Path,
    form: TextForm,
    lines: tuple[int, float],
    tally: Counter[str],
    errors: list[str],
    every_turn: bool = False,
) -> SessionIndex:
    """Read the whole file once. Only records of `lines` (half-open) are kept and counted.

    `every_turn`: keep turns without words too, such as calls of tools and their results.

    Raises OSError when reading fails.
    """
    index = SessionIndex(every_turn)
    first, end = lines
    unheard: Counter[str] = Counter()
    recoded = form.encoding != "utf-8"
    with reading(path) as stream:
        for number, start, raw in read_lines(stream, form):
            inside = first <= number < end
            counts, damage = (tally, errors) if inside else (unheard, [])
            if raw is None:
                counts["line over 64 MB"] += 1
                damage.append(f"line {number + 1}: longer than 64 MB, passed over")
                continue
            if not raw or raw.isspace():
                continue
            data = form.utf8(raw) if recoded else raw
            try:
                line, turn = parse_words(data, counts)
            except RecursionError:
                counts["nested too deep"] += 1
                damage.append(f"line {number + 1}: nested too deep to be read")
            except ValueError:
                counts["bad JSON"] += 1
                damage.append(f"line {number + 1}: not a JSON record")
                if data is not raw:
                    continue  # positions of pieces are known in UTF-8 only
                for offset, length, line, turn in _recovered(data, counts):
                    piece = data[offset : offset + length]
                    index.note(line, turn, (number, start + offset), piece, inside, counts)
            else:
                index.note(line, turn, (number, start), raw, inside, counts)
    return index


def text_hash(turn: Turn) -> int:
    """What tells whether a queued text came again; of this process only."""
    return hash(turn.text.strip())


def _recovered(
    data: bytes, tally: Counter[str]
) -> Iterator[tuple[int, int, LineFields, Turn | None]]:
    """The whole records inside a damaged line, as (offset, length, line, turn)."""
    for offset, piece in json_pieces(data):
        try:
            line, turn = parse_words(piece, tally)
        except (ValueError, RecursionError):
            continue
        if line.session_id:  # else a part of the damaged record, not one of its own
            tally["recovered from a damaged line"] += 1
            yield offset, len(piece), line, turn
