"""Additions to somebody else's JSON file, and their removal, as text edits.

Comments, trailing commas, order and spacing are preserved. Libraries that do this need Node or lose
the layout; here Python's decoder reads a copy with the comments blanked out, so that positions in
the copy are positions in the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, NamedTuple

from msgspec import Struct, structs

from reviewer.errors import ReviewerError

Path = tuple[str, ...]
"""The names leading to an object or array."""


class JsonTextError(ReviewerError):
    """A text that cannot be edited; the message has the line, counted from 1."""


class Addition(Struct, frozen=True):
    """A member `name` of the object at `path`, or an element of the array at `path` (no name).

    `found`: how many names of the path existed before the addition.
    """

    path: Path
    value: Any
    name: str = ""
    found: int = 0


class _Item(NamedTuple):
    """A member or element: its start, and the start and end of its value."""

    name: str
    start: int
    value: int
    end: int


class _Holder(NamedTuple):
    """An object or array in a text."""

    start: int
    end: int
    items: list[_Item]


def added(text: str, additions: Sequence[Addition]) -> str:
    """The text with all additions; missing objects and arrays of a path are created.

    Raises JsonTextError for a text that is not a JSON object, for duplicate names on a path, and
    for an existing member with another value.
    """
    for addition in additions:
        text = _with(_Text(text), addition)
    return text


def with_found(text: str, additions: Sequence[Addition]) -> tuple[Addition, ...]:
    """The additions with `found` set for a text that has none of them yet.

    Raises JsonTextError.
    """
    read = _Text(text)
    return tuple(structs.replace(each, found=len(read.way(each.path))) for each in additions)


def without(text: str, additions: Sequence[Addition]) -> tuple[str, list[str]]:
    """The text without unchanged additions, and without the objects and arrays created for them if
    now empty; and the names of those changed by somebody else.

    Raises JsonTextError for a text that is not a JSON object.
    """
    whole = _Text(text)
    changed = [
        _named(each) for each in additions if whole.position(each) is None and whole.similar(each)
    ]
    for addition in reversed(additions):
        text = _without(text, addition)
    return text, changed


def has(text: str, addition: Addition) -> bool:
    return _Text(text).position(addition) is not None


class _Text:
    """A JSON object with its positions in the text. Raises JsonTextError."""

    def __init__(self, text: str) -> None:
        self.text = text
        bare = _COMMENT.sub(_blanks, text)
        self.plain = _TRAILING_COMMA.sub(_blanks, bare)
        self.commas = bare
        """Without comments, but with trailing commas."""
        self.start = self._next(1 if text.startswith("\ufeff") else 0)
        try:
            value, end = _DECODER.raw_decode(self.plain, self.start)
        except json.JSONDecodeError as problem:
            raise JsonTextError(f"Line {problem.lineno} is not JSON: {problem.msg}.") from problem
        except (RecursionError, ValueError) as problem:
            raise JsonTextError(f"It is not JSON that can be read: {problem}.") from problem
        if not isinstance(value, dict):
            raise JsonTextError("It is JSON, but not an object.")
        if self._next(end) < len(text):
            raise JsonTextError(f"Line {self.line(self._next(end))} is not JSON: it is too much.")

    def line(self, position: int) -> int:
        return self.text.count("\n", 0, position) + 1

    def way(self, path: Path) -> list[_Item]:
        """The existing members along a path.

        Raises JsonTextError for a duplicate name, and for a value on the way that is not an object.
        """
        members: list[_Item] = []
        for name in path:
            holder = self.holder(members[-1].value if members else self.start)
            named = [item for item in holder.items if item.name == name]
            if len(named) > 1:
                line = self.line(named[1].start)
                raise JsonTextError(f"Line {line} has the name {name!r} a second time: remove one.")
            if not named:
                break
            members += named
        return members

    def holder(self, start: int, opening: str = "{") -> _Holder:
        """The object or array that begins at a position."""
        if self.plain[start] != opening:
            kind = "an object" if opening == "{" else "an array"
            raise JsonTextError(f"Line {self.line(start)}: {kind} was expected there.")
        items: list[_Item] = []
        at = self._next(start + 1)
        while self.plain[at] not in "]}":
            began, name = at, ""
            if opening == "{":
                name, at = scanstring(self.plain, at + 1)
                at = self._next(self._next(at) + 1)
            _, end = _DECODER.raw_decode(self.plain, at)
            items.append(_Item(name, began, at, end))
            at = self._next(end)
            if self.plain[at] == ",":
                at = self._next(at + 1)
        return _Holder(start, at + 1, items)

    def holder_of(self, addition: Addition) -> _Holder | None:
        """The object or array for an addition, if it exists."""
        way = self.way(addition.path)
        if len(way) < len(addition.path):
            return None
        return self.holder(way[-1].value if way else self.start, "{" if addition.name else "[")

    def position(self, addition: Addition) -> int | None:
        """The index of an unchanged addition in its object or array."""
        holder = self.holder_of(addition)
        for number, item in enumerate(holder.items if holder else []):
            if item.name == addition.name and self.value(item) == addition.value:
                return number
        return None

    def similar(self, addition: Addition) -> bool:
        """Whether it has a changed form: the same name, or an element with the same command."""
        holder = self.holder_of(addition)
        return any(
            item.name == addition.name
            and (item.name or _commands(self.value(item)) & _commands(addition.value))
            for item in (holder.items if holder else ())
        )

    def value(self, item: _Item) -> Any:
        return _DECODER.raw_decode(self.plain, item.value)[0]

    def indent(self, position: int) -> str:
        """The blanks at the beginning of a line."""
        line = self.text[self.text.rfind("\n", 0, position) + 1 : position]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _next(self, position: int) -> int:
        found = _BLANKS.match(self.plain, position)
        assert found is not None
        return found.end()


def _with(read: _Text, addition: Addition) -> str:
    """A text with an addition and the missing parts of its path."""
    path, name, value = addition.path, addition.name, addition.value
    way = read.way((*path, name) if name else path)
    if len(way) > len(path):
        if read.value(way[-1]) == value:
            return read.text
        raise JsonTextError(
            f"Line {read.line(way[-1].start)} already has {_named(addition)} with another value: "
            "remove or rename it."
        )
    if len(way) < len(path):
        value = {name: value} if name else [value]
        for missing in reversed(path[len(way) + 1 :]):
            value = {missing: value}
        path, name = path[: len(way)], path[len(way)]
    elif read.position(addition) is not None:
        return read.text
    holder = read.holder(way[-1].value if way else read.start, "{" if name else "[")
    return _inserted(read, holder, name, value)


def _inserted(read: _Text, holder: _Holder, name: str, value: Any) -> str:
    """The text with a new last item in an object or array."""
    text = read.text
    newline = "\r\n" if "\r\n" in text else "\n"
    found = _FIRST_INDENT.search(text)
    unit = found[1] if found else "  "
    outer = read.indent(holder.start)
    inner = read.indent(holder.items[-1].start) if holder.items else outer + unit
    inline = holder.items and "\n" not in text[holder.start : holder.end]
    shown = json.dumps(value, indent=None if inline else unit, ensure_ascii=False)
    shown = shown.replace("\n", newline + inner)
    if name:
        shown = f"{json.dumps(name, ensure_ascii=False)}: {shown}"
    if not holder.items:
        bracket = "{}" if name else "[]"
        inside = text[holder.start + 1 : holder.end - 1].rstrip()
        made = f"{bracket[0]}{inside}{newline}{inner}{shown}{newline}{outer}{bracket[1]}"
        return text[: holder.start] + made + text[holder.end :]
    last = holder.items[-1].end
    after = text[last : holder.end - 1]
    kept = after.rstrip()
    trailing = "," in read.commas[last : holder.end - 1]
    between = " " if inline else newline + inner
    comma_before, comma_after = ("", ",") if trailing else (",", "")
    item = f"{comma_before}{kept}{between}{shown}{comma_after}{after[len(kept) :]}"
    return text[:last] + item + text[holder.end - 1 :]


def _without(text: str, addition: Addition) -> str:
    """The text without an unchanged addition and the parents created for it, if now empty."""
    read = _Text(text)
    holder, at = read.holder_of(addition), read.position(addition)
    if holder is None or at is None:
        return text
    text = _cut_out(read, holder, at)
    for depth in range(len(addition.path), addition.found, -1):
        read = _Text(text)
        member = read.way(addition.path[:depth])[-1]
        if text[member.value + 1 : member.end - 1].strip():
            break
        above = read.way(addition.path[: depth - 1])
        outer = read.holder(above[-1].value if above else read.start)
        text = _cut_out(read, outer, outer.items.index(member))
    return text


def _cut_out(read: _Text, holder: _Holder, at: int) -> str:
    """The text without an item, its comma and its line."""
    text, (_, start, _, end) = read.text, holder.items[at]
    following = holder.items[at + 1].start if at + 1 < len(holder.items) else holder.end
    comma = read.commas.find(",", end, following)
    before = text[:start]
    if comma >= 0:
        end = comma + 1
    elif at:  # the last one: remove the comma before it
        comma = read.commas.index(",", holder.items[at - 1].end)
        before = text[:comma] + text[comma + 1 : start]
    before = before.rstrip(" \t")
    rest = text[end:]
    if not before.endswith("\n"):
        return before + rest
    alone = _REST_OF_LINE.match(rest)
    return before + (rest[alone.end() :] if alone else read.indent(start) + rest.lstrip(" \t"))


def _named(addition: Addition) -> str:
    return ".".join((*addition.path, addition.name) if addition.name else addition.path)


def _commands(value: Any) -> set[str]:
    """The texts in a value that contain the command of a hook."""
    return {text for text in re.findall(_STRING, json.dumps(value)) if " hook " in text}


def _blanks(found: re.Match[str]) -> str:
    """Blanks for a comment or trailing comma; a string unchanged."""
    text = found[0]
    return text if text.startswith('"') else re.sub(r"[^\n]", " ", text)


_STRING = r'"(?:[^"\\\n]|\\.)*+"?'
_COMMENT = re.compile(rf"{_STRING}|//[^\n]*|/\*(?s:.*?)(?:\*/|\Z)")
_TRAILING_COMMA = re.compile(rf"{_STRING}|,(?=\s*[}}\]])")
_BLANKS = re.compile(r"[ \t\r\n]*")
_FIRST_INDENT = re.compile(r"\n([ \t]+)\S")
_REST_OF_LINE = re.compile(r"[ \t]*\r?\n")
_DECODER = json.JSONDecoder()
