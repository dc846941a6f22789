"""What a context weighs, and what would be left of it: read when a person rests for a moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.timer import Timer

from reviewer.tui.screens import commits_outlook
from reviewer.tui.theme import glyphs

if TYPE_CHECKING:
    from reviewer.engine import ContextView, Outlook, Reach, TokenTotals
    from reviewer.tui.screens.commits import CommitsScreen

TOTALS_SECONDS = 0.12
OUTLOOK_SECONDS = 0.6
"""So long nothing is written before it is asked what would be left."""


class Weighing:
    """Fills the two lines below the panes of a `CommitsScreen`."""

    def __init__(self, screen: CommitsScreen) -> None:
        self._screen = screen
        self._engine = screen.engine
        self.target: int | None = None
        """Tokens that a person would like the context to have at most."""
        self._outlook_rest: Timer | None = None
        self._totals_rest: Timer | None = None

    def begin(self, totals: TokenTotals | None, *, other_context: bool) -> None:
        """Show the totals of a context that was read; the outlook follows."""
        if other_context:
            self.target = None
            self._screen.outlook_line.show(())
        self._screen.balance.show(totals)
        self.read_outlook()

    def again(self) -> None:
        """Something was written: totals and outlook follow when nothing else is."""
        if self._totals_rest is not None:
            self._totals_rest.stop()
        self._totals_rest = self._screen.set_timer(TOTALS_SECONDS, self._read_totals)
        self.read_outlook()

    def _read_totals(self) -> None:
        context, engine = self._screen.reading.context, self._engine
        if context is not None:
            number = context.id
            self._screen.read(
                lambda: (engine.contexts.get(number), engine.contexts.totals(number)),
                lambda found: self._took_totals(*found),
                group="totals",
            )

    def _took_totals(self, context: ContextView, totals: TokenTotals) -> None:
        reading = self._screen.reading
        if reading.context is not None and context.id == reading.context.id:
            reading.context = context
            reading.show_title()
            self._screen.balance.show(totals)

    def read_outlook(self) -> None:
        """Ask what would be left of the context, once nothing else was written for a moment."""
        if self._outlook_rest is not None:
            self._outlook_rest.stop()
        context, line = self._screen.reading.context, self._screen.outlook_line
        if context is None:
            line.show(())
        elif context.tokens > commits_outlook.UNASKED_TOKENS and self.target is None:
            line.show(commits_outlook.too_large(context.tokens))
        else:
            self._outlook_rest = self._screen.set_timer(OUTLOOK_SECONDS, self._measure)

    def _measure(self) -> None:
        context, engine, target = self._screen.reading.context, self._engine, self.target
        if context is None:
            return
        number = context.id
        self._screen.read(
            lambda: commits_outlook.measure(engine, number, target),
            lambda found: self._took_outlook(*found),
            group="outlook",
            in_turn=True,
        )

    def _took_outlook(self, outlook: Outlook, reach: Reach | None) -> None:
        signs = glyphs(self._screen.app)
        self._screen.outlook_line.show(commits_outlook.wordings(outlook, reach, signs))
