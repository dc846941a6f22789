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
    "promoted": ("promoted", "An active memory."),
    "rejected": ("rejected", "It is not proposed again."),
    "deferred": ("deferred", "It comes last in the queue."),
    "merged": ("merged", "Another memory took its place."),
    "graduated": ("graduated", "It became an entity."),
    "cluster": ("near duplicates", "Rows like this one are behind it; the number counts all."),
    "stale": ("outdated", "A conflict, or a text that its source does not say any more."),
    "flagged": ("suspicious", "A masked secret, an order to an agent, or look-alike letters."),
    "hint": ("policy", "One of the policies speaks for it."),
    "edited": ("reworded", "Its wording was changed, or a draft of one is kept."),
    "by_hand": ("by hand", "A person wrote it, without a source."),
    "mark": ("marked", "The next decision applies to it."),
    "pinned": ("pinned", "A commit that survives every compression."),
    "important": ("important", "A commit whose facts must survive a compression."),
    "skip": ("skipped", "A commit that no summary takes."),
}
"""A title and a sentence for each sign, by its name in `theme.Glyphs`."""

STATUS_SIGNS = {
    "active": PROMOTED,
    "invalid": REJECTED,
    "superseded": MERGED,
    "graduated": GRADUATED,
}
"""The signs of decided memories, by their status in the store."""

SUSPICIOUS = frozenset({"secret", "injection", "look-alike"})
STALE = "stale"
"""Not stored: the source has changed since it was read."""
OUTDATED = frozenset({"conflict", "not-in-force", STALE})
DOUBTFUL = frozenset({"unproved", "not-alone", "known", "taken-back"})
HAND_AUTHORED = "hand-authored"


def flag_signs(flags: Collection[str]) -> str:
    """The signs of a memory's flags: `!`, `⌁` for suspicious text, `?` for a proof that leaves
    something open, and `✐` for written by hand.
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
