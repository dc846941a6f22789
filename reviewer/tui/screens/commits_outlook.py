"""What compressing would leave: the one place where the Commits screen asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviewer.tui.widgets.text_layout import Span

if TYPE_CHECKING:
    from reviewer.engine import CommitView, Engine


def anchor_spans(engine: Engine, view: CommitView) -> tuple[Span, ...]:
    """Spans of a commit that must survive its compression, to be marked lightly."""
    del engine, view
    return ()


def wordings(engine: Engine, context: int) -> tuple[str, ...]:
    """What would be left of a context at each level: ways to say it, the longest first."""
    del engine, context
    return ()
