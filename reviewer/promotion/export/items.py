"""What is exported: facts as plain values, without secrets."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from reviewer.promotion.views import SourceRef
from reviewer.text.secrets import mask


class Layer(StrEnum):
    """Where a fact stands (`promotion-rules.md`: L3, L2', L1'), the most trusted first."""

    STATE = "state"
    ENTITY = "entity"
    MEMORY = "memory"


class Relation(Struct, frozen=True):
    """A relation from the item to the entity `target` (its name): `part_of`, `satisfies` ..."""

    kind: str
    target: str
    target_id: int


class ExportItem(Struct, frozen=True, kw_only=True):
    """One fact. A text that does not apply is empty.

    `name` is the key of trusted state or the name of an entity; `content` the wording of a memory
    or entity; `value` and `unit` a value that was set. Moments are ISO 8601 in UTC.
    """

    layer: Layer
    id: int
    type: str = ""
    """The type of a memory or entity; trusted state has none."""
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
    """Where a person says that it can be looked up."""
    hand_authored: bool = False
    relations: tuple[Relation, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()
    """What else is known, as name and text: `rationale`, `consequence`, `context` ..."""

    @property
    def by_hand(self) -> bool:
        """Whether only an author stands behind it; a memory or entity without a source always is.

        Trusted state is written by hand anyway, and is told so only when it was marked.
        """
        return self.hand_authored or (self.layer is not Layer.STATE and not self.sources)


class MaskedItems(Struct, frozen=True):
    """Items without their secrets."""

    items: tuple[ExportItem, ...]
    kinds: tuple[str, ...]
    """One kind for every secret that was masked now; what was masked before does not count."""

    @property
    def masked(self) -> int:
        """How many secrets were masked now."""
        return len(self.kinds)


def mask_items(items: Iterable[ExportItem]) -> MaskedItems:
    """Mask every text of every item, as before anything leaves (DESIGN.md, "secrets").

    A value is looked at together with its name, since `api_key` is what gives its value away.
    Masking again changes nothing.
    """
    kinds: list[str] = []
    masked = tuple(_masked_item(item, kinds) for item in items)
    return MaskedItems(masked, tuple(kinds))


def _masked_item(item: ExportItem, kinds: list[str]) -> ExportItem:
    name = _masked(item.name, kinds)
    return replace(
        item,
        name=name,
        content=_masked(item.content, kinds),
        value=_masked_value(name, item.value, kinds),
        unit=_masked(item.unit, kinds),
        note=_masked(item.note, kinds),
        evidence=_masked(item.evidence, kinds),
        sources=tuple(replace(ref, path=_masked(ref.path, kinds)) for ref in item.sources),
        relations=tuple(replace(to, target=_masked(to.target, kinds)) for to in item.relations),
        attributes=tuple(_masked_pair(pair, kinds) for pair in item.attributes),
    )


def _masked_pair(pair: tuple[str, str], kinds: list[str]) -> tuple[str, str]:
    name = _masked(pair[0], kinds)
    return name, _masked_value(name, pair[1], kinds)


def _masked_value(name: str, value: str, kinds: list[str]) -> str:
    """A value as it reads behind its name, or alone where the two cannot be told apart."""
    for sign in (": ", " = "):
        together = mask(f"{name}{sign}{value}")
        if together.kinds and together.text.startswith(f"{name}{sign}"):
            kinds += together.kinds
            value = together.text[len(name) + len(sign) :]
    return _masked(value, kinds)


def _masked(text: str, kinds: list[str]) -> str:
    result = mask(text)
    kinds += result.kinds
    return result.text
