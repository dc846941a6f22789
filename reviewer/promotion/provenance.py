"""Provenance: from a statement down to the line in the file."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct

from reviewer.promotion.decisions.entities import Entities
from reviewer.promotion.decisions.trusted_state import StateView
from reviewer.promotion.lists.queue import Queue
from reviewer.promotion.views import EvidenceView, RowKind

_PLACE = re.compile(r"(?P<path>.+?):(?P<line>\d+)$")


class ProvenanceStep(Struct, frozen=True):
    """A step: its layer (`L3` ... `L0`), its kind, its text, and its place.

    `line` is 0-based; None if the step is not a place in a file.
    """

    layer: str
    title: str
    text: str
    path: str | None = None
    line: int | None = None


class Provenance:
    """Walks the promotion graph downwards."""

    def __init__(self, queue: Queue, entities: Entities) -> None:
        self._queue = queue
        self._entities = entities

    def of(self, number: int) -> tuple[ProvenanceStep, ...]:
        """The steps from a memory or an entity down to every line that supports it.

        Raises UnknownIdError.
        """
        steps: list[ProvenanceStep] = []
        current: int | None = number
        while current is not None:
            view = self._queue.candidate(current)
            layer = "L1" if view.kind is RowKind.MEMORY else "L2"
            title = f"{view.type} #{current} · {view.status}"
            steps.append(ProvenanceStep(layer, title, view.content))
            for replaced_at, wording in self._queue.wordings(current):
                steps.append(
                    ProvenanceStep(layer, f"earlier wording, until {replaced_at[:10]}", wording)
                )
            is_entity = view.kind is RowKind.ENTITY
            current = self._entities.get(current).graduated_from if is_entity else None
        evidence = self._queue.evidence(number, around=0)
        if not evidence:
            steps.append(
                ProvenanceStep("L0", "hand-authored", "A person wrote this without a source.")
            )
        return (*steps, *(_place(each) for each in evidence))

    def of_state(self, state: StateView) -> tuple[ProvenanceStep, ...]:
        """The steps from a trusted value to the evidence named by its author."""
        first = ProvenanceStep("L3", f"{state.key} · set {state.set_at[:10]}", state.value)
        note = [ProvenanceStep("L3", "note", state.note)] if state.note else []
        if not state.evidence:
            return (first, *note, ProvenanceStep("L0", "hand-authored", "No evidence was named."))
        match = _PLACE.match(state.evidence)
        if match is None:
            return (first, *note, ProvenanceStep("L0", "evidence", state.evidence))
        line = max(int(match["line"]) - 1, 0)
        quote = _line_of(Path(match["path"]), line)
        return (first, *note, ProvenanceStep("L0", "evidence", quote, match["path"], line))


def _place(evidence: EvidenceView) -> ProvenanceStep:
    record = evidence.record
    when = f" · {record.at[:10]}" if record.at else ""
    return ProvenanceStep(
        "L0", f"{record.role}{when} · {evidence.rule}", evidence.quote, record.path, evidence.line
    )


def _line_of(path: Path, line: int) -> str:
    from reviewer.errors import SourceError
    from reviewer.promotion.lists.source_view import window

    try:
        found = window(path, line, line + 1).lines
    except SourceError as problem:
        return str(problem)
    return found[0] if found else f"{path} no longer has line {line + 1}."
