"""One sign for each state of a memory, shared by the screen and the command line."""

from __future__ import annotations

from collections.abc import Collection

PROMOTED = "✓"
REJECTED = "✗"
DEFERRED = "⏸"
MERGED = "→"
GRADUATED = "▲"
EDITED = "✎"
NEAR = "≈"
ATTENTION = "!"
FLAGGED = "⌁"
HINT = "★"
BY_HAND = "✐"
DOUBTED = "?"

MEANINGS = {
    "promoted": ("kept", "An active memory; beside a check: it passed."),
    "rejected": ("rejected", "Not proposed again; beside a check: it failed; in History: undone."),
    "deferred": ("deferred", "It does not wait until somebody asks for it."),
    "attention": (
        "look again",
        "A conflict, a masked secret, an order to an agent, a doubtful proof.",
    ),
    "mark": ("marked", "The next decision applies to it."),
    "pinned": ("pinned", "It survives every compression whole."),
    "important": ("important", "What was named of it must survive; in a session: cited here."),
    "skip": ("skipped", "Left out of the agent's context."),
}
"""Title and explanation of each sign, by its name in `theme.Glyphs`."""

STATUS_SIGNS = {
    "active": PROMOTED,
    "invalid": REJECTED,
    "superseded": MERGED,
    "graduated": GRADUATED,
}
"""Signs of decided memories, by status in the store."""

SUSPICIOUS = frozenset({"secret", "injection", "look-alike"})
STALE = "stale"
"""Computed, not stored: the source has changed since it was read."""
OUTDATED = frozenset({"conflict", "concurrent", "retire", "not-in-force", STALE})
DOUBTFUL = frozenset({"unproved", "not-alone", "known", "taken-back"})
HAND_AUTHORED = "hand-authored"
OTHERS = frozenset({"joined", "once", "replaces", "reword"})
FLAGS = tuple(sorted({*SUSPICIOUS, *OUTDATED, *DOUBTFUL, *OTHERS, HAND_AUTHORED}))
"""All flags that a row may have."""


def flag_signs(flags: Collection[str]) -> str:
    """The signs of a memory's flags: `!`, `⌁` for suspicious text, `?` for an incomplete proof, and
    `✐` for written by hand.
    """
    return "".join(
        sign
        for sign, wanted in (
            (ATTENTION, OUTDATED),
            (FLAGGED, SUSPICIOUS),
            (DOUBTED, DOUBTFUL),
            (BY_HAND, {HAND_AUTHORED}),
        )
        if wanted.intersection(flags)
    )
