"""Contexts as `context export` writes them, read back: a commit a line, with what was said of it.

Everything in such a file is from outside: it is checked like what a person types, and secrets are
masked.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from reviewer.commits import commit_annotations, retention
from reviewer.commits.chain import Draft
from reviewer.commits.contents import prepare
from reviewer.commits.patterns import parse_patterns
from reviewer.commits.values import Annotation, Pattern, Priority, RetentionCriteria
from reviewer.commits.writing import Shape, shape_of
from reviewer.errors import ReviewerError, SourceError

HEAD_BYTES = 4_096
LONGEST_LINE = 200


class ExportedAnnotation(Struct, frozen=True):
    """An annotation as it stands in the line of its commit."""

    priority: Priority
    at: str
    actor: str
    reason: str = ""
    retention: RetentionCriteria = RetentionCriteria()


class ExportedCommit(Struct, frozen=True):
    """The fields of a line that make the commit again; `annotations` are newest first."""

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


def read_export(path: Path, line_start: int = 0, line_end: int | None = None) -> list[Draft] | None:
    """The commits of an exported context; None when the file's first line is of another kind.

    Lines are 0-based and half-open. Raises SourceError, naming the line, for one that is no commit:
    a context with a hole in it is not the one that was exported.
    """
    from reviewer.sources.lines import read_lines, reading, text_form

    if not path.is_file():
        return None
    drafts: list[Draft] = []
    first = True
    with reading(path) as stream:
        form = text_form(stream.read(HEAD_BYTES))
        stream.seek(0)
        for number, _, raw in read_lines(stream, form):
            wanted = line_start <= number and (line_end is None or number < line_end)
            if (raw is not None and not raw.strip()) or not (first or wanted):
                continue
            try:
                found = _decoder.decode(form.utf8(raw or b""))
                if wanted:
                    drafts.append(_draft(found, number))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
                if first:
                    return None
                raise SourceError(
                    f"{path}, line {number + 1}: no commit of an exported context ({problem})."
                ) from None
            except ReviewerError as problem:
                raise SourceError(f"{path}, line {number + 1}: {problem}") from None
            first = False
    return None if first else drafts


def _draft(line: ExportedCommit, number: int) -> Draft:
    if not line.content.strip():
        raise ReviewerError("A commit needs a text.")
    shape = shape_of(Shape(line.role, line.type))
    return Draft(
        role=shape.role,
        type=shape.type,
        text=prepare(line.content),
        name=prepare(line.name).text,
        at=None if line.at is None else _line(line.at),
        source_line=number,
        annotations=tuple(_annotation(each) for each in reversed(line.annotations)),
    )


def _annotation(given: ExportedAnnotation) -> Annotation:
    criteria = given.retention
    said = commit_annotations.Statement(priority=given.priority, reason=prepare(given.reason).text)
    commit_annotations.require_something(said)
    words = criteria.instructions
    return Annotation(
        priority=given.priority,
        retention=RetentionCriteria(
            None if words is None else retention.instructions(words), _patterns(criteria.patterns)
        ),
        reason=said.reason,
        at=_line(given.at),
        actor=_line(given.actor),
    )


def _patterns(given: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
    """The patterns as somebody would have given them, checked, in their order."""
    texts = [each.text for each in given if each.mode == "substring"]
    regexes = [each.text for each in given if each.mode == "regex"]
    return tuple(sorted(parse_patterns(texts, regexes), key=given.index))


def _line(given: str) -> str:
    """A moment or an actor: a short line of text."""
    line = prepare(given.strip()).text
    if not line or len(line) > LONGEST_LINE or not line.isprintable():
        raise ReviewerError(f"A moment and an actor have 1 to {LONGEST_LINE} characters.")
    return line
