"""Splits a message into pieces that a text may keep: sentences, lists, code, with headings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from msgspec import structs

from reviewer.compression.told import cut
from reviewer.text.units import Unit, UnitKind, units

LIST = 240
"""Characters of list items or table rows per piece."""
SECTION = 300
"""Characters of the sentences that stay with the heading above them."""
CODE = 200
HEADING = 90
"""The longest line ending in a colon that counts as a heading, in characters."""
_LISTED = frozenset((UnitKind.LIST_ITEM, UnitKind.TABLE_ROW))
CODED = frozenset((UnitKind.CODE, UnitKind.COMMAND, UnitKind.TRACE))


class TextPassage(NamedTuple):
    """A piece in one line. `block`: its paragraph, for a sentence; 0 for other pieces."""

    text: str
    block: int = 0


def pieces(text: str) -> list[TextPassage]:
    """The pieces of a text in order, each after its heading."""
    return [piece for piece, _ in with_needs(text)]


def with_needs(text: str) -> list[tuple[TextPassage, int]]:
    """The pieces of a text, each with the index of the one it depends on, else -1: the rest of a
    list needs its beginning, and a title needs the first piece below it.
    """
    found: list[tuple[TextPassage, int]] = []
    first = next(units(text), None)
    above = 0 if first is not None and first.kind is UnitKind.HEADING else -1
    last_list, last_item = -1, 0
    for piece, items in _pieces(text):
        needed = above if found else -1
        if items is not None:
            begins, ends = items
            if last_list >= 0 and (begins < 0 or 1 < begins == last_item + 1):
                needed = last_list
            last_list, last_item = len(found), ends
        found.append((piece, needed))
    return found


def _pieces(text: str) -> Iterator[tuple[TextPassage, tuple[int, int] | None]]:
    """The pieces, and for lists the numbers of their first and last item: 0 without numbers, -1 for
    a first item right after the last of the piece before.
    """
    said = section = ""
    held: list[str] = []
    held_code = goes_on = False
    numbers: list[int] = []

    def closed() -> Iterator[tuple[TextPassage, tuple[int, int] | None]]:
        nonlocal said, section, goes_on
        if section:
            yield TextPassage(section), None
            section = ""
        if held:
            joined = _joined(held)
            if held_code:
                joined = cut(" ".join(held), CODE)
                joined = joined if "`" in joined else f"`{joined}`"
            items = None if held_code else (-1 if goes_on else numbers[0], numbers[-1])
            yield TextPassage(_headed(said, joined)), items
            held.clear()
            numbers.clear()
            said, goes_on = "", False

    for unit in _whole(text):
        content = " ".join(_without_fences(text[unit.start : unit.end]).split())
        if not any(char.isalnum() for char in content):
            continue
        is_code = unit.kind in CODED
        if is_code or unit.kind in _LISTED:
            content = content if is_code else _item(unit, content)
            is_full = not is_code and sum(map(len, held)) + len(content) > LIST
            if section or (held and (is_full or is_code is not held_code)):
                split = bool(held) and is_full and not held_code
                yield from closed()
                goes_on = split
            held_code = is_code
            held.append(content)
            digits = "".join(filter(str.isdecimal, unit.marker))
            numbers.append(int(digits) if digits else 0)
            continue
        announces = unit.kind is UnitKind.HEADING or (
            content.endswith((":", "：")) and len(content) <= HEADING
        )
        if section and not announces and len(section) + len(content) <= SECTION:
            section = f"{section} {content}"
            continue
        yield from closed()
        if unit.kind is UnitKind.HEADING:
            heading = content.strip("#*_: ")
            both = _headed(said, heading)
            said = both if len(both) <= HEADING else heading
        elif announces:
            said = _headed(said, content.rstrip(":：*_"))
        elif said:
            section, said = _headed(said, content), ""
        else:
            yield TextPassage(content, unit.block), None
    yield from closed()
    if said:
        yield TextPassage(said), None


def _whole(text: str) -> Iterator[Unit]:
    """The units; a sentence that continues in lower case after a quotation is one."""
    last: Unit | None = None
    for unit in units(text):
        goes_on = text[unit.start : unit.start + 1].islower()
        if last is not None and goes_on and (last.kind, last.block) == (unit.kind, unit.block):
            last = structs.replace(last, end=unit.end)
            continue
        if last is not None:
            yield last
        last = unit
    if last is not None:
        yield last


def _without_fences(text: str) -> str:
    if "```" not in text:
        return text
    return "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("```"))


def _item(unit: Unit, content: str) -> str:
    if unit.kind is UnitKind.TABLE_ROW:
        cells = (cell.strip() for cell in content.strip("|").split("|"))
        return " | ".join(cell for cell in cells if cell)
    mark = unit.marker if any(char.isdigit() for char in unit.marker) else ""
    return f"{mark} {content}".strip() if mark else content


def _joined(items: list[str]) -> str:
    """Items of a list in one line; one that introduces the next is directly followed by it."""
    ends = ["" if item.endswith((":", "：", ";", "；")) else ";" for item in items[:-1]] + [""]
    return " ".join(f"{item}{end}" for item, end in zip(items, ends, strict=True))


def _headed(heading: str, text: str) -> str:
    return f"{heading}: {text}" if heading else text


def question_in(text: str, longest: int) -> str:
    """The question at the end of a text, at most its last `longest` characters."""
    last = pieces(text)[-2:]
    asked = (each.text for each in reversed(last) if each.text.rstrip("*_ )").endswith(("?", "？")))
    question = next(asked, "")
    return question if len(question) <= longest else f"...{question[-longest:].partition(' ')[2]}"
