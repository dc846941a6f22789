"""The pieces of a message that a text may keep: sentences, lists, code, each with its heading."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from reviewer.compression.told import cut
from reviewer.text.units import Unit, UnitKind, units

LIST = 300
"""Characters of list items or table rows that make one piece."""
CODE = 200
HEADING = 90
"""Characters up to which a line that ends in a colon announces what follows."""


def pieces(text: str) -> list[str]:
    """The pieces of a text in order, each in one line. What announces a piece stands before it."""
    return list(_pieces(text))


def _pieces(text: str) -> Iterator[str]:
    heading = said = ""
    listed: list[str] = []
    code: list[str] = []

    def closed() -> Iterator[str]:
        nonlocal said
        if listed:
            yield _headed(said, "; ".join(listed))
            listed.clear()
            said = ""
        if code:
            short = cut(" ".join(code), CODE)
            yield _headed(said, short if "`" in short else f"`{short}`")
            code.clear()
            said = ""

    for unit in _whole(text):
        content = " ".join(_without_fences(text[unit.start : unit.end]).split())
        if not any(char.isalnum() for char in content):
            continue
        if unit.kind in (UnitKind.LIST_ITEM, UnitKind.TABLE_ROW):
            if code:
                yield from closed()
            item = _item(unit, content)
            if listed and sum(map(len, listed)) + len(item) > LIST:
                yield from closed()
            listed.append(item)
            continue
        if unit.kind in (UnitKind.CODE, UnitKind.COMMAND, UnitKind.TRACE):
            if listed:
                yield from closed()
            code.append(content)
            continue
        yield from closed()
        if unit.kind is UnitKind.HEADING:
            heading = content.strip("#*_: ")
            said = heading
        elif content.endswith(":") and len(content) <= HEADING:
            said = _headed(said, content.rstrip(":*_"))
        else:
            yield _headed(said, content)
            said = ""
    yield from closed()
    if said:
        yield said


def _whole(text: str) -> Iterator[Unit]:
    """The units; a sentence that goes on in small letters after a quotation is one."""
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


def _headed(heading: str, text: str) -> str:
    return f"{heading}: {text}" if heading else text


def headings(text: str) -> list[str]:
    """The headings of a text."""
    return [
        " ".join(text[unit.start : unit.end].split()).strip("#*_: ")
        for unit in units(text)
        if unit.kind is UnitKind.HEADING
    ]


def question_in(text: str, longest: int) -> str:
    """The last question near the end of a text, in at most `longest` characters."""
    last = pieces(text)[-3:]
    asked = (each for each in reversed(last) if each.rstrip("*_ )\"'`").endswith("?"))
    return cut(next(asked, "").rpartition(". ")[2], longest)
