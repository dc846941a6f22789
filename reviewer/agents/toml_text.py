"""A table added to the end of a TOML file of somebody else, and its removal.

The text before it is not touched. Both results are parsed and compared with what they should mean,
so that no library is needed that keeps comments.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from reviewer.errors import ReviewerError

MOST_PARTS = 20
"""Of a name with dots: the parser takes quadratic time for it."""
LARGEST = 2_000_000
"""Characters of a text."""

_PART = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')"""
_LONG_NAME = re.compile(
    rf"(?:^|[\[{{,])[ \t]*{_PART}(?:[ \t]*\.[ \t]*{_PART}){{{MOST_PARTS}}}", re.MULTILINE
)


class TomlTextError(ReviewerError):
    """A text that cannot be edited."""


def table(path: Sequence[str], values: Mapping[str, str | Sequence[str]]) -> str:
    """The text of a table with texts and lists of texts."""
    lines = [f"[{'.'.join(path)}]"]
    for name, value in values.items():
        shown = (
            _quoted(value)
            if isinstance(value, str)
            else f"[{', '.join(_quoted(each) for each in value)}]"
        )
        lines.append(f"{name} = {shown}")
    return "\n".join(lines) + "\n"


def added(text: str, path: Sequence[str], values: Mapping[str, str | Sequence[str]]) -> str:
    """The text with the table at its end; unchanged if it has that table.

    Raises TomlTextError when it is not TOML, or has another table of that name.
    """
    before = _parsed(text)
    there = _at(before, path)
    wanted = {name: list(v) if not isinstance(v, str) else v for name, v in values.items()}
    if there == wanted:
        return text
    if there is not None:
        raise TomlTextError(
            f"It has {'.'.join(path)} already, with other values: remove or rename that table."
        )
    newline = "\r\n" if "\r\n" in text else "\n"
    join = "" if not text else newline if text.endswith("\n") else newline * 2
    after = text + join + table(path, values).replace("\n", newline)
    try:
        kept = _without(_parsed_or_none(after), path) == _without(before, path)
    except RecursionError as problem:
        raise TomlTextError("Its tables are nested too deeply to be compared.") from problem
    if not kept:
        raise TomlTextError(
            f"{'.'.join(path[:-1])} is written on one line there: write it as a table first."
        )
    return after


def without(
    text: str, path: Sequence[str], values: Mapping[str, str | Sequence[str]]
) -> str | None:
    """The text without the table, or None where somebody has changed it.

    Raises TomlTextError when the text is not TOML.
    """
    before = _parsed(text)
    if _at(before, path) is None:
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    own = table(path, values).replace("\n", newline)
    if text.count(own) != 1:
        return None
    head, _, tail = text.partition(own)
    if head.endswith(newline * 2) or (head == newline):
        head = head[: -len(newline)]
    shorter = head + tail
    parsed = _parsed_or_none(shorter)
    if parsed is None or _at(parsed, path) is not None:
        return None
    try:
        return shorter if parsed == _without(before, path) else None
    except RecursionError:
        return None


def line_of(text: str, path: Sequence[str]) -> int:
    """The line of a table's heading, counted from 1; 1 if it cannot be found."""
    heading = f"[{'.'.join(path)}]"
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip().startswith(heading):
            return number
    return 1


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _parsed(text: str) -> dict[str, Any]:
    if text.startswith("\ufeff"):
        raise TomlTextError("It begins with a byte order mark (BOM), which TOML does not allow.")
    if len(text) > LARGEST:
        raise TomlTextError(f"It is larger than {LARGEST // 1_000_000} MB.")
    if found := _LONG_NAME.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise TomlTextError(f"Line {line} has a name of more than {MOST_PARTS} parts.")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise TomlTextError(f"It is not TOML: {problem}.") from problem
    except RecursionError as problem:
        raise TomlTextError("It is nested too deeply.") from problem
    except ValueError as problem:  # a number of thousands of digits
        raise TomlTextError(f"It has a number that cannot be read: {problem}.") from problem


def _parsed_or_none(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return None


def _at(value: Any, path: Sequence[str]) -> Any:
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return None
        value = value[name]
    return value


def _without(value: Any, path: Sequence[str]) -> Any:
    """A parsed text without the value at a path, and without the tables that are empty by that."""
    if not isinstance(value, dict) or not path or path[0] not in value:
        return value
    rest = {name: each for name, each in value.items() if name != path[0]}
    inner = _without(value[path[0]], path[1:]) if len(path) > 1 else {}
    return {**rest, path[0]: inner} if inner else rest
