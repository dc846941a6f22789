"""Reads one file once: its events for findings, its records masked and run through the extractor.
Needs no store.

Everything runs in the calling process. A process pool is slower on two cores (74 transcripts of 33
MB, medians of six: 3.5 s against 3.1 s), because it waits for whole files and pickles them; a fork
server of our own would save 0.7 s of the first ingestion.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct, structs

from reviewer.extraction.candidates import Candidate, Setting
from reviewer.extraction.extract import Event as Found
from reviewer.extraction.extract import Extractor, cited_lines
from reviewer.promotion.rows.masked_records import mask_record
from reviewer.sessions.findings import Finding, Findings
from reviewer.sources import stream
from reviewer.sources.events import Rewind
from reviewer.sources.records import Record, RecordUse
from reviewer.text.placeholder import MASK
from reviewer.text.secrets import with_secrets

BATCH_RECORDS = 64
"""Records in a batch, for one query of the store."""

LONGEST_JUDGED = 2_000_000
"""Characters of a message searched for statements; a longer one is a pasted log or file, whose
sentences nobody said.
"""


class ReadJob(Struct, frozen=True):
    """A file to read. Records without a time of their own get the one in `modified_ns`."""

    path: str
    now: datetime
    modified_ns: int
    extract: bool = True
    sessions: frozenset[str] | None = None
    """The only sessions to read from a file with sessions of several projects."""
    name: str = ""
    """The name for citations, if it differs from the path."""

    @property
    def cited_as(self) -> str:
        return self.name or self.path


class Opened(Struct, frozen=True):
    """The first piece: the file's format is known."""

    format: str


class Batch(Struct, frozen=True):
    """Masked records, the number of secrets in them, and what the extractor found."""

    records: list[Record]
    masked: int
    found: list[Found]


class Closed(Struct, frozen=True):
    """The last piece: lines skipped by reason, damaged lines, and findings."""

    tally: dict[str, int]
    errors: list[str]
    findings: list[Finding] = []


Piece: TypeAlias = Opened | Batch | Rewind | Closed


def read(job: ReadJob) -> Iterator[Piece]:
    """Yield an Opened, Batches, the Rewinds of them, and a Closed, in the order of the file.

    Raises SourceError or OSError, at the start or midway, if the file cannot be read.
    """
    content = stream.read(Path(job.path), sessions=job.sessions)
    yield Opened(content.format)
    extractor, findings = Extractor(_setting(job)) if job.extract else None, Findings()
    records: list[Record] = []
    for each in content.with_records():
        if isinstance(each, Record):
            records.append(each)
            if len(records) < BATCH_RECORDS:
                continue
        else:
            findings.add(each)
            if not isinstance(each, Rewind):
                continue
        if records:
            yield _batch(records, extractor)
            records = []
        if isinstance(each, Rewind):
            yield each
    if records:
        yield _batch(records, extractor)
    yield Closed(dict(content.tally), content.errors, findings.close())


def _batch(records: list[Record], extractor: Extractor | None) -> Batch:
    """Mask records, and propose from them."""
    with_secrets(record.text for record in records)  # and the clean ones are known as such
    masked = 0
    clean: list[Record] = []
    found: list[Found] = []
    for record in records:
        if record.use is RecordUse.MESSAGE and len(record.text) > LONGEST_JUDGED:
            record = structs.replace(record, use=RecordUse.OVERLONG)
        record, secrets = mask_record(record)
        masked += secrets
        clean.append(record)
        if extractor is not None:
            found += extractor.feed(record)
    return Batch(clean, masked, found)


def _setting(job: ReadJob) -> Setting:
    changed = datetime.fromtimestamp(job.modified_ns / 1e9, UTC)
    return Setting(path=job.cited_as, now=job.now, updated=changed)


def without_text(candidate: Candidate) -> Candidate:
    """Narrow the lines of a candidate's record to those of the span, and drop its text: thousands
    of candidates are kept in memory.
    """
    first, last = cited_lines(candidate)
    record = structs.replace(
        candidate.record, text="", meta={}, headings=(), line_start=first, line_end=last
    )
    flags = set(candidate.flags) | ({"secret"} if MASK in candidate.content else set())
    return structs.replace(candidate, record=record, flags=tuple(sorted(flags)))
