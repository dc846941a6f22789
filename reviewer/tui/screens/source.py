"""The source of a memory: the file at the line, or the records as they were said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.events import Key
from textual.screen import Screen
from textual.widgets import Input

from reviewer.engine import Engine, EvidenceView, FileWindow, SourceState
from reviewer.errors import ReviewerError, SourceError
from reviewer.tui.acting import Acting
from reviewer.tui.actions import actions_of, bindings_for
from reviewer.tui.editor import open_in_editor
from reviewer.tui.screens.moving import Moving
from reviewer.tui.theme import glyphs
from reviewer.tui.widgets.bars import FooterBar, StatusBar
from reviewer.tui.widgets.source_search import Match, search_file, search_records
from reviewer.tui.widgets.source_text import file_blocks, record_blocks
from reviewer.tui.widgets.text_pane import TextPane

AROUND_LINES = 200
"""Lines of the file on each side that are held at a time."""
AROUND_RECORDS = 40
"""Stored records on each side."""
BORDER = 20
"""Rows from the end of what is held at which the next lines are read."""
BEYOND = 1 << 40
"""A line after the last of any file."""

_REMARKS = {
    SourceState.CHANGED: "The file changed since it was read; r shows the text that was stored.",
    SourceState.MOVED: "The file changed since; it still holds this text, maybe at another line.",
}

Place = Literal["line", "keep", "start", "end"]
"""Where to scroll: to the line (or match), to what is in sight now, to the file's start or end."""


