"""Looking at where a candidate came from: the source, an editor, the clipboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviewer.errors import SourceError

if TYPE_CHECKING:
    from reviewer.engine import EvidenceView
    from reviewer.tui.screens.queue import QueueScreen


class Looking:
    """What `o`, `E` and `y` do on a `QueueScreen`."""

    def __init__(self, screen: QueueScreen) -> None:
        self._screen = screen

    def _evidence(self) -> EvidenceView:
        """The evidence in sight. Raises SourceError for a memory that was written by hand."""
        screen = self._screen
        number = screen.model.current_id
        shown = screen.loader.shown
        evidence = screen.evidence.current
        if number is not None and (shown is None or shown.memory_id != number):
            evidence = next(iter(screen.engine.queue.evidence(number)), None)
        if evidence is None:
            raise SourceError(f"#{number} was written by hand: it has no source file.")
        return evidence

    def open_source(self) -> None:
        """Show the file at the line."""
        from reviewer.tui.evidence.source import SourceScreen

        self._screen.app.push_screen(SourceScreen(self._screen.engine, self._evidence()))

    def open_editor(self) -> None:
        """Open the file at the line in the user's editor."""
        from reviewer.tui.editor import open_in_editor

        evidence = self._evidence()
        app = self._screen.app
        self._screen.say(open_in_editor(app, evidence.record.path, evidence.line + 1))

    def why(self) -> None:
        """Show every step from this row down to its source."""
        from reviewer.tui.evidence.why import WhyScreen

        row = self._screen.model.current
        if row is not None:
            self._screen.app.push_screen(WhyScreen(self._screen.engine, row.id))

    def copy(self) -> None:
        """Copy the wording to the clipboard."""
        row = self._screen.model.current
        if row is not None:
            self._screen.app.copy_to_clipboard(row.content)
            self._screen.say(f"Copied #{row.id} ({len(row.content):,} characters).")
