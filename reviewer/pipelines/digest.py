"""Long answers in few tokens: their beginning, and what the offline summary finds in the rest."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reviewer.compression.offline.shape import Account

BEGINNING = 0.35
"""Share of the room for the beginning, which usually says what the answer is about."""
LEAST = 40
"""Tokens from which on a summary says more than a longer beginning."""
_UNUSED = 0.5
"""Of the room; where a summary leaves more, the text has too little that can be summed up."""
LONGEST = 60_000
"""Characters of an answer that are read."""

_SAYS_SOMETHING = 8
"""Words; a paragraph with fewer is a heading."""
_TITLE = re.compile(r"(?m)^(?:[A-Z][A-Za-z ]{2,30}:|Also named: .*)$\n?")
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
        found = _statements(rest, room - taken)
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


def _statements(text: str, room: int) -> str:
    found = _TITLE.sub("", _account(text).write(room))
    return " ".join(_BULLET.sub("", found).split())


@lru_cache(maxsize=256)
def _account(text: str) -> Account:
    """The statements of a text; those of a stage are needed for every stage that follows."""
    from reviewer.compression.offline.shape import Account  # late: it takes long to load
    from reviewer.compression.values import Turn
    from reviewer.text.tokens import counter

    count = counter().count
    return Account([Turn("assistant", text, count(text))], count)
