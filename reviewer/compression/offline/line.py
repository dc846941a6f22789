"""A line that a summary may have, and what is asked of moments everywhere."""

from __future__ import annotations

import re

from msgspec import Struct

from reviewer.compression.anchor_types import Section
from reviewer.compression.offline.events import Event, Kind, Message, Moment, Voice
from reviewer.compression.offline.statements import WIDE
from reviewer.compression.words import FUNCTION_WORDS

VOICES = {
    Voice.AGENT: 0.7,
    Voice.SUBAGENT: 0.35,
    Voice.SUMMARY: 0.7,
    Voice.SPEAKER: 1.0,
    Voice.NOTE: 1.0,
    Voice.PERSON: 1.2,
}


OLDEST, NEWEST = 0.6, 1.5
"""Factors for the first and the last message of the range."""


def recency_of(position: float) -> float:
    """How much more the end of a range matters. `position`: place in the range, 0 to 1."""
    return OLDEST + (NEWEST - OLDEST) * position**2


class Line(Struct):
    """A line that a summary may have. `release`: the part of the first release, or empty."""

    section: Section
    text: str
    order: float
    worth: float
    release: str = ""
    source: str = ""
    turn: int = -1
    place: int = -1
    """Which statement of its message it is; -1 for lines that are not statements."""
    terms: frozenset[str] = frozenset()
    cost: int = 0
    lead: str = ""
    """How the list begins of which the line is a part."""
    current: bool = True
    """Whether what it is about was not changed since."""
    guess: bool = False
    """Whether it was a guess, after which the agent said more."""
    lasting: bool = False
    """Whether it matters at the end however old it is."""
    previous: Line | None = None
    """The part of the same list before this one, without which it is not taken."""


_TERM = re.compile(r"(?<![\w./#@-])[\w./#@-]*\w")


def terms_of(text: str) -> frozenset[str]:
    """The words of a text that carry something, in lower case; files by their names too."""
    found = set()
    for word in _TERM.findall(text.lower()):
        if len(word) > 2 and word not in FUNCTION_WORDS and not WIDE.search(word):
            found.add(word)
            if "/" in word:
                found.add(word.rpartition("/")[2])
    for run in WIDE.findall(text):
        found.update(run[at : at + 2] for at in range(len(run) - 1))
    return frozenset(found)


def is_person(moment: Moment) -> bool:
    """Whether a moment is what the person said."""
    return isinstance(moment, Message) and moment.voice is Voice.PERSON


def is_of(moment: Moment, voice: Voice) -> bool:
    return isinstance(moment, Message) and moment.voice is voice


def is_edit(event: Event) -> bool:
    return event.kind in (Kind.EDIT, Kind.WRITE) and not event.failed


def changes(event: Event) -> bool:
    """Whether an event changes or checks something."""
    return event.kind in (Kind.EDIT, Kind.WRITE, Kind.CHECK, Kind.COMMIT, Kind.RUN, Kind.PUSH)


def shortened(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text.rstrip(". ")
    at = text.rfind(" ", longest // 2, longest)
    return f"{text[: at if at > 0 else longest].rstrip(' ,;:')} …"