class FileView(TextPane, inherit_bindings=False):
    """The text of the screen; its keys are the screen's."""

    BINDINGS: ClassVar[list[BindingType]] = []

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Let the screen read on when the end of what is held comes near."""
        super().watch_scroll_y(old_value, new_value)
        if isinstance(self.screen, SourceScreen) and round(old_value) != round(new_value):
            self.screen.scrolled()


class SearchLine(Input):
    """What to search for. Enter searches, escape leaves."""

    DEFAULT_CSS = """
    SearchLine { height: 1; border: none; padding: 0 1; display: none; background: $panel; }
    SearchLine:focus { border: none; }
    """


class SourceScreen(Moving, Acting, Screen[None]):
    """One evidence in its source. Reads files in workers, and only around the line in sight."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("source")]

    def __init__(self, engine: Engine, evidence: EvidenceView) -> None:
        super().__init__()
        self._engine = engine
        self._evidence = evidence
        self._window: FileWindow | None = None
        self._raw = evidence.record.shape != "turn"
        self._line = evidence.line
        self._match: Match | None = None
        self._needle = ""
        self._reading = False

    def compose(self) -> ComposeResult:
        """The text, the search line, the status, the keys."""
        yield FileView(id="file")
        search = SearchLine(placeholder="search for", id="search")
        search.cursor_blink = False
        yield search
        yield StatusBar()
        yield FooterBar()

    def on_mount(self) -> None:
        """Show the stored record at once, and read what stands around it behind."""
        footer = [action for action in actions_of(["source", "app"]) if action.footer]
        footer.sort(key=lambda action: action.footer)
        self.query_one(FooterBar).show([(action, action.keys.split(",")[0]) for action in footer])
        self.pane.focus()
        self.call_after_refresh(self._begin)

    @property
    def pane(self) -> FileView:
        """The pane of text."""
        return self.query_one(FileView)

    def _begin(self) -> None:
        self._draw("line")
        self._work(self._read_beginning)

    # reading, in workers

    def _work(self, job: Callable[[], None]) -> None:
        """Run a job that reads, one at a time; its failure becomes a sentence."""

        def guarded() -> None:
            try:
                job()
            except ReviewerError as error:
                self.app.call_from_thread(self.say, str(error), bad=True)
            finally:
                self._reading = False

        self._reading = True
        self.run_worker(guarded, thread=True, exclusive=True, group="read")

    def _read_beginning(self) -> None:
        engine, evidence = self._engine, self._evidence
        for wider in engine.queue.evidence(evidence.memory_id, around=AROUND_RECORDS):
            if (wider.record, wider.span_start) == (evidence.record, evidence.span_start):
                self.app.call_from_thread(self._got_records, wider)
                break
        try:
            window = self._lines(self._line)
        except SourceError as error:
            self.app.call_from_thread(self._no_file, str(error))
            return
        self.app.call_from_thread(self._got_window, window, "line")
        remark = _REMARKS.get(engine.sources.state(evidence.memory_id))
        if remark:
            self.app.call_from_thread(self.say, remark, bad=True)

    def _lines(self, line: int) -> FileWindow:
        path = self._evidence.record.path
        window = self._engine.sources.lines(path, line, context=AROUND_LINES)
        if not window.lines and window.total_lines:
            return self._engine.sources.lines(path, window.total_lines - 1, context=AROUND_LINES)
        return window

    def _read(self, line: int, place: Place) -> None:
        if not self._reading:
            self._work(
                lambda: self.app.call_from_thread(self._got_window, self._lines(line), place)
            )

    def _got_records(self, evidence: EvidenceView) -> None:
        self._evidence = evidence
        if not self._raw:
            self._draw("line")

    def _got_window(self, window: FileWindow, place: Place) -> None:
        top = self._top_line
        self._window = window
        if self._raw:
            self._draw(place, top)

    def _no_file(self, sentence: str) -> None:
        self._raw = False
        self._draw("line")
        self.say(f"{sentence} This is the text that was stored.", bad=True)

    def scrolled(self) -> None:
        """Read on where what is held comes to its end but the file does not."""
        window, pane = self._window, self.pane
        if not self._raw or window is None or self._reading:
            return
        top = pane.scroll_offset.y
        near_start = top < BORDER and window.first_line > 0
        near_end = top > pane.max_scroll_y - BORDER and window.total_lines is None
        if near_start or near_end:
            self._read(self._top_line, "keep")

    # drawing

    @property
    def _top_line(self) -> int:
        """The file's line in the first row in sight, while the file is shown."""
        return self._window.first_line + self.pane.top_block if self._window else self._line

    def _draw(self, place: Place, top: int = 0) -> None:
        signs, window, pane = glyphs(self.app), self._window, self.pane
        where = f"{self._evidence.record.path} {signs.dot} line {self._line + 1:,}"
        if self._raw and window is not None:
            blocks = file_blocks(window, self._evidence, signs, self._match)
            first, total = window.first_line, window.total_lines
            title = where + (f" of {total:,}" if total else "")
            hints = ("r as it was said",)
        else:
            blocks = record_blocks(self._evidence, signs, self._match)
            first, title, hints = 0, f"{where} {signs.dot} as it was said", ("r the file itself",)
        if place == "keep":
            pane.show(blocks, title=title, hints=hints, top=top - first)
        elif place == "line":
            at = self._match.at if self._match else self._cited_block
            pane.show(blocks, title=title, hints=hints, reveal=at - first)
        else:
            pane.show(blocks, title=title, hints=hints)
            if place == "end":
                pane.go_end()

    @property
    def _cited_block(self) -> int:
        """The number that the cited line or record has, counted as matches are."""
        return self._line if self._raw and self._window else len(self._evidence.before)

    # keys

    def go_home(self) -> None:
        """To the first line of the file."""
        if self._raw and self._window is not None and self._window.first_line > 0:
            self._read(0, "start")
        else:
            self.pane.go_home()

    def go_end(self) -> None:
        """To the last line of the file."""
        if self._raw and self._window is not None and self._window.total_lines is None:
            self._read(BEYOND, "end")
        else:
            self.pane.go_end()

    def toggle_raw(self) -> None:
        """Show the file's lines, or the records as they were said."""
        if not self._raw and self._window is None:
            self.say("The file cannot be read; this is the text that was stored.", bad=True)
            return
        self._raw = not self._raw
        self._match = None
        self.to_span()

    def to_span(self) -> None:
        """Back to the line that the memory came from."""
        self._match = None
        self._line = self._evidence.line
        window = self._window
        if self._raw and window is not None and not self._holds(window, self._line):
            self._read(self._line, "line")
        else:
            self._draw("line")

    def open_search(self) -> None:
        """Ask what to search for."""
        search = self.query_one(SearchLine)
        search.display = True
        search.value = self._needle
        search.focus()

    def next_match(self) -> None:
        """The next place that holds what was searched for."""
        self._search(1)

    def previous_match(self) -> None:
        """The place before."""
        self._search(-1)

    def open_editor(self) -> None:
        """The file at the line, in the user's editor."""
        self.say(open_in_editor(self.app, self._evidence.record.path, self._line + 1))

    def copy_place(self) -> None:
        """`path:line` to the clipboard."""
        place = f"{self._evidence.record.path}:{self._line + 1}"
        self.app.copy_to_clipboard(place)
        self.say(f"Copied {Path(place).name}")

    def leave(self) -> None:
        """Back to where the screen was opened from."""
        self.dismiss()

    # searching

    @on(Input.Submitted)
    def _search_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._needle = event.value
        self._close_search()
        if self._needle:
            self._search(1)

    def on_key(self, event: Key) -> None:
        """Escape leaves the search line before it leaves the screen."""
        if event.key == "escape" and self.query_one(SearchLine).has_focus:
            event.stop()
            event.prevent_default()
            self._close_search()

    def _close_search(self) -> None:
        self.query_one(SearchLine).display = False
        self.pane.focus()

    def _search(self, step: int) -> None:
        if not self._needle:
            self.open_search()
            return
        raw = self._raw and self._window is not None
        start = (self._match.at if self._match else self._cited_block) + step
        needle, path = self._needle, self._evidence.record.path

        def look() -> None:
            if raw:
                match = search_file(self._engine.sources, path, needle, start, step)
            else:
                match = search_records(self._evidence, needle, start, step)
            self.app.call_from_thread(self._matched, match, step)

        self._work(look)

    def _matched(self, match: Match | None, step: int) -> None:
        if match is None:
            which = "below" if step > 0 else "above"
            self.say(f"“{self._needle}” does not occur {which}; n and N search on.", bad=True)
            return
        self._match, self._line = match, match.line
        window = self._window
        if self._raw and window is not None and not self._holds(window, match.line):
            self._reading = False
            self._read(match.line, "line")
        else:
            self._draw("line")

    @staticmethod
    def _holds(window: FileWindow, line: int) -> bool:
        return window.first_line <= line < window.first_line + len(window.lines)
