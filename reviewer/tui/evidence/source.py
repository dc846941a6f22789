"""A source of a memory: the file at the line, or the records as they were written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from reviewer.engine import Engine
from reviewer.promotion.lists.source_view import FileWindow
from reviewer.promotion.views import EvidenceView, RecordView, SourceState
from reviewer.sources.elsewhere import EXCERPT_AT
from reviewer.text.display import display_line
from reviewer.tui.evidence import keys
from reviewer.tui.evidence.roles import role_cells, role_runs
from reviewer.tui.kit.screen import TextScreen
from reviewer.tui.kit.text import Run, TextBlock, TextSpan, tail
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.theme import Glyphs, glyphs

AROUND_LINES = 200
"""Lines on each side of the cited one that are in memory at a time."""
AROUND_RECORDS = 40
"""Stored records on each side."""
BORDER = 20
"""Rows before the end of the lines in memory at which the next ones are read."""
BEYOND = 1 << 40
"""A line number beyond the end of any file."""

_REMARKS = {
    SourceState.CHANGED: "The file changed since it was read; {key} shows the stored text.",
    SourceState.MOVED: "The file changed since; this text is still in it, maybe at another line.",
}

Place = Literal["line", "keep", "start", "end"]
"""Where to scroll: to the line in use, to the present position, to the file's start or end."""


SEARCH_LINES = 4_000
"""Lines per read."""
LINE_CHARACTERS = 600
"""Characters shown of a line that is not cited."""
RECORD_CHARACTERS = 1_200
"""Characters shown of a record that is not cited."""


