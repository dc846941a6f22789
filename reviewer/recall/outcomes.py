"""The outcome of a use: whether the failure came back after a memory was handed over."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from msgspec import Struct

from reviewer.clock import from_iso
from reviewer.recall.at_call import FAILURE, GUARD

SAME_CALL = timedelta(seconds=2)
"""Between a hook and the record of the call that it belongs to."""


class Outcome(StrEnum):
    """UNKNOWN: the session was not read yet, or what it shows has nothing to do with it."""

    HELD = "held"
    BROKEN = "broken"
    UNKNOWN = "unknown"


class Use(Struct, frozen=True):
    """A memory in a session. `cue`: the commands and signatures of the moment; `of_memory`: the
    signatures that the memory stands for.
    """

    memory: int
    session: str
    moment: str
    cue: frozenset[str]
    at: str
    of_memory: frozenset[str] = frozenset()


class Failed(Struct, frozen=True):
    """A failure of a session that was read."""

    signature: str
    command: str
    first: str
    last: str


def outcome(use: Use, failures: Sequence[Failed]) -> Outcome:
    """What the failures of its session say of a use.

    A failure that does not come back was held off; so was that of a guarded call that then went
    well. With a prompt nobody knows whether it would have come to it.
    """
    at = from_iso(use.at)
    if at is None or not failures:
        return Outcome.UNKNOWN
    known = use.cue | use.of_memory
    own = [each for each in failures if each.signature in known or (
        use.moment == GUARD and each.command in use.cue)]  # fmt: skip
    if any(_after(each.last, at + SAME_CALL) for each in own):
        return Outcome.BROKEN
    if use.moment == GUARD or (use.moment == FAILURE and own):
        return Outcome.HELD
    return Outcome.UNKNOWN


def _after(time: str, limit: datetime) -> bool:
    found = from_iso(time)
    return found is not None and found > limit
