"""The pieces of a conversation that an extractive summary may take: sentences, items, calls."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum

import msgspec
from msgspec import Struct

from reviewer.compression.anchor_rules import tells_error
from reviewer.compression.values import Turn
from reviewer.text.units import UnitKind, units

LONGEST = 400
"""Characters of a unit; what is longer is cut between clauses, or else between words."""
LONGEST_CALL = 160
COMMAND = "$ "


class Form(StrEnum):
    """What a unit is to a reader."""

    PROSE = "prose"
    ITEM = "item"
    HEADING = "heading"
    CODE = "code"
    CALL = "call"
    ERROR = "error"
    ROW = "row"
    OUTPUT = "output"


class SourceUnit(Struct, frozen=True, gc=False):
    """One line of a summary, as it would stand there; `turn` is the index of its turn.

    `source` is the same with its emphasis and backticks, which cost tokens and say nothing.
    `heading` is the one it stands under, `part` its number within a statement that had to be cut.
    """

    turn: int
    form: Form
    text: str
    source: str = ""
    heading: str = ""
    part: int = 0


_FORMS = {
    UnitKind.SENTENCE: Form.PROSE,
    UnitKind.LIST_ITEM: Form.ITEM,
    UnitKind.HEADING: Form.HEADING,
    UnitKind.QUOTE: Form.PROSE,
    UnitKind.TRACE: Form.ERROR,
    UnitKind.TABLE_ROW: Form.ROW,
}
_WORDS = frozenset({Form.PROSE, Form.ITEM, Form.HEADING})
_MARKUP = re.compile(r"\*\*|`")
_TITLE_ITEM = re.compile(
    r"(?:\*\*|__)(?P<bold>[^*_\n]{2,80}?)(?:\*\*:?|__:?)\s*|(?P<plain>[^\n:]{2,60}):\s*"
)
"""An item that is the title of those below it."""
_WIDE_END = re.compile(r"(?<=[。！？])(?=\S)")
"""Where a sentence ends in writing that needs no space behind it."""
_MEANING = re.compile(r"[^\W_]")
_ARGUMENT_LIST = """
file_path notebook_path path filename command query pattern url subject title skill description
prompt
"""
_ARGUMENTS = _ARGUMENT_LIST.split()
"""Arguments that tell what a call was about, the most telling first."""
_BARE_CODE = re.compile(r"\s*exit(?:ed)?(?: with)? (?:code|status) \d+\W*", re.IGNORECASE)
_LISTED = re.compile(r"^\s*\d+[→│|\t:]|^\s*(?://|#|\*|[+-] )")


def source_units(turns: Sequence[Turn]) -> list[SourceUnit]:
    """Every unit of the turns in order. Thoughts count only where nothing else was said."""
    thoughts = all(turn.said == "thinking" for turn in turns)
    return [unit for number, turn in enumerate(turns) for unit in _of_turn(number, turn, thoughts)]


def plain(text: str) -> str:
    """The text without emphasis and backticks."""
    return _MARKUP.sub("", text)


def _of_turn(number: int, turn: Turn, thoughts: bool) -> Iterator[SourceUnit]:
    if turn.said == "tool_use":
        text = call_line(turn)
        if text:
            yield SourceUnit(number, Form.CALL, text, text)
    elif turn.said == "tool_result":
        yield from _errors(number, turn.text)
    elif turn.said == "text" or thoughts:
        yield from _said(number, turn.text)


def _said(turn: int, text: str) -> Iterator[SourceUnit]:
    title, depth = "", 0
    for unit in units(text):
        piece = text[unit.start : unit.end]
        if unit.kind is UnitKind.HEADING or (unit.marker and unit.depth <= depth):
            title = ""
        if unit.marker and (match := _TITLE_ITEM.fullmatch(piece)):
            title, depth = match["bold"] or match["plain"], unit.depth
        form = _FORMS.get(unit.kind, Form.CODE)
        if form in (Form.CODE, Form.ROW):
            lines = (line.strip() for line in piece.split("\n"))
            parts = [line for line in lines if not line.startswith(("```", "~~~"))]
        else:
            parts = _WIDE_END.split(" ".join(piece.split()))
        for part in parts:
            for number, line in enumerate(pieces_of_line(part)):
                if _MEANING.search(line):
                    marked = f"{unit.marker} {line}" if unit.marker and not number else line
                    shown = _shown(form, marked)
                    yield SourceUnit(turn, form, shown, marked, title or unit.heading, number)


def _shown(form: Form, text: str) -> str:
    if form is Form.ROW:
        return " | ".join(cell.strip() for cell in plain(text).strip("| ").split("|"))
    return plain(text) if form in _WORDS else text


def pieces_of_line(line: str) -> Iterator[str]:
    """The line, cut where it is too long for one unit."""
    while len(line) > LONGEST:
        head = line[:LONGEST]
        cut = max(head.rfind(mark, LONGEST // 3) for mark in _CUTS)
        if cut < 0:
            cut = head.rfind(" ", LONGEST // 3)
        cut = LONGEST if cut < 0 else cut + 1
        yield line[:cut].strip()
        line = line[cut:].lstrip()
    if line:
        yield line


_CUTS = (". ", "; ", ", ", "! ", "? ", ": ", "。", "，", "！", "？")


def call_line(turn: Turn) -> str:
    """A call in one line: the command, or the tool with what it was about."""
    text = turn.text.strip()
    if not text.startswith(("{", "[")):
        first = text.split("\n", 1)[0]
        return f"{COMMAND}{_short(first)}" if first else turn.name
    try:
        value = msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return f"{turn.name} {_short(text)}".strip()
    about = ""
    if isinstance(value, dict):
        strings = {key: item for key, item in value.items() if isinstance(item, str) and item}
        found = next((strings[key] for key in _ARGUMENTS if key in strings), None)
        about = found if found is not None else next(iter(strings.values()), "")
    return f"{turn.name or 'call'} {_short(about)}".strip()


def _short(text: str) -> str:
    line = " ".join(text[: 4 * LONGEST_CALL].split())
    return line if len(line) <= LONGEST_CALL else line[: LONGEST_CALL - 1].rstrip() + "…"


def _errors(turn: int, text: str) -> Iterator[SourceUnit]:
    """The last line of a tool's output that tells an error, where there is one."""
    if not tells_error(text.lower()):
        return
    lines = [line for line in text.split("\n") if line.strip()]
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number]
        if tells_error(line[:LONGEST].lower()) and not _LISTED.match(line):
            if _BARE_CODE.fullmatch(line) and number + 1 < len(lines):
                line += f" {lines[number + 1].strip()}"
            line = _short(line)
            yield SourceUnit(turn, Form.ERROR, line, line)
            return
