"""The commit under the cursor of the Commits screen: read in a worker, drawn in the panes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from reviewer.errors import ReviewerError
from reviewer.tui.kit.text import Span
from reviewer.tui.resting import Resting
from reviewer.tui.screens import commits_outlook
from reviewer.tui.theme import glyphs
from reviewer.tui.widgets.commit_marks import match_spans
from reviewer.tui.widgets.commit_text import (
    PATTERNS_SHOWN,
    commit_title,
    survival_blocks,
    text_blocks,
)

if TYPE_CHECKING:
    from reviewer.engine import CommitView, PatternCheck
    from reviewer.tui.screens.commits import CommitsScreen


class Shown(Struct, frozen=True):
    """Everything about the commit under the cursor."""

    view: CommitView
    checks: tuple[PatternCheck, ...] = ()
    matches: tuple[Span, ...] = ()
    anchors: tuple[Span, ...] = ()
    draft: bool = False


class CommitReading:
    """Fills the two panes of a `CommitsScreen` that are about one commit."""

    def __init__(self, screen: CommitsScreen) -> None:
        self._screen = screen
        self._engine = screen.engine
        self.shown: Shown | None = None
        self._resting = Resting(screen, self.read)

    def follow(self) -> None:
        """The cursor moved: show its commit at once, or while skimming when it rests."""
        self._resting.moved()

    def read(self) -> None:
        """Read the commit under the cursor, check its patterns, find what must survive."""
        number, engine = self._screen.model.current_id, self._engine
        if number is None:
            self.shown = None
            self._screen.text.show([], title="")
            self._screen.survival.show([], title="Must survive")
            return

        def work() -> Shown:
            view = engine.contexts.commit(number)
            checks = engine.contexts.check(view.retention.patterns[:PATTERNS_SHOWN], view.text)
            return Shown(
                view,
                checks,
                match_spans(checks, view.text),
                commits_outlook.anchor_spans(engine, view),
                number in engine.retention_drafts.ids(),
            )

        self._screen.read(work, self._took_commit, group="commit")

    def _took_commit(self, shown: Shown) -> None:
        if shown.view.row.id != self._screen.model.current_id or self._screen.busy == "retain":
            return  # the cursor went on, or a form is about another commit
        same = self.shown is not None and self.shown.view.row.id == shown.view.row.id
        self.shown = shown
        self.draw(keep_scroll=same)

    def show_only(self, view: CommitView) -> None:
        """Show a commit as it is, whatever the cursor is on, until a commit is read again."""
        self.shown = Shown(view)
        self.draw(keep_scroll=False)

    def draw(self, *, keep_scroll: bool = True, matches: Sequence[Span] | None = None) -> None:
        """Draw the commit and what must survive of it; `matches` are those of a form."""
        shown, screen = self.shown, self._screen
        if shown is None:
            return
        signs = glyphs(screen.app)
        marks = shown.matches if matches is None else matches
        screen.text.show(
            text_blocks(shown.view, shown.anchors, marks),
            title=commit_title(shown.view, signs),
            keep_scroll=keep_scroll,
        )
        screen.survival.show(
            survival_blocks(shown.view, shown.checks, signs, draft=shown.draft),
            title="Must survive",
            hints=("r what must survive, p i n S priority", "r retain"),
            keep_scroll=keep_scroll,
        )

    @property
    def has_line(self) -> bool:
        """Whether the commit under the cursor names its line of the transcript."""
        shown, context = self.shown, self._screen.reading.context
        if shown is None or shown.view.row.id != self._screen.model.current_id:
            return context is not None and context.source_path is not None
        return shown.view.source_line is not None

    def current_view(self) -> CommitView:
        """The commit under the cursor in full. Raises ReviewerError when there is none."""
        number, shown = self._screen.model.current_id, self.shown
        if number is None:
            raise ReviewerError("There is no commit under the cursor.")
        if shown is not None and shown.view.row.id == number:
            return shown.view
        return self._engine.contexts.commit(number)
