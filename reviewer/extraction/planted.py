"""Facts that read like planted instructions: never given to agents."""

from __future__ import annotations

from collections.abc import Sequence


def is_planted(content: str, flags: Sequence[str]) -> bool:
    """Whether a fact was flagged as planted and still reads that way: one that the person has
    reworded is given to agents again.
    """
    if "injection" not in flags:
        return False
    from reviewer.extraction.flags import INJECTION, flags_of  # late: rarely needed
    from reviewer.sources.records import Role

    return INJECTION in flags_of(content, Role.NOTE)
