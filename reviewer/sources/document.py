"""A file that is one JSON document: its undecoded values with their positions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from reviewer.sources.fields import Fields
from reviewer.sources.json_values import fields, first_byte, items
from reviewer.sources.reading import Reading, Spot, decoded

COUNTED_BLOCK = 1 << 14


class Located(NamedTuple):
    """An undecoded value of a document and its text offset."""

    at: int
    raw: memoryview


class Document:
    """A file, or one `line` of it, that is a JSON document: its values with their positions."""

    def __init__(self, reading: Reading, line: Spot | None = None) -> None:
        data = reading.document if line is None else bytes(line.raw)
        assert data is not None
        self._reading, self._data = reading, data
        self._first, self._start = (
            (0, reading.bom) if line is None else (line.line_start, line.byte_start)
        )
        self._counts = [0]
        """The line ends before each block."""
        for begin in range(0, len(data), COUNTED_BLOCK):
            self._counts.append(self._counts[-1] + data.count(b"\n", begin, begin + COUNTED_BLOCK))
        padding = len(data) - len(data.lstrip())
        self.root = Located(padding, memoryview(data)[padding:])

    def fields(self, value: Located) -> dict[str, Located]:
        """The fields of an object; empty for anything else."""
        if first_byte(value.raw) != b"{":
            return {}
        try:
            found = fields(value.raw)
        except (ValueError, RecursionError) as problem:
            self._reading.damaged(f"byte {value.at}", problem)
            return {}
        return {name: Located(value.at + at, raw) for name, (at, raw) in found.items()}

    def items(self, value: Located | None) -> Iterator[Located]:
        """The items of a list; nothing for anything else."""
        if value is None or first_byte(value.raw) != b"[":
            return
        try:
            for at, raw in items(value.raw):
                yield Located(value.at + at, raw)
        except (ValueError, RecursionError) as problem:
            self._reading.damaged(f"byte {value.at}", problem)

    def objects(self, value: Located | None) -> Iterator[tuple[Spot, Fields]]:
        """The objects of a list, decoded, with their positions."""
        for item in self.items(value):
            found = self.decoded(item)
            if isinstance(found, dict):
                yield self.spot(item), found
            else:
                self._reading.tally["not a record"] += 1

    def parted(self, name: str) -> tuple[Fields, Iterator[tuple[Spot, Fields]]]:
        """The fields of the whole document, and the objects of its list `name`."""
        named = self.fields(self.root)
        return self.plain(named, name), self.objects(named.get(name))

    def spot(self, value: Located) -> Spot:
        start, end = value.at, value.at + len(value.raw)
        first, last = self._line(start), self._line(end)
        return Spot(first, last + 1, self._start + start, self._start + end, value.raw)

    def _line(self, offset: int) -> int:
        block = offset // COUNTED_BLOCK
        before = self._data.count(b"\n", block * COUNTED_BLOCK, offset)
        return self._first + self._counts[block] + before

    def decoded(self, value: Located | None) -> object:
        """The decoded value; None, counted and reported, if it cannot be read."""
        if value is None:
            return None
        try:
            return decoded(value.raw, self._reading.tally)
        except (ValueError, RecursionError) as problem:
            self._reading.damaged(f"byte {value.at}", problem)
            return None

    def plain(self, named: dict[str, Located], *without: str) -> Fields:
        """The decoded fields of an object, except those named in `without`."""
        return {name: self.decoded(at) for name, at in named.items() if name not in without}
