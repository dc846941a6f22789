"""The signs of priorities."""

from __future__ import annotations

from reviewer.tui.theme import Glyphs


def priority_sign(priority: str, sign: Glyphs) -> str:
    """`●` pinned, `◆` important, `∅` left out; blank for normal."""
    return {"pinned": sign.pinned, "important": sign.important, "skip": sign.skip}.get(
        priority, " "
    )
