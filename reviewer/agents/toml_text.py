"""A table added to somebody else's TOML file, and its removal; the rest is preserved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reviewer.errors import ReviewerError

LARGEST = 2_000_000
"""Characters of a text."""

Values = Mapping[str, str | list[str]]


class TomlTextError(ReviewerError):
    """A text that cannot be edited."""


def added(text: str, path: Sequence[str], values: Values) -> str:
    """The text with the table; unchanged if it already has it.

    Raises TomlTextError for invalid TOML, or another table of that name.
    """
    import tomlkit

    document, named = _parsed(text), ".".join(path)
    holder = document
    try:
        for name in path[:-1]:
            holder = holder.setdefault(name, tomlkit.table(is_super_table=True))
        if path[-1] not in holder:
            table = tomlkit.table()
            table.update(values)
            holder[path[-1]] = table
            return _in_endings_of(text, tomlkit.dumps(document))
    except (ValueError, TypeError, AttributeError) as problem:
        where = named.rpartition(".")[0]
        raise TomlTextError(f"{where} is not written as a table: change that first.") from (problem)
    if holder[path[-1]] != values:
        raise TomlTextError(
            f"It already has {named} with other values: remove or rename that table."
        )
    return text


def without(text: str, path: Sequence[str], values: Values) -> str | None:
    """The text without the table, or None if somebody has changed the table.

    Raises TomlTextError for invalid TOML.
    """
    import tomlkit

    document = _parsed(text)
    holder = document
    for name in path[:-1]:
        holder = holder.get(name, {})
    if not isinstance(holder, dict) or path[-1] not in holder:
        return text
    if holder[path[-1]] != values:
        return None
    del holder[path[-1]]
    return _in_endings_of(text, tomlkit.dumps(document))


def _parsed(text: str) -> Any:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    if text.startswith("\ufeff"):
        raise TomlTextError("It begins with a byte order mark (BOM), which TOML does not allow.")
    if len(text) > LARGEST:
        raise TomlTextError(f"It is larger than {LARGEST // 1_000_000} MB.")
    try:
        return tomlkit.parse(text)
    except (TOMLKitError, ValueError) as problem:
        raise TomlTextError(f"It is not TOML: {problem}.") from problem


def _in_endings_of(before: str, text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n") if "\r\n" in before else text
