"""The mustache that prompt templates are written in (hierarchical-summarizer.md, section 5.2).

`{{name}}`, `{{name.field}}`, `{{#list}}...{{/list}}` and `{{name | truncate:30}}`; nothing else.
A text is parsed once into parts; values are put in afterwards and never read as a template.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

TAG = re.compile(r"\{\{(.*?)\}\}")
NAME = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"
VALUE = re.compile(rf"({NAME})(?:\s*\|\s*truncate:(\d+))?")
SECTION = re.compile(rf"[#/]\s*({NAME})")
ALONE = re.compile(r"^[ \t]*(\{\{\s*[#/][^{}]*\}\})[ \t]*(?:\n|\Z)", re.MULTILINE)
"""A section's tag on a line of its own: the line goes with it, as mustache says."""


class PartError(Exception):
    """What is wrong in a template's text, and on which line of that text (from 0)."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line


class Value(Struct, frozen=True):
    """A place for a value. `limit`: at most so many characters of it."""

    name: str
    limit: int | None
    line: int


class Section(Struct, frozen=True):
    """A part that comes once for every item of a list, and not at all for an empty one."""

    name: str
    parts: tuple[Part, ...]
    line: int


Part: TypeAlias = str | Value | Section

Fields: TypeAlias = Mapping[str, Sequence[str]]
"""What a template may name: each field, and the fields of its items where it is a list."""


def parse(text: str) -> tuple[Part, ...]:
    """The parts of a template's text. Raises PartError for what is not in the subset."""
    open_sections: list[tuple[str, int]] = []
    levels: list[list[Part]] = [[]]
    at = 0
    for found in TAG.finditer(text):
        literal, line = text[at : found.start()], text.count("\n", 0, found.start())
        _refuse_half_tags(literal, text.count("\n", 0, at))
        at = found.end()
        alone = ALONE.match(text, text.rfind("\n", 0, found.start()) + 1)
        if alone is not None and alone.start(1) == found.start():
            literal = literal[: len(literal) - (found.start() - alone.start())]
            at = alone.end()
        if literal:
            levels[-1].append(literal)
        inner = found[1].strip()
        if inner.startswith(("#", "/")):
            section = SECTION.fullmatch(inner)
            if section is None:
                raise PartError(f"{found[0]} names no list", line)
            if inner[0] == "#":
                open_sections.append((section[1], line))
                levels.append([])
            elif not open_sections or open_sections[-1][0] != section[1]:
                raise PartError(f"{found[0]} closes what is not open", line)
            else:
                name, began = open_sections.pop()
                parts = tuple(levels.pop())
                levels[-1].append(Section(name, parts, began))
            continue
        value = VALUE.fullmatch(inner)
        if value is None:
            raise PartError(f"{found[0]} is neither a field nor a section", line)
        levels[-1].append(Value(value[1], int(value[2]) if value[2] else None, line))
    _refuse_half_tags(text[at:], text.count("\n", 0, at))
    if open_sections:
        name, line = open_sections[-1]
        raise PartError(f"{{{{#{name}}}}} is never closed by {{{{/{name}}}}}", line)
    if text[at:]:
        levels[-1].append(text[at:])
    return tuple(levels[-1])


def check_fields(parts: Sequence[Part], fields: Fields, within: Sequence[str] = ()) -> None:
    """Raise PartError for the first field that will not be there. `within`: an item's fields."""
    for part in parts:
        if isinstance(part, str):
            continue
        first, _, rest = part.name.partition(".")
        known = part.name in within or (first in fields and (not rest or rest in fields[first]))
        if not known:
            names = ", ".join([*within, *fields])
            raise PartError(f"there is no field {part.name}; there are: {names}", part.line)
        if isinstance(part, Section):
            check_fields(part.parts, fields, (*fields.get(part.name, ()), *within))


def fill(parts: Sequence[Part], *scopes: Mapping[str, object]) -> str:
    """The text with the values of the innermost scope that has them.

    Raises PartError for a field that no scope has, and for a value that is no text or number.
    """
    return "".join(part if isinstance(part, str) else _filled(part, scopes) for part in parts)


def _filled(part: Value | Section, scopes: tuple[Mapping[str, object], ...]) -> str:
    value = _found(part, scopes)
    if isinstance(part, Section):
        items = value if isinstance(value, (list, tuple)) else [value] if value else []
        return "".join(
            fill(part.parts, *scopes, *([item] if isinstance(item, Mapping) else []))
            for item in items
        )
    if not isinstance(value, (str, int, float)) and value is not None:
        raise PartError(f"{part.name} is a list and needs {{{{#{part.name}}}}}", part.line)
    return ("" if value is None else str(value))[: part.limit]


def _found(part: Value | Section, scopes: tuple[Mapping[str, object], ...]) -> object:
    first, *rest = part.name.split(".")
    for scope in reversed(scopes):
        if first not in scope:
            continue
        value = scope[first]
        for name in rest:
            if not isinstance(value, Mapping) or name not in value:
                raise PartError(f"there is no field {part.name}", part.line)
            value = value[name]
        return value
    raise PartError(f"there is no field {part.name}", part.line)


def _refuse_half_tags(literal: str, line: int) -> None:
    for half in ("{{", "}}"):
        if half in literal:
            where = line + literal[: literal.index(half)].count("\n")
            raise PartError(f"{half} has no other half on its line", where)
