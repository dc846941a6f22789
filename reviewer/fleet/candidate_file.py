"""A file of candidates, checked and masked as it is read, by other processes where it is large."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, structs

from reviewer.clock import written_moment
from reviewer.extraction.candidates import MemoryType
from reviewer.extraction.entities.entity import Attribute, EntityType, Relation
from reviewer.extraction.flags import flags_of
from reviewer.extraction.rejections import LONGEST, SHORTEST
from reviewer.files import open_file, reason_of
from reviewer.fleet.collapse import CANDIDATE
from reviewer.fleet.pool import cores, pool
from reviewer.fleet.values import LAYOUT, FleetError, Settings, extra
from reviewer.proposing.values import Proof, Proposer
from reviewer.sources.elsewhere import EXCERPT_AT, RECORD_LINE
from reviewer.sources.records import Role, Shape, Use
from reviewer.store.changes import Value
from reviewer.text.normalise import duplicate_key
from reviewer.text.secrets import mask, secrets_in

ROWS_AT_ONCE = 2_000
MASKED_AT_ONCE = 16
"""Rows whose texts are searched for secrets together; only where one is found, each alone."""
FOR_PROCESSES = 20_000
"""A file with more candidates is read by other processes while this one writes."""
MOST_PROCESSES = 4
LARGEST_GROUP = 50_000
"""Rows that one call may read. `collapse` writes groups of 10,000."""

Share = Annotated[float, Meta(ge=0, le=2)]
Count = Annotated[int, Meta(ge=0, le=2**62)]


class _Row(Struct, frozen=True, array_like=True, gc=False):
    """A row of the file, checked."""

    path: Annotated[str, Meta(min_length=1, max_length=4_096)]
    format: str
    kind: Literal["memory", "entity"]
    type: str
    content: Annotated[str, Meta(min_length=SHORTEST, max_length=LONGEST)]
    key: Annotated[str, Meta(min_length=1, max_length=2 * LONGEST)]
    fact: str
    leader: str
    wording: int
    proposer: Proposer
    rule: str
    extractor_version: str
    prior: Share
    signal: Share
    freshness: Share
    confidence: Share
    flags: str
    need: str
    scope: Literal["project", "person"]
    proof: str
    name: str | None
    slot: str | None
    attributes: str | None
    relations: str | None
    record_line: Count
    line_start: Count
    line_end: Count
    byte_start: Count
    byte_end: Count
    record: Annotated[str, Meta(min_length=1, max_length=2_000)]
    sha256: Annotated[str, Meta(max_length=64)]
    session: str | None
    at: str | None
    role: Role
    use: Use
    shape: Shape
    sidechain: bool
    span_start: Count
    span_end: Count
    excerpt: Annotated[str, Meta(max_length=20_000)]
    excerpt_start: Count
    seen: Annotated[int, Meta(ge=1, le=2**62)]
    sessions: Count
    authors: Count


MEMORY = (
    "kind", "type", "content", "key", "rule", "extractor_version", "prior", "signal", "freshness",
    "confidence", "flags", "seen", "proposer", "excerpt", "scope", "need", "proof", "sessions",
    "authors",
)  # fmt: skip
"""The columns of the table `memory` that `Candidate.memory` has, in this order."""
RECORD = (
    "key", "line_start", "line_end", "byte_start", "byte_end", "sha256", "role", "use", "shape",
    "at", "session", "sidechain", "meta", "text",
)  # fmt: skip
"""The same of `record`."""


class Entity(Struct, frozen=True, array_like=True):
    """What the row of an entity has besides."""

    name: str
    slot: str
    attributes: str
    relations: tuple[tuple[str, str], ...]
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
    rule: str
    extractor_version: str
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
    memory: tuple[Value, ...]
    text: tuple[Value, ...]
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
    return [_encoder.encode(batch) for batch in _read(path, group, first)]


def _read(path: Path, group: int | None, number: int) -> Iterator[list[Candidate]]:
    """The candidates of one group of rows, or of all; `number`: how many there are before it."""
    pa, pq = extra("pyarrow"), extra("pyarrow.parquet")
    names = _Row.__struct_fields__
    try:
        # One thread and no pre-buffering: a whole group of rows ahead is a lot of memory.
        with closing(pq.ParquetFile(path, pre_buffer=False)) as file:
            groups = None if group is None else [group]
            for batch in file.iter_batches(
                ROWS_AT_ONCE, row_groups=groups, columns=list(names), use_threads=False
            ):
                columns = [batch.column(name).to_pylist() for name in names]
                rows: list[_Row] = []
                for values in zip(*columns, strict=True):
                    number += 1
                    rows.append(_checked(msgspec.convert(values, _Row)))
                yield list(_ready(rows))
    except (pa.ArrowException, msgspec.ValidationError, ValueError, OSError) as problem:
        raise FleetError(
            f"Candidate {number} of {path} cannot be imported: {problem}. What was "
            "imported before it stays; `reviewer history` lists it."
        ) from problem


_EMPTY_PROOF = "{}"


def _checked(row: _Row) -> _Row:
    """The row, if what is text in it is what it should be. Raises ValueError."""
    (MemoryType if row.kind == "memory" else EntityType)(row.type)
    if row.proof != _EMPTY_PROOF:
        msgspec.json.decode(row.proof, type=Proof)
    if row.kind == "entity":
        msgspec.json.decode(row.attributes or "[]", type=tuple[Attribute, ...])
        msgspec.json.decode(row.relations or "[]", type=tuple[Relation, ...])
    if not row.span_start <= row.span_end:
        raise ValueError("its span ends before it begins")
    return row


# Masking. The texts were masked when the sessions were read, so there is hardly ever a secret.

_TEXTS = ("content", "excerpt", "name", "slot", "session", "rule")
_DOCUMENTS = ("proof", "attributes", "relations")
_APART = "\n\n"


def _ready(rows: Sequence[_Row]) -> Iterator[Candidate]:
    for start in range(0, len(rows), MASKED_AT_ONCE):
        some = rows[start : start + MASKED_AT_ONCE]
        suspicious = bool(mask(_APART.join(_words(row) for row in some)).kinds)
        for row in some:
            clean, masked = _masked(row) if suspicious else (row, 0)
            yield _candidate(_flagged(clean), masked)


def _flagged(row: _Row) -> _Row:
    """The row, flagged by what it says: anybody may have written the file."""
    found = flags_of(row.content, row.role)
    flags = " ".join(dict.fromkeys((*row.flags.split(), *found)))
    return row if flags == row.flags else structs.replace(row, flags=flags)


def _words(row: _Row) -> str:
    texts = [row.excerpt, row.record, row.session or "", row.rule]
    if row.content not in row.excerpt:
        texts.append(row.content)
    if row.proof != _EMPTY_PROOF:
        texts += _strings(msgspec.json.decode(row.proof))
    if row.kind == "entity":
        texts += [row.name or "", row.slot or ""]
        for document in (row.attributes, row.relations):
            texts += _strings(msgspec.json.decode(document or "[]"))
    return _APART.join(texts)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)


def _masked(row: _Row) -> tuple[_Row, int]:
    """The row without secrets, and how many there were."""
    found = 0
    changed: dict[str, str] = {}
    in_context = secrets_in(row.excerpt)

    def masked(text: str) -> str:
        nonlocal found
        without = mask(text)
        found += len(without.kinds)
        text = without.text
        for value, kind in in_context:  # what shows that it is one may be before the statement
            found += value in text
            text = text.replace(value, f"[masked {kind}]")
        return text

    for name in _TEXTS:
        before = getattr(row, name)
        if before and (after := masked(before)) != before:
            changed[name] = after
    for name in _DOCUMENTS:
        before = getattr(row, name)
        if before and before != _EMPTY_PROOF:
            document = msgspec.json.decode(before)
            if (after_all := _each_string(document, masked)) != document:
                changed[name] = msgspec.json.encode(after_all).decode()
    if mask(row.record).kinds:  # two different keys must not become one
        changed["record"] = f"sha256:{hashlib.sha256(row.record.encode()).hexdigest()}"
    if not changed:
        return row, 0
    if "content" in changed:
        changed["content"] = changed["content"][:LONGEST]
        changed["key"] = duplicate_key(changed["content"])
    return structs.replace(row, **changed), found


def _each_string(value: Any, change: Any) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: _each_string(each, change) for name, each in value.items()}
    if isinstance(value, list):
        return [_each_string(each, change) for each in value]
    return value


def _candidate(row: _Row, masked: int) -> Candidate:
    excerpt = f"{row.record}@{row.excerpt_start}+{len(row.excerpt)}"
    start = max(0, row.span_start - row.excerpt_start)
    end = max(start, min(len(row.excerpt), row.span_end - row.excerpt_start))
    if masked and (at := row.excerpt.find(row.content)) >= 0:
        start, end = at, at + len(row.content)
    entity = None
    if row.kind == "entity":
        relations = msgspec.json.decode(row.relations or "[]", type=tuple[Relation, ...])
        entity = Entity(
            row.name or row.content,
            row.slot or "",
            row.attributes or "[]",
            tuple(dict.fromkeys((str(each.kind), each.target_name) for each in relations)),
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
        row.rule,
        row.extractor_version,
        row.path,
        row.format,
        row.record,
        row.span_start,
        row.span_end,
        excerpt,
        start,
        end,
        (
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
            row.proposer.value,
            int(row.proposer is Proposer.EXCERPT),
            row.scope,
            row.need,
            row.proof,
            row.sessions,
            row.authors,
        ),
        (
            excerpt,
            _first_line(row, start),
            row.line_end,
            row.byte_start,
            row.byte_end,
            row.sha256,
            row.role.value,
            row.use.value,
            row.shape.value,
            written_moment(row.at),
            row.session,
            int(row.sidechain),
            f'{{"{EXCERPT_AT}":"{row.excerpt_start}","{RECORD_LINE}":"{row.record_line}"}}',
            row.excerpt,
        ),
        entity,
        masked,
    )


def _first_line(row: _Row, start: int) -> int:
    """The first line of the excerpt: the text of a record that is no turn is its lines."""
    before = 0 if row.shape is Shape.TURN else row.excerpt.count("\n", 0, start)
    return max(0, row.line_start - before)
