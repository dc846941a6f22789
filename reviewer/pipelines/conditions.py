"""Conditions on edges: `a && b`, `=`, `==`, `!=` and bare keys (context-fidelity.md, "DOT Usage").

    condition  = clause, { "&&", clause } ;
    clause     = key, [ ( "=" | "==" | "!=" ), value ] ;
    value      = text without operators, in quotes or not ;

A bare key holds when its value is neither empty nor `false` nor `0`; a missing key is the empty
text. `context.x` and `$x` are other ways to write `x`, and `a.b` also finds `b` inside of `a`.
Numbers, booleans and lists compare by the way JSON writes them. Of `outcome` the usual spellings
mean the same (`succeeded` = `success`), and labels compare without case and accelerator.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from reviewer.errors import ReviewerError
from reviewer.pipelines.outcomes import canonical_outcome, plain_label


class ConditionError(ReviewerError):
    """A condition is not written as conditions are."""


class Clause(Struct, frozen=True):
    """One comparison. `wanted` is None for a bare key."""

    key: str
    wanted: str | None = None
    negated: bool = False


_KEY = re.compile(r"\$?(?P<key>[A-Za-z_][\w.\-]*)")
_COMPARISON = re.compile(r"\s*(?P<operator>==|!=|=)\s*(?P<value>.*)", re.DOTALL)
_OPERATORS = re.compile(r"==|!=|=|&|\|\||<|>")
_QUOTES = ('"', "'")


def parse_condition(text: str) -> tuple[Clause, ...]:
    """The clauses of a condition, all of which have to hold; none for an empty one.

    Raises ConditionError, which quotes the part that cannot be read.
    """
    if not text.strip():
        return ()
    return tuple(_clause(part.strip(), text) for part in text.split("&&"))


def holds(condition: str, context: Mapping[str, Any]) -> bool:
    """Whether every clause of a condition is true of the context. Raises ConditionError."""
    return all(_is_true(clause, context) for clause in parse_condition(condition))


def look_up(key: str, context: Mapping[str, Any]) -> Any:
    """The value of a key, with or without `context.` before it; the empty text where missing."""
    bare = key.removeprefix("context.")
    for name in (key, bare, f"context.{bare}"):
        if name in context:
            return context[name]
    head, _, rest = bare.partition(".")
    inner = context.get(head)
    return look_up(rest, inner) if rest and isinstance(inner, Mapping) else ""


def as_text(value: Any) -> str:
    """A value as conditions and prompts see it: text as it is, all else as JSON writes it."""
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _clause(part: str, whole: str) -> Clause:
    found = _KEY.match(part)
    if found is None:
        raise ConditionError(_sentence(part, whole))
    key, rest = found["key"], part[found.end() :]
    if not rest.strip():
        return Clause(key)
    comparison = _COMPARISON.fullmatch(rest)
    if comparison is None:
        raise ConditionError(_sentence(part, whole))
    value = comparison["value"].strip()
    if len(value) > 1 and value[0] in _QUOTES and value[-1] == value[0]:
        value = value[1:-1]
    elif _OPERATORS.search(value):
        raise ConditionError(_sentence(part, whole))
    return Clause(key, value, negated=comparison["operator"] == "!=")


def _sentence(part: str, whole: str) -> str:
    part, whole = " ".join(part.split()), " ".join(whole.split())
    what = f'"{part}" in it' if part and part != whole else "it"
    return (
        f'The condition "{whole}" cannot be read: {what} is none of KEY, KEY=VALUE and KEY!=VALUE. '
        "Join several with &&; for OR draw several edges."
    )


def _is_true(clause: Clause, context: Mapping[str, Any]) -> bool:
    value = as_text(look_up(clause.key, context))
    if clause.wanted is None:
        return value.strip().lower() not in ("", "false", "0")
    return _equal(clause.key.removeprefix("context."), value, clause.wanted) != clause.negated


def _equal(key: str, value: str, wanted: str) -> bool:
    if key == "outcome":
        return canonical_outcome(value) == canonical_outcome(wanted)
    if key == "preferred_label":
        return plain_label(value) == plain_label(wanted)
    return value == wanted
