"""The structure that makes a statement an entity: name, slot, attributes, relations."""

from __future__ import annotations

from msgspec import Struct

from reviewer.clock import utc_now
from reviewer.errors import ReviewerError
from reviewer.extraction.candidates import MemoryType, Setting
from reviewer.extraction.entities.choices import choice_of
from reviewer.extraction.entities.conflicts import FACTS_OF_RECORDS
from reviewer.extraction.entities.entity import Attribute, EntityCandidate, EntityType, Relation
from reviewer.extraction.entities.extract import extract_entities
from reviewer.extraction.entities.naming import name_key, named
from reviewer.sources.records import Record, Role, Shape
from reviewer.text.normalise import clean

LOOKED_AT = 2_000
"""Characters of a wording that are read for its structure; a person may write a whole file."""


class Structure(Struct, frozen=True):
    """What an entity row has beside its wording. `slot` is empty when nothing contradicts it."""

    name: str
    slot: str = ""
    attributes: tuple[Attribute, ...] = ()
    relations: tuple[Relation, ...] = ()

    @classmethod
    def of(cls, candidate: EntityCandidate) -> Structure:
        """The structure that the extractor found."""
        return cls(candidate.name, candidate.slot, candidate.attributes, candidate.relations)


def take_apart(content: str, type_: EntityType, name: str | None = None) -> Structure:
    """The structure of a wording, read as the extractor would read an item of that type.

    A `name` that a person gives is kept, and what it names is the slot of a value.
    """
    text = f"- [{str(type_).replace('_', ' ')}] {' '.join(content[:LOOKED_AT].split())}"
    record = Record(
        key="", line_start=0, line_end=1, byte_start=0, byte_end=0, sha256="", role=Role.NOTE,
        text=text, shape=Shape.SECTION,
    )  # fmt: skip
    guessed = _guess(content, type_, name)
    for found in extract_entities([record], Setting(path="", now=utc_now())):
        if found.type == type_ and found.attributes:
            named_by_hand = bool(name) or not found.slot
            return Structure(
                guessed.name if name else found.name,
                guessed.slot if named_by_hand else found.slot,
                found.attributes,
                found.relations,
            )
    return guessed


def reworded(old: Structure, content: str, type_: EntityType) -> Structure:
    """The structure after its wording was changed by hand: the name and what is known of the
    record stay, values and slot are those of the new words.
    """
    new = take_apart(content, type_, old.name)
    kept = tuple(each for each in old.attributes if each.name in FACTS_OF_RECORDS)
    values = tuple(each for each in new.attributes if each.name not in FACTS_OF_RECORDS)
    same_slot = {each.name for each in values} & {each.name for each in old.attributes}
    slot = old.slot if same_slot else new.slot
    return Structure(old.name, slot, (*kept, *values), old.relations)


def _guess(content: str, type_: EntityType, name: str | None) -> Structure:
    """A name, and the slot it would fill."""
    content = content[:LOOKED_AT]
    title = named((name or "").strip()[:LOOKED_AT] or clean(content))
    if type_ is EntityType.DECISION and (choice := choice_of(title, content)) is not None:
        chosen = Attribute("choice", choice.option)
        return Structure(title, choice.slot, (chosen,))
    if name and type_ in (EntityType.PARAMETER, EntityType.REQUIREMENT, EntityType.CONSTRAINT):
        return Structure(title, f"{type_}:{name_key(title)}")
    return Structure(title)


def entity_type(text: str) -> EntityType:
    """The entity type of that name. Raises ReviewerError naming them all."""
    try:
        return EntityType(text.strip().lower().replace("-", "_").replace(" ", "_"))
    except ValueError:
        names = ", ".join(EntityType)
        raise ReviewerError(f'There is no entity type "{text}". Types: {names}.') from None


def kind_and_type(text: str) -> tuple[str, str]:
    """`preference` is a memory, `decision` or `entity:project` an entity.

    Raises ReviewerError naming the types.
    """
    name = text.strip().lower()
    if name in list(MemoryType):
        return "memory", name
    try:
        return "entity", str(entity_type(name.removeprefix("entity:")))
    except ReviewerError:
        names = ", ".join(dict.fromkeys((*MemoryType, *EntityType)))
        raise ReviewerError(f'There is no type "{text}". Types: {names}.') from None