class SourceScreen(TextScreen, pane=keys.SOURCE):
    """One evidence in its source. Files are read in threads, and only around the visible lines."""

    def __init__(self, engine: Engine, evidence: EvidenceView) -> None:
        super().__init__(engine)
        self.evidence = evidence
        self.match: WordMatch | None = None
        self._needle = ""
        self._window: FileWindow | None = None
        self._wants_file = evidence.record.shape != "turn"
        self._line = evidence.line
        self._reading_lines = False
        self._unread = ""
        """Why the lines of the file are not there."""

    def make_text(self, title: str) -> TextPane:
        return SourceText(title=title, id="file")

    def on_mount(self) -> None:
        """Show the stored record immediately; its surroundings are read in a thread."""
        self.call_after_refresh(self._begin)

    @property
    def shows_file(self) -> bool:
        """Whether the file's lines are shown, and not the stored records."""
        return self._wants_file and self._window is not None

    @property
    def cited_number(self) -> int:
        """The number of the cited line, or of the cited record among those on the screen."""
        return self._line if self.shows_file else len(self.evidence.before)

    # reading

    def _begin(self) -> None:
        self._draw("line")
        memory, queue = self.evidence.memory_id, self.engine.queue
        self.read(lambda: queue.evidence(memory, around=AROUND_RECORDS), self._got_evidence)
        self.read(lambda: self.engine.sources.state(memory), self._got_state, group="state")
        self._read_lines(self._line, "line")

    def _read_lines(self, line: int, place: Place) -> None:
        """Read the lines around one and show them; past the end, the last lines."""
        sources, path = self.engine.sources, self.evidence.record.path

        def work() -> FileWindow:
            window = sources.lines(path, line, context=AROUND_LINES)
            if window.lines or not window.total_lines:
                return window
            return sources.lines(path, window.total_lines - 1, context=AROUND_LINES)

        self._reading_lines = True
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
            self.say_trouble(_REMARKS[state].format(key=keys.TOGGLE_FILE.key))

    def _got_lines(self, window: FileWindow, place: Place) -> None:
        self._reading_lines = False
        top = self._top_line
        self._window = window
        if self._wants_file:
            self._draw(place, top)

    def _got_no_lines(self, sentence: str) -> None:
        self._reading_lines = False
        self._unread = sentence
        self._say_unread()

    def _say_unread(self) -> None:
        kept = "excerpt" if EXCERPT_AT in self.evidence.record.meta else "text"
        self.say_trouble(f"{display_line(self._unread)} This is the {kept} that was stored.")

    def scrolled(self) -> None:
        """Read more when the lines in memory end but the file does not."""
        window, pane = self._window, self.text
        if not self._wants_file or window is None or self._reading_lines:
            return
        top = pane.scroll_offset.y
        near_start = top < BORDER and window.first_line > 0
        near_end = top > pane.max_scroll_y - BORDER and window.total_lines is None
        if near_start or near_end:
            self._read_lines(self._top_line, "keep")

    # drawing

    @property
    def _top_line(self) -> int:
        """The file's line in the first visible row, while the file is shown."""
        return self._window.first_line + self.text.top_block if self._window else self._line

    def _draw(self, place: Place, top: int = 0) -> None:
        signs, window, pane = glyphs(self.app), self._window, self.text
        match, toggle = self.match, self.key_of(keys.TOGGLE_FILE)
        title = f"line {self._line + 1:,}"
        if self._wants_file and window is not None:
            blocks = file_blocks(window, self.evidence, signs, match)
            first, hint = window.first_line, f"{toggle} shows it as it was written"
            if window.total_lines:
                is_there = self._line < window.total_lines
                title += f" of {window.total_lines:,}" if is_there else ", beyond its end"
        else:
            blocks = record_blocks(self.evidence, signs, match)
            first, hint = 0, f"{toggle} shows the file itself"
            title += f" {signs.dot} as it was written"
        room = pane.size.width - len(title) - 12
        title = f"{tail(self.evidence.record.path, room, signs.ellipsis)} {signs.dot} {title}"
        if place == "keep":
            pane.show(blocks, title=title, hint=hint, top=top - first)
        elif place == "line":
            number = match.at if match else self.cited_number
            pane.show(blocks, title=title, hint=hint, reveal=number - first)
        else:
            pane.show(blocks, title=title, hint=hint)
            if place == "end":
                TextPane.action_go_end(pane)

    # keys

    def go_to(self, line: int) -> None:
        """Show a 0-based line of the file; `E` and `y` use it from now on."""
        self._line = line
        window = self._window
        loaded = range(0)
        if window is not None:
            loaded = range(window.first_line, window.first_line + len(window.lines))
        if self.shows_file and line not in loaded:
            self._read_lines(line, "line")
        else:
            self._draw("line")

    def reads_start(self) -> bool:
        """Read the start of the file where it is not in memory; returns whether it is not."""
        window = self._window if self._wants_file else None
        if window is None or window.first_line == 0:
            return False
        self._read_lines(0, "start")
        return True

    def reads_end(self) -> bool:
        """Read the end of the file where it is not in memory; returns whether it is not."""
        window = self._window if self._wants_file else None
        if window is None or window.total_lines is not None:
            return False
        self._read_lines(BEYOND, "end")
        return True

    def action_toggle_raw(self) -> None:
        """Show the file's lines, or the records as written."""
        if self._window is None:
            if self._reading_lines:
                self.say("The file is being read.")
            elif self._unread:
                self._say_unread()
            return
        if self._wants_file and not self.evidence.record.text:
            self.say_trouble("No text of this file was stored: there is only the file itself.")
            return
        self._wants_file = not self._wants_file
        self.action_to_span()

    def action_to_span(self) -> None:
        self.match = None
        self.go_to(self.evidence.line)

    def action_open_editor(self) -> None:
        self.edit_file(self.evidence.record.path, self._line)

    def action_copy_place(self) -> None:
        place = f"{self.evidence.record.path}:{self._line + 1}"
        self.copy_text(place, f"Copied {display_line(place)}")

    # searching

    async def action_source_search(self) -> None:
        """Ask for the words to search for, and go to the first match."""

        async def then(words: str) -> None:
            self._needle = words
            self._search(1)

        await self.ask_text("Search", then, text=self._needle, hint="words of the source")

    def action_next_match(self) -> None:
        self._search(1)

    def action_previous_match(self) -> None:
        self._search(-1)

    def _search(self, step: int) -> None:
        if not self._needle:
            self.say(f"{keys.SEARCH.key} searches for words first.")
            return
        needle, evidence, in_file = self._needle, self.evidence, self.shows_file
        start = (self.match.at if self.match else self.cited_number) + step

        def look() -> WordMatch | None:
            if not in_file:
                return search_records(evidence, needle, start, step)
            return search_file(self.engine.sources, evidence.record.path, needle, start, step)

        def found(match: WordMatch | None) -> None:
            if match is None:
                where, key = ("below", "N") if step > 0 else ("above", "n")
                other = "above" if step > 0 else "below"
                self.say_trouble(f'"{needle}" does not occur {where}; {key} searches {other}.')
            elif in_file == self.shows_file:
                self.match = match
                self.go_to(match.line)

        self.read(look, found, group="search")


