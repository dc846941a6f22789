"""Entity rows: parsing the structure of a wording, and writing row, structure and relations."""

from __future__ import annotations

import msgspec

from reviewer.errors import ReviewerError
from reviewer.extraction.candidates import MemoryType
from reviewer.extraction.entities.conflicts import FACTS_OF_RECORDS
from reviewer.extraction.entities.entity import (
    Attribute,
    EntityType,
    Structure,
)
from reviewer.extraction.entities.facts import structure_of
from reviewer.extraction.entities.naming import LONGEST_NAME
from reviewer.promotion.views import RowKind
from reviewer.store.acts import Act
from reviewer.text.normalise import clean

LOOKED_AT = 2_000
"""Characters of a wording that are parsed; a person may write a whole file."""


def parse_structure(content: str, type_: EntityType, name: str | None = None) -> Structure:
    """The structure of a wording; a `name` given by a person is kept."""
    wording = clean(content[:LOOKED_AT])
    return structure_of(wording, type_, (name or "").strip()[:LOOKED_AT])


def require_name(name: str) -> None:
    """Raise ReviewerError for a name longer than the parser allows."""
    if len(name) > LONGEST_NAME:
        raise ReviewerError(
            f"The name of an entity has at most {LONGEST_NAME} characters, this has {len(name):,}."
            " Keep the name short and put the rest into the wording."
        )


def reworded(old: Structure, content: str, type_: EntityType) -> Structure:
    """The structure after a person changed the wording: the name and the facts about the record
    stay, values and slot come from the new words.
    """
    new = parse_structure(content, type_, old.name)
    kept = tuple(each for each in old.attributes if each.name in FACTS_OF_RECORDS)
    values = tuple(each for each in new.attributes if each.name not in FACTS_OF_RECORDS)
    same_slot = {each.name for each in values} & {each.name for each in old.attributes}
    slot = old.slot if same_slot else new.slot
    return Structure(old.name, slot, (*kept, *values))


def entity_type(text: str) -> EntityType:
    """The entity type of that name. Raises ReviewerError, naming them all."""
    try:
        return EntityType(text.strip().lower().replace("-", "_").replace(" ", "_"))
    except ValueError:
        names = ", ".join(EntityType)
        raise ReviewerError(f'There is no entity type "{text}". Types: {names}.') from None


def kind_and_type(text: str) -> tuple[RowKind, str]:
    """`preference` is a memory, `decision` or `entity:project` an entity.

    Raises ReviewerError, naming the types.
    """
    name = text.strip().lower()
    if name in list(MemoryType):
        return RowKind.MEMORY, name
    try:
        return RowKind.ENTITY, str(entity_type(name.removeprefix("entity:")))
    except ReviewerError:
        names = ", ".join(dict.fromkeys((*MemoryType, *EntityType)))
        raise ReviewerError(f'There is no type "{text}". Types: {names}.') from None


def add_structure(
    act: Act, number: int, structure: Structure, *, graduated_from: int | None = None
) -> None:
    """Give a row of `memory` the structure of an entity."""
    act.insert(
        "entity",
        memory_id=number,
        name=structure.name,
        slot=structure.slot,
        attributes=msgspec.json.encode(structure.attributes).decode(),
        graduated_from=graduated_from,
    )


def remove_structure(act: Act, number: int) -> None:
    """Turn an entity back into a memory."""
    for (row,) in act.query("SELECT id FROM entity WHERE memory_id = ?", (number,)):
        act.delete("entity", row)


def rename(act: Act, number: int, name: str) -> str:
    """Rename an entity, and the slot of its value; returns the name as written.

    Raises ReviewerError for an empty or overlong name or a row that is not an entity.
    """
    found = act.query(
        "SELECT e.id, e.slot, m.content, m.type FROM entity e JOIN memory m ON m.id = e.memory_id"
        " WHERE m.id = ?",
        (number,),
    )
    if not found:
        raise ReviewerError(
            f"#{number} is not an entity, so it has no name. Also give it an entity's type "
            "(--type decision), or graduate it."
        )
    row, slot, content, type_ = found[0]
    if not clean(name):
        raise ReviewerError("The name is empty.")
    require_name(name)
    new = parse_structure(content, EntityType(type_), name)
    act.update("entity", row, name=new.name, slot=new.slot or slot)
    return new.name


def change_structure(act: Act, number: int, content: str) -> None:
    """Read an entity's values again from a wording or type changed by a person."""
    row, name, slot, attributes, type_ = act.query(
        "SELECT e.id, e.name, e.slot, e.attributes, m.type FROM entity e"
        " JOIN memory m ON m.id = e.memory_id WHERE m.id = ?",
        (number,),
    )[0]
    old = Structure(name, slot, msgspec.json.decode(attributes, type=tuple[Attribute, ...]))
    new = reworded(old, content, EntityType(type_))
    act.update(
        "entity", row, slot=new.slot, attributes=msgspec.json.encode(new.attributes).decode()
    )
