"""Additions to a JSON file of somebody else, and their removal, as edits of its text.

Comments, trailing commas, order and spacing of everything else stay. No maintained library for
Python edits JSON with comments in place; the ones that read it write it anew without them. So the
text is parsed here with positions, and edited at those.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field, structs

from reviewer.errors import ReviewerError

DEEPEST = 200

Path = tuple[str, ...]
"""The names that lead to an object or array."""


class JsonTextError(ReviewerError):
    """A text that cannot be edited; the sentence names the line, counted from 1."""


class Item(Struct):
    """A member of an object (with a name) or an element of an array.

    `start` is where its name, or its value, begins; `comma` is where the comma behind it is, or -1.
    """

    start: int
    value: Node
    name: str = ""
    comma: int = -1


class Node(Struct):
    """A value. `kind` is `object`, `array` or `scalar`; `end` is behind its last character."""

    kind: str
    start: int
    end: int
    items: list[Item] = field(default_factory=list)


class Addition(Struct, frozen=True):
    """A member `name` of the object at `path`, or an element of the array at `path` (no name).

    `found`: how many names of the path led to something before the addition was made. `null`: the
    last of them led to null, which is taken for an empty object or array.
    """

    path: Path
    value: Any
    name: str = ""
    found: int = 0
    null: bool = False


class Removed(Struct, frozen=True):
    """A text without additions, and those that somebody has changed since: (line, what)."""

    text: str
    changed: tuple[tuple[int, str], ...] = ()


def added(text: str, additions: Sequence[Addition]) -> str:
    """The text with all additions that it does not have yet; objects and arrays that lead to them
    are made.

    Raises JsonTextError for a text that is not a JSON object, for names that occur twice on the
    way, and for a member of that name with another value.
    """
    for addition in additions:
        text = _with(text, addition)
    return text


def with_found(text: str, additions: Sequence[Addition]) -> tuple[Addition, ...]:
    """The additions with what is there of their paths in a text that has none of them yet.

    Raises JsonTextError.
    """
    root = parse(text)
    known = []
    for each in additions:
        found, node = 0, root
        for depth in range(1, len(each.path) + 1):
            inner = None if _is_null(text, node) else find(root, each.path[:depth], text)
            if inner is None:
                break
            found, node = depth, inner
        known.append(structs.replace(each, found=found, null=_is_null(text, node)))
    return tuple(known)


def without(text: str, additions: Sequence[Addition]) -> Removed:
    """The text without the additions that are there as they were made, and without the objects and
    arrays that were made for them and are empty now.

    Raises JsonTextError for a text that is not a JSON object.
    """
    root = parse(text)
    changed: list[tuple[int, str]] = []
    own: list[Addition] = []
    for addition in additions:
        holder = find(root, addition.path, text)
        if holder is None:
            continue
        if _position(text, holder, addition) is not None:
            own.append(addition)
        elif similar := _similar(text, holder, addition):
            changed.append((_line(text, similar.start), _named(addition)))
    for addition in reversed(own):
        holder = find(parse(text), addition.path, text)
        at = _position(text, holder, addition) if holder is not None else None
        if holder is not None and at is not None:
            text = _without_empty(_cut_out(text, holder, at), addition)
    return Removed(text, tuple(changed))


def has(text: str, addition: Addition) -> bool:
    """Whether an addition is in a text as it was made. Raises JsonTextError."""
    holder = find(parse(text), addition.path, text)
    return holder is not None and _position(text, holder, addition) is not None


def parse(text: str) -> Node:
    """The object that is the whole text; comments and trailing commas are allowed.

    Raises JsonTextError.
    """
    node = _Parser(text).whole()
    if node.kind != "object":
        raise JsonTextError("It is JSON, but not an object.")
    return node


def find(root: Node, path: Path, text: str) -> Node | None:
    """The object or array at a path, or None. Raises JsonTextError for a name that occurs twice."""
    node = root
    for name in path:
        if _is_null(text, node):
            return None
        if node.kind != "object":
            raise JsonTextError(f"Line {_line(text, node.start)}: an object was expected there.")
        item = _member(node, name, text)
        if item is None:
            return None
        node = item.value
    return node


def _member(node: Node, name: str, text: str) -> Item | None:
    found = [item for item in node.items if item.name == name]
    if len(found) > 1:
        raise JsonTextError(
            f"Line {_line(text, found[1].start)} has the name {name!r} a second time: remove one."
        )
    return found[0] if found else None


def _with(text: str, addition: Addition) -> str:
    root = parse(text)
    path = addition.path
    value: Any
    for depth in range(len(path) + 1):
        node = find(root, path[:depth], text)
        if node is not None and _is_null(text, node):
            value = {addition.name: addition.value} if addition.name else [addition.value]
            for name in reversed(path[depth:]):
                value = {name: value}
            shown = _nested(value, _indent(text, node.start), _unit(text), _newline(text))
            return text[: node.start] + shown + text[node.end :]
        if node is None:
            # the first object or array that is missing, with all that goes into it
            value = {addition.name: addition.value} if addition.name else [addition.value]
            for name in reversed(path[depth:]):
                value = {name: value}
            return _with(text, Addition(path[: depth - 1], value, path[depth - 1]))
    holder = find(root, path, text)
    assert holder is not None
    if holder.kind != ("object" if addition.name else "array"):
        raise JsonTextError(
            f"Line {_line(text, holder.start)}: {'.'.join(path)} is of another kind than expected."
        )
    if addition.name:
        item = _member(holder, addition.name, text)
        if item is not None:
            if _value(text, item.value) == addition.value:
                return text
            raise JsonTextError(
                f"Line {_line(text, item.start)} has {_named(addition)} already, with another "
                "value: remove or rename it."
            )
    elif _position(text, holder, addition) is not None:
        return text
    return _inserted(text, holder, addition)


def _inserted(text: str, holder: Node, addition: Addition) -> str:
    """The text with a new last item in an object or array."""
    unit, newline = _unit(text), _newline(text)
    outer = _indent(text, holder.start)
    inner = _indent(text, holder.items[-1].start) if holder.items else outer + unit
    closing = holder.end - 1
    lines = "\n" in text[holder.start : closing] or not holder.items
    written = _written(addition, inner, unit, newline) if lines else _inline(addition)
    if not holder.items:
        inside = text[holder.start + 1 : closing].rstrip()
        body = f"{inside}{newline}{inner}{written}{newline}{outer}"
        return text[: holder.start + 1] + body + text[closing:]
    last = holder.items[-1]
    head, tail = text[: last.value.end], text[last.value.end :]
    trailing = last.comma >= 0
    if not trailing:
        tail = "," + tail
    end = len(head) + len(tail) - (len(text) - closing)
    whole = head + tail
    between = whole[:end].rstrip()
    rest = whole[len(between) :]
    if not lines:
        return f"{between} {written}{rest}"
    return f"{between}{newline}{inner}{written}{',' if trailing else ''}{rest}"


def _cut_out(text: str, holder: Node, at: int) -> str:
    """The text without one item, its comma and its line."""
    item = holder.items[at]
    start, end = item.start, item.value.end
    if item.comma >= 0:
        end = item.comma + 1
    before = text[:start].rstrip(" \t")
    if before.endswith(("\n", "\r")):
        rest = re.match(r"[ \t]*(?:\r\n|\n|\r)", text[end:])
        if rest:  # the item has its lines for itself
            start, end = len(before), end + rest.end()
    elif item.comma >= 0 and at + 1 < len(holder.items):
        gap = re.match(r"[ \t]*", text[end:])
        end += gap.end() if gap else 0
    else:
        start = len(before)
    shorter = text[:start] + text[end:]
    if at and item.comma < 0 and holder.items[at - 1].comma >= 0:
        comma = holder.items[at - 1].comma  # it would be left over behind the new last item
        shorter = shorter[:comma] + shorter[comma + 1 :]
    return shorter


def _without_empty(text: str, addition: Addition) -> str:
    """The text without the objects and arrays that were made for an addition, if they are empty."""
    path = addition.path
    for depth in range(len(path), addition.found, -1):
        root = parse(text)
        node = find(root, path[:depth], text)
        holder = find(root, path[: depth - 1], text)
        assert holder is not None
        if node is None or node.items or text[node.start + 1 : node.end - 1].strip():
            return text
        at = next(n for n, item in enumerate(holder.items) if item.value is node)
        text = _cut_out(text, holder, at)
    if addition.null:
        node = find(parse(text), path[: addition.found], text)
        if node is not None and not text[node.start + 1 : node.end - 1].strip():
            text = f"{text[: node.start]}null{text[node.end :]}"
    return text


def _position(text: str, holder: Node, addition: Addition) -> int | None:
    """Which item of an object or array an addition is, as it was made."""
    for number, item in enumerate(holder.items):
        if item.name == addition.name and _value(text, item.value) == addition.value:
            return number
    return None


def _similar(text: str, holder: Node, addition: Addition) -> Item | None:
    """The item that an addition has become after somebody has changed it: of the same name, or an
    element that runs the same program.
    """
    for item in holder.items:
        if addition.name and item.name == addition.name:
            return item
        if not addition.name and _commands(_value(text, item.value)) & _commands(addition.value):
            return item
    return None


def _commands(value: Any) -> set[str]:
    """All texts in a value that hold the command of a hook."""
    if isinstance(value, str):
        return {value} if " hook " in value else set()
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return {text for each in value for text in _commands(each)}
    return set()


def _named(addition: Addition) -> str:
    return ".".join((*addition.path, addition.name) if addition.name else addition.path)


def _value(text: str, node: Node) -> Any:
    """The value of a node, without comments. A name that occurs twice makes it equal to nothing."""
    if node.kind == "scalar":
        return json.loads(text[node.start : node.end])
    if node.kind == "array":
        return [_value(text, item.value) for item in node.items]
    names = [item.name for item in node.items]
    if len(set(names)) < len(names):
        return object()
    return {item.name: _value(text, item.value) for item in node.items}


def _written(addition: Addition, indent: str, unit: str, newline: str) -> str:
    shown = _nested(addition.value, indent, unit, newline)
    return f"{_quoted(addition.name)}: {shown}" if addition.name else shown


def _nested(value: Any, indent: str, unit: str, newline: str) -> str:
    """A value on lines of its own, from the second one on indented."""
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    return newline.join([lines[0], *(indent + line for line in lines[1:])])


def _is_null(text: str, node: Node) -> bool:
    return node.kind == "scalar" and text[node.start : node.end] == "null"


def _inline(addition: Addition) -> str:
    shown = json.dumps(addition.value, ensure_ascii=False)
    return f"{_quoted(addition.name)}: {shown}" if addition.name else shown


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


def _indent(text: str, position: int) -> str:
    """The blanks at the beginning of a line."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    """One step of indentation: the blanks of the first indented line, or two spaces."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 1 if text.startswith("\ufeff") else 0

    def whole(self) -> Node:
        self._skip()
        node = self._value(0)
        self._skip()
        if self._at < len(self._text):
            raise self._problem("nothing more was expected")
        return node

    def _skip(self) -> None:
        blank = _BLANK.match(self._text, self._at)
        if blank:
            self._at = blank.end()

    def _problem(self, what: str) -> JsonTextError:
        return JsonTextError(f"Line {_line(self._text, self._at)} is not JSON: {what} there.")

    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _value(self, depth: int) -> Node:
        if depth > DEEPEST:
            raise self._problem("so many levels were not expected")
        if self._next() == "{":
            return self._items("object", "}", depth)
        if self._next() == "[":
            return self._items("array", "]", depth)
        start = self._at
        match = _STRING.match(self._text, start) or _SCALAR.match(self._text, start)
        if match is None:
            raise self._problem("a value was expected")
        self._at = match.end()
        self._decoded(start)
        return Node("scalar", start, self._at)

    def _decoded(self, start: int) -> Any:
        try:
            return json.loads(self._text[start : self._at])
        except ValueError:
            raise self._problem("a value was expected") from None

    def _items(self, kind: str, closing: str, depth: int) -> Node:
        node = Node(kind, self._at, 0)
        self._at += 1
        while True:
            self._skip()
            if self._next() == closing:
                self._at += 1
                node.end = self._at
                return node
            if node.items and node.items[-1].comma < 0:
                raise self._problem(f"a comma or {closing} was expected")
            start, name = self._at, ""
            if kind == "object":
                match = _STRING.match(self._text, self._at)
                if match is None:
                    raise self._problem("a name in quotes was expected")
                self._at = match.end()
                name = str(self._decoded(start))
                self._skip()
                if self._next() != ":":
                    raise self._problem("a colon was expected")
                self._at += 1
                self._skip()
            item = Item(start, self._value(depth + 1), name)
            node.items.append(item)
            self._skip()
            if self._next() == ",":
                item.comma = self._at
                self._at += 1
