"""The hand-over of some turns, made in a thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reviewer.compression.handover import BRIEF_TOKENS, HEADINGS, brief_of
from reviewer.compression.values import SegmentTurn
from reviewer.engine import Engine
from reviewer.errors import ReviewerError
from reviewer.text.display import display_line
from reviewer.tui.kit.actor import unless
from reviewer.tui.kit.screen import TextScreen
from reviewer.tui.kit.text import MARGIN, TextBlock
from reviewer.tui.reading.keys import READING


class HandOverScreen(TextScreen, pane=READING):
    """A hand-over, line by line, with its headings marked."""

    def __init__(
        self, engine: Engine, read: Callable[[], tuple[str, Sequence[SegmentTurn]]]
    ) -> None:
        """`read` returns the name of the turns, and the turns."""
        super().__init__(engine, title=f"Hand-over, at most {BRIEF_TOKENS:,} tokens")
        self._read = read
        self._lines: list[str] = []

    def on_mount(self) -> None:
        self._say_in_text("Reading ...")
        self.read(self._make, self._show, failed=self._failed)

    def _make(self) -> list[str]:
        name, turns = self._read()
        text = brief_of(turns, name, max_tokens=BRIEF_TOKENS).text
        if not text:
            raise ReviewerError("There is nothing to hand over here.")
        return text.split("\n")

    def _show(self, lines: list[str]) -> None:
        self._lines = lines
        heads = (*HEADINGS, *(line for line in lines if line.startswith("# ")))
        styled = [(line, "strong" if line in heads else "text") for line in lines]
        self.text.show([TextBlock(*each, first=MARGIN) for each in styled])

    def _failed(self, sentence: str) -> None:
        self._say_in_text(sentence)
        self.say_trouble(sentence)

    def _say_in_text(self, sentence: str) -> None:
        self.text.show([TextBlock(sentence, "dim", first=MARGIN)])

    def _no_text(self) -> str | None:
        return None if self._lines else "No text to copy."

    @unless(_no_text)
    def action_copy(self) -> None:
        """Copy the text, without escape sequences."""
        text = "\n".join(map(display_line, self._lines))
        self.copy_text(text, f"Copied {len(text):,} characters.")
