"""The filter line: `priority:important role:user tokens>500 -word "two words"` over commits."""

from __future__ import annotations

import re

from msgspec import Struct

from reviewer.commits.reader import PRIORITY
from reviewer.commits.values import Priority
from reviewer.errors import FilterError
from reviewer.store.changes import Value

_TERM = re.compile(
    r'(?P<minus>-)?(?:(?P<field>[a-z]+)(?P<sign>:|[<>]=?|=))?(?P<text>"[^"]*"?|(?<=[:<>=])(?=\s|$)|\S+)'
)
_TEXT_FIELDS = {
    "priority": f"{PRIORITY} LIKE ? || '%'",
    "role": "c.role LIKE ? || '%'",
    "type": "c.type LIKE ? || '%'",
    "hash": "c.hash LIKE ? || '%'",
    "name": "c.name LIKE '%' || ? || '%'",
    "reason": "n.reason LIKE '%' || ? || '%'",
    "by": "n.actor LIKE ? || '%'",
}
_NUMBER_FIELDS = {"tokens": "t.tokens", "id": "c.id", "n": "(c.position + 1)"}
_FLAGS = {
    "edited": "d.id IS NOT NULL",
    "annotated": "n.id IS NOT NULL",
    "summary": "c.operation = 'summary'",
    "criteria": "n.retention_json IS NOT NULL",
    "reason": "coalesce(n.reason, '') <> ''",
    "name": "c.name <> ''",
}
_YES, _NO = ("", "yes", "true", "1"), ("no", "false", "0")
_FLAG_FIELDS = ("edited", "annotated", "summary")
FIELDS = (*_TEXT_FIELDS, *_NUMBER_FIELDS, "has", "is", *_FLAG_FIELDS)


class Words(Struct, frozen=True):
    """What the text of a commit must, or must not, contain; lower-case, blanks folded."""

    text: str
    wanted: bool = True


class Conditions(Struct, frozen=True):
    """A filter line taken apart: SQL over the joined commit, and what the texts decide."""

    sql: str = "1"
    parameters: tuple[Value, ...] = ()
    words: tuple[Words, ...] = ()


def parse_filter(text: str) -> Conditions:
    """What a filter line means; an empty line means every commit.

    Bare words and phrases in quotes are looked for anywhere in the text, in any order; `-` turns
    a term around. Raises FilterError, naming what cannot be understood.
    """
    parts: list[str] = []
    parameters: list[Value] = []
    words: list[Words] = []
    for term in _TERM.finditer(text):
        field, sign, value = term["field"], term["sign"], term["text"]
        bare = value.strip('"')
        if field is None or value.startswith("//"):  # an address, not a field
            found = " ".join((bare if field is None else f"{field}:{bare}").lower().split())
            if found and found != "-":
                words.append(Words(found, not term["minus"]))
            continue
        condition = _condition(field, sign, bare)
        if condition is not None:
            sql, values = condition
            parts.append(f"NOT coalesce({sql}, 0)" if term["minus"] else f"({sql})")
            parameters += values
    return Conditions(" AND ".join(parts) or "1", tuple(parameters), tuple(words))


def _condition(field: str, sign: str, value: str) -> tuple[str, tuple[Value, ...]] | None:
    if field in _NUMBER_FIELDS:
        return _number(field, sign, value)
    if sign in (":", "="):
        if field in ("has", "is"):
            return _flag(field, value)
        if field in _FLAG_FIELDS:
            return _yes_or_no(field, value)
        if field == "priority":
            _require_priority(value)
        if field in _TEXT_FIELDS:
            return (_TEXT_FIELDS[field], (value,)) if value else None
    elif field in FIELDS:
        raise FilterError(f'"{field}" is no number; write {field}:... ')
    from difflib import get_close_matches

    near = get_close_matches(field, FIELDS, 1)
    hint = f'did you mean "{near[0]}"?' if near else f"fields: {', '.join(FIELDS)}"
    raise FilterError(f'There is no field "{field}"; {hint} (quote it to search for the words)')


def _number(field: str, sign: str, value: str) -> tuple[str, tuple[Value, ...]] | None:
    if not value:
        return None
    try:
        number = float(value.replace("_", ""))
    except ValueError:
        raise FilterError(f'"{field}" wants a number, as in {field}>500') from None
    return f"{_NUMBER_FIELDS[field]} {'=' if sign == ':' else sign} ?", (number,)


def _flag(field: str, value: str) -> tuple[str, tuple[Value, ...]] | None:
    fitting = [name for name in _FLAGS if name.startswith(value.lower())]
    if not fitting:
        raise FilterError(f'"{field}" knows: {", ".join(_FLAGS)}; not "{value}"')
    return (_FLAGS[fitting[0]], ()) if len(fitting) == 1 else None


def _yes_or_no(field: str, value: str) -> tuple[str, tuple[Value, ...]] | None:
    if value.lower() in _YES:
        return _FLAGS[field], ()
    if value.lower() in _NO:
        return f"NOT ({_FLAGS[field]})", ()
    if any(each.startswith(value.lower()) for each in (*_YES[1:], *_NO)):
        return None  # still being typed
    raise FilterError(f'"{field}" is yes or no, as in {field}:no; not "{value}"')


def _require_priority(value: str) -> None:
    if not any(each.startswith(value.lower()) for each in Priority):
        raise FilterError(f'A priority is {", ".join(Priority)}; not "{value}"')
