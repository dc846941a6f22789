"""A file around the cited line, or the stored text if the file cannot be read."""

from __future__ import annotations

from collections.abc import Sequence

from reviewer.engine import Engine
from reviewer.promotion.lists.source_view import FileWindow
from reviewer.promotion.views import EvidenceView, SourceState
from reviewer.sources.elsewhere import EXCERPT_AT
from reviewer.text.display import display_line
from reviewer.tui.evidence import keys
from reviewer.tui.evidence.evidence_pane import evidence_blocks
from reviewer.tui.kit.keys import OPEN_EDITOR
from reviewer.tui.kit.screen import TextScreen
from reviewer.tui.kit.text import Run, TextBlock, TextSpan, tail
from reviewer.tui.theme import Glyphs, glyphs

AROUND = 1_000
"""Lines shown on each side of the cited one."""
LINE_CHARACTERS = 600
"""Maximum length shown of a line that is not cited."""

_REMARKS = {
    SourceState.CHANGED: "The file changed since it was read.",
    SourceState.MOVED: "The file changed since it was read; this text may be at another line.",
}


class SourceScreen(TextScreen, pane=keys.SOURCE):
    """One evidence in its file, read in a thread."""

    def __init__(self, engine: Engine, evidence: EvidenceView) -> None:
        super().__init__(engine)
        self.evidence = evidence

    def on_mount(self) -> None:
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        """Show the stored text first, if any, then the file."""
        stored = "as it was stored" if self.evidence.record.text else ""
        self._draw(evidence_blocks(self.evidence, glyphs(self.app)), stored)
        memory = self.evidence.memory_id
        self.read(lambda: self.engine.sources.state(memory), self._got_state, group="state")
        self._read_file()

    def _read_file(self) -> None:
        """Read the lines around the cited one, or the last lines if it is past the end."""
        sources, path, line = self.engine.sources, self.evidence.record.path, self.evidence.line

        def work() -> FileWindow:
            window = sources.lines(path, line, context=AROUND)
            if window.lines or not window.total_lines:
                return window
            return sources.lines(path, window.total_lines - 1, context=AROUND)

        self.read(work, self._got_lines, group="lines", failed=self._got_no_lines)

    def _got_state(self, state: SourceState) -> None:
        if state in _REMARKS:
            self.say_trouble(_REMARKS[state])

    def _got_lines(self, window: FileWindow) -> None:
        total, where = window.total_lines, ""
        if total:
            where = f"of {total:,}" if self.evidence.line < total else "beyond the end"
        self._draw(file_blocks(window, self.evidence, glyphs(self.app)), where)

    def _got_no_lines(self, sentence: str) -> None:
        kept = "excerpt" if EXCERPT_AT in self.evidence.record.meta else "text"
        self.say_trouble(f"{display_line(sentence)} This is the stored {kept}.")

    def _draw(self, blocks: Sequence[TextBlock], where: str) -> None:
        signs, pane = glyphs(self.app), self.text
        title = f"line {self.evidence.line + 1:,} {where}".rstrip()
        room = pane.size.width - len(title) - 12
        path = tail(self.evidence.record.path, room, signs.ellipsis)
        here = (at for at, block in enumerate(blocks) if block.style == "text")
        pane.show(blocks, title=f"{path} {signs.dot} {title}", reveal=next(here, None))

    def action_open_editor(self) -> None:
        self.edit_file(self.evidence.record.path, self.evidence.line)

    def action_copy_place(self) -> None:
        place = f"{self.evidence.record.path}:{self.evidence.line + 1}"
        self.copy_text(place, f"Copied {display_line(place)}")


def cited_lines(evidence: EvidenceView) -> range:
    """The 0-based lines of the span; for a turn, all lines of the record."""
    record = evidence.record
    if record.shape == "turn":
        return range(record.line_start, max(record.line_end, record.line_start + 1))
    first = evidence.line
    return range(first, first + record.text.count("\n", evidence.span_start, evidence.span_end) + 1)


def file_blocks(window: FileWindow, evidence: EvidenceView, signs: Glyphs) -> list[TextBlock]:
    """One block a line. Cited lines have the bar; the span is marked if found."""
    cited = cited_lines(evidence)
    words = evidence.quote.split("\n")
    cells = len(str(window.first_line + len(window.lines))) + 2
    blocks = []
    for number, line in enumerate(window.lines, window.first_line):
        here = number in cited
        bar = Run(f"{signs.bar} " if here else "  ", "accent")
        blocks.append(
            TextBlock(
                line,
                "text" if here else "dim",
                _span(line, words) if here else (),
                first=(Run(f"{number + 1:>{cells - 1}} ", "accent" if here else "faint"), bar),
                rest=(Run(" " * cells), bar),
                wrap=here or not line.startswith("{"),  # one row for each line of JSON
                limit=4_000 if here else LINE_CHARACTERS,
            )
        )
    whole = TextBlock(f"{OPEN_EDITOR.key} opens the whole file in your editor", "faint")
    before = [whole] if window.first_line else []
    after = [whole] if window.total_lines is None else []
    return [*before, *blocks, *after]


def _span(line: str, words: Sequence[str]) -> tuple[TextSpan, ...]:
    """The position in a line of the first of `words` found."""
    for text in filter(None, map(str.strip, words)):
        if (at := line.find(text)) >= 0:
            return (TextSpan(at, at + len(text)),)
    return ()
