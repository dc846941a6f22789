"""Rules on values: something has a measured or configured amount (`promotion-rules.md`)."""

from __future__ import annotations

import re

from reviewer.extraction.candidates import RuleClass
from reviewer.extraction.cues import NUMBER
from reviewer.extraction.entities.entity import Attribute, EntityType
from reviewer.extraction.entities.naming import leans, name_key, named
from reviewer.extraction.entities.quantities import QUANTITY, UNIT
from reviewer.extraction.entities.rule import EntityRule, Found, Place
from reviewer.sources.records import Role
from reviewer.text.units import UnitKind

_ABOUT = r"(?:about |around |only |at most |at least |up to |exactly |now |~|≈|<=?|>=?|[≤≥±])?\s*"
_ASSIGNED = re.compile(
    rf"^\**(?P<name>[^=:\n]{{2,60}}?)\**`?\s*(?:=|:|≈)\**`?\s*{_ABOUT}{QUANTITY}`?(?P<rest>.*)$",
    re.DOTALL,
)
_SAID = re.compile(
    r"^(?P<name>[^=:,.;\n]{2,70}?)\s+(?:is|are|defaults? to|(?:is|are) (?:set|limited"
    r"|capped) (?:to|at)"
    rf"|lasts?|takes?|weighs?|measures?)\s+{_ABOUT}{QUANTITY}(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_QUALIFIER = re.compile(r"\s*(?:for|on|in|per|at)\s+(?P<what>[^,;.()\n]{2,60})")
_AMOUNT = rf"[\d$€£](?:(?<=\d)\s?(?:{UNIT})|(?<=[$€£])\s?[-+]?\d)"
_LOWER_AMOUNT, _ANY_AMOUNT = re.compile(_AMOUNT.lower()), re.compile(_AMOUNT, re.IGNORECASE)
_BOX = re.compile(r"\[")
_CONJUNCTION = re.compile(r"\s+(?:and|because|since)\s")
_ANOTHER = re.compile(rf"\s*(?:,|;|\band\b)\s*{_ABOUT}{QUANTITY}", re.IGNORECASE)
_CLOSED = re.compile(r"\s*(?:$|[,;.()–—-]|(?:for|on|in|per|at|and|by|of|when|unless|because)\b)")
_VERB = re.compile(
    r"\b(?:was|were|is|are|has|have|had|took|takes|get|gets|will|would|can|if|when|because|than"
    r"|after|before|until|while|only|every)\b",
    re.IGNORECASE,
)
_NOT_A_PARAMETER = re.compile(
    r"(?:on |in |at )?(?:\d{4}-\d\d-\d\d|v?\d+[\d.]*|step|day|week|phase|page|line|lines|issue"
    r"|pr|figure"
    r"|table|note|example|todo|update|date|time|done|total|tests?|passed|failed|week \d+|results?"
    r"|\[.?\])\b.{0,10}",
    re.IGNORECASE,
)
_GENERIC_LIST = """
mass weight length width height depth diameter thickness size area volume density cost price budget
speed velocity voltage current power energy torque force load pressure temperature frequency rate
limit maximum minimum max min default timeout time duration delay latency interval period capacity
amount count number age quota threshold tolerance range memory cpu ram disk value margin
"""
_GENERIC = frozenset(_GENERIC_LIST.split())
_MOST_WORDS = 6


def _parameter(place: Place) -> Found | None:
    statement = place.statement
    if statement.kind not in (UnitKind.SENTENCE, UnitKind.LIST_ITEM):
        return None
    raw = place.record.text[place.start : place.end]
    if not may_hold_amount(raw) or _BOX.search(statement.marker):
        return None
    match = _ASSIGNED.match(raw) or _SAID.match(raw)
    if match is None or not (match["unit"] or match["currency"]):
        return None
    if (
        statement.role is Role.ASSISTANT
        and (match["currency"] or match.re is _ASSIGNED)
        and ("=" not in raw[: match.start("value")])
    ):
        return None  # an agent's lists and prices are what it looked up, not what is set
    name = named(match["name"].strip("`* "))
    if (
        not any(c.isalpha() for c in name)
        or len(name) < 2
        or name.count("(") != name.count(")")
        or len(name.split()) > _MOST_WORDS
        or leans(match["name"])
        or _VERB.search(name)
        or _NOT_A_PARAMETER.fullmatch(name)
        or not _CLOSED.match(match["rest"])
    ):
        return None
    return Found(
        name=name,
        start=place.start,
        end=place.end,
        attributes=_amounts(match),
        slot=_slot(name, statement.heading),
    )


def may_hold_amount(text: str) -> bool:
    """Whether a number with a unit or a currency may stand in a text: a cheap first look."""
    if text.isascii():  # without folding, units are told apart by their first letters
        return _LOWER_AMOUNT.search(text.lower()) is not None
    return _ANY_AMOUNT.search(text) is not None


def _slot(name: str, heading: str) -> str:
    """A property that many things have (`mass`) is told apart by the heading above it."""
    if name.lower() not in _GENERIC:
        return f"parameter:{name_key(name)}"
    return f"parameter:{name_key(heading)} {name_key(name)}" if name_key(heading) else ""


def _amounts(match: re.Match[str]) -> tuple[Attribute, ...]:
    """`90 days for request logs, 10 years for postings`: one attribute for each qualifier."""
    found: list[Attribute] = []
    current: re.Match[str] | None = match
    rest = match["rest"]
    while current is not None:
        unit = current["unit"] or current["currency"] or ""
        qualifier = _QUALIFIER.match(rest)
        name = (
            named(re.split(r"\s+(?:and|because|since)\s", qualifier["what"])[0])
            if qualifier
            else ""
        )
        if current is not match and not unit:
            break
        found.append(Attribute(name or "value", current["value"], unit))
        rest = rest[qualifier.end() if qualifier else 0 :]
        current = _ANOTHER.match(rest)
        rest = rest[current.end() :] if current else rest
    names = [attribute.name for attribute in found]
    return tuple(found) if len(set(names)) == len(names) else tuple(found[:1])


RULES = (
    EntityRule(
        id="parameter_value",
        rule_class=RuleClass.VALUE,
        type=EntityType.PARAMETER,
        description="A named thing has an amount with a unit: `max batch = 4.8 MB`.",
        finds=_parameter,
        cue=NUMBER,
        quality=0.6,
        examples=(
            ("- max batch = 4.8 MB", "max batch"),
            ("retention: 90 days", "retention"),
            ("The idle timeout is 30 s.", "idle timeout"),
            ("- retention = 90 days for logs, 10 years for postings", "retention"),
            ("It is 30 seconds too late.", ""),
            ("The suite took 30 s.", ""),
            ("There are 30 workers.", ""),
        ),
    ),
)
