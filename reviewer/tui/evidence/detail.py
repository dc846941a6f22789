"""Everything the screen shows of a candidate, memory, entity or conflict, in one read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from reviewer.engine import Engine
from reviewer.promotion.views import RowKind, SourceState, Status

if TYPE_CHECKING:
    from reviewer.promotion.lists.insight import Hint
    from reviewer.promotion.views import (
        CandidateView,
        ConflictView,
        EntityView,
        EvidenceView,
        Member,
    )
    from reviewer.recall.moments import Moment


class Detail(Struct, frozen=True):
    """Everything about a row; parts that do not apply are empty."""

    view: CandidateView
    evidence: Sequence[EvidenceView] = ()
    members: Sequence[Member] = ()
    """Near duplicates."""
    wordings: Sequence[tuple[str, str]] = ()
    """Earlier wordings with the time of their replacement, newest first."""
    entity: EntityView | None = None
    conflict: ConflictView | None = None
    open_conflicts: tuple[int, ...] = ()
    """Open conflicts with the entity on one side."""
    hints: tuple[Hint, ...] = ()
    drafts: Collection[int] = ()
    """The rows with an unsaved wording."""
    project: str = ""
    """Its project, if the list shows several."""
    used: str = ""
    """How often it was given, and how often it helped; empty unless promoted."""
    moments: tuple[Moment, ...] | None = None
    """When it is recalled; None unless promoted."""
    decided_by: str = ""
    """The person who made the latest decision on it, if another."""
    retired: bool = False
    """Whether it is rejected but was promoted until then."""
    state: SourceState = SourceState.UNKNOWN
    """Whether its source has changed since it was read."""


def read_detail(engine: Engine, memory_id: int, *, name_project: bool = False) -> Detail:
    """Everything about a row. Raises UnknownIdError."""
    view = engine.queue.candidate(memory_id)
    is_entity, is_promoted = view.kind is RowKind.ENTITY, view.status is Status.ACTIVE
    return Detail(
        view,
        evidence=engine.queue.evidence_behind(memory_id),
        members=engine.queue.members(memory_id) if view.members else (),
        wordings=engine.queue.wordings(memory_id) if view.edited else (),
        entity=engine.entities.get(memory_id) if is_entity else None,
        open_conflicts=tuple(engine.conflicts.of(memory_id)) if is_entity else (),
        conflict=engine.conflicts.get(memory_id) if view.kind is RowKind.CONFLICT else None,
        hints=engine.insight.hints([memory_id]).get(memory_id, ()),
        drafts=engine.drafts.ids(),
        used=engine.recall.use(memory_id) if is_promoted else "",
        moments=engine.recall.moments(memory_id) if is_promoted else None,
        project=view.project if name_project else "",
        retired=view.status is Status.INVALID and bool(engine.history.retired([memory_id])),
        decided_by=engine.history.another_who_decided(memory_id),
    )
