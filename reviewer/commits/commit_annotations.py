"""What is said about commits: append-only, the latest holds, many at once as one act."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from reviewer.commits import retention
from reviewer.commits.values import (
    DEFAULT_PRIORITIES,
    Annotation,
    Pattern,
    Priority,
    RetentionCriteria,
)
from reviewer.errors import ReviewerError, UnknownIdError
from reviewer.store.changes import Image
from reviewer.store.ledger import Act, chunks

LONGEST_REASON = 2_000


class Statement(Struct, frozen=True):
    """What is to be said. None keeps what holds of a commit already."""

    priority: Priority | None = None
    instructions: str | None = None
    patterns: tuple[Pattern, ...] | None = None
    clear: bool = False
    """Forget the criteria that hold, before those given here are added."""
    reason: str = ""


class Subject(Struct, frozen=True):
    """A commit that something is said about: the id that keeps it, and what holds so far."""

    origin: int
    hash: str
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


def require_something(statement: Statement) -> None:
    """Raise ReviewerError for a statement that says nothing, or a reason that is too long."""
    if (
        statement.priority is None
        and statement.instructions is None
        and statement.patterns is None
        and not statement.clear
    ):
        raise ReviewerError("Say a priority, or what must be retained.")
    if len(statement.reason) > LONGEST_REASON:
        raise ReviewerError(f"A reason has at most {LONGEST_REASON:,} characters.")


def subjects(act: Act, commits: Sequence[int]) -> list[Subject]:
    """Who is meant, in order and once each; an edit means the commit that it edits.

    Raises UnknownIdError for an id that is no commit.
    """
    origins: dict[int, int] = {}
    for chunk in chunks(list(dict.fromkeys(commits))):
        for number, origin in act.query(
            "SELECT c.id, coalesce(o.origin_id, o.id) FROM commit_ c JOIN commit_ o ON o.id ="
            " CASE c.operation WHEN 'edit' THEN c.target_id ELSE c.id END"
            f" WHERE c.id IN ({_marks(chunk)})",
            chunk,
        ):
            origins[number] = origin
    for number in commits:
        if number not in origins:
            raise UnknownIdError(f"There is no commit #{number}. See: reviewer commit list CONTEXT")
    wanted = list(dict.fromkeys(origins[number] for number in commits))
    found: dict[int, Subject] = {}
    for chunk in chunks(wanted):
        for number, hashed, kind, priority, criteria in act.query(
            "SELECT c.id, c.hash, c.type, n.priority, n.retention_json FROM commit_ c"
            " LEFT JOIN annotation n ON n.id ="
            " (SELECT max(a.id) FROM annotation a WHERE a.commit_id = c.id)"
            f" WHERE c.id IN ({_marks(chunk)})",
            chunk,
        ):
            holds = priority or DEFAULT_PRIORITIES.get(kind, Priority.NORMAL)
            found[number] = Subject(
                number, hashed, Priority(holds), retention.from_json(criteria), priority is not None
            )
    return [found[number] for number in wanted]


def what_will_hold(subject: Subject, said: Statement) -> tuple[Priority, RetentionCriteria]:
    """Priority and criteria of a commit after a statement.

    Criteria without a priority make a commit at least IMPORTANT; a priority without criteria keeps
    those that were there.
    """
    before = retention.NONE if said.clear else subject.retention
    criteria = RetentionCriteria(
        instructions=before.instructions if said.instructions is None else said.instructions,
        patterns=before.patterns if said.patterns is None else said.patterns,
    )
    priority = said.priority
    if priority is None:
        adds = bool(said.instructions or said.patterns)
        weakest = Priority.IMPORTANT if adds else subject.priority
        priority = max(subject.priority, weakest, key=lambda each: each.weight)
    return priority, criteria


def write(
    act: Act, about: Sequence[Subject], said: Statement, *, now: str, actor: str
) -> list[Subject]:
    """Write one annotation for each commit of which it says something new; returns these."""
    rows: list[Image] = []
    told: list[Subject] = []
    for subject in about:
        priority, criteria = what_will_hold(subject, said)
        holds = (priority, criteria) == (subject.priority, subject.retention)
        if holds and subject.annotated and not said.reason:
            continue
        told.append(subject)
        rows.append(
            {
                "commit_id": subject.origin,
                "priority": str(priority),
                "reason": said.reason,
                "at": now,
                "actor": actor,
                "retention_json": retention.to_json(criteria),
            }
        )
    act.insert_many("annotation", rows)
    return told


def restore(act: Act, commits: Sequence[int], said: Sequence[Sequence[Annotation]]) -> None:
    """Write what was said about commits elsewhere, oldest first, as it was said there."""
    rows: list[Image] = [
        {
            "commit_id": number,
            "priority": str(each.priority),
            "reason": each.reason,
            "at": each.at,
            "actor": each.actor,
            "retention_json": retention.to_json(each.retention),
        }
        for number, annotations in zip(commits, said, strict=True)
        for each in annotations
    ]
    act.insert_many("annotation", rows)


def title(about: Sequence[Subject], said: Statement) -> str:
    """What history and the message on the screen call it: `Pinned 7 commits`."""
    which = about[0].hash[:8] if len(about) == 1 else f"{len(about):,} commits"
    match said.priority:
        case Priority.PINNED:
            words = f"Pinned {which}"
        case Priority.IMPORTANT:
            words = f"Marked {which} important"
        case Priority.NORMAL:
            words = f"Made {which} normal"
        case Priority.SKIP:
            words = f"Skipped {which}"
        case None if said.instructions is None and not said.patterns:
            return f"Dropped the criteria of {which}"
        case None:
            return f"Set what to retain of {which}"
    return f"{words}, with criteria" if said.instructions or said.patterns else words


def _marks(items: Sequence[object]) -> str:
    return ",".join("?" * len(items))
