"""The candidates that the cap of a wave left out: each statement once, until it is in the queue.

Counting them needs none of the extractors' code, because every screen shows the count.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Raw, Struct

from reviewer.errors import StoreError
from reviewer.promotion.known_keys import Key, known_keys
from reviewer.promotion.report_lines import DROPPED, lines_over_cap, unreadable_report
from reviewer.store.database import Database, failures_as_sentences
from reviewer.text.normalise import duplicate_key

if TYPE_CHECKING:
    from reviewer.promotion.report import OverCap, StatementBeyondCap


class LeftOut(Struct, frozen=True):
    """A candidate beyond the cap, with the wave that proposed it."""

    wave: int
    project_id: int
    candidate: OverCap | StatementBeyondCap
    key: Key


class _Row(Struct):
    type: str


class _Line(Struct):
    """The fields of a line that make its key: of a candidate, or of a statement with a `row`."""

    content: str
    type: str = ""
    structure: Raw = Raw(b"null")
    row: _Row | None = None

    @property
    def key(self) -> Key:
        kind = "memory" if bytes(memoryview(self.structure)) == b"null" else "entity"
        type_ = self.type if self.row is None else self.row.type
        return kind, type_, duplicate_key(self.content)


class BeyondCap:
    """Reads what the waves' reports keep beyond the cap. Safe to call from several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._keys: dict[Path, tuple[tuple[int, int], frozenset[Key]]] = {}
        """The keys of a report by its folder, with size and time of the file they are from."""

    def waiting(self, project: str | None) -> tuple[list[LeftOut], list[str]]:
        """The candidates, statements before excerpts and the best first, and a sentence for each
        report that cannot be read.
        """
        from reviewer.promotion.report import OverCap, over_cap

        found: list[LeftOut] = []
        failures: list[str] = []
        for wave, project_id, folder, _ in self._waves(project):
            try:
                pairs = zip(over_cap(folder), _keys_in(folder), strict=True)
                found += [LeftOut(wave, project_id, item, key) for item, key in pairs]
            except StoreError as problem:
                failures.append(str(problem))
        found.sort(key=lambda item: (isinstance(item.candidate, OverCap), -item.candidate.rank))
        first = {(item.project_id, item.key): item for item in reversed(found)}
        known = self._known(first)
        return [
            item
            for item in found
            if first[item.project_id, item.key] is item and (item.project_id, item.key) not in known
        ], failures

    def count(self, project: str | None) -> int:
        """How many there are. A wave whose report cannot be read counts as it was left."""
        keys: set[tuple[int, Key]] = set()
        unreadable = 0
        for _, project_id, folder, left in self._waves(project):
            try:
                keys.update((project_id, key) for key in self._keys_of(folder))
            except StoreError:
                unreadable += left  # `waiting` says why
        return len(keys) - len(self._known(keys)) + unreadable

    def _waves(self, project: str | None) -> list[tuple[int, int, Path, int]]:
        sql = (
            "SELECT w.id, w.project_id, w.report_folder,"
            " json_extract(w.counts, '$.over_cap_left') AS left_out FROM wave w"
            " JOIN project p ON p.id = w.project_id"
            " WHERE left_out > 0 AND (?1 IS NULL OR p.name = ?1)"
        )
        with failures_as_sentences(self._database.path):
            rows = self._database.reader().execute(sql, (project,)).fetchall()
        return [(row[0], row[1], Path(row[2]), row[3]) for row in rows]

    def _keys_of(self, folder: Path) -> frozenset[Key]:
        try:
            stat = os.stat(folder / DROPPED)
        except OSError as problem:
            raise unreadable_report(folder, problem.strerror) from problem
        stamp = (stat.st_size, stat.st_mtime_ns)
        cached = self._keys.get(folder)
        if cached is None or cached[0] != stamp:
            cached = self._keys[folder] = (stamp, frozenset(_keys_in(folder)))
        return cached[1]

    def _known(self, keys: Iterable[tuple[int, Key]]) -> set[tuple[int, Key]]:
        wanted: dict[int, list[Key]] = {}
        for project_id, key in keys:
            wanted.setdefault(project_id, []).append(key)
        with failures_as_sentences(self._database.path):
            reader = self._database.reader()
            return {
                (project_id, key)
                for project_id, each in wanted.items()
                for key in known_keys(reader, project_id, each)
            }


def _keys_in(folder: Path) -> Iterator[Key]:
    """The keys of a report's candidates beyond the cap, in its order. Raises StoreError."""
    decoder = msgspec.json.Decoder(_Line)
    return lines_over_cap(folder, lambda line: decoder.decode(line).key)
