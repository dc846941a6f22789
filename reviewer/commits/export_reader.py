"""Reads files written by `context export`: one commit a line, with its annotations.

Such a file is untrusted input: it is checked like typed input, and secrets are masked.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from reviewer.clock import written_moment
from reviewer.commits.chain import Draft, checked_type
from reviewer.commits.commit_annotations import AnnotationChange, require_something
from reviewer.commits.contents import prepare
from reviewer.commits.criteria import clean_instructions, parse_patterns
from reviewer.commits.values import Annotation, Pattern, Priority, RetentionCriteria
from reviewer.errors import ReviewerError, SourceError

HEAD_BYTES = 4_096
LONGEST_LINE = 200


class ExportedAnnotation(Struct, frozen=True):
    """An annotation in the line of its commit."""

    priority: Priority
    at: str
    actor: str
    reason: str = ""
    retention: RetentionCriteria = RetentionCriteria()


class ExportedCommit(Struct, frozen=True):
    """The fields needed to recreate the commit; `annotations` are newest first."""

    role: str
    content: str
    type: str
    priority: Priority
    hash: str
    position: int
    annotations: tuple[ExportedAnnotation, ...]
    name: str = ""
    at: str | None = None


_decoder = msgspec.json.Decoder(ExportedCommit)
_BLANKS = b" \t\r\n\xef\xbb\xbf"


def read_export(path: Path, line_start: int = 0, line_end: int | None = None) -> list[Draft] | None:
    """The commits of an exported context; None when the first line of the file is not a commit.

    Lines are 0-based and half-open. A later line that is not a commit raises SourceError with its
    number, so that a context is never imported with gaps.
    """
    from reviewer.sources.lines import LINE_LIMIT, bom_of, opened_file, read_lines

    if not path.is_file():
        return None
    drafts: list[Draft] = []
    first = True
    with opened_file(path) as stream:
        head = stream.read(HEAD_BYTES)
        if not head.lstrip(_BLANKS).startswith(b"{"):
            return None
        stream.seek(0)
        if len(stream.readline(LINE_LIMIT + 1)) > LINE_LIMIT:
            return None  # the rest of such a line could be long
        stream.seek(0)
        for number, _, raw in read_lines(stream, bom_of(head)):
            wanted = line_start <= number and (line_end is None or number < line_end)
            if (raw is not None and not raw.strip()) or not (first or wanted):
                continue
            try:
                found = _decoder.decode(raw or b"")
                if wanted:
                    drafts.append(_draft(found, number))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
                if first:
                    return None
                raise SourceError(
                    f"{path}, line {number + 1}: not a commit of an exported context ({problem})."
                ) from None
            except ReviewerError as problem:
                raise SourceError(f"{path}, line {number + 1}: {problem}") from None
            first = False
    return None if first else drafts


def _draft(line: ExportedCommit, number: int) -> Draft:
    if not line.content.strip():
        raise ReviewerError("A commit needs a text.")
    return Draft(
        role=line.role,
        type=checked_type(line.role, line.type),
        text=prepare(line.content),
        name=prepare(line.name).text,
        at=None if line.at is None else _moment(line.at, "commit"),
        source_line=number,
        annotations=tuple(_annotation(each) for each in reversed(line.annotations)),
    )


def _annotation(given: ExportedAnnotation) -> Annotation:
    reason, words = prepare(given.reason).text, given.retention.instructions
    require_something(AnnotationChange(priority=given.priority, reason=reason))
    return Annotation(
        priority=given.priority,
        retention=RetentionCriteria(
            None if words is None else clean_instructions(words),
            _patterns(given.retention.patterns),
        ),
        reason=reason,
        at=_moment(given.at, "annotation"),
        actor=_line(given.actor),
    )


def _patterns(given: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
    """The patterns, validated like typed ones, in their order."""
    texts = [each.text for each in given if each.mode == "substring"]
    regexes = [each.text for each in given if each.mode == "regex"]
    return tuple(sorted(parse_patterns(texts, regexes), key=given.index))


def _moment(given: str, what: str) -> str:
    moment = written_moment(given)
    if moment is None:
        raise ReviewerError(f"The time of the {what} is not a moment such as 2026-02-14T10:30:00Z.")
    return moment


def _line(given: str) -> str:
    """An actor: a short line of text."""
    line = prepare(given.strip()).text
    if not line or len(line) > LONGEST_LINE or not line.isprintable():
        raise ReviewerError(f"An actor has 1 to {LONGEST_LINE} characters.")
    return line
