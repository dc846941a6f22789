"""What a sentence is for in a summary: which of its sections it belongs to."""

from __future__ import annotations

import re
from enum import StrEnum

from reviewer.compression.anchor_rules import QUESTION_END, RULES
from reviewer.compression.extractive.noise import is_machine_text, is_summary
from reviewer.compression.extractive.source_units import Form, SourceUnit
from reviewer.compression.values import AnchorType, Turn
from reviewer.extraction.rejections import narrated


class Section(StrEnum):
    """The sections of a brief summary, in their order."""

    GOAL = "Goal"
    DECISIONS = "Decisions"
    FINDINGS = "Findings"
    TRIED = "Tried and failed"
    COMMANDS = "Commands and tool calls"
    STATE = "State and next steps"


OF_ANCHOR = {
    AnchorType.CORRECTION: Section.DECISIONS,
    AnchorType.DECISION: Section.DECISIONS,
    AnchorType.USER_PREFERENCE: Section.DECISIONS,
    AnchorType.CRITICAL_FACT: Section.FINDINGS,
    AnchorType.COMMITMENT: Section.STATE,
    AnchorType.UNRESOLVED_QUESTION: Section.STATE,
    AnchorType.ERROR_CONTEXT: Section.TRIED,
    AnchorType.CODE_ARTIFACT: Section.FINDINGS,
}
CUED, NARRATED, PASTED, CALLED, PLAIN = 1.25, 0.4, 0.2, 0.4, 1.0
"""What the worth of a unit is multiplied by: with a cue, with a mere "Now let me look", as pasted
data, as a call, else."""
CUT = 0.6
"""The same for what begins within a statement."""

_ASKS = re.compile(
    r"^(?:(?:ok(?:ay)?|so|and|but|also|yes|yeah|now|then|please|great|perfect)[\s,.!]*){0,3}"
    r"(?:can|could|would|will) (?:you|we|i)\b|\b(?:please|i(?:'d)? (?:want|need|like)|let'?s|let us"
    r"|we (?:need|should|have to)|make sure|add|fix|write|run|implement|change|remove|use|create"
    r"|update|check|review|merge|rename|replace|move|test|explain|look (?:at|into))\b"
)
_HEADINGS = (
    (Section.GOAL, re.compile(r"\b(?:goal|intent|objective|request|user messages?)")),
    (Section.DECISIONS, re.compile(r"\bdecisions?\b")),
    (Section.TRIED, re.compile(r"\b(?:errors?|fail(?:ed|ures?)|tried|dead ends?)\b")),
    (
        Section.STATE,
        re.compile(r"\b(?:next steps?|pending|to-?dos?|remaining|current (?:work|state|status))\b"),
    ),
)
"""Headings that say what the lines below them are for."""
_DONE = re.compile(
    r"\b(?:done|fixed|implemented|completed?|committed|pushed|merged|all (?:\w+ )?tests pass"
    r"|(?:is|are) now|now (?:uses?|has|have|works?|passes)|next steps?|remaining|still (?:need|to)"
    r"|left to do|ready (?:to|for)|want me to|pending|in progress)\b"
)
_FAILED = re.compile(
    r"\b(?:fail(?:s|ed|ing|ure)?|did(?: not|n'?t) work|does(?: not|n'?t) work|broken?|crash\w*"
    r"|reverted|rolled back|dead end|wrong|regression|root cause|the (?:bug|problem|issue) (?:is"
    r"|was))\b"
)


def section_of(unit: SourceUnit, turn: Turn, first_request: int) -> tuple[Section, float]:
    """The section of a unit, and what its worth is multiplied by."""
    if unit.form is Form.ERROR:
        return Section.TRIED, PLAIN
    if unit.form is Form.CALL:
        return Section.COMMANDS, CALLED
    if is_machine_text(unit.text):
        return Section.FINDINGS, PASTED
    if unit.form in (Form.CODE, Form.HEADING):
        return Section.FINDINGS, PLAIN
    if narrated(unit.text):
        return Section.FINDINGS, NARRATED
    section, weight = _of_words(unit, turn, first_request)
    return section, weight * CUT if unit.part else weight


def _of_words(unit: SourceUnit, turn: Turn, first_request: int) -> tuple[Section, float]:
    lower = unit.text.lower()
    below = unit.heading.lower()
    for section, pattern in _HEADINGS if below else ():
        if pattern.search(below):
            return section, PLAIN
    for rule in RULES:
        if turn.role in rule.by and rule.find(lower):
            return OF_ANCHOR[rule.type], CUED
    if unit.turn == first_request:
        return Section.GOAL, CUED
    if turn.role == "user" and not turn.name and not is_summary(turn):
        asks = _ASKS.search(lower) or QUESTION_END.search(lower)
        return (Section.GOAL if asks else Section.FINDINGS), PLAIN
    if _FAILED.search(lower):
        return Section.TRIED, CUED
    if _DONE.search(lower) or QUESTION_END.search(lower):
        return Section.STATE, PLAIN
    return Section.FINDINGS, PLAIN
