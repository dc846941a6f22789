"""Rows beyond the cap of a wave: each statement once, until it is queued."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from reviewer.errors import StoreError
from reviewer.files import open_own
from reviewer.promotion.rows.enqueue import NewRow
from reviewer.promotion.rows.known_rows import Key, known_keys
from reviewer.promotion.views import OVER_CAP
from reviewer.store.database import Database, failures_as_sentences

DROPPED = "dropped.ndjson"
"""The file of a report that lists rows not queued, one JSON object per line."""
_MARKER = f'"reason":"{OVER_CAP}"'.encode()


class CappedRow(Struct, frozen=True):
    """A row beyond the cap, from the report of the wave that proposed it."""

    wave: int
    project_id: int
    row: NewRow

    @property
    def key(self) -> tuple[int, Key]:
        columns = self.row.columns
        return self.project_id, (str(columns["kind"]), str(columns["type"]), str(columns["key"]))


class BeyondCap:
    """Reads the rows beyond the cap from the waves' reports."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def waiting(self, project: str | None) -> tuple[list[CappedRow], list[int], list[str]]:
        """The rows, statements first and then by score; the waves whose reports were read; and a
        sentence for each unreadable report.
        """
        found: list[CappedRow] = []
        waves: list[int] = []
        failures: list[str] = []
        rows = self._database.query(
            "SELECT w.id, w.project_id, w.report_folder FROM wave w"
            " JOIN project p ON p.id = w.project_id WHERE (?1 IS NULL OR p.name = ?1)"
            " AND json_extract(w.counts, '$.over_cap_left') > 0",
            (project,),
        )
        for wave, project_id, folder in rows:
            try:
                found += [CappedRow(wave, project_id, row) for row in _rows(Path(folder))]
                waves.append(wave)
            except StoreError as problem:
                failures.append(str(problem))
        found.sort(key=_place)
        first = {item.key: item for item in reversed(found)}
        known = self._known(first)
        new = [each for each in found if first[each.key] is each and each.key not in known]
        return new, waves, failures

    def _known(self, keys: Iterable[tuple[int, Key]]) -> set[tuple[int, Key]]:
        wanted: dict[int, list[Key]] = {}
        for project_id, key in keys:
            wanted.setdefault(project_id, []).append(key)
        with failures_as_sentences(self._database.path):
            reader = self._database.reader()
            return {
                (project_id, key)
                for project_id, each in wanted.items()
                for key in known_keys(reader.execute, project_id, each)
            }


def _place(item: CappedRow) -> tuple[bool, float]:
    return item.row.columns.get("proof", "{}") == "{}", -item.row.score


def _rows(folder: Path) -> Iterator[NewRow]:
    """The rows beyond the cap in a report. Raises StoreError if it is missing or damaged."""
    try:
        with open(open_own(folder / DROPPED, os.O_RDONLY), "rb") as file:
            for line in file:
                if _MARKER in line:
                    yield msgspec.json.decode(line, type=NewRow)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as problem:
        what = problem.strerror if isinstance(problem, OSError) else str(problem)
        raise StoreError(
            f"The candidates beyond the cap cannot be read from {folder}: {what}. To propose them "
            "again: reviewer ingest --again PATH"
        ) from problem
