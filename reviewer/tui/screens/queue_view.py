"""What the queue screen shows besides decisions: marks, clusters, zoom, titles, footer."""

from __future__ import annotations

from asyncio import to_thread
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual.widget import Widget

from reviewer.engine import Sort
from reviewer.tui.bulk import stopped
from reviewer.tui.screens.queue_shows import TITLES
from reviewer.tui.situation import Situation

if TYPE_CHECKING:
    from reviewer.tui.screens.queue import QueueScreen

STATUSES = ("waiting", "deferred", "active", "invalid", "superseded", "all")
ENOUGH_DECISIONS = "30 decisions, at least 5 of each sort"


class View:
    """Shows a `QueueScreen` as it stands."""

    def __init__(self, screen: QueueScreen) -> None:
        self._screen = screen
        self._zoomed: str | None = None

    def situation(self) -> Situation:
        """What decides which keys do something."""
        screen, model = self._screen, self._screen.model
        row = model.current
        counts, history = screen.loader.counts, screen.engine.history
        return Situation(
            row=row,
            decided=row is not None and (row.status != "candidate" or row.id in model.settled),
            rows=len(model.ids),
            marked=model.count_marked(),
            filtered=bool(screen.loader.query.filter),
            editing=screen.editing.active,
            expanded=row is not None and model.is_open(model.cursor),
            beyond_cap=counts.beyond_cap if counts else 0,
            undo=history.can_undo(),
            redo=history.can_redo(),
            zoomed=self._zoomed is not None,
        )

    # marks

    def mark(self) -> None:
        """Mark or unmark this row and go down."""
        model = self._screen.model
        number = model.ids[model.cursor]
        model.marks.symmetric_difference_update({number})
        self._screen.list.redraw(model.cursor)
        self._screen.list.move_by(1)
        self._say_marked()

    def range(self) -> None:
        """Begin a range here, or keep the one in progress."""
        model = self._screen.model
        if model.range_from is None:
            model.range_from = model.cursor
            self._screen.say("Range: go to its end, then decide; v keeps the marks.")
            self._screen.shows.show_keys()
        else:
            model.keep_range()
            self._say_marked()
        self._screen.list.refresh()

    def mark_all(self) -> None:
        """Mark every row that waits, or none."""
        model = self._screen.model
        if model.marks:
            model.marks.clear()
        else:
            model.marks = set(model.ids) - model.settled
        model.range_from = None
        self._screen.list.refresh()
        self._say_marked()

    def _say_marked(self) -> None:
        count = self._screen.model.count_marked()
        self._screen.say(f"{count:,} marked" if count else "Nothing is marked.")
        self._screen.shows.show_keys()

    # other rows and orders

    async def sort(self) -> None:
        """The next order; the learned one only when enough was decided to learn from."""
        engine, query = self._screen.engine, self._screen.loader.query
        orders = list(Sort)
        following = orders[(orders.index(query.sort) + 1) % len(orders)]
        why_not = ""
        if following is Sort.LEARNED and await to_thread(engine.insight.preference) is None:
            counts = await to_thread(engine.queue.counts, None)
            so_far = counts.promoted + counts.rejected
            following = orders[0]
            why_not = f" The learned order needs {ENOUGH_DECISIONS}: {so_far:,} so far."
        self._screen.loader.ask(replace(query, sort=following))
        self._screen.say(f"Ordered by {following.value}.{why_not}")

    def which(self) -> None:
        """The next sort of rows."""
        query = self._screen.loader.query
        status = STATUSES[(STATUSES.index(query.status) + 1) % len(STATUSES)]
        self._screen.loader.ask(replace(query, status=status))
        self._screen.say(f"Shown: {TITLES[status].lower()}. w goes on.")

    # clusters

    async def toggle_cluster(self) -> None:
        """Open the cluster of this row, or close it."""
        screen, model = self._screen, self._screen.model
        index = model.cursor
        if model.is_open(index):
            self.collapse()
            return
        members = await to_thread(screen.engine.queue.members, model.ids[index])
        waiting = [member.id for member in members if member.status == "candidate"]
        model.open_cluster(index, waiting)
        screen.list.model_changed()
        screen.say("The cluster is open: each of its rows is decided alone now.")

    def collapse(self) -> None:
        """Close the cluster; the cursor goes to its row."""
        screen = self._screen
        screen.model.close_cluster(screen.model.cursor)
        screen.list.model_changed()
        screen.loader.follow()

    # panes

    def _panes(self) -> list[Widget]:
        screen = self._screen
        return [screen.list, screen.candidate, screen.evidence]

    def zoom(self) -> None:
        """Fill the screen with the focused pane."""
        self.unzoom()
        focused = self._screen.focused
        pane = focused if focused in self._panes() else self._screen.list
        self._zoomed = pane.id
        self._screen.add_class(f"zoom-{pane.id}")

    def unzoom(self) -> None:
        """Show all panes."""
        if self._zoomed is not None:
            self._screen.remove_class(f"zoom-{self._zoomed}")
            self._zoomed = None

    def next_pane(self) -> None:
        """Focus the next pane."""
        self._step_pane(1)

    def previous_pane(self) -> None:
        """Focus the pane before."""
        self._step_pane(-1)

    def _step_pane(self, step: int) -> None:
        panes = self._panes()
        focused = self._screen.focused
        at = panes.index(focused) if focused in panes else 0
        zoomed = self._zoomed is not None
        self.unzoom()
        panes[(at + step) % len(panes)].focus(scroll_visible=False)
        if zoomed:
            self._screen.call_after_refresh(self.zoom)

    def back(self) -> None:
        """Leave one thing: range, marks, zoom, the pane, the filter."""
        screen, model = self._screen, self._screen.model
        if stopped(screen):
            return
        if model.range_from is not None or model.marks:
            model.range_from = None
            model.marks.clear()
            screen.list.refresh()
            screen.shows.show_keys()
            screen.say("Nothing is marked.")
        elif self._zoomed is not None:
            self.unzoom()
        elif screen.focused is not screen.list:
            screen.list.focus(scroll_visible=False)
        elif screen.loader.query.filter:
            screen.filtering.clear()

    def next_waiting(self) -> None:
        """To the next row that waits."""
        self._to_waiting(1)

    def previous_waiting(self) -> None:
        """To the row before that waits."""
        self._to_waiting(-1)

    def _to_waiting(self, step: int) -> None:
        model = self._screen.model
        found = model.next_waiting(model.cursor + step, step)
        if found is None:
            self._screen.say("No other row waits in this direction.")
        else:
            self._screen.list.move_to(found)