class SourceText(TextPane):
    """The text of the screen, which has the lines around those that are read."""

    def action_go_home(self) -> None:
        if isinstance(self.screen, SourceScreen) and not self.screen.reads_start():
            super().action_go_home()

    def action_go_end(self) -> None:
        if isinstance(self.screen, SourceScreen) and not self.screen.reads_end():
            super().action_go_end()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Let the screen read more near the end of the lines in memory."""
        super().watch_scroll_y(old_value, new_value)
        if isinstance(self.screen, SourceScreen) and round(old_value) != round(new_value):
            self.screen.scrolled()


# searching a source


class WordMatch(Struct, frozen=True):
    """Where the words are: in line (or record) number `at`, at `span`.

    `line` is the 0-based line of the file in both cases.
    """

    at: int
    line: int
    span: TextSpan


class Lines(Protocol):
    """A provider of the lines of a file (`engine.sources`)."""

    def lines(self, path: str, around_line: int, *, context: int = 200) -> FileWindow:
        """The lines around one. Raises SourceError."""
        ...


def search_file(source: Lines, path: str, needle: str, start: int, step: int) -> WordMatch | None:
    """The first line with the words from the 0-based line `start` on, forwards (`step` 1) or back
    (-1).

    Raises SourceError when the file cannot be read.
    """
    half = SEARCH_LINES // 2
    at = start
    while at >= 0:
        middle = max(at + half * step, 0)
        window = source.lines(path, middle, context=half)
        found = find(window.lines, needle, at - window.first_line, step)
        if found is not None:
            line = window.first_line + found[0]
            return WordMatch(line, line, found[1])
        if step > 0 and (window.total_lines is not None or not window.lines):
            return None
        at = window.first_line + len(window.lines) if step > 0 else window.first_line - 1
    return None


def search_records(evidence: EvidenceView, needle: str, start: int, step: int) -> WordMatch | None:
    """The same in the record and those around it, where `start` counts records."""
    around = records(evidence)
    found = find([record.text for record in around], needle, start, step)
    if found is None:
        return None
    return WordMatch(found[0], around[found[0]].line_start, found[1])


def find(texts: Sequence[str], needle: str, start: int, step: int) -> tuple[int, TextSpan] | None:
    """The first text from index `start` in direction `step` that contains `needle` in upper or
    lower case.
    """
    wanted = needle.lower()
    at = start
    while 0 <= at < len(texts):
        place = texts[at].lower().find(wanted)
        if place >= 0:
            return at, TextSpan(place, min(place + len(needle), len(texts[at])))
        at += step
    return None


# drawing a source


def cited_lines(evidence: EvidenceView) -> range:
    """The 0-based lines of the span; all lines of the record when it is a turn."""
    record = evidence.record
    if record.shape == "turn":
        return range(record.line_start, max(record.line_end, record.line_start + 1))
    first = evidence.line
    return range(first, first + record.text.count("\n", evidence.span_start, evidence.span_end) + 1)


def file_blocks(
    window: FileWindow, evidence: EvidenceView, signs: Glyphs, found: WordMatch | None = None
) -> list[TextBlock]:
    """One block a line. The cited lines have the bar, and the span is marked if it is found."""
    cited = cited_lines(evidence)
    marks = _marks(window, evidence, cited)
    prose = evidence.record.shape != "turn"  # JSON is cut to one row a line instead
    cells = _number_cells(window.first_line + len(window.lines))
    blocks = []
    for number, line in enumerate(window.lines, window.first_line):
        here = number in cited
        spans = marks.get(number, ())
        if found is not None and number == found.at:
            spans = (found.span,)
        blocks.append(
            TextBlock(
                line,
                "text" if here else "dim",
                spans,
                first=(_line_number(number, cells, here), _bar(here, signs)),
                rest=(Run(" " * cells), _bar(here, signs)),
                wrap=prose or here or bool(spans),
                limit=4_000 if here or spans else LINE_CHARACTERS,
            )
        )
    return blocks


def record_blocks(
    evidence: EvidenceView, signs: Glyphs, found: WordMatch | None = None
) -> list[TextBlock]:
    """One block a record, as it was written: number of its first line, role, text."""
    around = records(evidence)
    cells = _number_cells(max(record.line_start for record in around) + 1)
    blocks = []
    for place, record in enumerate(around):
        here = record is evidence.record
        spans = (TextSpan(evidence.span_start, evidence.span_end),) if here else ()
        if found is not None and place == found.at:
            spans = (found.span,)
        blocks.append(
            TextBlock(
                record.text,
                "text" if here else "dim",
                spans,
                first=(
                    _line_number(record.line_start, cells, here),
                    _bar(here, signs),
                    *role_runs(record, "strong" if here else "faint"),
                ),
                rest=(Run(" " * cells), _bar(here, signs), Run(" " * role_cells(record))),
                limit=64_000 if here else RECORD_CHARACTERS,
            )
        )
    return blocks


def records(evidence: EvidenceView) -> list[RecordView]:
    """The record with those around it, in the order of the file."""
    return [*evidence.before, evidence.record, *evidence.after]


def _marks(
    window: FileWindow, evidence: EvidenceView, cited: range
) -> dict[int, tuple[TextSpan, ...]]:
    """Where the span is in the file's lines: unchanged, or escaped as in JSON."""
    lines = evidence.record.text[evidence.span_start : evidence.span_end].split("\n")
    parts = [line.strip() for line in lines if line.strip()]
    marks: dict[int, tuple[TextSpan, ...]] = {}
    for number in cited:
        at = number - window.first_line
        if not 0 <= at < len(window.lines):
            continue
        line = window.lines[at]
        for text in _spellings(parts, whole="\n".join(lines)):
            place = line.find(text)
            if place >= 0:
                marks[number] = (TextSpan(place, place + len(text)),)
                break
    return marks


def _spellings(parts: Sequence[str], whole: str) -> list[str]:
    encoded = [json.dumps(whole, ensure_ascii=ascii_only)[1:-1] for ascii_only in (False, True)]
    return [text for text in (*encoded, *parts) if text]


def _number_cells(highest: int) -> int:
    return len(str(highest)) + 2


def _line_number(line: int, cells: int, here: bool) -> Run:
    return Run(f"{line + 1:>{cells - 1}} ", "accent" if here else "faint")


def _bar(here: bool, signs: Glyphs) -> Run:
    return Run(f"{signs.bar} " if here else "  ", "accent")
