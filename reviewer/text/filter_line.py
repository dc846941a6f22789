"""Filter lines as SQL, such as `words field:value number>0.5 -not "a phrase"`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from msgspec import Struct

from reviewer.errors import FilterError

Parameter = str | float
MAX_WORDS = 100
"""SQLite limits how deep a condition may be."""
_WORD = re.compile(r"\w+")
_TERM = re.compile(
    r'(?P<minus>-)?(?:(?P<field>[a-z]+)(?P<sign>:|[<>]=?|=))?(?P<text>"[^"]*"?|(?<=[:<>=])(?=\s|$)|\S+)'
)


class Term(NamedTuple):
    """A part of a filter line. `field` is empty for words, `value` for an unfinished field."""

    wanted: bool
    field: str
    sign: str
    value: str
    """Words with their quotes."""


class Field(Struct, frozen=True):
    """A field that a line may name."""

    sql: str = ""
    """A condition on the value `?`."""
    meanings: Mapping[str, str] = {}
    """Or the condition of each possible value."""
    values: Callable[[], Iterable[str]] = tuple
    """The possible values besides those; without any, all are."""
    number: bool = False
    """Its value is compared; `sql` is then a column."""

    def known(self) -> tuple[str, ...]:
        """The possible values, for completing a text; empty without a fixed set."""
        return (*self.meanings, *self.values())


class Filter(Struct, frozen=True):
    """A part of a WHERE clause with its parameters, and the words, which each list looks up in its
    own way.
    """

    sql: str
    parameters: tuple[Parameter, ...]
    words: tuple[Term, ...]


def terms(line: str) -> Iterator[Term]:
    """The parts of a filter line. Raises FilterError if it has too many words."""
    if problem := too_long(line):
        raise FilterError(problem)
    for term in _TERM.finditer(line):
        wanted, field, sign, text = not term["minus"], term["field"], term["sign"], term["text"]
        bare = text.strip('"')
        if not field:
            yield Term(wanted, "", "", text)
        elif text.startswith("//"):  # an address, not a field
            yield Term(wanted, "", "", f'"{field}:{bare}"')
        else:
            yield Term(wanted, field, sign, bare)


def too_long(line: str) -> str:
    """A sentence about a line of too many words; empty if it is short enough."""
    many = len(line.split()) > MAX_WORDS or len(_WORD.findall(line)) > MAX_WORDS
    return f"A filter has at most {MAX_WORDS} words." if many else ""


def unfinished(line: str, fields: Mapping[str, Field]) -> str:
    """The first field of a line without a value yet; empty if there is none."""
    return next((each.field for each in terms(line) if each.field in fields and not each.value), "")


def parsed(line: Iterable[Term], fields: Mapping[str, Field]) -> Filter:
    """The terms as a condition; fields without a value yet are left out. `#12` is `id:12`.

    Raises FilterError, naming the invalid term.
    """
    parts: list[str] = []
    parameters: list[Parameter] = []
    words: list[Term] = []
    for term in line:
        mark, number = term.value[:1], term.value[1:]
        if not term.field and mark == "#" and number.isdecimal() and "id" in fields:
            term = term._replace(field="id", sign=":", value=number)
        if not term.field:
            words.append(term)
        elif term.value or term.field not in fields:
            sql, values = _condition(term, fields)
            parts.append(f"({sql})" if term.wanted else f"NOT coalesce(({sql}), 0)")
            parameters += values
    return Filter(" AND ".join(parts) or "1", tuple(parameters), tuple(words))


def _condition(term: Term, fields: Mapping[str, Field]) -> tuple[str, tuple[Parameter, ...]]:
    name, sign, value = term.field, term.sign, term.value
    field = fields.get(name)
    if field is None:
        from difflib import get_close_matches

        near = get_close_matches(name, fields, 1)
        hint = f'did you mean "{near[0]}"?' if near else f"fields: {', '.join(fields)}"
        raise FilterError(f'There is no field "{name}"; {hint} (quote it to search for the words)')
    if field.number:
        try:
            return f"{field.sql} {'=' if sign == ':' else sign} ?", (float(value),)
        except ValueError:
            raise FilterError(f'"{name}" wants a number, as in {name}>0.5') from None
    if sign not in (":", "="):
        raise FilterError(f'"{name}" is not a number; write {name}:...')
    known = field.known()
    begun = [each for each in known if each.startswith(value.lower())]
    if known and not begun:
        other = next((it for it, each in fields.items() if value.lower() in each.known()), "")
        if other:  # `type:trap`: the names of rows are of several fields
            return _condition(term._replace(field=other), fields)
        raise FilterError(f'{name}: takes {", ".join(known[:-1])} or {known[-1]}, not "{value}"')
    if field.meanings:
        return " OR ".join(field.meanings[each] for each in begun), ()
    return field.sql, (value,)
