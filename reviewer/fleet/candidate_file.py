"""A file of candidates, checked and masked as it is read, by other processes where it is large."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future
from contextlib import closing
from itertools import accumulate
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from reviewer.clock import written_moment
from reviewer.extraction.entities.entity import Relation
from reviewer.files import open_file, reason_of
from reviewer.fleet.candidate_row import CANDIDATE, NAMES, CleanRow, Row, checked, clean
from reviewer.fleet.pool import cores, pool
from reviewer.fleet.values import LAYOUT, FleetError, extra
from reviewer.proposing.values import Proposer
from reviewer.sources.elsewhere import EXCERPT_AT, RECORD_LINE
from reviewer.sources.records import Shape
from reviewer.store.stored_text import Stored, StoredText

ROWS_AT_ONCE = 10_000
"""Candidates that are read together, and written in one act."""
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
"""The columns of the table `memory` that `Candidates.memory` has, in this order."""
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


Columns = dict[str, list[Any]]
"""The values of each of NAMES."""


class Candidates(Struct, frozen=True):
    """Rows of the file, ready to be written, by columns."""

    fact: list[str]
    leader: list[str]
    wording: list[int]
    path: list[str]
    format: list[str]
    record: list[str]
    """The keys of the records in which they were found."""
    span_start: list[int]
    span_end: list[int]
    start: list[int]
    end: list[int]
    """Their spans in the excerpts."""
    excerpt: list[str]
    """The keys of the records that have only the text around them. Records of their own: the whole
    ones may be read into the same project later."""
    memory: tuple[list[Stored], ...]
    text: tuple[list[Stored], ...]
    """The values of MEMORY and RECORD."""
    entities: dict[int, Entity]
    masked: dict[int, int]
    """Secrets that were masked just now, by the position of the row."""

    def __len__(self) -> int:
        return len(self.fact)

    def column(self, name: str) -> list[Any]:
        """A column of MEMORY."""
        return self.memory[MEMORY.index(name)]


class _Layout(Struct, frozen=True):
    """What every version writes into a file."""

    layout: int


class CandidateFile:
    """A file of `collapse`. `count`: how many of its candidates are wanted."""

    def __init__(self, path: Path, top: int | None) -> None:
        """Raises FleetError when `collapse` did not write it."""
        pq = extra("pyarrow.parquet")
        self._path = path
        try:
            with open_file(path), closing(pq.ParquetFile(path)) as file:
                meta = file.schema_arrow.metadata or {}
                layout = msgspec.json.decode(meta[b"reviewer"], type=_Layout).layout
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
        if layout != LAYOUT:
            raise FleetError(
                f"{path} was written by another version of reviewer (layout {layout}; this one"
                f" reads {LAYOUT}). Collapse the parts again with this version."
            )
        if missing := sorted(CANDIDATE.keys() - names):
            raise FleetError(
                f"{path} is not a file of candidates (it has no column {missing[0]}): write one"
                " with `reviewer fleet collapse`."
            )
        total = sum(self._groups)
        self.count = total if top is None else min(top, total)

    def batches(self) -> Iterator[Candidates]:
        """The candidates in their order. Raises FleetError naming the first that is not right."""
        large = self.count > FOR_PROCESSES and max(self._groups) <= LARGEST_GROUP
        return self._by_processes() if large else _read(self._path, None, 0, self.count)

    def _by_processes(self) -> Iterator[Candidates]:
        """Each group of rows by another process, some ahead of those that are taken."""
        width = max(1, min(MOST_PROCESSES, cores() - 1))
        waiting: deque[Future[list[Candidates]]] = deque()
        executor = pool(width, __name__)
        firsts = accumulate(self._groups, initial=0)
        try:
            for number, first in zip(range(len(self._groups)), firsts, strict=False):
                if first < self.count:
                    most = self.count - first
                    waiting.append(executor.submit(_read_group, self._path, number, first, most))
                if len(waiting) > width:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        except BrokenExecutor as problem:
            raise FleetError(
                f"{self._path} was not read to its end: a process that read it has ended (out of "
                "memory, or a crash). The same command adds the rest."
            ) from problem
        finally:
            executor.shutdown(wait=True, cancel_futures=True)


def _read_group(path: Path, group: int, first: int, most: int) -> list[Candidates]:
    """The candidates of a group of rows, some at a time; `first`: how many there are before it."""
    gc.disable()  # nothing here refers to itself, and looking for it takes long
    return list(_read(path, group, first, most))


def _read(path: Path, group: int | None, number: int, most: int) -> Iterator[Candidates]:
    """At most so many candidates of one group of rows, or of all; `number`: how many there are
    before it.
    """
    pa, pq = extra("pyarrow"), extra("pyarrow.parquet")
    try:
        # One thread and no pre-buffering: a whole group of rows ahead is a lot of memory.
        with closing(pq.ParquetFile(path, pre_buffer=False)) as file:
            groups = None if group is None else [group]
            for batch in file.iter_batches(
                ROWS_AT_ONCE, row_groups=groups, columns=list(NAMES), use_threads=False
            ):
                batch = batch.slice(0, most)
                columns = (batch.column(name).to_pylist() for name in NAMES)
                rows = [
                    _checked(path, each, values)
                    for each, values in enumerate(zip(*columns, strict=True), number + 1)
                ]
                yield _candidates(list(map(clean, rows)))
                number, most = number + len(rows), most - len(rows)
                if not most:
                    return
    except (pa.ArrowException, ValueError, OSError) as problem:
        raise FleetError(
            f"{path} cannot be read after candidate {number:,}: {problem}. Collapse the parts"
            " again."
        ) from problem


def _checked(path: Path, number: int, values: Sequence[object]) -> Row:
    try:
        return checked(values)
    except ValueError as problem:
        raise FleetError(
            f"Candidate {number} of {path} cannot be imported: {problem}. Collapse the parts again."
        ) from problem


def _candidates(rows: Sequence[CleanRow]) -> Candidates:
    values = zip(*(structs.astuple(each.row) for each in rows), strict=True)
    columns = dict(zip(NAMES, map(list, values), strict=True))
    masked = {number: each.masked for number, each in enumerate(rows) if each.masked}
    contents, excerpts = columns["content"], columns["excerpt"]
    starts, ends = _spans(columns)
    for number in masked:  # the span may be another one
        if (at := excerpts[number].find(contents[number])) >= 0:
            starts[number], ends[number] = at, at + len(contents[number])
    proposed = [int(each == Proposer.EXCERPT) for each in columns["proposer"]]
    memory = {
        **columns,
        "confidence": _each_value(lambda share: round(share, 4), columns["confidence"]),
        "excerpt": proposed,
    }
    text = {
        **columns,
        "key": [
            f"{record}@{start}+{len(excerpt)}"
            for record, start, excerpt in zip(
                columns["record"], columns["excerpt_start"], excerpts, strict=True
            )
        ],
        "line_start": [
            _first_line(shape, line, excerpt, start)
            for shape, line, excerpt, start in zip(
                columns["shape"], columns["line_start"], excerpts, starts, strict=True
            )
        ],
        "at": _each_value(written_moment, columns["at"]),
        "sidechain": list(map(int, columns["sidechain"])),
        "meta": [
            f'{{"{EXCERPT_AT}":"{start}","{RECORD_LINE}":"{line}"}}'
            for start, line in zip(columns["excerpt_start"], columns["record_line"], strict=True)
        ],
        "text": excerpts,
    }
    entities = {
        number: _entity(columns, number)
        for number, kind in enumerate(columns["kind"])
        if kind == "entity"
    }
    return Candidates(
        columns["fact"],
        columns["leader"],
        columns["wording"],
        columns["path"],
        columns["format"],
        columns["record"],
        columns["span_start"],
        columns["span_end"],
        starts,
        ends,
        text["key"],
        tuple(memory[name] for name in MEMORY),
        tuple(text[name] for name in RECORD),
        entities,
        masked,
    )


def _spans(columns: Columns) -> tuple[list[int], list[int]]:
    """Where the excerpts have the statements."""
    starts: list[int] = []
    ends: list[int] = []
    for first, last, begins, excerpt in zip(
        columns["span_start"],
        columns["span_end"],
        columns["excerpt_start"],
        columns["excerpt"],
        strict=True,
    ):
        start = max(0, first - begins)
        starts.append(start)
        ends.append(max(start, min(len(excerpt), last - begins)))
    return starts, ends


def _each_value(change: Callable[[Any], Any], values: Sequence[Any]) -> list[Any]:
    """Each value changed, of which there are few different ones."""
    changed = {value: change(value) for value in set(values)}
    return list(map(changed.__getitem__, values))


def _entity(columns: Columns, number: int) -> Entity:
    def text(name: str, otherwise: str) -> StoredText:
        return StoredText(columns[name][number] or otherwise)

    relations = msgspec.json.decode(text("relations", "[]"), type=tuple[Relation, ...])
    return Entity(
        text("name", columns["content"][number]),
        text("slot", ""),
        text("attributes", "[]"),
        tuple(
            dict.fromkeys(
                (StoredText(str(each.kind)), StoredText(each.target_name)) for each in relations
            )
        ),
    )


def _first_line(shape: str, line: int, excerpt: str, start: int) -> int:
    """The first line of the excerpt: the text of a record that is no turn is its lines."""
    before = 0 if shape == Shape.TURN else excerpt.count("\n", 0, start)
    return max(0, line - before)
