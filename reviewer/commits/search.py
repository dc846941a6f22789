"""Filter lines such as `priority:important tokens>500 -word`, and the commits that match."""

from __future__ import annotations

import re
from array import array

from msgspec import Struct

from reviewer.commits.reader import PRIORITY, CommitReader, joined
from reviewer.commits.values import CommitQuery, Priority
from reviewer.errors import FilterError
from reviewer.store.changes import Value

_TERM = re.compile(
    r'(?P<minus>-)?(?:(?P<field>[a-z]+)(?P<sign>:|[<>]=?|=))?(?P<text>"[^"]*"?|(?<=[:<>=])(?=\s|$)|\S+)'
)
_TEXT_FIELDS = {
    "priority": f"{PRIORITY} LIKE ? || '%'",
    "role": "c.role LIKE ? || '%'",
    "type": "c.type LIKE ? || '%'",
    "name": "c.name LIKE '%' || ? || '%'",
}
_FLAGS = {
    "edited": "d.id IS NOT NULL",
    "annotated": "n.id IS NOT NULL",
    "summary": "c.operation = 'summary'",
    "criteria": "n.retention_json IS NOT NULL",
}
FIELDS = (*_TEXT_FIELDS, "tokens", "is")


class TextTerm(Struct, frozen=True):
    """Words that a commit must, or must not, contain; lower case, white space folded."""

    text: str
    wanted: bool = True


class ParsedFilter(Struct, frozen=True):
    """A parsed filter: SQL over `joined()`, and the terms to look for in the texts."""

    sql: str = "1"
    parameters: tuple[Value, ...] = ()
    words: tuple[TextTerm, ...] = ()


def parse_filter(text: str) -> ParsedFilter:
    """Parse a filter line; an empty line matches every commit.

    Words and quoted phrases match anywhere in the text, in any order; `-` negates a term. Raises
    FilterError naming the term that is wrong.
    """
    parts: list[str] = []
    parameters: list[Value] = []
    words: list[TextTerm] = []
    for term in _TERM.finditer(text):
        field, sign, value = term["field"], term["sign"], term["text"]
        bare = value.strip('"')
        if field is None or value.startswith("//"):  # an address, not a field
            found = " ".join((bare if field is None else f"{field}:{bare}").lower().split())
            if found and found != "-":
                words.append(TextTerm(found, not term["minus"]))
            continue
        condition = _condition(field, sign, bare)
        if condition is not None:
            sql, values = condition
            parts.append(f"NOT coalesce({sql}, 0)" if term["minus"] else f"({sql})")
            parameters += values
    return ParsedFilter(" AND ".join(parts) or "1", tuple(parameters), tuple(words))


def _condition(field: str, sign: str, value: str) -> tuple[str, tuple[Value, ...]] | None:
    """An SQL condition with its parameters; None while its value is incomplete."""
    if field == "tokens":
        return _number(sign, value)
    if field in FIELDS and sign not in (":", "="):
        raise FilterError(f'"{field}" is not a number; write {field}:...')
    if field == "is":
        return _flag(value)
    if field == "priority":
        _require_priority(value)
    if field in _TEXT_FIELDS:
        return (_TEXT_FIELDS[field], (value,)) if value else None
    raise FilterError(
        f'There is no field "{field}"; fields: {", ".join(FIELDS)} (quote it to search for the '
        "words)"
    )


def _number(sign: str, value: str) -> tuple[str, tuple[Value, ...]] | None:
    if not value:
        return None
    try:
        return f"t.tokens {'=' if sign == ':' else sign} ?", (float(value.replace("_", "")),)
    except ValueError:
        raise FilterError('"tokens" needs a number, as in tokens>500') from None


def _flag(value: str) -> tuple[str, tuple[Value, ...]] | None:
    fitting = [name for name in _FLAGS if name.startswith(value.lower())]
    if not fitting:
        raise FilterError(f'"is" takes one of {", ".join(_FLAGS)}; not "{value}"')
    return (_FLAGS[fitting[0]], ()) if len(fitting) == 1 else None


def _require_priority(value: str) -> None:
    if not any(each.startswith(value.lower()) for each in Priority):
        raise FilterError(f'A priority is {", ".join(Priority)}; not "{value}"')


def matching_ids(reader: CommitReader, query: CommitQuery) -> array[int]:
    """Ids in chain order. Raises FilterError."""
    wanted = parse_filter(query.text)
    found = reader.all(
        f"SELECT c.id{', t.text' if wanted.words else ''} FROM {joined()}"
        f" WHERE c.context_id = ? AND c.live = 1 AND {wanted.sql} ORDER BY c.position",
        (query.context, *wanted.parameters),
    )
    if not wanted.words:
        return array("q", (row[0] for row in found))
    return array("q", (row[0] for row in found if all(has(row[1], each) for each in wanted.words)))


def has(text: str, term: TextTerm) -> bool:
    """Whether a text contains a term, or lacks a negated one."""
    lower = text.lower()
    there = term.text in lower
    if not there and " " in term.text:
        there = term.text in " ".join(lower.split())
    return there is term.wanted
