"""Guesses about a statement that a person words: its type, and how far it reaches."""

from __future__ import annotations

import re

from reviewer.extraction.candidates import MemoryType

_ABOUT_PERSON = re.compile(
    r"\b(?:my (?:name|role|job|time zone)|i am an?|i'm an?|(?:the user|the person) is an?)\b", re.I
)
_OWN_WAY = re.compile(
    r"\b(?:i (?:like|prefer|want|hate|always|never)|prefers?"
    r"|(?:the user|the person) (?:likes|wants))\b",
    re.I,
)
_ORDER = re.compile(
    r"^(?:always|never|do not|don't|ask|avoid|make sure|please|run|use|keep|wait|stop)\b"
    r"|\b(?:must(?: not)?|never|always|not without asking)\b",
    re.I,
)
_PLAN = re.compile(
    r"\b(?:we (?:decided|chose|agreed|use|will|keep)|decided to|decision|convention|deadline"
    r"|out of scope|later|separate (?:pr|pull request)|to ?do|is (?:planned|postponed|open))\b",
    re.I,
)
_EVENT = re.compile(r"\b(?:yesterday|last week|on \d{4}-\d\d-\d\d|broke|outage|incident)\b", re.I)


def guess_type(statement: str) -> MemoryType:
    """The type that a statement most likely has; knowledge when nothing else is seen."""
    for pattern, type_ in (
        (_ABOUT_PERSON, MemoryType.IDENTITY),
        (_OWN_WAY, MemoryType.PREFERENCE),
        (_PLAN, MemoryType.PROJECT),
        (_ORDER, MemoryType.ADAPTATION),
        (_EVENT, MemoryType.EPISODIC),
    ):
        if pattern.search(statement):
            return type_
    return MemoryType.KNOWLEDGE


def guess_scope(statement: str) -> str:
    """`person` for what somebody says of themselves, else `project`."""
    if _ABOUT_PERSON.search(statement) or _OWN_WAY.search(statement):
        return "person"
    return "project"
