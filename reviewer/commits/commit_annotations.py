"""Annotations of commits: append-only, the latest applies; many commits are one act."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from reviewer.commits.criteria import NO_CRITERIA, decode_criteria, encode_criteria
from reviewer.commits.values import (
    DEFAULT_PRIORITIES,
    Pattern,
    Priority,
    RetentionCriteria,
    first_line,
)
from reviewer.errors import ReviewerError, UnknownIdError
from reviewer.store.acts import AMONG, Act, listed
from reviewer.store.changes import Image
from reviewer.text.clip import clip

LONGEST_WORDS = 31
"""Characters of a turn in the title of an act."""


class AnnotationChange(Struct, frozen=True):
    """A change to annotations. None keeps the current value of each commit."""

    priority: Priority | None = None
    instructions: str | None = None
    patterns: tuple[Pattern, ...] | None = None
    clear: bool = False
    """Drop the current criteria before adding these."""
    adds: bool = False
    """Add `patterns` to those of each commit, instead of replacing them."""


class AnnotatedCommit(Struct, frozen=True):
    """A commit to annotate, with its current priority and criteria.

    `origin` is the id that carries the annotations; `words` name it in a title.
    """

    origin: int
    words: str
    priority: Priority
    retention: RetentionCriteria
    annotated: bool


def read_priority(value: str) -> Priority:
    """The priority of that name. Raises ReviewerError, naming all."""
    try:
        return Priority(value.strip().lower())
    except ValueError:
        raise ReviewerError(
            f'There is no priority "{value}"; choose {", ".join(Priority)}.'
        ) from None


def require_something(change: AnnotationChange) -> None:
    """Raise ReviewerError for an empty change."""
    if (
        change.priority is None
        and change.instructions is None
        and change.patterns is None
        and not change.clear
    ):
        raise ReviewerError("Say a priority, or what must be retained.")


def annotation_targets(act: Act, commits: Sequence[int]) -> list[AnnotatedCommit]:
    """The commits to annotate, in order, without duplicates; an edit counts as its target.

    Raises UnknownIdError for an id that no commit has.
    """
    act.require_own("commit_", commits)
    origins: dict[int, int] = dict(
        act.query(
            "SELECT c.id, coalesce(o.origin_id, o.id) FROM commit_ c JOIN commit_ o ON o.id ="
            " CASE c.operation WHEN 'edit' THEN c.target_id ELSE c.id END"
            f" WHERE c.id {AMONG}",
            (listed(commits),),
        )
    )
    for number in commits:
        if number not in origins:
            raise UnknownIdError(f"There is no commit #{number}. See: reviewer commit list CONTEXT")
    wanted = list(dict.fromkeys(origins[number] for number in commits))
    found: dict[int, AnnotatedCommit] = {}
    for number, hashed, text, kind, priority, criteria in act.query(
        "SELECT c.id, c.hash, t.text, c.type, n.priority, n.retention_json FROM commit_ c"
        " JOIN content t ON t.id = c.content_id LEFT JOIN annotation n ON n.id ="
        " (SELECT max(a.id) FROM annotation a WHERE a.commit_id = c.id)"
        f" WHERE c.id {AMONG}",
        (listed(wanted),),
    ):
        in_force = priority or DEFAULT_PRIORITIES.get(kind, Priority.NORMAL)
        found[number] = AnnotatedCommit(
            number,
            first_words(text, hashed),
            Priority(in_force),
            decode_criteria(criteria),
            priority is not None,
        )
    return [found[number] for number in wanted]


def after_change(
    subject: AnnotatedCommit, change: AnnotationChange
) -> tuple[Priority, RetentionCriteria]:
    """Priority and criteria of a commit after a change.

    Criteria without a priority make a commit at least IMPORTANT; a priority without criteria keeps
    the current ones.
    """
    before = NO_CRITERIA if change.clear else subject.retention
    criteria = RetentionCriteria(
        instructions=before.instructions if change.instructions is None else change.instructions,
        patterns=_patterns(before.patterns, change),
    )
    priority = change.priority
    if priority is None:
        adds = bool(change.instructions or change.patterns)
        weakest = Priority.IMPORTANT if adds else subject.priority
        priority = max(subject.priority, weakest, key=lambda each: each.weight)
    return priority, criteria


def _patterns(before: tuple[Pattern, ...], change: AnnotationChange) -> tuple[Pattern, ...]:
    if change.patterns is None:
        return before
    return tuple(dict.fromkeys((*before, *change.patterns))) if change.adds else change.patterns


def write(
    act: Act, about: Sequence[AnnotatedCommit], change: AnnotationChange, *, now: str, actor: str
) -> list[AnnotatedCommit]:
    """Write one annotation for each commit that the change affects; returns those commits."""
    rows: list[Image] = []
    changed: list[AnnotatedCommit] = []
    for subject in about:
        priority, criteria = after_change(subject, change)
        unchanged = (priority, criteria) == (subject.priority, subject.retention)
        if unchanged and subject.annotated:
            continue
        changed.append(subject)
        rows.append(
            {
                "commit_id": subject.origin,
                "priority": str(priority),
                "reason": "",
                "at": now,
                "actor": actor,
                "retention_json": encode_criteria(criteria),
            }
        )
    act.insert_many("annotation", rows)
    return changed


def title(about: Sequence[AnnotatedCommit], change: AnnotationChange) -> str:
    """Title for history and status messages: `Pinned 7 turns`, `Skipped “Use tapes”`."""
    which = about[0].words if len(about) == 1 else f"{len(about):,} turns"
    wanted = [each.text for each in change.patterns or ()]
    wanted += [change.instructions] if change.instructions else []
    survives = "; ".join(wanted)
    match change.priority:
        case Priority.PINNED:
            words = f"Pinned {which}"
        case Priority.IMPORTANT:
            words = f"Marked {which} important"
        case Priority.NORMAL:
            words = f"Made {which} normal"
        case Priority.SKIP:
            words = f"Skipped {which}"
        case None if not survives:
            return f"Nothing must survive in {which}"
        case None:
            return f"Must survive in {which}: {survives}"
    return f"{words}, must survive: {survives}" if survives else words


def first_words(text: str, hashed: str) -> str:
    """The beginning of a turn in quotation marks; its short hash if it has no words."""
    line = first_line(text)
    return f"“{clip(line, LONGEST_WORDS)}”" if line else hashed[:8]
