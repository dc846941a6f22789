"""The filter line: `words type:decision conf>0.5 -draft "a phrase"` as SQL over `memory`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from reviewer.clock import written_moment
from reviewer.errors import FilterError
from reviewer.promotion.queue_order import NEEDS
from reviewer.promotion.views import RowKind, Status
from reviewer.proposing.values import Proposer
from reviewer.store.changes import Value
from reviewer.text.signs import FLAGS, STALE

_TERM = re.compile(r'(?P<minus>-)?(?:(?P<field>[a-z]+)(?P<sign>:|[<>]=?|=))?(?P<text>"[^"]*"?|\S+)')
_WORD = re.compile(r"\w+")
_OF_RECORD = (
    "m.id IN (SELECT e.memory_id FROM evidence e JOIN record r ON r.id = e.record_id"
    " JOIN source s ON s.id = r.source_id WHERE {})"
)
_TEXT_FIELDS = {
    "kind": "",
    "type": "m.type LIKE ? || '%'",
    "rule": "m.rule LIKE '%' || ? || '%'",
    "status": "m.status LIKE ? || '%'",
    "is": "",
    "proposer": "m.proposer LIKE ? || '%'",
    "flag": "m.flags LIKE '%' || ? || '%'",
    "path": _OF_RECORD.format("s.path LIKE '%' || ? || '%'"),
    "agent": _OF_RECORD.format("s.format LIKE ? || '%'"),
    "session": _OF_RECORD.format("r.session LIKE ? || '%'"),
    "branch": _OF_RECORD.format("json_extract(r.meta, '$.gitBranch') LIKE ? || '%'"),
    "model": _OF_RECORD.format("json_extract(r.meta, '$.model') LIKE '%' || ? || '%'"),
    "actor": (
        "m.id IN (SELECT t.memory_id FROM ledger_touch t JOIN ledger l ON l.id = t.act"
        " WHERE l.actor LIKE ? || '%')"
    ),
    "since": _OF_RECORD.format("r.at >= ?"),
}
_IS = {
    "deferred": "m.deferred = 1",
    "edited": "m.edited = 1",
}
_NUMBER_FIELDS = {"conf": "m.confidence", "seen": "m.seen", "refs": "m.refs", "id": "m.id"}
_FIELDS = (*_TEXT_FIELDS, *_NUMBER_FIELDS)

_REST = "0000-01-01"
"""Completes a year or a month to a date."""


STATUS_WORDS = {
    "waiting": "candidate",
    "promoted": "active",
    "rejected": "invalid",
    "merged": "superseded",
}
"""The name of a status on the screen -> its name in the store."""


class Condition(Struct, frozen=True):
    """A part of a WHERE clause over `memory m`, with its parameters."""

    sql: str
    parameters: tuple[Value, ...] = ()
    stale: bool | None = None
    """Whether the source of a memory must have changed or not: read from files, not by SQL."""


def parse_filter(text: str) -> Condition:
    """The condition of a filter line; an empty line matches every row.

    Bare words match as prefixes, in any order, and a kind of statement by its name; a quoted phrase
    matches its words in sequence.
    Raises FilterError, naming the invalid term.
    """
    parts: list[str] = []
    parameters: list[Value] = []
    stale: bool | None = None
    for term in _TERM.finditer(text):
        if _without_value(term):
            continue
        condition = _condition(term["field"], term["sign"], term["text"])
        if condition is None:
            continue
        if condition.stale:
            stale = not term["minus"]
            continue
        parts.append(f"NOT ({condition.sql})" if term["minus"] else f"({condition.sql})")
        parameters += condition.parameters
    return Condition(" AND ".join(parts) or "1", tuple(parameters), stale)


def field_without_value(text: str) -> str:
    """The first field of a filter without a value yet; empty if there is none."""
    return next(filter(None, map(_without_value, _TERM.finditer(text))), "")


def _without_value(term: re.Match[str]) -> str:
    """The field of a term that is not typed to its end."""
    field, value = term["field"] or term["text"].removesuffix(":"), term["text"].strip('"')
    is_open = not value if term["field"] else term["text"].endswith(":")
    return field if is_open and field in _FIELDS else ""


def _condition(field: str | None, sign: str | None, text: str) -> Condition | None:
    bare = text.strip('"')
    if field in _TEXT_FIELDS and sign in (":", "="):
        value = _known_value(field, bare)
        if field == "flag" and value.lower() == STALE:
            return Condition("1", stale=True)
        if field == "kind":
            return _kind(value)
        return Condition(_IS[value]) if field == "is" else Condition(_TEXT_FIELDS[field], (value,))
    if field in _NUMBER_FIELDS:
        return _number(field, sign or "", bare)
    if field is None:
        return _words(text)
    if text.startswith("//"):  # an address, not a field
        return _words(f'"{field} {bare}"')
    from difflib import get_close_matches

    near = get_close_matches(field, _FIELDS, 1)
    hint = f'did you mean "{near[0]}"?' if near else f"fields: {', '.join(_FIELDS)}"
    raise FilterError(f'There is no field "{field}"; {hint} (quote it to search for the words)')


def _kind(text: str) -> Condition:
    """What a row is, or what kind of statement: a column each, as a row is only looked up for the
    second.
    """
    columns: dict[str, Iterable[str]] = {"m.kind": RowKind, "m.need": NEEDS}
    asked = [
        column
        for column, values in columns.items()
        if any(value.startswith(text.lower()) for value in values)
    ]
    return Condition(" OR ".join(f"{each} LIKE ? || '%'" for each in asked), (text,) * len(asked))


def _known_value(field: str, text: str) -> str:
    """The value that a text begins. Raises FilterError, naming the values, if there is none."""
    if field == "since" and (
        len(text) < 4 or written_moment(f"{text}{_REST[len(text) :]}") is None
    ):
        raise FilterError(f'since: takes a date such as 2026-03-01, not "{text}"')
    known = _values_of(field)
    begun = [value for value in known if value.startswith(text.lower())]
    if known and not begun:
        other = "type" if field == "kind" else "kind"
        if field in ("kind", "type") and text.lower() in _values_of(other):
            raise FilterError(f"{field}: takes {_listed(known)}; write {other}:{text.lower()}")
        raise FilterError(f'{field}: takes {_listed(known)}, not "{text}"')
    if field == "is":
        return begun[0]
    return STATUS_WORDS.get(begun[0], text) if field == "status" else text


def _values_of(field: str) -> tuple[str, ...]:
    """The values of a field with a fixed set of them; empty for other fields."""
    if field == "type":  # late: most filters need no types
        from reviewer.extraction.candidates import MemoryType
        from reviewer.extraction.entities.entity import EntityType

        return tuple(dict.fromkeys((*MemoryType, *EntityType, RowKind.CONFLICT)))
    fixed: dict[str, tuple[str, ...]] = {
        "is": tuple(_IS),
        "kind": (*RowKind, *NEEDS),
        "status": (*Status, *STATUS_WORDS),
        "proposer": tuple(Proposer),
        "flag": FLAGS,
    }
    return fixed.get(field, ())


def _listed(values: tuple[str, ...]) -> str:
    return f"{', '.join(values[:-1])} or {values[-1]}"


def _number(field: str, sign: str, text: str) -> Condition:
    if sign == ":":
        sign = "="
    try:
        number = float(text)
    except ValueError:
        raise FilterError(f'"{field}" wants a number, as in {field}>0.5') from None
    return Condition(f"{_NUMBER_FIELDS[field]} {sign} ?", (number,))


def _words(text: str) -> Condition | None:
    words = _WORD.findall(text.lower())
    if not words:
        bare = text.strip('"')
        return Condition("instr(m.content, ?) > 0", (bare,)) if bare else None
    if text.startswith('"'):
        match = '"' + " ".join(words) + '"' + ("" if text.endswith('"') and len(text) > 1 else "*")
    else:
        match = " AND ".join(f'"{word}"*' for word in words)
    found = "m.id IN (SELECT rowid FROM memory_text WHERE memory_text MATCH ?)"
    if text.lower() in NEEDS:
        return Condition(f"{found} OR m.need = ?", (match, text.lower()))
    return Condition(found, (match,))
