"""One part of a job: files in, Parquet tables out. A pure function that any executor may call."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from reviewer.clock import from_iso
from reviewer.errors import SourceError
from reviewer.extraction.candidates import Candidate
from reviewer.extraction.entities.entity import EntityCandidate
from reviewer.fleet.places import local_copy
from reviewer.fleet.rows import EvidenceRow, FileRow
from reviewer.fleet.tables import EVIDENCE, FILES, Folder, encoded
from reviewer.fleet.values import JobSettings, Part, SourceFile
from reviewer.promotion.rows.statement_rows import STATEMENTS_VERSION, PreparedStatement
from reviewer.promotion.waves.session_read import Excerpt, FoundStatement, SessionRead, read_session
from reviewer.sources.records import Record
from reviewer.text.normalise import duplicate_key
from reviewer.text.wording import wording_key

_WORKTREE = re.compile(r"(?:/\.worktrees|/\.claude/worktrees)/.*")
"""Where agents put the work trees of a project: inside of it."""
_HOME = re.compile(r"(?:/home/|/Users/|[A-Za-z]:\\Users\\)([^/\\]+)")


def write_part(part: Part) -> list[FileRow]:
    """Read the files of a part and write its tables; returns what became of each file.

    Never raises for a file: what is wrong with it is its problem. Raises FleetError when the part
    cannot be written, or this machine has another version of reviewer.
    """
    part.settings.require_this_version("The job")
    evidence: list[EvidenceRow] = []
    files: list[FileRow] = []
    for file in part.files:
        read = SessionRead(problem=file.problem) if file.problem else _read(file, part.settings)
        before = len(evidence)
        evidence += _rows(read, file, part.name)
        files.append(
            FileRow(
                part=part.name,
                path=file.name,
                bytes=file.bytes,
                modified_ns=file.modified_ns,
                etag=file.etag,
                format=read.format,
                found=len(evidence) - before,
                problem=read.problem,
                other_kind=read.other_kind,
                boot=read.boot,
            )
        )
    out = Folder(part.out)
    out.write(part.name + EVIDENCE, encoded(evidence, EvidenceRow, part.settings))
    out.write(part.name + FILES, encoded(files, FileRow, part.settings))
    return files


def _read(file: SourceFile, settings: JobSettings) -> SessionRead:
    """Read one file wherever it is; never raises for it."""
    now = from_iso(settings.now)
    assert now is not None
    try:
        with local_copy(file.name) as path:
            return read_session(path, name=file.name, modified_ns=file.modified_ns, now=now)
    except SourceError as problem:
        return SessionRead(problem=str(problem))
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        return SessionRead(problem=f"{file.name} cannot be read: {reason}.")


def _rows(read: SessionRead, file: SourceFile, part: str) -> Iterator[EvidenceRow]:
    """A row for each place at which a file says something that may be remembered."""
    common: dict[str, Any] = {"part": part, "path": file.name, "format": read.format}
    for found in read.found:
        yield EvidenceRow(**common, **_of_found(found, file))
    for statement, score in read.statements:
        for place, values in enumerate(_of_statement(statement, read, file)):
            yield EvidenceRow(**common, **values, score=score, place=place)


def _of_found(found: FoundStatement, file: SourceFile) -> dict[str, Any]:
    candidate = found.candidate
    record = candidate.record
    entity = isinstance(candidate, EntityCandidate)
    values = {
        **_said("entity" if entity else "memory", str(candidate.type), candidate),
        **_place(record, candidate.span_start, candidate.span_end, found.excerpt),
        **_whose(found.cwd, record, file),
        "sentence": found.sentence,
        "proposer": "notes",
        "rule": candidate.rule,
        "extractor_version": candidate.extractor_version,
        "score": found.score,
    }
    if isinstance(candidate, EntityCandidate):
        values |= {
            "name": candidate.structure.name,
            "slot": candidate.structure.slot,
            "attributes": _json(candidate.structure.attributes),
        }
    return values


def _of_statement(
    statement: PreparedStatement, read: SessionRead, file: SourceFile
) -> Iterator[dict[str, Any]]:
    proposal = statement.proved.proposal
    for cited in statement.cited:
        record = cited.record
        yield {
            **_said("memory", str(proposal.type), statement),
            **_place(
                record, cited.start, cited.end, Excerpt.of(record.text, cited.start, cited.end)
            ),
            **_whose(record.meta.get("cwd") or read.cwd, record, file),
            "proposer": str(proposal.proposer),
            "rule": proposal.rule,
            "extractor_version": STATEMENTS_VERSION,
            "need": proposal.kind,
            "scope": proposal.scope,
            "proof": _json(statement.proved.proof),
        }


def _said(kind: str, type_: str, of: Candidate | PreparedStatement) -> dict[str, Any]:
    """What is said, and what it is worth."""
    key = duplicate_key(of.content)
    return {
        "kind": kind,
        "type": type_,
        "content": of.content,
        "fact": _digest(f"{kind}\0{type_}\0{key}", 16).hex(),
        "wording": int.from_bytes(
            _digest("\0".join(wording_key(of.content)) or key, 8), "little", signed=True
        ),
        "prior": of.prior,
        "signal": of.signal,
        "freshness": of.freshness,
        "confidence": of.confidence,
        "flags": " ".join(of.flags),
    }


def _place(record: Record, start: int, end: int, excerpt: Excerpt) -> dict[str, Any]:
    return {
        "line_start": record.line_start,
        "line_end": record.line_end,
        "byte_start": record.byte_start,
        "byte_end": record.byte_end,
        "record": record.key,
        "sha256": record.sha256,
        "at": record.at or "",
        "role": record.role,
        "use": record.use,
        "shape": record.shape,
        "sidechain": record.sidechain,
        "span_start": start,
        "span_end": end,
        "excerpt": excerpt.text.encode("utf-8", "replace").decode(),
        "excerpt_start": excerpt.start,
    }


def _whose(cwd: str, record: Record, file: SourceFile) -> dict[str, Any]:
    """The session, its project and its author, as far as the working folder tells them."""
    home = _HOME.match(cwd) or _HOME.search(file.name)
    return {
        "session": record.session or file.name,
        "project": _WORKTREE.sub("", cwd.replace("\\", "/")).rstrip("/").rpartition("/")[2],
        "author": home[1] if home else "",
    }


def _digest(text: str, size: int) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=size).digest()


def _json(value: Mapping[str, Any] | tuple[Any, ...] | Struct) -> str:
    return msgspec.json.encode(value).decode()
