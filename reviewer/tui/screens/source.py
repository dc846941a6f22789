"""The source of a memory: the file at the line, or the records as they were said."""

from __future__ import annotations

from typing import ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import BindingType

from reviewer.engine import Engine, EvidenceView, FileWindow, SourceState
from reviewer.text.display import display_line
from reviewer.tui.editor import open_in_editor
from reviewer.tui.kit.bars import FooterBar, StatusBar
from reviewer.tui.kit.text import tail
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.legacy_actions import bindings_for
from reviewer.tui.screens.moving import Moving
from reviewer.tui.screens.reading import ReadingScreen
from reviewer.tui.screens.source_search import Searching, SearchLine
from reviewer.tui.theme import glyphs
from reviewer.tui.widgets.source_text import file_blocks, record_blocks

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
"""Where to scroll: to the line in use, to what is in sight now, to the file's start or end."""


class FileView(TextPane, inherit_bindings=False):
    """The text of the screen; its keys are the screen's."""

    BINDINGS: ClassVar[list[BindingType]] = []

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Let the screen read on when the end of what is held comes near."""
        super().watch_scroll_y(old_value, new_value)
        if isinstance(self.screen, SourceScreen) and round(old_value) != round(new_value):
            self.screen.scrolled()


class SourceScreen(Moving, ReadingScreen, inherit_bindings=False):
    """One evidence in its source. Reads files in threads, and only around the line in sight."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("source")]
    AUTO_FOCUS = "#file"

    def __init__(self, engine: Engine, evidence: EvidenceView) -> None:
        super().__init__()
        self.engine = engine
        self.evidence = evidence
        self.searching = Searching(self)
        self._window: FileWindow | None = None
        self._wants_file = evidence.record.shape != "turn"
        self._line = evidence.line
        self._reads_on = False

    def compose(self) -> ComposeResult:
        """The text, the search line, the status, the keys."""
        yield FileView(id="file")
        yield SearchLine(self.searching)
        yield StatusBar()
        yield FooterBar()

    def on_mount(self) -> None:
        """Show the stored record at once; what stands around it is read behind."""
        self.show_keys("source")
        self.call_after_refresh(self._begin)

    @property
    def pane(self) -> FileView:
        """The pane of text."""
        return self.query_one(FileView)

    @property
    def shows_file(self) -> bool:
        """Whether the file's lines are shown, and not the stored records."""
        return self._wants_file and self._window is not None

    @property
    def cited_number(self) -> int:
        """The number of the cited line, or of the cited record among those that are shown."""
        return self._line if self.shows_file else len(self.evidence.before)

    # reading

    def _begin(self) -> None:
        self._draw("line")
        memory, queue = self.evidence.memory_id, self.engine.queue
        self.read(lambda: queue.evidence(memory, around=AROUND_RECORDS), self._got_evidence)
        self.read(lambda: self.engine.sources.state(memory), self._got_state, group="state")
        self._read_lines(self._line, "line")

    def _read_lines(self, line: int, place: Place) -> None:
        """Read what stands around a line and show it; past the end, what stands at the end."""
        sources, path = self.engine.sources, self.evidence.record.path

        def work() -> FileWindow:
            window = sources.lines(path, line, context=AROUND_LINES)
            if window.lines or not window.total_lines:
                return window
            return sources.lines(path, window.total_lines - 1, context=AROUND_LINES)

        self._reads_on = True
        self.read(
            work,
            lambda window: self._got_lines(window, place),
            group="lines",
            failed=self._got_no_lines,
        )

    def _got_evidence(self, found: list[EvidenceView]) -> None:
        shown = self.evidence
        for evidence in found:
            same = evidence.record.id == shown.record.id
            if same and evidence.span_start == shown.span_start:
                self.evidence = evidence
        if not self.shows_file:
            self._draw("line")

    def _got_state(self, state: SourceState) -> None:
        if state in _REMARKS:
            self.trouble(_REMARKS[state])

    def _got_lines(self, window: FileWindow, place: Place) -> None:
        self._reads_on = False
        top = self._top_line
        self._window = window
        if self._wants_file:
            self._draw(place, top)

    def _got_no_lines(self, sentence: str) -> None:
        self._reads_on = False
        self.trouble(f"{display_line(sentence)} This is the text that was stored.")

    def scrolled(self) -> None:
        """Read on where what is held comes to its end but the file does not."""
        window, pane = self._window, self.pane
        if not self._wants_file or window is None or self._reads_on:
            return
        top = pane.scroll_offset.y
        near_start = top < BORDER and window.first_line > 0
        near_end = top > pane.max_scroll_y - BORDER and window.total_lines is None
        if near_start or near_end:
            self._read_lines(self._top_line, "keep")

    # drawing

    @property
    def _top_line(self) -> int:
        """The file's line in the first row in sight, while the file is shown."""
        return self._window.first_line + self.pane.top_block if self._window else self._line

    def _draw(self, place: Place, top: int = 0) -> None:
        signs, window, pane = glyphs(self.app), self._window, self.pane
        match = self.searching.match
        title = f"line {self._line + 1:,}"
        if self._wants_file and window is not None:
            blocks = file_blocks(window, self.evidence, signs, match)
            first, hints = window.first_line, ("r shows it as it was said",)
            title += f" of {window.total_lines:,}" if window.total_lines else ""
        else:
            blocks = record_blocks(self.evidence, signs, match)
            first, hints = 0, ("r shows the file itself",)
            title += f" {signs.dot} as it was said"
        room = pane.size.width - len(title) - 12
        title = f"{tail(self.evidence.record.path, room, signs.ellipsis)} {signs.dot} {title}"
        if place == "keep":
            pane.show(blocks, title=title, hints=hints, top=top - first)
        elif place == "line":
            number = match.at if match else self.cited_number
            pane.show(blocks, title=title, hints=hints, reveal=number - first)
        else:
            pane.show(blocks, title=title, hints=hints)
            if place == "end":
                pane.go_end()

    # keys

    def go_to(self, line: int) -> None:
        """Show a 0-based line of the file; `E` and `y` take this one from now on."""
        self._line = line
        window = self._window
        held = range(0)
        if window is not None:
            held = range(window.first_line, window.first_line + len(window.lines))
        if self.shows_file and line not in held:
            self._read_lines(line, "line")
        else:
            self._draw("line")

    def go_home(self) -> None:
        """To the first line of the file."""
        if self._wants_file and self._window is not None and self._window.first_line > 0:
            self._read_lines(0, "start")
        else:
            self.pane.go_home()

    def go_end(self) -> None:
        """To the last line of the file."""
        if self._wants_file and self._window is not None and self._window.total_lines is None:
            self._read_lines(BEYOND, "end")
        else:
            self.pane.go_end()

    def toggle_raw(self) -> None:
        """Show the file's lines, or the records as they were said."""
        if not self._wants_file and self._window is None:
            self.trouble("The file cannot be read: this is the text that was stored.")
            return
        if self._wants_file and not self.evidence.record.text:
            self.trouble("Nothing of this file was stored: there is only the file itself.")
            return
        self._wants_file = not self._wants_file
        self.to_span()

    def to_span(self) -> None:
        """Back to the line that the memory came from."""
        self.searching.match = None
        self.go_to(self.evidence.line)

    def open_editor(self) -> None:
        """The file at the line, in the user's editor."""
        self.say(open_in_editor(self.app, self.evidence.record.path, self._line + 1))

    def copy_place(self) -> None:
        """`path:line` to the clipboard."""
        place = f"{self.evidence.record.path}:{self._line + 1}"
        self.app.copy_to_clipboard(place)
        self.say(f"Copied {display_line(place)}")

    def leave(self) -> None:
        """Back to where the screen was opened from."""
        self.dismiss()
