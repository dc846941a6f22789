"""Looking at what a fact rests on: places, the source, an editor, the clipboard, the panes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from reviewer.engine import QueueRow
from reviewer.errors import SourceError
from reviewer.tui.bulk import stopped
from reviewer.tui.evidence.steps import evidence_at, places_of
from reviewer.tui.screens.places import open_place

if TYPE_CHECKING:
    from reviewer.engine import Step
    from reviewer.tui.screens.state import StateScreen


class StateLooking:
    """What `o`, `E`, `y`, `[`, `]`, tab and escape do on a `StateScreen`."""

    def __init__(self, screen: StateScreen) -> None:
        self._screen = screen

    def _place(self) -> tuple[Step, int]:
        """The chosen step and its number among the places. Raises SourceError without any."""
        reading = self._screen.reading
        shown = reading.shown
        if shown is None or shown.key != self._screen.model.current_key:
            raise SourceError("This row is still being read: once more.")
        places = places_of(shown.steps)
        if not places:
            raise SourceError("This names no line of a file: it was written by hand.")
        place = min(reading.place, len(places) - 1)
        return shown.steps[places[place]], place

    def open_source(self) -> None:
        """Show the file at the line."""
        step, place = self._place()
        shown = self._screen.reading.shown
        number = shown.view.id if shown is not None and shown.view is not None else None
        open_place(self._screen, self._screen.engine, evidence_at(
            self._screen.engine, number, place, step
        ))  # fmt: skip

    def open_editor(self) -> None:
        """Open the file at the line in the user's editor."""
        from reviewer.tui.editor import open_in_editor

        step, _ = self._place()
        path = str(Path(step.path or "").expanduser())
        self._screen.say(open_in_editor(self._screen.app, path, (step.line or 0) + 1))

    def copy(self) -> None:
        """Copy the value or wording to the clipboard."""
        row = self._screen.model.current
        if row is None:
            return
        text = row.content if isinstance(row, QueueRow) else row.value
        self._screen.app.copy_to_clipboard(text)
        self._screen.say(f"Copied {len(text):,} characters.")

    def next_place(self) -> None:
        """The next line that the fact rests on."""
        self._step_place(1)

    def previous_place(self) -> None:
        """The line before."""
        self._step_place(-1)

    def _step_place(self, step: int) -> None:
        reading = self._screen.reading
        places = places_of(reading.shown.steps) if reading.shown else []
        if 0 <= reading.place + step < len(places):
            reading.place += step
            reading.draw_why()
        else:
            self._screen.say("There is no other place in this direction.")

    # panes

    def next_pane(self) -> None:
        """Focus the next pane."""
        self._step_pane(1)

    def previous_pane(self) -> None:
        """Focus the pane before."""
        self._step_pane(-1)

    def _step_pane(self, step: int) -> None:
        screen = self._screen
        panes = (screen.list, screen.fact, screen.why)
        at = next((at for at, pane in enumerate(panes) if pane is screen.focused), 0)
        panes[(at + step) % len(panes)].focus(scroll_visible=False)

    def back(self) -> None:
        """Stop an act that goes on; back to the list, then clear the search, then leave."""
        screen = self._screen
        if stopped(screen):
            return
        if screen.focused is not screen.list:
            screen.list.focus(scroll_visible=False)
        elif screen.reading.search:
            screen.searching.clear()
        else:
            self.leave()

    def leave(self) -> None:
        """Back to the queue."""
        self._screen.dismiss()
