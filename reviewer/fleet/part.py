"""One part of a job: files in, Parquet tables out; a function for any executor."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import msgspec

from reviewer.clock import from_iso
from reviewer.errors import OtherKindError, SourceError
from reviewer.extraction.candidates import Candidate
from reviewer.extraction.confidence import setting_of
from reviewer.extraction.entities.entity import EntityCandidate
from reviewer.extraction.extract import BootText, cited_lines
from reviewer.extraction.ranking import base_score
from reviewer.fleet.places import local_copy
from reviewer.fleet.rows import EvidenceRow, FileRow
from reviewer.fleet.tables import EVIDENCE, FILES, Folder, encoded
from reviewer.fleet.values import Part, SourceFile
from reviewer.promotion.rows.statement_rows import STATEMENTS_VERSION, PreparedStatement
from reviewer.promotion.waves.candidate_collector import propose_from
from reviewer.promotion.waves.source_reader import SourcePass, reason_of_fault
from reviewer.proposing.values import Proposer
from reviewer.sources.events import Rewind
from reviewer.sources.records import Record
from reviewer.text.normalise import duplicate_key
from reviewer.text.wording import wording_key

CONTEXT_CHARS = 300
"""Characters of a record kept on each side of a span."""
WHOLE_RECORD_CHARS = 1_000
"""Characters of the longest record that is kept whole."""

_WORKTREE = re.compile(r"(?:/\.worktrees|/\.claude/worktrees)/.*")
"""Work trees that agents put into a project's folder."""
_HOME = re.compile(r"(?:/home/|/Users/|[A-Za-z]:\\Users\\)([^/\\]+)")


def write_part(part: Part) -> list[FileRow]:
    """Read the files of a part and write its tables; returns a row for each file.

    An unreadable file does not raise, but has a `problem`. Raises FleetError if the part cannot be
    written, or this machine has another version of reviewer.
    """
    part.settings.require_this_version("The job")
    evidence: list[EvidenceRow] = []
    files: list[FileRow] = []
    for file in part.files:
        reading = _Reading(part, file)
        reading.read()
        evidence += reading.rows
        files.append(reading.outcome())
    out = Folder(part.out)
    out.write(part.name + EVIDENCE, encoded(evidence, EvidenceRow, part.settings))
    out.write(part.name + FILES, encoded(files, FileRow, part.settings))
    return files


