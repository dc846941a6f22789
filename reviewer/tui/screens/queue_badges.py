"""Badges of the rows in sight: read in a worker when the list rests, and kept for a while."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from textual.timer import Timer

from reviewer.tui.messages import BadgesRead
from reviewer.tui.widgets.candidate_row import NO_BADGES, Badges

if TYPE_CHECKING:
    from reviewer.tui.screens.queue import QueueScreen

REST_SECONDS = 0.5


class BadgeReading:
    """Finds out which rows in sight a policy speaks for, and which sources changed."""

    def __init__(self, screen: QueueScreen) -> None:
        self._screen = screen
        self._known: set[int] = set()
        self._rest: Timer | None = None

    def look(self) -> None:
        """The list moved or changed: look at what is in sight when it rests."""
        if self._rest is not None:
            self._rest.stop()
        self._rest = self._screen.set_timer(REST_SECONDS, self._read)

    def forget(self) -> None:
        """Look at every row again: somebody wrote, or the queue was read again."""
        self._known.clear()
        self.look()

    def _read(self) -> None:
        if not self._screen.is_attached:
            return
        wanted = [one for one in self._screen.list.ids_in_sight if one not in self._known]
        if not wanted:
            return
        engine, post = self._screen.engine, self._screen.post_message

        def work() -> None:
            hinted = engine.insight.hints(wanted)
            stale = engine.sources.stale(wanted)
            drafts = engine.drafts.ids()
            post(
                BadgesRead(
                    {one: Badges(one in hinted, one in stale, one in drafts) for one in wanted}
                )
            )

        self._screen.loader.work("badges", work)

    def take(self, badges: dict[int, Badges]) -> None:
        """Show what was found out."""
        self._known.update(badges)
        self._screen.list.show_badges(badges)

    def show_draft(self, number: int, *, kept: bool) -> None:
        """Show that a wording is kept, or no more."""
        known = self._screen.list.badges.get(number, NO_BADGES)
        self._screen.list.show_badges({number: replace(known, draft=kept)})
