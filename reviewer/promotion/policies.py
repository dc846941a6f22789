"""Auto-promotion policies, evaluated as hints (`docs/design.md`, Promotion).

No policy acts: a hint is a badge and a sort, and a person decides. The
confidence policy can never fire with today's formula, whose highest value is HIGHEST_CONFIDENCE;
it is evaluated all the same, so that a changed formula needs no change here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum

from msgspec import Struct

from reviewer.extraction.candidates import MemoryType, RuleClass
from reviewer.extraction.entities.entity import EntityType
from reviewer.sources.records import Role

REFERENCES = 5
"""N: the references that the first policy needs."""
WITHIN = timedelta(days=7)
"""M: the time in which they must have come."""
CONFIDENCE = 0.85
HIGHEST_CONFIDENCE = 0.8085
"""The highest value of the formula: .70 x 1.1 x 1.05, below CONFIDENCE."""

_TOO_CONSEQUENTIAL = frozenset((str(EntityType.VALIDATION_CLAIM), str(EntityType.DECISION)))
_OWN = frozenset((str(MemoryType.IDENTITY), str(MemoryType.PREFERENCE)))
_FIRST_PERSON = re.compile(
    r"(?:^|[.!;:]\s|\b(?:and|but|because|since|so|that|yes|no|well|please)[\s,]+)(?P<words>"
    r"(?:i(?:['’]d| would)? (?:(?:really|strongly|always|usually|generally|much) )?"
    r"(?:prefer|hate|dislike|love|favou?r)\b"
    r"|my (?:name|role|job|time ?zone|pronouns|preference) (?:is|are)\b"
    r"|i (?:work (?:at|for|as|in)|live in|maintain|always|never)\b"
    r"|(?:i am|i['’]m) (?:an?|the|based|responsible|called|working (?:at|for|as))\b))",
    re.IGNORECASE,
)
_HEDGED = re.compile(
    r"\?|\b(?:if i|unless i|when i|maybe i|i might|i (?:would|['’]d) have"
    r"|i (?:am|['’]m) (?:not )?(?:a bit|a little))\b",
    re.IGNORECASE,
)


class Policy(StrEnum):
    """The three policies."""

    REFERENCE_COUNT = "reference count"
    CONFIDENCE = "confidence"
    OWN_WORDS = "identity and preference"


class Hint(Struct, frozen=True):
    """A policy that favours a candidate, and the reason in a few words, for a badge."""

    policy: Policy
    text: str


class Reference(Struct, frozen=True):
    """A repetition of a statement: its time and interaction (session, file)."""

    at: datetime
    interaction: str


class Recent(Struct, frozen=True):
    """References in the last WITHIN: how many, in how many interactions, over how many days."""

    times: int = 0
    interactions: int = 0
    days: int = 0


class Standing(Struct, frozen=True):
    """The facts about one candidate that policies look at. `type` is a memory's or an entity's.

    `role` is that of the record it was read from; `looked_at` is whether the person has seen
    it.
    """

    type: str
    content: str
    rule_class: RuleClass
    confidence: float
    role: Role
    entity: bool = False
    recent: Recent = Recent()
    looked_at: bool = False
    planted: bool = False
    """Whether it reads like an order to an agent: only a person may favour that."""


def recent(references: Iterable[Reference], now: datetime) -> Recent:
    """The references of the last WITHIN before `now`; later ones (another clock) count as now."""
    times = [
        (min(each.at, now), each.interaction) for each in references if each.at >= now - WITHIN
    ]
    if not times:
        return Recent()
    span = max(at for at, _ in times) - min(at for at, _ in times)
    days = max(1, math.ceil(span / timedelta(days=1)))
    return Recent(len(times), len({interaction for _, interaction in times}), days)


def hints(standing: Standing) -> tuple[Hint, ...]:
    """The policies that favour a candidate, in the document's order; usually none."""
    if standing.planted:
        return ()
    found = (_reference_count(standing), _confidence(standing), _own_words(standing))
    return tuple(hint for hint in found if hint is not None)


def _reference_count(standing: Standing) -> Hint | None:
    """N references from several interactions in M days, and the person has not looked yet."""
    count = standing.recent
    if standing.entity and standing.type in _TOO_CONSEQUENTIAL:
        return None
    if count.times < REFERENCES or count.interactions < 2 or standing.looked_at:
        return None
    days = "1 day" if count.days == 1 else f"{count.days} days"
    return Hint(Policy.REFERENCE_COUNT, f"seen {count.times} times in {days}")


def _confidence(standing: Standing) -> Hint | None:
    """Confidence of CONFIDENCE or more, from a heading rule."""
    if standing.rule_class is not RuleClass.HEADING or standing.confidence < CONFIDENCE:
        return None
    return Hint(Policy.CONFIDENCE, f"heading rule, confidence {standing.confidence:.2f}")


def _own_words(standing: Standing) -> Hint | None:
    """A statement in the first person, with an unambiguous verb."""
    if standing.entity or standing.role is not Role.USER or standing.type not in _OWN:
        return None
    match = _FIRST_PERSON.search(standing.content)
    if match is None or _HEDGED.search(standing.content):
        return None
    words = " ".join(match["words"].split())
    return Hint(Policy.OWN_WORDS, f'your own words: "{words} ..."')
