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
EXCERPT = '"'

TYPE_SIGNS = {
    "identity": "i",
    "preference": "p",
    "project": "j",
    "episodic": "e",
    "knowledge": "k",
    "adaptation": "a",
}
"""The sign of each type of memory; entities share one."""
ENTITY = "#"

MEANINGS = {
    "promoted": ("promoted", "An active memory; beside a check: it passed."),
    "rejected": ("rejected", "Not proposed again; beside a check: it failed; in History: undone."),
    "deferred": ("deferred", "It comes last in the queue."),
    "merged": ("merged", "Another memory took its place."),
    "graduated": ("graduated", "It became an entity."),
    "cluster": (
        "near duplicates",
        "Similar rows are folded behind this one; the number counts them all.",
    ),
    "attention": (
        "outdated",
        "A conflict, or its source no longer says it; in a message: a problem.",
    ),
    "flagged": ("suspicious", "A masked secret, an order to an agent, or look-alike letters."),
    "hint": ("policy", "A policy favours it; only you promote it."),
    "doubted": ("doubtful", "A check of its proof found something: the pane says what."),
    "excerpt": ("excerpt", "A sentence of dialogue: a place to look, to be worded first."),
    "edited": ("reworded", "Its wording was changed, or a draft of one is kept."),
    "by_hand": ("by hand", "A person wrote it, without a source."),
    "mark": ("marked", "The next decision applies to it."),
    "pinned": ("pinned", "A commit that survives every compression."),
    "important": ("important", "A commit whose facts must survive a compression."),
    "dot": ("normal", "A commit that may be compressed freely."),
    "skip": ("skipped", "A commit that is left out of summaries and of the agent's context."),
    "minus": ("lost", "In Compress: lost first at this level; a dot marks an earlier loss."),
    "loop": ("loop", "In Pipelines: an edge that leads back."),
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
DOUBTFUL = frozenset({"unproved", "not-alone", "known", "taken-back", "negation"})
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
