"""Splits a message into pieces that a text may keep: paragraphs, lists, code, with headings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from reviewer.text.clip import clip
from reviewer.text.units import Unit, UnitKind, units

LONGEST = 300
"""Characters of a paragraph, list or table in one piece; the rest is a piece of its own."""
CODE, CODE_LINES = 200, 4
"""Characters and lines of code, with its fences, that can be read in one line; else left out."""
HEADING = 90
"""The longest line ending in a colon that counts as a heading, in characters."""
HEADINGS = 3
"""Headings without text between them that are kept, the last ones."""
HEADING_MARKS = "#*_:： "
LEFT_OUT = "[...]"
"""The mark of a part of a message that is left out."""
NUMBERED = re.compile(r"[*_]*\d{1,3}[.)](?!\d)")
"""The number of an item or a heading."""
CODED = frozenset((UnitKind.CODE, UnitKind.COMMAND, UnitKind.TRACE))


class TextPassage(NamedTuple):
    """A piece in one line. `needs`: the index of the piece without which it says little, or -1."""

    text: str
    needs: int = -1


class _Line(NamedTuple):
    kind: UnitKind
    text: str
    block: int


def pieces(text: str, *, whole: bool = False) -> list[TextPassage]:
    """The pieces of a text in order, each after its heading. The rest of a paragraph or list needs
    its beginning; below a title at the start, all else needs the first piece. Of numbered headings
    each needs the one before it, and what is below them needs them all. `whole`: with code
    and tables in lines of their own.
    """
    found: list[TextPassage] = []
    first = next(units(text), None)
    above = 0 if first is not None and first.kind is UnitKind.HEADING else -1
    headings: list[str] = []
    numbered: list[int] = []
    below: dict[int, list[int]] = {}
    for (kind, _), group in groupby(_lines(text, whole), key=lambda line: (line.kind, line.block)):
        said = [line.text for line in group]
        needs = above if found else -1
        if kind is UnitKind.HEADING:
            headings = said[-HEADINGS:]
            continue
        if kind in (UnitKind.CODE, UnitKind.TABLE_ROW) and whole and "\n" in "\n".join(said):
            parts = ["\n".join(["", *said])]
        elif kind is UnitKind.CODE:
            code = clip(" ".join(said), CODE)
            parts = [LEFT_OUT if LEFT_OUT in said else code if "`" in code else f"`{code}`"]
        elif kind is UnitKind.TABLE_ROW:
            parts = [_joined(said)]
        elif kind is UnitKind.LIST_ITEM:
            parts = [_joined(part) for part in grouped(said)]
        else:
            parts = [" ".join(part) for part in grouped(said)]
        begins = headings or said[: kind is UnitKind.SENTENCE]
        if any(map(NUMBERED.match, begins)):
            needs = numbered[-1] if numbered else needs
            numbered.append(len(found))
        elif headings:
            numbered = []
        elif numbered:
            below[len(found)] = numbered
        for part in parts:
            found.append(TextPassage(": ".join([*headings, part]).replace(": \n", ":\n"), needs))
            headings, needs = [], len(found) - 1
    if headings:
        found.append(TextPassage(": ".join(headings), above if found else -1))
    for at, headed in below.items():
        found[at] = found[at]._replace(needs=headed[-1])
    return found


def _lines(text: str, whole: bool = False) -> Iterator[_Line]:
    """The units of a text in one line each, as a heading, a list item, a row, code or a sentence;
    `whole`: code in its lines.
    """
    for unit in units(text):
        content = " ".join(_without_fences(text[unit.start : unit.end]).split())
        if not any(char.isalnum() for char in content):
            continue
        if unit.kind in CODED and whole:
            yield _Line(UnitKind.CODE, text[unit.start : unit.end], 0)
        elif unit.kind in CODED:
            is_long = len(content) > CODE or text.count("\n", unit.start, unit.end) > CODE_LINES
            yield _Line(UnitKind.CODE, LEFT_OUT if is_long else content, 0)
        elif unit.kind in (UnitKind.LIST_ITEM, UnitKind.TABLE_ROW):
            yield _Line(unit.kind, _item(unit, content), 0)
        elif unit.kind is UnitKind.HEADING:
            yield _Line(UnitKind.HEADING, content.strip(HEADING_MARKS), 0)
        elif content.endswith((":", "：")) and len(content) <= HEADING:
            yield _Line(UnitKind.HEADING, content.rstrip(HEADING_MARKS), 0)
        else:
            yield _Line(UnitKind.SENTENCE, content, unit.block)


def grouped(texts: Iterable[str]) -> list[list[str]]:
    """The texts in groups of at most `LONGEST` characters, or one text each."""
    groups: list[list[str]] = []
    for text in texts:
        if not groups or sum(map(len, groups[-1])) + len(text) > LONGEST:
            groups.append([])
        groups[-1].append(text)
    return groups


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


def _joined(items: Sequence[str]) -> str:
    """Items of a list in one line; one that introduces the next is directly followed by it."""
    ends = ["" if item.endswith((":", "：", ";", "；")) else ";" for item in items[:-1]] + [""]
    return " ".join(f"{item}{end}" for item, end in zip(items, ends, strict=True))


def question_in(text: str, longest: int) -> str:
    """The question at the end of a text, at most its last `longest` characters; after the sentence
    before it if there is room, as "Want me to do that?" says nothing by itself.
    """
    lines = list(_lines(text))
    for end in range(len(lines), max(len(lines) - 2, 0), -1):
        both = lines[max(end - 2, 0) : end]
        if both[-1].text.rstrip("*_ )").endswith(("?", "？")):
            whole = " ".join(each.text for each in both)
            is_prose = all(each.kind is UnitKind.SENTENCE for each in both)
            return whole if is_prose and len(whole) <= longest else end_of(both[-1].text, longest)
    return ""


def numbered_in(text: str) -> list[str]:
    """The items of the last numbered list in a text."""
    items: list[str] = []
    for line in _lines(text):
        if line.kind is UnitKind.LIST_ITEM and (number := NUMBERED.match(line.text)):
            items = [line.text] if number[0] in ("1.", "1)") else [*items, line.text]
    return items


def end_of(line: str, longest: int) -> str:
    """A line, or its end in whole words: at most `longest` characters."""
    return line if len(line) <= longest else f"...{line[-longest:].partition(' ')[2]}"
