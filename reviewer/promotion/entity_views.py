"""What is known of an entity, and of two that contradict each other: plain values."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec import Struct

from reviewer.promotion.views import CandidateView


class AttributeView(Struct, frozen=True):
    """A property with its value, and a unit where there is one."""

    name: str
    value: str
    unit: str = ""


class RelationView(Struct, frozen=True):
    """A stated relation to something by its name; `target_id` where that is an entity here."""

    kind: str
    target: str
    target_id: int | None = None


class EntityView(Struct, frozen=True):
    """The structure of an entity; its wording, status and evidence are those of its row."""

    id: int
    name: str
    slot: str
    attributes: tuple[AttributeView, ...]
    relations: tuple[RelationView, ...]
    graduated_from: int | None

    def to_json(self) -> dict[str, Any]:
        """One flat object with plain lists."""
        return {
            "name": self.name,
            "slot": self.slot,
            "attributes": [
                {"name": a.name, "value": a.value, "unit": a.unit} for a in self.attributes
            ],
            "relations": [
                {"kind": r.kind, "target": r.target, "target_id": r.target_id}
                for r in self.relations
            ],
            "graduated_from": self.graduated_from,
        }


class Resolution(StrEnum):
    """How a person settled a conflict."""

    SUPERSEDED = "superseded"
    KEPT_BOTH = "kept both"
    DISMISSED = "dismissed"


class ConflictView(Struct, frozen=True):
    """Two entities that fill the same slot with different values. `id` is that of the queue row."""

    id: int
    left: CandidateView
    right: CandidateView
    slot: str
    resolution: Resolution | None
