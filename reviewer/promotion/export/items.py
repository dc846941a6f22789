"""Facts for export, as plain values without secrets, in order and with headings."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from reviewer.promotion.views import SourceRef
from reviewer.text.secrets import mask
from reviewer.text.secrets.values import without_secrets


class Layer(StrEnum):
    """The layer of a fact (L3, L2, L1), most trusted first."""

    STATE = "state"
    ENTITY = "entity"
    MEMORY = "memory"


class ExportItem(Struct, frozen=True, kw_only=True):
    """A fact; inapplicable texts are empty.

    `name`: the key of trusted state or the name of an entity; `content`: the wording of a memory or
    entity; `value`: that of trusted state. Times are ISO 8601 in UTC.
    """

    layer: Layer
    id: int
    type: str = ""
    """The type of a memory or entity; empty for trusted state."""
    name: str = ""
    content: str = ""
    value: str = ""
    note: str = ""
    created_at: str
    decided_at: str | None = None
    sources: tuple[SourceRef, ...] = ()
    evidence: str = ""
    """Where a person says it can be looked up."""
    attributes: tuple[tuple[str, str], ...] = ()
    """Further attributes as name and text: `rationale`, `consequence`, `context` ..."""

    @property
    def by_hand(self) -> bool:
        """Whether it is a memory or an entity without a source. Trusted state always is written by
        hand, and does not say so.
        """
        return self.layer is not Layer.STATE and not self.sources


def mask_items(items: Iterable[ExportItem]) -> tuple[ExportItem, ...]:
    """Mask every text of every item before it leaves the store.

    A value is checked together with its name: `api_key` is what gives its value away.
    """
    return tuple(
        replace(
            item,
            value=_masked_value(item.name, item.value),
            attributes=tuple((name, _masked_value(name, text)) for name, text in item.attributes),
        )
        for item in without_secrets(list(items), list[ExportItem])
    )


def _masked_value(name: str, value: str) -> str:
    """A masked value, without its name in front if the two can be separated."""
    for sign in (": ", " = "):
        together = mask(f"{name}{sign}{value}").text
        if together.startswith(f"{name}{sign}"):
            value = together[len(name) + len(sign) :]
    return value


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
"""The types, most binding first."""


def grouped(items: Iterable[ExportItem]) -> list[tuple[Layer, str, list[ExportItem]]]:
    """The facts of each layer and type, with the title of the type: trusted state, then entities,
    then memories, each by type and name.
    """
    members: dict[tuple[Layer, str], list[ExportItem]] = {}
    for item in items:
        type_ = "" if item.layer is Layer.STATE else item.type
        members.setdefault((item.layer, type_), []).append(item)
    return [
        (
            layer,
            TYPE_TITLES[layer].get(type_, type_.replace("_", " ").capitalize()),
            sorted(members[layer, type_], key=lambda item: (item.name.casefold(), item.id)),
        )
        for layer, type_ in sorted(members, key=_place)
    ]


def _place(key: tuple[Layer, str]) -> tuple[int, int, str]:
    layer, type_ = key
    known = list(TYPE_TITLES[layer])
    place = known.index(type_) if type_ in known else len(known)
    return list(Layer).index(layer), place, type_
