"""Auto-promotion policies, evaluated as hints (`docs/design.md`, Promotion).

No policy acts: a hint is a badge, and a person decides. The confidence policy of the document is
left out, because no confidence reaches its threshold: the highest is .70 x 1.1 x 1.05.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum

from msgspec import Struct

from reviewer.extraction.candidates import MemoryType
from reviewer.extraction.entities.entity import EntityType
from reviewer.sources.records import Role

REFERENCES = 5
"""N: the references that the first policy needs."""
WITHIN = timedelta(days=7)
"""M: the time in which they must have come."""

_TOO_CONSEQUENTIAL = (EntityType.VALIDATION_CLAIM, EntityType.DECISION)
_OWN = (MemoryType.IDENTITY, MemoryType.PREFERENCE)


class Policy(StrEnum):
    REFERENCE_COUNT = "reference count"
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
    it; `planted` whether it reads like an order to an agent, which only a person may favour.
    """

    type: str
    role: Role
    entity: bool = False
    recent: Recent = Recent()
    looked_at: bool = False
    planted: bool = False


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
    found = []
    count = standing.recent
    consequential = standing.entity and standing.type in _TOO_CONSEQUENTIAL
    often = count.times >= REFERENCES and count.interactions > 1
    if often and not (consequential or standing.looked_at):
        days = "1 day" if count.days == 1 else f"{count.days} days"
        found.append(Hint(Policy.REFERENCE_COUNT, f"seen {count.times} times in {days}"))
    if not standing.entity and standing.role is Role.USER and standing.type in _OWN:
        found.append(Hint(Policy.OWN_WORDS, "your own words about yourself"))
    return tuple(found)
