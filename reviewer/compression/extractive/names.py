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
_HASH = re.compile(r"[0-9a-f]{7,64}")
_LINE_NUMBER = re.compile(r"(?<=[A-Za-z])[-:]\d+(?:[-:].*)?$")
"""What a search prints behind a file name."""
_QUOTES = frozenset("\"'`")
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

    A path to a file gives the file's name, too, and a dotted name its parts
    that are names by themselves. What is quoted in
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
    before = text[found.start - 1 : found.start]
    if before == "\\" and name[0] in "nrt":  # an escaped line break that was printed
        name = name[1:]
        if not _COMPOUND.search(name):
            return
    in_tag = before == "<"
    if kind is IdentifierKind.CODE:
        inner = names_in(name, said=False)
        yield from inner
        parts = _PARTS.split(name)
        dotted = len(parts) > 1 and any(_COMPOUND.search(part) for part in parts)
        if _NAME.fullmatch(name) and name not in inner and not dotted and not _HASH.fullmatch(name):
            yield name
    elif kind is IdentifierKind.PATH:
        if not in_tag:
            yield from _path(name, said or before in _QUOTES)
    elif kind is IdentifierKind.FLAG:
        flag = name.split("=", 1)[0]
        if flag.startswith("--"):
            yield flag
    elif kind is IdentifierKind.VARIABLE:
        yield name.strip("${}")
    elif kind is IdentifierKind.NAME and not in_tag:
        parts = _PARTS.split(name)
        compound = [part for part in parts if _COMPOUND.search(part)]
        if len(parts) == 1 or (said and not compound):
            yield name
        else:
            yield from compound
    elif kind is IdentifierKind.ISSUE:
        yield name


def _path(name: str, meant: bool) -> Iterator[str]:
    path = _LINE_NUMBER.sub("", name).rstrip("/")
    folder, slash, tail = path.rpartition("/")
    if not slash:
        yield path
        return
    if not folder and "." not in tail:
        return
    if "." in tail[1:]:
        yield tail
    elif not meant and not path.startswith("/") and path.count("/") < 2:
        return
    yield path
