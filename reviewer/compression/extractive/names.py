"""The names in a text: what an agent would have to write again exactly as it stood."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reviewer.text.identifiers import Identifier, IdentifierKind, identifiers

_SHORTEST = 3
_LONGEST = 120
_NAME = re.compile(r"[\w$@#~./:*+-]*[^\W\d_][\w$@#~./:*+-]*")
_PARTS = re.compile(r"\.|::|->")
_COMPOUND = re.compile(r"_|[a-z][A-Z]|[A-Z][a-z]+[A-Z]")
_LINE_NUMBER = re.compile(r"(?<=[A-Za-z])[-:]\d+(?:[-:].*)?$")
"""What a search prints behind a file name."""
_PASSED_OVER = frozenset(
    {
        IdentifierKind.QUANTITY,
        IdentifierKind.VERSION,
        IdentifierKind.URL,
        IdentifierKind.HASH,
    }
)


def names_in(text: str, *, said: bool = True) -> list[str]:
    """Paths, file names, symbols, flags and issue numbers, as often as they stand there.

    A path to a file gives the file's name, too, and a dotted name its parts. What is quoted in
    backticks is a name in what somebody said, not in what a tool printed (`said`).
    """
    if not said:
        text = text.replace("`", " ")
    return [name for each in identifiers(text) for name in _names(text, each, said)]


def _names(text: str, found: Identifier, said: bool) -> Iterator[str]:
    kind = found.kind
    if kind in _PASSED_OVER:
        return
    name = found.text.strip(".,:;`'\"").removesuffix("()")
    if found.text.endswith("()") and not said and not _COMPOUND.search(name):
        return
    if not _SHORTEST <= len(name) <= _LONGEST:
        if kind is IdentifierKind.CODE and name:
            yield from names_in(name, said=False)
        return
    in_tag = found.start > 0 and text[found.start - 1] == "<"
    if kind is IdentifierKind.CODE:
        inner = names_in(name, said=False)
        yield from (each for each in inner if each != name)
        if _NAME.fullmatch(name):
            yield name
    elif kind is IdentifierKind.PATH:
        if not in_tag:
            yield from _path(name, said)
    elif kind is IdentifierKind.FLAG:
        flag = name.split("=", 1)[0]
        if flag.startswith("--"):
            yield flag
    elif kind is IdentifierKind.VARIABLE:
        yield name.strip("${}")
    elif kind is IdentifierKind.NAME and not in_tag:
        parts = _PARTS.split(name)
        if len(parts) > 1:
            yield from (part for part in parts if _COMPOUND.search(part))
            if said:
                yield name
        else:
            yield name
    elif kind is IdentifierKind.ISSUE:
        yield name


def _path(name: str, said: bool) -> Iterator[str]:
    path = _LINE_NUMBER.sub("", name).rstrip("/")
    folder, slash, tail = path.rpartition("/")
    if not slash:
        yield path
        return
    if not folder and "." not in tail:
        return
    if "." in tail[1:]:
        yield tail
    elif not said and not path.startswith("/") and path.count("/") < 2:
        return
    yield path
