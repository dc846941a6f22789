"""Facts that read like orders planted for an agent: agents do not get them."""

from __future__ import annotations

from collections.abc import Sequence


def is_planted(content: str, flags: Sequence[str]) -> bool:
    """Whether a fact was flagged as such, and its wording still is: one that the person has
    reworded is handed out again.
    """
    if "injection" not in flags:
        return False
    from reviewer.extraction.flags import INJECTION, flags_of  # late: rarely needed
    from reviewer.sources.records import Role

    return INJECTION in flags_of(content, Role.NOTE)
