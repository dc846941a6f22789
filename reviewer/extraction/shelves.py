"""The part of a packet, or the file of a `.context` folder, that a memory or entity belongs to."""

from __future__ import annotations

DECISIONS, CONVENTIONS, LEARNINGS = "decisions", "conventions", "learnings"

_SHELVES = {
    DECISIONS: {("entity", "decision"), ("memory", "project")},
    CONVENTIONS: {
        *(("entity", type_) for type_ in ("requirement", "constraint", "interface", "process")),
        *(("memory", type_) for type_ in ("identity", "preference", "adaptation")),
    },
}


def shelf_of(kind: str, type_: str) -> str:
    """Binding facts and preferences are conventions, decisions and facts about the project
    decisions, and everything else is a learning.
    """
    return next((shelf for shelf, facts in _SHELVES.items() if (kind, type_) in facts), LEARNINGS)
