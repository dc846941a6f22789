"""One thing that a person can do on the screen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reviewer.tui.situation import Situation

Reason = Callable[[Situation], str | None]

TAKES_MARKED = {"promote", "reject", "defer", "restore"}
"""Actions that take all marked rows instead of the one under the cursor."""

GIVES_PRIORITY = {"pin", "make_important", "make_normal", "make_skip", "retain"}
"""Actions that take all marked commits instead of the one under the cursor."""


@dataclass(frozen=True)
class Action:
    """One thing that a person can do, and everything that is said about it."""

    id: str
    keys: str
    """Textual key names, comma-separated; empty for an action of the palette alone."""
    title: str
    """One to three words, for the footer and the palette."""
    help: str
    """One sentence."""
    group: str
    panes: tuple[str, ...]
    run: str
    why_disabled: Reason | None = None
    footer: int = 0
    """Place in the footer from 1 on; 0 keeps it out."""

    def titled(self, now: Situation) -> str:
        """The title as things stand: how many marked rows it is about, where it takes those."""
        if now.marked and self.id in TAKES_MARKED:
            return f"{self.title} {now.marked:,} marked"
        if now.marked and self.id in GIVES_PRIORITY:
            return f"{self.title} {now.marked:,}"
        return self.title
