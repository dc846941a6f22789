"""All that one file proposes, as values: reading, masking and proposing without a store.

The wave of one machine takes the same steps file by file (`source_reader.read`,
`offline_statements.propose_from`), but writes records as they come and ranks against its store.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from reviewer.errors import OtherKindError, SourceError
from reviewer.extraction.candidates import Candidate
from reviewer.extraction.ranking import base_score
from reviewer.extraction.verdicts import Event, Remembered, Verdict, stable_fingerprint
from reviewer.promotion.candidate_collector import CandidateCollector, likelihood
from reviewer.promotion.faults import reason_of_fault
from reviewer.promotion.offline_statements import propose_from
from reviewer.promotion.source_reader import (
    Abandoned,
    Batch,
    Closed,
    Job,
    Opened,
    read,
    without_text,
)
from reviewer.promotion.statement_rows import Prepared, score
from reviewer.proposing.offline import proposals_by_session
from reviewer.sources.records import Record, Role, Use

AROUND = 300
"""Characters of a record kept before and after a span, so that it can be judged elsewhere."""
BEHIND = 0.5
"""Factor on the score of a find that is shown behind a better one of the same spot."""
MOST = 250_000
"""Places of a file, which are kept in memory: sessions have some 60 in a MB."""
SHORT = 1_000
"""Characters of a record that is kept whole."""


class Excerpt(Struct, frozen=True):
    """A part of a record's text, from the character `start` on."""

    text: str
    start: int

    @classmethod
    def of(cls, text: str, start: int, end: int) -> Excerpt:
        """The text around a span."""
        if len(text) <= SHORT:
            return cls(text, 0)
        first = max(0, start - AROUND)
        return cls(text[first : end + AROUND], first)


class Found(Struct, frozen=True):
    """One place at which one statement was found.

    `same_as`: the wording by which it is recognised in other sessions; `content` of a spot in a
    dialogue takes in what is around it. `sentence`: the fingerprint of the sentence behind it, by
    which boot text is recognised; None: it cannot be boot text.
    """

    candidate: Candidate
    excerpt: Excerpt
    record_line: int
    """The first line of the whole record; `candidate.record` has those of the span."""
    score: float
    same_as: str
    cwd: str
    sentence: int | None = None
    is_note: bool = False
    """It was written as a note; else it is a place to look in a dialogue."""


class SessionRead(Struct, frozen=True, kw_only=True):
    """The content of a file. With a `problem`, a sentence, the rest is empty."""

    format: str = ""
    found: tuple[Found, ...] = ()
    statements: tuple[tuple[Prepared, float], ...] = ()
    """Statements with their proof, each with its score."""
    boot: tuple[int, ...] = ()
    """Fingerprints of the sentences that every session begins with, sorted."""
    records: int = 0
    masked: int = 0
    cwd: str = ""
    """The first working folder that the file names."""
    tally: dict[str, int] = {}
    errors: tuple[str, ...] = ()
    problem: str = ""
    other_kind: bool = False
    """The file is intact, but of a kind that is not read."""


def read_session(
    path: Path, *, name: str, modified_ns: int, now: datetime, seconds: float = math.inf
) -> SessionRead:
    """Read the file at `path`, cited as `name`, and propose from it.

    `seconds`: of the processor, after which the file is given up. Never raises for a file: what is
    wrong with it becomes its `problem`.
    """
    job = Job(str(path), now, modified_ns, name=name)
    try:
        return _Reading(job, seconds).done()
    except SourceError as problem:
        other = isinstance(problem, OtherKindError)
        return SessionRead(problem=str(problem).replace(str(path), name), other_kind=other)
    except OSError as problem:
        reason = problem.strerror or str(problem)
        return SessionRead(problem=f"{name} cannot be read: {reason.lower()}.")
    except Exception as problem:  # among millions of files, one must not end the others
        return SessionRead(problem=f"{name} cannot be read: {reason_of_fault(problem)}.")


