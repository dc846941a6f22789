"""Reads one file once: its events for findings, its records masked and run through the extractor.
Needs no store.

Everything runs in the calling process. A process pool is slower on two cores (74 transcripts of 33
MB, medians of six: 3.5 s against 3.1 s), because it waits for whole files and pickles them; a fork
server of our own would save 0.7 s of the first ingestion.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct, structs

from reviewer.extraction.candidates import Candidate, Setting
from reviewer.extraction.extract import Event as Found
from reviewer.extraction.extract import Extractor, cited_lines
from reviewer.promotion.rows.masked_records import mask_record, texts_in
from reviewer.sessions.findings import Finding, Findings
from reviewer.sources import stream
from reviewer.sources.events import Rewind
from reviewer.sources.records import Record, RecordUse
from reviewer.text.secrets import mask, with_secrets

BATCH_RECORDS = 64
"""Records in a batch, for one query of the store."""

LONGEST_JUDGED = 2_000_000
"""Characters of a message searched for statements; a longer one is a pasted log or file, not
speech.
"""
LONGEST_FAULT = 200
"""Characters of a quoted error, which may quote the file."""


class Batch(Struct, frozen=True):
    """Masked records, the number of secrets in them, and the extractor's finds."""

    records: list[Record]
    masked: int
    found: list[Found]


class SourcePass:
    """The content of one file. Iterating, once, yields its records and the Rewinds of them, and
    fills `tally` (lines skipped by reason), `errors` and `findings`.

    `setting`: for the extractor. `sessions`: the only ones to read from a file with sessions of
    several projects. Raises SourceError or OSError, at the start or midway, if the file cannot be
    read.
    """

    def __init__(
        self, path: Path, setting: Setting, sessions: frozenset[str] | None = None
    ) -> None:
        self._content = stream.read(path, sessions=sessions)
        self._extractor = Extractor(setting)
        self.format = self._content.format
        self.tally, self.errors = self._content.tally, self._content.errors
        self.findings: list[Finding] = []

    def __iter__(self) -> Iterator[Batch | Rewind]:
        findings = Findings()
        records: list[Record] = []
        for each in self._content.with_records():
            if isinstance(each, Record):
                records.append(each)
                if len(records) < BATCH_RECORDS:
                    continue
            else:
                findings.add(each)
                if not isinstance(each, Rewind):
                    continue
            if records:
                yield _batch(records, self._extractor)
                records = []
            if isinstance(each, Rewind):
                yield each
        if records:
            yield _batch(records, self._extractor)
        self.findings = findings.close()


def _batch(records: list[Record], extractor: Extractor) -> Batch:
    """Mask records, and propose from them."""
    # The clean ones are known as such from here on.
    with_secrets(text for record in records for text in texts_in(record))
    masked = 0
    clean: list[Record] = []
    found: list[Found] = []
    for record in records:
        if record.use is RecordUse.MESSAGE and len(record.text) > LONGEST_JUDGED:
            record = structs.replace(record, use=RecordUse.OVERLONG)
        record, secrets = mask_record(record)
        masked += secrets
        clean.append(record)
        found += extractor.feed(record)
    return Batch(clean, masked, found)


def without_text(candidate: Candidate) -> Candidate:
    """Narrow the lines of a candidate's record to those of the span, and drop its text: thousands
    of candidates are kept in memory.
    """
    first, last = cited_lines(candidate)
    record = structs.replace(
        candidate.record, text="", meta={}, headings=(), line_start=first, line_end=last
    )
    return structs.replace(candidate, record=record)


def reason_of_fault(problem: Exception) -> str:
    """Why a file cannot be read, as a part of a sentence, for an error that no reader expects."""
    if isinstance(problem, MemoryError):
        return "it needs more memory than is available"
    if isinstance(problem, RecursionError):
        return "it is nested too deeply"
    if isinstance(problem, OSError):
        return (problem.strerror or str(problem)).lower()
    said = " ".join(mask(str(problem)).text.split())[:LONGEST_FAULT]
    at = problem.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    place = f" in {Path(at.tb_frame.f_code.co_filename).name}:{at.tb_lineno}" if at else ""
    return f"{type(problem).__name__}{place}{f' ({said})' if said else ''}"
