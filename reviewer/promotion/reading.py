"""The part of an ingestion that needs no store: a file read, masked and judged, piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct, structs

from reviewer.extraction.candidates import Candidate, Setting
from reviewer.extraction.extract import Statements, cited_lines
from reviewer.extraction.judge import Judge
from reviewer.extraction.verdicts import Event, Verdict
from reviewer.sources.open import open_source
from reviewer.sources.records import Record, Shape
from reviewer.text.secrets import mask

HANDFUL = 64
"""Records that are given, and looked up in the store, at a time."""

MASK = "[masked "
"""How a masked secret begins in a text (`text/secrets.py`)."""


class Job(Struct, frozen=True):
    """A file to be read. `modified_ns`: when it was changed, for records without a time."""

    path: str
    now: datetime
    modified_ns: int
    extract: bool = True


class Opened(Struct, frozen=True):
    """The file is of a format that can be read."""

    format: str


class Batch(Struct, frozen=True):
    """Masked records, how many secrets were masked in them, and what was said since the last."""

    records: list[Record]
    masked: int
    events: list[Event]


class Closed(Struct, frozen=True):
    """The file is at its end: what was said since, what was passed over, and damage."""

    events: list[Event]
    tally: dict[str, int]
    errors: list[str]


Piece: TypeAlias = Opened | Batch | Closed


def read(job: Job) -> Iterator[Piece]:
    """Everything about a file, in the order of its records.

    Raises SourceError or OSError, here or in the middle, when the file cannot be read.
    """
    scan = open_source(Path(job.path))
    yield Opened(scan.format)
    findings = Judge(_setting(job))
    remaining = iter(scan)
    while handful := list(islice(remaining, HANDFUL)):
        masked = 0
        records: list[Record] = []
        events: list[Event] = []
        for record in handful:
            clean, secrets = without_secrets(record)
            masked += secrets
            records.append(clean)
            if job.extract:
                events += findings.feed(clean)
        yield Batch(records, masked, events)
    yield Closed(list(findings.finish()), dict(scan.tally), scan.errors)


def judged_as_last(job: Job, record: Record) -> Iterator[Verdict]:
    """What is said of a SAID record of `read` when no later one is looked at."""
    statements = Statements(_setting(job))
    yield from statements.feed(record)
    yield from statements.finish()


def _setting(job: Job) -> Setting:
    changed = datetime.fromtimestamp(job.modified_ns / 1e9, UTC)
    return Setting(path=job.path, now=job.now, updated=changed)


def without_secrets(record: Record) -> tuple[Record, int]:
    """The record without credentials, and how many its text held."""
    masked = mask(record.text)
    headings = tuple(_mask_label(heading) for heading in record.headings)
    meta = {name: _mask_label(value) for name, value in record.meta.items()}
    if masked.kinds or headings != record.headings or meta != record.meta:
        clean = structs.replace(record, text=masked.text, headings=headings, meta=meta)
        return clean, len(masked.kinds)
    return record, 0


def light(candidate: Candidate) -> Candidate:
    """A candidate without the text of its record, whose lines become those of the span.

    That is how it is kept and sent: the text is in the store by then.
    """
    first, last = cited_lines(candidate)
    record = structs.replace(
        candidate.record, text="", meta={}, headings=(), shape=Shape.TURN,
        line_start=first, line_end=last,
    )  # fmt: skip
    flags = set(candidate.flags) | ({"secret"} if MASK in candidate.content else set())
    return structs.replace(candidate, record=record, flags=tuple(sorted(flags)))


@lru_cache(maxsize=4096)
def _mask_label(text: str) -> str:
    """A heading, folder or branch without secrets; the same ones come with every record."""
    return mask(text).text
