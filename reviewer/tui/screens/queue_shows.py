"""The words of the queue screen: titles, remarks, empty lists, the panes, the footer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviewer.engine import SourceState
from reviewer.text.display import display_line
from reviewer.tui.legacy_actions import ACTIONS, actions_of
from reviewer.tui.situation import Situation

if TYPE_CHECKING:
    from reviewer.tui.screens.queue import QueueScreen

TITLES = {
    "waiting": "Candidates",
    "deferred": "Deferred",
    "active": "Active memories",
    "invalid": "Rejected",
    "superseded": "Merged into others",
    "all": "Everything",
}
CONFLICT_KEYS = ("keep_left", "keep_right", "keep_both", "reject", "undo", "next_evidence", "help")
"""What the footer shows on a conflict."""
_EMPTY = {
    "waiting": ("Nothing waits.", "Ingest something: reviewer ingest PATH"),
    "deferred": ("Nothing was put off.", "w shows other rows."),
    "active": ("No memory is active yet.", "Promote a candidate with a; w shows other rows."),
    "invalid": ("Nothing was rejected.", "w shows other rows."),
    "superseded": ("Nothing was merged.", "w shows other rows."),
    "all": ("The store is empty.", "Ingest something: reviewer ingest PATH"),
}


class Shows:
    """Draws what a `QueueScreen` knows."""

    def __init__(self, screen: QueueScreen) -> None:
        self._screen = screen

    def show_title(self) -> None:
        """The title above the list: which rows, in which order, through which filter."""
        query = self._screen.loader.query
        detail = f"by {query.sort.value}"
        if query.filter:
            detail += f"   / {display_line(query.filter)}"
        self._screen.title_rule.show(TITLES.get(query.status, "Candidates"), detail)

    def show_remark(self) -> None:
        """What the last line of the list says: how many candidates were left beyond the cap."""
        screen = self._screen
        counts = screen.loader.counts
        beyond = counts.beyond_cap if counts else 0
        remark = f"+{beyond:,} beyond the cap (show: M)" if beyond else ""
        if remark != screen.list.remark:
            screen.list.remark = remark
            screen.list.redraw_place()

    def show_empty(self) -> None:
        """What an empty list says."""
        screen = self._screen
        query, counts = screen.loader.query, screen.loader.counts
        lines: tuple[str, ...] = _EMPTY.get(query.status, _EMPTY["waiting"])
        if query.filter:
            lines = (f"Nothing matches / {display_line(query.filter)}", "escape clears the filter.")
        elif query.status == "waiting" and counts and counts.promoted + counts.rejected:
            lines = (
                "All clear: nothing waits.",
                f"{counts.promoted:,} promoted, {counts.rejected:,} rejected so far.",
                "w shows them, F8 the history, u takes the last decision back.",
                "More to read: reviewer ingest PATH",
            )
        screen.set_class(not screen.model.ids, "-empty")
        if screen.list.empty != lines:
            screen.list.empty = lines
            if not screen.model.ids:
                screen.list.refresh()
                self.show_detail()

    def show_detail(self, state: SourceState = SourceState.UNKNOWN) -> None:
        """The candidate and its evidence, or why there is none."""
        screen = self._screen
        self.show_keys()
        shown = screen.loader.shown
        if shown is None or shown.view is None:
            screen.candidate.show_nothing("")
            screen.evidence.show_nothing()
            return
        told = state is not SourceState.UNKNOWN
        screen.candidate.show_candidate(
            shown.view,
            now=screen.engine.clock(),
            members=shown.members,
            wordings=shown.wordings,
            state=state,
            extras=shown.extras,
            keep_scroll=told,
        )
        if not told:
            screen.evidence.show_evidence(shown.evidence)

    def show_joint(self) -> None:
        """Where the rule between the two panes at the right meets the upright one."""
        screen = self._screen
        lower = screen.editing.lower_half if screen.editing.active else screen.evidence
        screen.separator.joint = lower.region.y - screen.separator.region.y if lower else 0

    def show_keys(self) -> None:
        """The keys of the pane that has the focus."""
        screen = self._screen
        pane = "edit" if screen.editing.active else "queue"
        if screen.filtering.focused:
            pane = "filter"
        keymap = getattr(screen.app, "keymap_in_use", None)
        if keymap is None:
            return
        actions = [one for one in actions_of([pane, "app"]) if one.footer]
        actions.sort(key=lambda one: one.footer)
        row = screen.model.current
        if pane == "queue" and row is not None and row.kind == "conflict":
            actions = [ACTIONS[name] for name in CONFLICT_KEYS]
        now = Situation(marked=screen.model.count_marked())
        screen.footer.show([(keymap.keys(one.id)[0], one.titled(now), one.id) for one in actions])
        screen.title_rule.focused(screen.focused is screen.list)
