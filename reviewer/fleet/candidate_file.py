"""A file of candidates, checked and masked as it is read, and what the store keeps of each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from reviewer.clock import written_moment
from reviewer.files import open_file, reason_of
from reviewer.fleet.candidate_row import NAMES, CandidateRow, CleanRow, checked, clean
from reviewer.fleet.values import LAYOUT, FleetError, extra
from reviewer.proposing.values import Proposer
from reviewer.sources.elsewhere import EXCERPT_AT, RECORD_LINE
from reviewer.sources.records import Shape
from reviewer.store.changes import Image
from reviewer.text.normalise import duplicate_key

ROWS_AT_ONCE = 10_000
"""Candidates that are read together, and written in one act."""


class CandidateFile:
    """A file of `collapse`. `count`: how many of its candidates are wanted."""

    def __init__(self, path: Path, top: int | None) -> None:
        """Raises FleetError when `collapse` did not write it."""
        pq = extra("pyarrow.parquet")
        self._path = path
        try:
            with open_file(path), closing(pq.ParquetFile(path)) as file:
                meta = (file.schema_arrow.metadata or {}).get(b"reviewer", b"{}")
                layout = msgspec.json.decode(meta, type=dict[str, Any]).get("layout")
                names = set(file.schema_arrow.names)
                total = int(file.metadata.num_rows)
        except OSError as problem:
            raise FleetError(f"{path} cannot be read: {reason_of(problem)}.") from problem
        except (ValueError, msgspec.DecodeError):
            layout, names, total = None, set(), 0
        if layout not in (None, LAYOUT):
            raise FleetError(
                f"{path} was written by another version of reviewer (layout {layout}; this one"
                f" reads {LAYOUT}). Collapse the parts again with this version."
            )
        if layout is None or not names.issuperset(NAMES):
            raise FleetError(
                f"{path} is not a file of candidates: write one with `reviewer fleet collapse`."
            )
        self.count = total if top is None else min(top, total)

    def batches(self) -> Iterator[list[CleanRow]]:
        """The candidates in their order. Raises FleetError naming the first that is not right."""
        pa, pq = extra("pyarrow"), extra("pyarrow.parquet")
        done = 0
        try:
            # One thread and no pre-buffering: a whole group of rows ahead is a lot of memory.
            with closing(pq.ParquetFile(self._path, pre_buffer=False)) as file:
                for batch in file.iter_batches(
                    ROWS_AT_ONCE, columns=list(NAMES), use_threads=False
                ):
                    found = batch.slice(0, self.count - done).to_pylist()
                    rows = [self._checked(at, values) for at, values in enumerate(found, done + 1)]
                    yield clean(rows)
                    done += len(rows)
                    if done == self.count:
                        return
        except (pa.ArrowException, ValueError, OSError) as problem:
            raise FleetError(
                f"{self._path} cannot be read after candidate {done:,}: {problem}. Collapse the"
                " parts again."
            ) from problem

    def _checked(self, number: int, values: dict[str, Any]) -> CandidateRow:
        try:
            return checked(values)
        except ValueError as problem:
            raise FleetError(
                f"Candidate {number} of {self._path} cannot be imported: {problem}. Collapse the"
                " parts again."
            ) from problem


def memory_of(row: CandidateRow) -> Image:
    """What the table of memories keeps of a candidate."""
    return {
        "kind": row.kind,
        "type": row.type,
        "content": row.content,
        "key": duplicate_key(row.content),
        "rule": row.rule,
        "extractor_version": row.extractor_version,
        "prior": row.prior,
        "signal": row.signal,
        "freshness": row.freshness,
        "confidence": round(row.confidence, 4),
        "flags": row.flags,
        "seen": row.seen,
        "proposer": str(row.proposer),
        "excerpt": int(row.proposer is Proposer.EXCERPT),
        "scope": row.scope,
        "need": row.need,
        "proof": row.proof,
        "sessions": row.sessions,
        "authors": row.authors,
    }


def record_of(row: CandidateRow, key: str, start: int) -> Image:
    """The excerpt of a candidate as a record, in which its statement begins at `start`."""
    # The text of a record that is no turn is its lines.
    before = 0 if row.shape is Shape.TURN else row.excerpt.count("\n", 0, start)
    return {
        "key": key,
        "line_start": max(0, row.line_start - before),
        "line_end": row.line_end,
        "byte_start": row.byte_start,
        "byte_end": row.byte_end,
        "sha256": row.sha256,
        "role": str(row.role),
        "use": str(row.use),
        "shape": str(row.shape),
        "at": written_moment(row.at),
        "session": row.session,
        "sidechain": int(row.sidechain),
        "meta": f'{{"{EXCERPT_AT}":"{row.excerpt_start}","{RECORD_LINE}":"{row.record_line}"}}',
        "text": row.excerpt,
    }


def excerpt_key(row: CandidateRow) -> str:
    """The key of the record that has only the text around a statement. It is a record of its own:
    the whole one may be read into the same project later.
    """
    return f"{row.record}@{row.excerpt_start}+{len(row.excerpt)}"


def span_in_excerpt(found: CleanRow) -> tuple[int, int]:
    """Where the excerpt has the statement."""
    row = found.row
    if found.masked and (at := row.excerpt.find(row.content)) >= 0:  # masking has moved it
        return at, at + len(row.content)
    start = max(0, row.span_start - row.excerpt_start)
    return start, max(start, min(len(row.excerpt), row.span_end - row.excerpt_start))
