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
    "promoted": ("kept", "Active memory; on a check: passed."),
    "rejected": ("rejected", "Not proposed again; on a check: failed; in History: undone."),
    "merged": ("merged", "Replaced by another memory, which has its evidence."),
    "deferred": ("deferred", "Out of the queue until you ask for it."),
    "attention": (
        "look again",
        "Conflict, masked secret, instruction to an agent, doubtful proof or summary.",
    ),
    "mark": ("marked", "Included in the next decision."),
    "pinned": ("pinned", "First in every packet; survives every compression in full."),
    "important": ("important, cited", "Its named parts must survive; in a session: cited here."),
    "skip": ("left out", "Left out of the agent's context."),
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
FLAGS = tuple(sorted({*SUSPICIOUS, *OUTDATED, *DOUBTFUL, *OTHERS, HAND_AUTHORED} - {STALE}))
"""All flags that are stored with a row."""


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
