"""Reading a context for the Compress screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from reviewer.commits.values import CommitQuery, Priority
from reviewer.compression.fit import LAST_FULL
from reviewer.compression.plan import Plan
from reviewer.compression.values import Level, Segment
from reviewer.errors import ReviewerError, UnknownIdError

if TYPE_CHECKING:
    from reviewer.commits.values import ContextView
    from reviewer.engine import Engine

LONG, FIRST_PART = 2_000, 200
"""Commits of a long context that are cut into segments and shown first."""


class ContextRead(Struct, frozen=True):
    """A context as it was read. `trouble` says why it cannot be compressed."""

    context: ContextView
    contexts: Sequence[ContextView]
    segments: tuple[Segment, ...]
    plan: Plan | None
    sent: int
    summaries: frozenset[int]
    """Commits that are summaries already."""
    speakers: Mapping[int, str]
    """The recorded type of a commit with the role of the user that a program wrote."""
    drafts: frozenset[int]
    version: object
    start: int | None
    trouble: str = ""
    partial: bool = False
    """Only the first part of a long context; the rest is read next."""


def read_context(
    engine: Engine, project: str | None, wanted: int | None, start: int | None, *, entire: bool
) -> ContextRead | None:
    """A context of a project from the commit `start` on; the latest if it does not exist.

    Of a long context only the first part, unless `entire`. None when there is no context. Raises
    StoreError.
    """
    contexts = engine.contexts.all(project)
    if not contexts:
        return None
    context = next((each for each in contexts if each.id == wanted), contexts[0])
    first = start if context.id == wanted or wanted is None else None
    partial = context.commits > LONG and not entire
    if first is not None:
        try:
            return _read(engine, context, contexts, first, partial=partial)
        except UnknownIdError:  # that commit is no longer in the context
            pass
    return _read(engine, context, contexts, None, partial=partial)


def _read(
    engine: Engine,
    context: ContextView,
    contexts: Sequence[ContextView],
    start: int | None,
    *,
    partial: bool,
) -> ContextRead:
    version = engine.contexts.changed(context.id)
    totals = engine.contexts.totals(context.id)
    end = None
    if partial:
        ids = engine.contexts.ids(CommitQuery(context.id))
        begin = ids.index(start) if start is not None and start in ids else 0
        end = ids[min(begin + FIRST_PART, len(ids)) - 1]
    compression = engine.compression
    segments = compression.segments(context.id, start=start, end=end)
    plan, trouble = None, ""
    try:
        plan = compression.plan(context.id, Level.FULL, start=start, end=end, engine="offline")
    except UnknownIdError:
        raise
    except ReviewerError as problem:
        trouble = str(problem)
    not_typed = engine.contexts.ids(CommitQuery(context.id, "role:user -type:dialogue"))
    return ContextRead(
        context,
        contexts,
        segments,
        plan,
        totals.total - totals.by_priority.get(Priority.SKIP, 0),
        frozenset(engine.contexts.ids(CommitQuery(context.id, "type:summary"))),
        {row.id: row.type.replace("_", " ") for row in engine.contexts.rows(not_typed)},
        frozenset(engine.summary_drafts.ids()),
        version,
        start,
        trouble,
        partial=partial,
    )


def first_plan(found: ContextRead, plan: Plan, *, all_full: bool) -> Plan:
    """The plan before any choice: Brief, the newest segments and summaries Full."""
    total = len(found.segments)
    newest = LAST_FULL if total > LAST_FULL and not found.partial else 0
    choices = []
    for number, choice in enumerate(plan.choices):
        stays = (
            all_full
            or number >= total - newest
            or not found.summaries.isdisjoint(choice.sources)
            or not found.segments[number].tokens
        )
        choices.append(structs.replace(choice, level=Level.FULL if stays else Level.BRIEF))
    return structs.replace(plan, choices=tuple(choices))