class _Reading:
    def __init__(self, job: Job, seconds: float) -> None:
        self._job = job
        self._seconds = seconds
        self._until = time.thread_time() + seconds
        self._candidates: list[Candidate] = []
        """Those beyond what the collector keeps of one file."""
        self._collector = CandidateCollector(_forget, self._candidates.append, self._slim)
        self._boot: set[int] = set()
        self._sentences: dict[tuple[str, int, int], int] = {}
        self._excerpts: dict[tuple[str, int, int], tuple[Excerpt, int]] = {}
        """For each place, the text around it and the first line of its record."""
        self._folders: dict[str, str] = {}
        self._records = self._masked = 0
        self._cwd = ""

    def done(self) -> SessionRead:
        """Everything, read to the end. Raises SourceError and OSError."""
        job, format_ = self._job, ""
        path = Path(job.path)
        closed = Closed([], {}, [])
        for piece in read(job):
            if isinstance(piece, Opened):
                format_ = piece.format
                self._collector.begin(job.cited_as)
            elif isinstance(piece, Batch):
                self._take(piece)
                self._require_measure()
            elif isinstance(piece, Abandoned):
                self._collector.rewind(piece)
            else:
                closed = piece
                self._collector.consume(self._noted(piece.events), None)
        self._collector.settle(None)
        self._require_measure()
        proposed = propose_from(
            path,
            proposals_by_session(path),
            now=job.now,
            known=_nothing_known,
            cited_as=job.cited_as,
            modified_ns=job.modified_ns,
        )
        return SessionRead(
            format=format_,
            found=tuple(self._found()),
            statements=tuple((each, score([each], 1.0)) for each in proposed.ready),
            boot=tuple(sorted(self._boot)),
            records=self._records,
            masked=self._masked,
            cwd=self._cwd,
            tally=dict(closed.tally),
            errors=tuple(error.replace(job.path, job.cited_as) for error in closed.errors),
        )

    def _require_measure(self) -> None:
        if len(self._excerpts) > MOST:
            raise SourceError(
                f"{self._job.cited_as} has more than {MOST:,} places that may be remembered: look"
                " at it, and split it."
            )
        if time.thread_time() > self._until:
            raise SourceError(
                f"{self._job.cited_as} takes more than {self._seconds:,.0f} s, many times what "
                f"others of its size take: look at it, or read it alone with reviewer ingest."
            )

    def _take(self, batch: Batch) -> None:
        self._records += len(batch.records)
        self._masked += batch.masked
        for record in batch.records:
            cwd = record.meta.get("cwd", "")
            if cwd and not self._cwd:
                self._cwd = cwd
            if cwd and cwd != self._cwd and record.use is Use.MESSAGE:
                self._folders[record.key] = cwd
        self._collector.watch(batch.records)
        self._collector.consume(self._noted(batch.events), None)

    def _noted(self, events: list[Event]) -> Iterator[Event]:
        """The events as they are; what a job needs of them besides is remembered."""
        for event in events:
            if isinstance(event, Remembered):
                self._boot.update(map(stable_fingerprint, event.wordings))
            elif isinstance(event, Verdict) and isinstance(event.outcome, Candidate):
                candidate = event.outcome
                if event.restates is not None:
                    place = _place(candidate)
                    self._sentences[place] = stable_fingerprint(event.content)
            yield event

    def _slim(self, candidate: Candidate) -> Candidate:
        """The candidate with the lines of its span and, of its record's text, an excerpt."""
        record = candidate.record
        text, start, end = record.text, candidate.span_start, candidate.span_end
        excerpt = Excerpt.of(text, start, end)
        self._excerpts[_place(candidate)] = (excerpt, record.line_start)
        return without_text(candidate)

    def _found(self) -> Iterator[Found]:
        candidates, spots = self._collector.collected()
        for candidate in (*self._candidates, *candidates):
            yield self._one(candidate, candidate, base_score(candidate))
        for spot in spots:
            value = likelihood(spot.score)
            yield self._one(spot.candidate, spot.found, value)
            for other in spot.others:
                yield self._one(other, other, BEHIND * value)

    def _one(self, shown: Candidate, found: Candidate, value: float) -> Found:
        place = _place(found)
        record: Record = found.record
        excerpt, record_line = self._excerpts[place]
        return Found(
            candidate=shown,
            excerpt=excerpt,
            record_line=record_line,
            score=value,
            same_as=found.content,
            cwd=self._folders.get(record.key, self._cwd),
            sentence=self._sentences.get(place),
            is_note=record.role is Role.NOTE,
        )


def _place(candidate: Candidate) -> tuple[str, int, int]:
    return candidate.record.key, candidate.span_start, candidate.span_end


def _forget(_: object) -> None:
    """Only the wave of one machine counts the statements that are not proposed."""


def _nothing_known(_: str) -> tuple[str, ...]:
    return ()
