"""The order and the headings under which facts leave the reviewer."""

from __future__ import annotations

from collections.abc import Iterable

from reviewer.promotion.export.items import ExportItem, Layer

LAYER_TITLES = {
    Layer.STATE: "Trusted state",
    Layer.ENTITY: "Entities",
    Layer.MEMORY: "Memories",
}

TYPE_TITLES = {
    Layer.STATE: {"": ""},
    Layer.ENTITY: {
        "decision": "Decisions",
        "requirement": "Requirements",
        "constraint": "Constraints",
        "project": "Projects",
        "system": "Systems",
        "subsystem": "Subsystems",
        "component": "Components",
        "interface": "Interfaces",
        "parameter": "Parameters",
        "material": "Materials",
        "process": "Processes",
        "analysis_model": "Analysis models",
        "result": "Results",
        "validation_claim": "Validation claims",
        "vendor": "Vendors",
    },
    Layer.MEMORY: {
        "identity": "Identity",
        "preference": "Preferences",
        "project": "Project",
        "knowledge": "Knowledge",
        "adaptation": "Adaptations",
        "episodic": "Episodes",
    },
}
"""The types of settled.md (Promotion), what binds an agent first."""


class Group:
    """The facts of one layer and type, in the order of their names and ids."""

    def __init__(self, layer: Layer, type_: str, items: Iterable[ExportItem]) -> None:
        self.layer = layer
        self.type = type_
        self.items = sorted(items, key=lambda item: (item.name.casefold(), item.id))

    @property
    def title(self) -> str:
        """The heading of the type; a type that is not known is named as it is."""
        return TYPE_TITLES[self.layer].get(self.type, self.type.replace("_", " ").capitalize())


def grouped(items: Iterable[ExportItem]) -> list[Group]:
    """Groups that are not empty: trusted state, then entities, then memories, each by type."""
    members: dict[tuple[Layer, str], list[ExportItem]] = {}
    for item in items:
        type_ = "" if item.layer is Layer.STATE else item.type
        members.setdefault((item.layer, type_), []).append(item)
    return [Group(*key, members[key]) for key in sorted(members, key=_place)]


def _place(key: tuple[Layer, str]) -> tuple[int, int, str]:
    layer, type_ = key
    known = list(TYPE_TITLES[layer])
    place = known.index(type_) if type_ in known else len(known)
    return list(Layer).index(layer), place, type_
