"""The structure that makes a statement an entity: name, slot, attributes, relations."""

from __future__ import annotations

from msgspec import Struct

from reviewer.errors import ReviewerError
from reviewer.extraction.candidates import Candidate, MemoryType
from reviewer.extraction.entities.choices import choice_of
from reviewer.extraction.entities.entity import Attribute, EntityCandidate, EntityType, Relation
from reviewer.extraction.entities.naming import name_key, named
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


def guess(content: str, type_: EntityType, name: str | None) -> Structure:
    """The structure of a wording that no rule took apart: a name, and the slot it would fill."""
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


def overlaps(entity: EntityCandidate, memory: Candidate) -> bool:
    """Whether both were drawn from the same stretch of the same record."""
    return (
        entity.record.key == memory.record.key
        and entity.span_start < memory.span_end
        and memory.span_start < entity.span_end
    )
