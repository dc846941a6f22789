"""Marks and ranges on the Commits screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reviewer.tui.screens.commits import CommitsScreen


class Marking:
    """What space, `v` and `*` do on a `CommitsScreen`."""

    def __init__(self, screen: CommitsScreen) -> None:
        self._screen = screen

    def mark(self) -> None:
        """Mark or unmark this commit and go down."""
        model = self._screen.model
        number = model.current_id
        if number is not None:
            model.marks.symmetric_difference_update({number})
            self._screen.list.refresh_line(model.cursor)
            self._screen.list.move_by(1)
            self._say()

    def range(self) -> None:
        """Begin a range here, or keep the one in progress."""
        model = self._screen.model
        if model.range_from is None:
            model.range_from = model.cursor
            self._screen.say("Range: go to its end, then p i n S or r; v keeps the marks.")
            self._screen.show_footer()
        else:
            model.keep_range()
            self._say()
        self._screen.list.refresh()

    def mark_all(self) -> None:
        """Mark every commit of the list, or none."""
        model = self._screen.model
        if model.marks or model.range_from is not None:
            model.clear_marks()
        else:
            model.marks = set(model.ids)
        self._screen.list.refresh()
        self._say()

    def clear(self) -> None:
        """Nothing is marked."""
        self._screen.model.clear_marks()
        self._screen.list.refresh()
        self._say()

    def targets(self) -> list[int]:
        """The marked commits in the order of the list, else the one under the cursor."""
        model = self._screen.model
        marked = model.marked()
        if marked or model.current_id is None:
            return marked
        return [model.current_id]

    def _say(self) -> None:
        count = self._screen.model.count_marked()
        self._screen.say(f"{count:,} marked" if count else "Nothing is marked.")
        self._screen.show_footer()
