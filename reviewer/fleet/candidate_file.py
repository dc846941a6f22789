"""A file of candidates, checked and masked as it is read, by other processes where it is large."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Future
from contextlib import closing
from pathlib import Path
from typing import cast

import msgspec
from msgspec import Struct

from reviewer.clock import written_moment
from reviewer.extraction.entities.entity import Relation
from reviewer.files import open_file, reason_of
from reviewer.fleet.candidate_row import CANDIDATE, NAMES, CleanRow, Row, checked, clean
from reviewer.fleet.pool import cores, pool
from reviewer.fleet.values import LAYOUT, FleetError, Settings, extra
from reviewer.proposing.values import Proposer
from reviewer.sources.elsewhere import EXCERPT_AT, RECORD_LINE
from reviewer.sources.records import Shape
from reviewer.store.stored_text import Stored, StoredText

ROWS_AT_ONCE = 2_000
FOR_PROCESSES = 20_000
"""A file with more candidates is read by other processes while this one writes."""
MOST_PROCESSES = 4
LARGEST_GROUP = 50_000
"""Rows that one call may read. `collapse` writes groups of 10,000."""

MEMORY = (
    "kind", "type", "content", "key", "rule", "extractor_version", "prior", "signal", "freshness",
    "confidence", "flags", "seen", "proposer", "excerpt", "scope", "need", "proof", "sessions",
    "authors",
)  # fmt: skip
"""The columns of the table `memory` that `Candidate.memory` has, in this order."""
RULE = slice(MEMORY.index("rule"), MEMORY.index("extractor_version") + 1)
RECORD = (
    "key", "line_start", "line_end", "byte_start", "byte_end", "sha256", "role", "use", "shape",
    "at", "session", "sidechain", "meta", "text",
)  # fmt: skip
"""The same of `record`."""


class Entity(Struct, frozen=True, array_like=True):
    """What the row of an entity has besides."""

    name: StoredText
    slot: StoredText
    attributes: StoredText
    relations: tuple[tuple[StoredText, StoredText], ...]
    """Kind and target, each once."""


class Candidate(Struct, frozen=True, array_like=True, gc=False):
    """A row of the file, ready to be written."""

    kind: str
    type: str
    key: str
    fact: str
    leader: str
    wording: int
    seen: int
    sessions: int
    authors: int
    path: str
    format: str
    record: str
    """The key of the record in which it was found."""
    span_start: int
    span_end: int
    excerpt: str
    """The key of the record that has only the text around it. A record of its own: the whole one
    may be read into the same project later."""
    start: int
    end: int
    """Its span there."""
    memory: tuple[Stored, ...]
    text: tuple[Stored, ...]
    """The values of MEMORY and RECORD."""
    entity: Entity | None
    masked: int
    """Secrets that were masked just now."""


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[Candidate])


class CandidateFile:
    """A file of `collapse`. `count`: how many of its candidates are wanted."""

    def __init__(self, path: Path, top: int | None) -> None:
        """Raises FleetError when `collapse` did not write it."""
        pq = extra("pyarrow.parquet")
        self._path = path
        try:
            with open_file(path), closing(pq.ParquetFile(path)) as file:
                meta = file.schema_arrow.metadata or {}
                settings = msgspec.json.decode(meta[b"reviewer"], type=Settings)
                names = set(file.schema_arrow.names)
                self._groups = [
                    int(file.metadata.row_group(number).num_rows)
                    for number in range(file.metadata.num_row_groups)
                ]
        except OSError as problem:
            raise FleetError(f"{path} cannot be read: {reason_of(problem)}.") from problem
        except (ValueError, KeyError, msgspec.DecodeError) as problem:
            raise FleetError(
                f"{path} is not a file of candidates: write one with `reviewer fleet collapse`."
            ) from problem
        if settings.layout != LAYOUT or not names >= CANDIDATE.keys():
            raise FleetError(
                f"{path} was written by another version of reviewer. Collapse the parts again."
            )
        total = sum(self._groups)
        self.count = total if top is None else min(top, total)

    def rows(self) -> Iterator[Candidate]:
        """The candidates in their order. Raises FleetError naming the first that is not right."""
        large = self.count > FOR_PROCESSES and max(self._groups) <= LARGEST_GROUP
        number = 0
        for batch in self._by_processes() if large else _read(self._path, None, 0):
            for row in batch:
                if number == self.count:
                    return
                number += 1
                yield row

    def _by_processes(self) -> Iterator[list[Candidate]]:
        """Each group of rows by another process, some ahead of those that are taken."""
        width = max(1, min(MOST_PROCESSES, cores() - 1))
        waiting: deque[Future[list[bytes]]] = deque()
        first = 0
        executor = pool(width, __name__)
        try:
            for number, rows in enumerate(self._groups):
                if first < self.count:
                    waiting.append(executor.submit(_packed, self._path, number, first))
                first += rows
                if len(waiting) > width:
                    yield from map(_decoder.decode, waiting.popleft().result())
            while waiting:
                yield from map(_decoder.decode, waiting.popleft().result())
        except BrokenExecutor as problem:
            raise FleetError(
                f"{self._path} was not read to its end: a process that read it has ended (out of "
                "memory, or a crash). What was imported before stays; the same command adds the "
                "rest."
            ) from problem
        finally:
            executor.shutdown(wait=True, cancel_futures=True)


def _packed(path: Path, group: int, first: int) -> list[bytes]:
    """The candidates of a group of rows, some at a time; `first`: how many there are before it."""
    gc.disable()  # nothing here refers to itself, and looking for it takes long
    return [_encoder.encode(batch) for batch in _read(path, group, first)]


def _read(path: Path, group: int | None, number: int) -> Iterator[list[Candidate]]:
    """The candidates of one group of rows, or of all; `number`: how many there are before it."""
    pa, pq = extra("pyarrow"), extra("pyarrow.parquet")
    try:
        # One thread and no pre-buffering: a whole group of rows ahead is a lot of memory.
        with closing(pq.ParquetFile(path, pre_buffer=False)) as file:
            groups = None if group is None else [group]
            for batch in file.iter_batches(
                ROWS_AT_ONCE, row_groups=groups, columns=list(NAMES), use_threads=False
            ):
                columns = [batch.column(name).to_pylist() for name in NAMES]
                rows: list[Row] = []
                for values in zip(*columns, strict=True):
                    number += 1
                    rows.append(checked(values))
                yield [_candidate(row) for row in clean(rows)]
    except (pa.ArrowException, msgspec.ValidationError, ValueError, OSError) as problem:
        raise FleetError(
            f"Candidate {number} of {path} cannot be imported: {problem}. What was "
            "imported before it stays; `reviewer history` lists it."
        ) from problem


def _candidate(clean_row: CleanRow) -> Candidate:
    row, masked = clean_row.row, clean_row.masked
    excerpt = f"{row.record}@{row.excerpt_start}+{len(row.excerpt)}"
    start = max(0, row.span_start - row.excerpt_start)
    end = max(start, min(len(row.excerpt), row.span_end - row.excerpt_start))
    if masked and (at := row.excerpt.find(row.content)) >= 0:
        start, end = at, at + len(row.content)
    entity = None
    if row.kind == "entity":
        relations = msgspec.json.decode(row.relations or "[]", type=tuple[Relation, ...])
        entity = Entity(
            StoredText(row.name or row.content),
            StoredText(row.slot or ""),
            StoredText(row.attributes or "[]"),
            tuple(
                dict.fromkeys(
                    (StoredText(str(each.kind)), StoredText(each.target_name)) for each in relations
                )
            ),
        )
    memory = (
        row.kind,
        row.type,
        row.content,
        row.key,
        row.rule,
        row.extractor_version,
        row.prior,
        row.signal,
        row.freshness,
        round(row.confidence, 4),
        row.flags,
        row.seen,
        row.proposer,
        int(row.proposer is Proposer.EXCERPT),
        row.scope,
        row.need,
        row.proof,
        row.sessions,
        row.authors,
    )
    text = (
        excerpt,
        _first_line(row, start),
        row.line_end,
        row.byte_start,
        row.byte_end,
        row.sha256,
        row.role,
        row.use,
        row.shape,
        written_moment(row.at),
        row.session,
        int(row.sidechain),
        f'{{"{EXCERPT_AT}":"{row.excerpt_start}","{RECORD_LINE}":"{row.record_line}"}}',
        row.excerpt,
    )
    return Candidate(
        row.kind,
        row.type,
        row.key,
        row.fact,
        row.leader,
        row.wording,
        row.seen,
        row.sessions,
        row.authors,
        row.path,
        row.format,
        row.record,
        row.span_start,
        row.span_end,
        excerpt,
        start,
        end,
        cast("tuple[Stored, ...]", memory),  # of a clean row
        cast("tuple[Stored, ...]", text),
        entity,
        masked,
    )


def _first_line(row: Row, start: int) -> int:
    """The first line of the excerpt: the text of a record that is no turn is its lines."""
    before = 0 if row.shape is Shape.TURN else row.excerpt.count("\n", 0, start)
    return max(0, row.line_start - before)
