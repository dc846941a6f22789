"""What a person sees of a candidate, a memory, an entity or a conflict, read at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from reviewer.engine import Engine
from reviewer.promotion.views import RowKind, Status
from reviewer.tui.evidence.structure import Extras

if TYPE_CHECKING:
    from reviewer.promotion.views import CandidateView, EvidenceView, Member


class Detail(Struct, frozen=True):
    """Everything about a row."""

    view: CandidateView
    members: Sequence[Member]
    wordings: Sequence[tuple[str, str]]
    evidence: Sequence[EvidenceView]
    extras: Extras


def read_detail(engine: Engine, memory_id: int, *, name_project: bool = False) -> Detail:
    """Everything about a row. Raises UnknownIdError."""
    view = engine.queue.candidate(memory_id)
    extras = Extras()
    if view.kind is RowKind.ENTITY:
        open_conflicts = tuple(engine.conflicts.of(memory_id))
        extras = Extras(entity=engine.entities.get(memory_id), open_conflicts=open_conflicts)
    elif view.kind is RowKind.CONFLICT:
        extras = Extras(conflict=engine.conflicts.get(memory_id))
    return Detail(
        view,
        engine.queue.members(memory_id) if view.members else (),
        engine.queue.wordings(memory_id) if view.edited else (),
        engine.queue.evidence(memory_id),
        structs.replace(
            extras,
            draft=memory_id in engine.drafts.ids(),
            used=engine.recall.use(memory_id),
            moments=engine.recall.moments(memory_id) if view.status is Status.ACTIVE else None,
            project=view.project if name_project else "",
            decided_by=engine.history.another_who_decided(memory_id),
        ),
    )
