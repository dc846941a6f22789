"""Finds an item by its id or place, as shown in a packet."""

from __future__ import annotations

from reviewer.errors import UnknownIdError
from reviewer.packets.values import Item, Material, Section
from reviewer.packets.wording import title_of


def find_item(material: Material, name: str) -> Item:
    """The item with an id, or at a place: `DECISIONS.md:41`, `m:12`, `s:3`.

    A line inside an entry finds the entry. Raises UnknownIdError.
    """
    items = [*material.items, *_rules(material)]
    for item in items:
        if name in (item.id, item.place):
            return item
    file, _, line = name.rpartition(":")
    if file and line.isdecimal():
        above = [
            (int(number), item)
            for item in items
            if (place := item.place.rpartition(":"))[0].lower() == file.lower()
            and (number := place[2]).isdecimal()
            and int(number) <= int(line)
        ]
        # lines of a file only: the numbers of memories are names
        if above and file not in ("m", "s"):
            return max(above, key=lambda pair: pair[0])[1]
    raise UnknownIdError(
        f"There is no item {name} in {material.source}. Ids and places: reviewer packet --explain"
    )


def _rules(material: Material) -> list[Item]:
    return [
        Item(
            id=rule.id,
            section=Section.CONSTITUTION,
            title=title_of(rule.words),
            text=rule.words,
            place=rule.place,
        )
        for rule in material.constitution
        if not rule.heading
    ]
