"""How pieces of a file travel from a reading process: MessagePack, each behind its length."""

from __future__ import annotations

from typing import IO

import msgspec
from msgspec import Struct

from reviewer.extraction.candidates import Candidate, MemoryType
from reviewer.extraction.entities.entity import EntityCandidate, EntityType
from reviewer.extraction.verdicts import Began, Dropped, Event, Remembered, Verdict
from reviewer.promotion.reading import Batch, Closed, Job, Opened, Piece, light
from reviewer.sources.records import Record

_HEAD = 8
"""Bytes before a value: whether it is the last one about a file, and its length."""


class _Memory(Candidate, frozen=True):
    type: MemoryType


class _Entity(EntityCandidate, frozen=True):
    type: EntityType


class _Said(Struct, frozen=True, array_like=True, omit_defaults=True):
    """An event: the fields of one of its kinds are set."""

    began: str | None = None
    remembered: tuple[str, ...] | None = None
    dropped: Dropped | None = None
    memory: _Memory | None = None
    entity: _Entity | None = None
    content: str = ""
    restates: Dropped | None = None


class Sent(Struct, frozen=True, omit_defaults=True):
    """A piece, or why there is none: the fields of one kind are set.

    `failed`: the sentence of a SourceError (an OtherKindError with `other_kind`), or with `errno`
    the text of an OSError.
    """

    format: str | None = None
    records: list[Record] | None = None
    masked: int = 0
    events: list[_Said] = []
    tally: dict[str, int] | None = None
    errors: list[str] = []
    failed: str | None = None
    errno: int | None = None
    other_kind: bool = False


_encoder = msgspec.msgpack.Encoder()
_sent = msgspec.msgpack.Decoder(Sent)
_job = msgspec.msgpack.Decoder(Job)


def write(stream: IO[bytes], value: Job | Sent) -> None:
    """Send one value. Raises OSError when nobody listens any more."""
    data = _encoder.encode(value)
    last = isinstance(value, Sent) and (value.tally is not None or value.failed is not None)
    stream.write(bytes([last]) + len(data).to_bytes(_HEAD - 1, "big"))
    stream.write(data)
    stream.flush()


def read_bytes(stream: IO[bytes]) -> tuple[bool, bytes] | None:
    """Whether a value is the last about its file, and what was sent; None where that broke off."""
    head = stream.read(_HEAD)
    if len(head) < _HEAD:
        return None
    size = int.from_bytes(head[1:], "big")
    data = stream.read(size)
    return (bool(head[0]), data) if len(data) == size else None


def read_job(stream: IO[bytes]) -> Job | None:
    """The next job; None when there is none any more."""
    arrived = read_bytes(stream)
    return None if arrived is None else _job.decode(arrived[1])


def pack(piece: Piece) -> Sent:
    """A piece as it is sent; candidates go without the text of their records."""
    if isinstance(piece, Opened):
        return Sent(format=piece.format)
    events = [_pack(event) for event in piece.events]
    if isinstance(piece, Batch):
        return Sent(records=piece.records, masked=piece.masked, events=events)
    return Sent(tally=piece.tally, errors=piece.errors, events=events)


def unpack(data: bytes) -> Sent:
    """What was sent."""
    return _sent.decode(data)


def piece_of(sent: Sent) -> Piece:
    """The piece that was sent. `sent.failed` is None."""
    if sent.format is not None:
        return Opened(sent.format)
    events = [_unpack(said) for said in sent.events]
    if sent.records is not None:
        return Batch(sent.records, sent.masked, events)
    return Closed(events, sent.tally or {}, sent.errors)


def _pack(event: Event) -> _Said:
    if isinstance(event, Began):
        return _Said(began=event.key)
    if isinstance(event, Remembered):
        return _Said(remembered=event.wordings)
    outcome = event.outcome
    if isinstance(outcome, Dropped):
        return _Said(dropped=outcome, content=event.content, restates=event.restates)
    name = "entity" if isinstance(outcome, EntityCandidate) else "memory"
    # Encoding looks at the value's own class, which has the same fields.
    return _Said(**{name: light(outcome)}, content=event.content, restates=event.restates)  # type: ignore[arg-type]


def _unpack(said: _Said) -> Event:
    if said.began is not None:
        return Began(said.began)
    if said.remembered is not None:
        return Remembered(said.remembered)
    outcome: Candidate | Dropped
    if said.entity is not None:
        outcome = _plain(EntityCandidate, said.entity)
    elif said.memory is not None:
        outcome = _plain(Candidate, said.memory)
    else:
        assert said.dropped is not None
        outcome = said.dropped
    return Verdict(outcome, said.content, said.restates)


def _plain(kind: type[Candidate], sent: Candidate) -> Candidate:
    return kind(**{name: getattr(sent, name) for name in kind.__struct_fields__})
