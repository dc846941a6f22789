"""Facts for export, as plain values without secrets: order, headings and JSON Lines."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from reviewer.promotion.views import RelationView, SourceRef
from reviewer.text.display import escaped_json
from reviewer.text.for_agents import AgentText, joined
from reviewer.text.secrets import mask


class Layer(StrEnum):
    """The layer of a fact (L3, L2, L1), most trusted first."""

    STATE = "state"
    ENTITY = "entity"
    MEMORY = "memory"


class ExportItem(Struct, frozen=True, kw_only=True):
    """A fact; inapplicable texts are empty.

    `name`: the key of trusted state or the name of an entity; `content`: the wording of a memory or
    entity; `value` and `unit`: a value that was set. Times are ISO 8601 in UTC.
    """

    layer: Layer
    id: int
    type: str = ""
    """The type of a memory or entity; empty for trusted state."""
    name: str = ""
    content: str = ""
    value: str = ""
    unit: str = ""
    note: str = ""
    status: str = "active"
    project: str = ""
    created_at: str
    decided_at: str | None = None
    rule: str = ""
    extractor_version: str = ""
    confidence: float | None = None
    sources: tuple[SourceRef, ...] = ()
    evidence: str = ""
    """Where a person says it can be looked up."""
    hand_authored: bool = False
    relations: tuple[RelationView, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()
    """Further attributes as name and text: `rationale`, `consequence`, `context` ..."""

    @property
    def by_hand(self) -> bool:
        """Whether it was written by hand: a memory or entity without a source.

        Trusted state is always written by hand; only a marked one says so.
        """
        return self.hand_authored or (self.layer is not Layer.STATE and not self.sources)


def mask_items(items: Iterable[ExportItem]) -> tuple[ExportItem, ...]:
    """Mask every text of every item before it leaves the store.

    A value is checked together with its name: `api_key` is what gives its value away.
    """
    return tuple(map(_masked_item, items))


def _masked_item(item: ExportItem) -> ExportItem:
    name = _masked(item.name)
    return replace(
        item,
        name=name,
        content=_masked(item.content),
        value=_masked_value(name, item.value),
        unit=_masked(item.unit),
        note=_masked(item.note),
        evidence=_masked(item.evidence),
        sources=tuple(replace(ref, path=_masked(ref.path)) for ref in item.sources),
        relations=tuple(replace(to, target=_masked(to.target)) for to in item.relations),
        attributes=tuple(
            (_masked(each), _masked_value(_masked(each), text)) for each, text in item.attributes
        ),
    )


def _masked_value(name: str, value: str) -> str:
    """A masked value, without its name in front if the two can be separated."""
    for sign in (": ", " = "):
        together = mask(f"{name}{sign}{value}").text
        if together.startswith(f"{name}{sign}"):
            value = together[len(name) + len(sign) :]
    return _masked(value)


def _masked(text: str) -> str:
    return mask(text).text


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


class ExportGroup:
    """The facts of one layer and type, by name and id."""

    def __init__(self, layer: Layer, type_: str, items: Iterable[ExportItem]) -> None:
        self.layer = layer
        self.type = type_
        self.items = sorted(items, key=lambda item: (item.name.casefold(), item.id))

    @property
    def title(self) -> str:
        """The heading of the type; for an unknown type, its name."""
        return TYPE_TITLES[self.layer].get(self.type, self.type.replace("_", " ").capitalize())


def grouped(items: Iterable[ExportItem]) -> list[ExportGroup]:
    """Non-empty groups: trusted state, then entities, then memories, each by type."""
    members: dict[tuple[Layer, str], list[ExportItem]] = {}
    for item in items:
        type_ = "" if item.layer is Layer.STATE else item.type
        members.setdefault((item.layer, type_), []).append(item)
    return [ExportGroup(*key, members[key]) for key in sorted(members, key=_place)]


def _place(key: tuple[Layer, str]) -> tuple[int, int, str]:
    layer, type_ = key
    known = list(TYPE_TITLES[layer])
    place = known.index(type_) if type_ in known else len(known)
    return list(Layer).index(layer), place, type_


def render_ndjson(items: Iterable[ExportItem]) -> AgentText:
    """One line per item with all its fields, in the order of the Markdown.

    `sources` have 0-based half-open lines, `attributes` are pairs, and `hand_authored` is also true
    for facts without a source.
    """
    return joined((_line(item) for group in grouped(items) for item in group.items), "")


def _line(item: ExportItem) -> AgentText:
    fields = msgspec.to_builtins(replace(item, hand_authored=item.by_hand))
    return AgentText(escaped_json(msgspec.json.encode(_writable(fields)).decode()) + "\n")


def _writable(value: object) -> object:
    """The value without lone surrogates, which cannot be encoded as UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {key: _writable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_writable(each) for each in value]
    return value
