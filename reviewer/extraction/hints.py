"""What a source's path says about its worth (`promotion-rules.md`; the lists are in settled.md)."""

from __future__ import annotations

from functools import lru_cache

HIGH_SIGNAL_HINTS = (
    "status",
    "decision",
    "requirements",
    "requirement",
    "roadmap",
    "charter",
    "system-map",
    "system_map",
    "contracts",
    "schema",
    "architecture",
    "workflow",
    "error-budget",
    "comparison-matrix",
    "selection-decision",
)
LOW_SIGNAL_HINTS = (
    "_archive",
    "archive/",
    "_history",
    "history",
    "pre-cleanup",
    "pre-migration",
    "reviews/",
)
HIGH_SIGNAL, LOW_SIGNAL, NEUTRAL_SIGNAL = 1.1, 0.9, 1.0


@lru_cache(maxsize=16)
def structural_signal(path: str) -> float:
    """The multiplier of a path: 0.9 with a low-signal hint, else 1.1 with a high one, else 1.0.

    Case is ignored and either slash will do. A path with both kinds of hints is a low one.
    """
    folded = path.replace("\\", "/").lower()
    if any(hint in folded for hint in LOW_SIGNAL_HINTS):
        return LOW_SIGNAL
    if any(hint in folded for hint in HIGH_SIGNAL_HINTS):
        return HIGH_SIGNAL
    return NEUTRAL_SIGNAL
