"""Long answers in few tokens: their beginning, and what the offline summary finds in the rest."""

from __future__ import annotations

import re
from collections.abc import Callable

BEGINNING = 0.35
"""Share of the room for the beginning, which usually says what the answer is about."""
LEAST = 40
"""Tokens from which on a summary says more than a longer beginning."""
_UNUSED = 0.5
"""Of the room; where a summary leaves more, the text has too little that can be summed up."""
LEAST_WORDS = 12
"""Different words of a text that can be summed up: tables and data have fewer."""
LONGEST = 60_000
"""Characters of an answer that are read."""

_SAYS_SOMETHING = 8
"""Words; a paragraph with fewer is a heading."""
_BULLET = re.compile(r"(?m)^- ")
_SENTENCE_END = re.compile(r"(?<!\d)[.!?:](?=\s)|\n\s*\n")
_CODE = re.compile(r"(?m)^[^\S\n]*+(?:```|~~~)")

Count = Callable[[str], int]


def digest(text: str, room: int, count: Count) -> str:
    """The text in at most `room` tokens, with a note of its length; empty if there is too little
    room, or nothing in the text that a summary could take (code, logs, tables).
    """
    note = f" [summary of {len(text):,} characters]"
    room -= count(note) + 2
    if room < LEAST:
        return ""
    text = text[:LONGEST]
    begin = _beginning(text, int(room * BEGINNING), count)
    rest = text[len(begin) :].strip()
    begin = begin.strip()
    taken = count(begin)
    while room - taken >= LEAST // 2:
        found = _statements(rest, room - taken, count)
        if not found:
            return ""
        joint = " " if begin.endswith((".", "!", "?", ":")) else " … "
        whole = f"{begin}{joint if begin else ''}{found}"
        over = count(whole) - room
        if over <= 0:
            return whole + note if -over <= room * _UNUSED else ""
        taken += over
    return ""


def _beginning(text: str, room: int, count: Count) -> str:
    """The first paragraph that says something, or as many of its sentences or words as fit."""
    near = _CODE.split(text[: room * 6], 1)[0]
    for gap in re.finditer(r"\n\s*\n", near):
        if len(near[: gap.start()].split()) >= _SAYS_SOMETHING:
            near = near[: gap.end()]
            break
    ends = [found.end() for found in _SENTENCE_END.finditer(near)]
    ends += [found.start() for found in re.finditer(r"\s", near)][-1:] if not ends else []
    for end in reversed(ends):
        if count(near[:end]) <= room:
            return near[:end]
    return ""


def _statements(text: str, room: int, count: Count) -> str:
    """What the rest of an answer says, in its own order."""
    from reviewer.compression.session import read_session  # late: they take long to load
    from reviewer.compression.turn_events import turn_events
    from reviewer.compression.values import Turn
    from reviewer.compression.words import content_words
    from reviewer.compression.writing import write_course

    if len(set(content_words(text))) < LEAST_WORDS:
        return ""
    session = read_session(turn_events([Turn("assistant", text, 0)]))
    found = write_course(session, room, count)
    return " ".join(_BULLET.sub("", found).split())
