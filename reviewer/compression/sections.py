"""The titles of a hand-over, most needed first."""

from __future__ import annotations

from enum import StrEnum


class HandoverSection(StrEnum):
    REQUEST = "Request"
    INSTRUCTIONS = "Instructions and corrections"
    DECISIONS = "Decisions"
    PLAN = "Plan"
    DONE = "Done"
    NOW = "Now"
    THEN = "At this point"
    NEXT = "Next"
    LISTS = "Lists in play"
    COURSE = "Course"
    FOUND = "Found out"
    COMMANDS = "Commands"
    FILES = "Files"
    CHANGES = "Last changes"


TITLES = frozenset(f"{section.value}:" for section in HandoverSection)
"""The titles as lines of a text."""