class _Reading:
    """One file, with a row for each place of a statement."""

    def __init__(self, part: Part, file: SourceFile) -> None:
        self._part = part
        self._file = file
        self._boot = BootText()
        self._format = ""
        self._cwd = ""
        """The first working folder named in the file."""
        self._problem = file.problem
        """A sentence if it cannot be read."""
        self._other_kind = False
        self.rows: list[EvidenceRow] = []

    def read(self) -> None:
        """Read the file, wherever it is. Never raises; a file with a problem has no rows."""
        if self._problem:
            return
        name = place = self._file.name
        try:
            with local_copy(name) as path:
                place = str(path)
                self._read(path)
            return
        except SourceError as problem:
            self._problem = str(problem).replace(place, name)
            self._other_kind = isinstance(problem, OtherKindError)
        except Exception as problem:  # one among millions of files must not stop the others
            self._problem = f"{name} cannot be read: {reason_of_fault(problem)}."
        self._format, self._boot, self.rows = "", BootText(), []

    def outcome(self) -> FileRow:
        return FileRow(
            part=self._part.name,
            path=self._file.name,
            bytes=self._file.bytes,
            modified_ns=self._file.modified_ns,
            etag=self._file.etag,
            format=self._format,
            found=len(self.rows),
            problem=self._problem,
            other_kind=self._other_kind,
            boot=tuple(sorted(set(map(_fingerprint, self._boot.keys)))),
        )

    def _read(self, path: Path) -> None:
        """Raises SourceError, OSError, and unexpected errors of readers."""
        now = from_iso(self._part.settings.now)
        assert now is not None
        place = Path("/", self._file.name)  # an address lies in no folder of this machine
        setting = setting_of(place, now, self._file.modified_ns / 1e9)
        reading = SourcePass(path, setting)
        self._format = reading.format
        for piece in reading:
            if isinstance(piece, Rewind):  # the person took these messages back
                self.rows = [
                    row for row in self.rows if not piece.first <= row.line_start < piece.end
                ]
                continue
            for record in piece.records:
                self._cwd = self._cwd or record.meta.get("cwd", "")
            for event in piece.found:
                found = self._boot.settle(event)
                if isinstance(found, Candidate):
                    self._add_candidate(found)
        statements, _ = propose_from(path, setting, known=_nothing_known)
        for statement in statements:
            self._add_statement(statement)

    def _add_candidate(self, candidate: Candidate) -> None:
        entity: dict[str, Any] = {"kind": "memory"}
        if isinstance(candidate, EntityCandidate):
            entity = {
                "kind": "entity",
                "name": candidate.structure.name,
                "slot": candidate.structure.slot,
                "attributes": _json(candidate.structure.attributes),
            }
        self._add(
            candidate,
            candidate.record,
            (candidate.span_start, candidate.span_end),
            cited_lines(candidate),
            **entity,
            type=str(candidate.type),
            sentence=_fingerprint(duplicate_key(candidate.content)),
            proposer=Proposer.NOTES,
            rule=candidate.rule,
            extractor_version=candidate.extractor_version,
            score=base_score(candidate),
        )

    def _add_statement(self, statement: PreparedStatement) -> None:
        proposal = statement.proved.proposal
        for place, cited in enumerate(statement.cited):
            self._add(
                statement,
                cited.record,
                (cited.start, cited.end),
                (cited.record.line_start, cited.record.line_end),
                kind="memory",
                type=str(proposal.type),
                proposer=proposal.proposer,
                rule=proposal.rule,
                extractor_version=STATEMENTS_VERSION,
                need=proposal.kind,
                proof=_json(statement.proved.proof),
                score=statement.score(),
                place=place,
            )

    def _add(
        self,
        found: Candidate | PreparedStatement,
        record: Record,
        span: tuple[int, int],
        lines: tuple[int, int],
        **columns: Any,
    ) -> None:
        key = duplicate_key(found.content)
        cwd = record.meta.get("cwd") or self._cwd
        home = _HOME.match(cwd) or _HOME.search(self._file.name)
        excerpt, excerpt_start = _excerpt(record.text, *span)
        fact = _digest(f"{columns['kind']}\0{columns['type']}\0{key}", 16)
        self.rows.append(
            EvidenceRow(
                **columns,
                part=self._part.name,
                path=self._file.name,
                format=self._format,
                content=found.content,
                fact=fact.hex(),
                wording=_fingerprint("\0".join(wording_key(found.content)) or key),
                prior=found.prior,
                signal=found.signal,
                freshness=found.freshness,
                confidence=found.confidence,
                flags=" ".join(found.flags),
                session=record.session or self._file.name,
                project=_WORKTREE.sub("", cwd.replace("\\", "/")).rstrip("/").rpartition("/")[2],
                author=home[1] if home else "",
                line_start=lines[0],
                line_end=lines[1],
                byte_start=record.byte_start,
                byte_end=record.byte_end,
                record=record.key,
                sha256=record.sha256,
                at=record.at or "",
                role=record.role,
                use=record.use,
                shape=record.shape,
                sidechain=record.sidechain,
                span_start=span[0],
                span_end=span[1],
                excerpt=excerpt.encode("utf-8", "replace").decode(),
                excerpt_start=excerpt_start,
            )
        )


def _excerpt(text: str, start: int, end: int) -> tuple[str, int]:
    """The text of a record around a span, and its start."""
    if len(text) <= WHOLE_RECORD_CHARS:
        return text, 0
    first = max(0, start - CONTEXT_CHARS)
    return text[first : end + CONTEXT_CHARS], first


def _nothing_known(_: str) -> tuple[str, ...]:
    return ()


def _fingerprint(text: str) -> int:
    """A hash that is the same on every machine (64 bits, signed)."""
    return int.from_bytes(_digest(text, 8), "little", signed=True)


def _digest(text: str, size: int) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=size).digest()


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
