"""The rounds that repeat at the end of a session: propose, assent, write, and the same again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from reviewer.compression.offline.events import Event, Kind, Message, Moment, Voice
from reviewer.compression.offline.line import is_edit, is_person, shortened
from reviewer.compression.offline.person import question_before
from reviewer.compression.offline.statements import person_words

LONGEST_PERIOD = 4
LEAST_REPEATS = 3
SURE = 0.8
"""Share of the rounds that have to be like those one period before."""
MOST_ROUNDS = 60
"""Rounds at the end that are compared."""
SHOWN_CHARS = 90
_CHANGING = re.compile(r"[\d.,]+|\b\w\b|[`\"'“”‘’*]+")


class _Round(Struct):
    """From what the person said to what they said next."""

    said: str
    files: tuple[str, ...]
    ran: bool
    asked: str

    @property
    def kind(self) -> tuple[bool, bool, str]:
        """What rounds of the same kind have in common."""
        asked = " ".join(_CHANGING.sub(" ", self.asked.lower()).split())[:SHOWN_CHARS]
        return bool(self.files), self.ran, asked


def repeating(moments: Sequence[Moment]) -> str:
    """The rounds that repeat, in one line; empty where none do for sure."""
    rounds = _rounds(moments)
    kinds = [each.kind for each in rounds]
    best, repeats = 0, 0
    for period in range(1, LONGEST_PERIOD + 1):
        alike = _alike(kinds, period)
        if alike >= (LEAST_REPEATS - 1) * period and alike // period + 1 > repeats:
            best, repeats = period, alike // period + 1
    if not best:
        return ""
    cycle = [_usual(rounds, kinds, at, best) for at in range(len(rounds) - best, len(rounds))]
    if not any(each.files or each.ran for each in cycle) or not all(each.asked for each in cycle):
        return ""
    last = max((at for at, each in enumerate(cycle) if each.files), default=best - 1)
    cycle = [*cycle[last + 1 :], *cycle[: last + 1]]
    told = "; then ".join(_told(each) for each in cycle)
    return f"The same rounds have repeated {repeats} times: {told}; and again."


def _usual(rounds: Sequence[_Round], kinds: Sequence[object], at: int, period: int) -> _Round:
    """The last round at this place of the cycle that is like the one before it."""
    for place in range(at, period - 1, -period):
        if kinds[place] == kinds[place - period]:
            return rounds[place]
    return rounds[at]


def _alike(kinds: Sequence[object], period: int) -> int:
    """How many rounds at the end are like those one period before."""
    alike = found = 0
    last = len(kinds) - 1
    for at in range(last, max(period, len(kinds) - MOST_ROUNDS) - 1, -1):
        alike += kinds[at] == kinds[at - period]
        if alike >= SURE * (last - at + 1):
            found = alike
    return found


def _rounds(moments: Sequence[Moment]) -> list[_Round]:
    """The rounds that ended with the person's next words."""
    spoken = [at for at, each in enumerate(moments) if is_person(each)]
    found = []
    for start, end in pairwise(spoken):
        said = moments[start]
        if not isinstance(said, Message):
            continue
        events = [each for each in moments[start:end] if isinstance(each, Event)]
        found.append(
            _Round(
                person_words(said.text),
                tuple(dict.fromkeys(each.what for each in events if is_edit(each))),
                any(each.kind in (Kind.CHECK, Kind.COMMIT, Kind.RUN) for each in events),
                _asked(moments, end),
            )
        )
    return found


def _asked(moments: Sequence[Moment], at: int) -> str:
    """The question with which the agent ended a round."""
    before = moments[at - 1]
    if not isinstance(before, Message) or before.voice is not Voice.AGENT:
        return ""
    question = question_before(moments, at)
    return question if question.rstrip("`\"' ").endswith(("?", "？", "؟")) else ""


def _told(each: _Round) -> str:
    done = f"edits {', '.join(each.files[:2])} and " if each.files else ""
    done = "runs commands and " if each.ran and not each.files else done
    said = shortened(each.said, SHOWN_CHARS)
    return f'"{said}" - the agent {done}asks "{shortened(each.asked, SHOWN_CHARS)}"'
