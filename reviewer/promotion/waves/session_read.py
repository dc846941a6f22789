"""Everything that one file proposes, as values: reading, masking and proposing without a store.

The wave of one machine takes the same steps file by file (`SourceReading`,
`candidate_collector.propose_from`), but writes records as they come and ranks against its store.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from reviewer.errors import OtherKindError, SourceError
from reviewer.extraction.candidates import Candidate, Setting
from reviewer.extraction.extract import BootText
from reviewer.extraction.ranking import base_score
from reviewer.promotion.rows.statement_rows import PreparedStatement
from reviewer.promotion.waves.candidate_collector import CandidateCollector, propose_from
from reviewer.promotion.waves.faults import reason_of_fault
from reviewer.promotion.waves.source_reader import Batch, SourceReading, without_text
from reviewer.sources.events import Rewind
from reviewer.sources.records import RecordUse
from reviewer.text.normalise import duplicate_key

CONTEXT_CHARS = 300
"""Characters of a record kept before and after a span, for judging it elsewhere."""
WHOLE_RECORD_CHARS = 1_000
"""Characters of a record that is kept whole."""


class Excerpt(Struct, frozen=True):
    """A part of a record's text, from the character `start` on."""

    text: str
    start: int

    @classmethod
    def of(cls, text: str, start: int, end: int) -> Excerpt:
        """The text around a span."""
        if len(text) <= WHOLE_RECORD_CHARS:
            return cls(text, 0)
        first = max(0, start - CONTEXT_CHARS)
        return cls(text[first : end + CONTEXT_CHARS], first)


class FoundStatement(Struct, frozen=True):
    """A place where a statement was found.

    `sentence`: its fingerprint, for recognising boot text.
    """

    candidate: Candidate
    excerpt: Excerpt
    score: float
    cwd: str
    sentence: int


class SessionRead(Struct, frozen=True, kw_only=True):
    """The content of a file. With a `problem`, a sentence, the rest is empty."""

    format: str = ""
    found: tuple[FoundStatement, ...] = ()
    statements: tuple[tuple[PreparedStatement, float], ...] = ()
    """Statements with their proof, each with its score."""
    boot: tuple[int, ...] = ()
    """Fingerprints of the statements at the beginning of every session, sorted."""
    cwd: str = ""
    """The first working folder named in the file."""
    problem: str = ""
    other_kind: bool = False
    """The file is intact, but of an unsupported kind."""


def read_session(path: Path, *, name: str, modified_ns: int, now: datetime) -> SessionRead:
    """Read the file at `path`, cited as `name`, and propose from it.

    Never raises for a file: its fault becomes the `problem`.
    """
    updated = datetime.fromtimestamp(modified_ns / 1e9, UTC)
    try:
        return _Reading(path, Setting(path=name, now=now, updated=updated)).done()
    except SourceError as problem:
        other = isinstance(problem, OtherKindError)
        return SessionRead(problem=str(problem).replace(str(path), name), other_kind=other)
    except OSError as problem:
        reason = problem.strerror or str(problem)
        return SessionRead(problem=f"{name} cannot be read: {reason.lower()}.")
    except Exception as problem:  # one among millions of files must not stop the others
        return SessionRead(problem=f"{name} cannot be read: {reason_of_fault(problem)}.")


class _Reading:
    def __init__(self, path: Path, setting: Setting) -> None:
        self._path, self._setting = path, setting
        self._boot = BootText()
        self._collector = CandidateCollector(_forget, self._slim, limit=None, known_text=self._boot)
        self._excerpts: dict[tuple[str, int, int], Excerpt] = {}
        """The text around each place."""
        self._folders: dict[str, str] = {}
        self._cwd = ""

    def done(self) -> SessionRead:
        """Everything, read to the end. Raises SourceError and OSError."""
        reading = SourceReading(self._path, self._setting)
        for piece in reading:
            if isinstance(piece, Rewind):
                self._collector.rewind(piece)
            else:
                self._take(piece)
        ready, _ = propose_from(self._path, self._setting, known=_nothing_known)
        return SessionRead(
            format=reading.format,
            found=tuple(self._found()),
            statements=tuple((each, each.score()) for each in ready),
            boot=tuple(sorted(set(map(_fingerprint, self._boot.keys)))),
            cwd=self._cwd,
        )

    def _take(self, batch: Batch) -> None:
        for record in batch.records:
            cwd = record.meta.get("cwd", "")
            if cwd and not self._cwd:
                self._cwd = cwd
            if cwd and cwd != self._cwd and record.use is RecordUse.MESSAGE:
                self._folders[record.key] = cwd
        self._collector.consume(batch.found)

    def _slim(self, candidate: Candidate) -> Candidate:
        """The candidate with the lines of its span and, of its record's text, an excerpt."""
        text, start, end = candidate.record.text, candidate.span_start, candidate.span_end
        self._excerpts[_place(candidate)] = Excerpt.of(text, start, end)
        return without_text(candidate)

    def _found(self) -> Iterator[FoundStatement]:
        for candidate in self._collector.candidates:
            yield FoundStatement(
                candidate=candidate,
                excerpt=self._excerpts[_place(candidate)],
                score=base_score(candidate),
                cwd=self._folders.get(candidate.record.key, self._cwd),
                sentence=_fingerprint(duplicate_key(candidate.content)),
            )


def _fingerprint(key: str) -> int:
    """A number for a wording, the same in every process and on every machine (64 bits, signed)."""
    digest = hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def _place(candidate: Candidate) -> tuple[str, int, int]:
    return candidate.record.key, candidate.span_start, candidate.span_end


def _forget(_: object) -> None:
    """Statements that are not proposed are counted by the wave of one machine only."""


def _nothing_known(_: str) -> tuple[str, ...]:
    return ()
