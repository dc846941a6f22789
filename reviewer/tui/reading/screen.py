"""A screen with one text, generated in a thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reviewer.engine import Engine
from reviewer.errors import ReviewerError
from reviewer.text.display import display_line
from reviewer.tui.kit.actor import unless
from reviewer.tui.kit.screen import TextScreen
from reviewer.tui.kit.text import Run, TextBlock
from reviewer.tui.reading.keys import READING

MARGIN = (Run(" "),)


class ReadingScreen(TextScreen, pane=READING):
    """Shows what `make` returns, line by line."""

    def __init__(self, engine: Engine, title: str, make: Callable[[], Sequence[TextBlock]]) -> None:
        super().__init__(engine, title=title)
        self._make = make
        self._blocks: Sequence[TextBlock] = ()

    def on_mount(self) -> None:
        self._say_in_text("Reading ...")
        self.read(self._make, self._show, failed=self._failed)

    def _show(self, blocks: Sequence[TextBlock]) -> None:
        self._blocks = blocks
        self.text.show(blocks)

    def _failed(self, sentence: str) -> None:
        self._say_in_text(sentence)
        self.say_trouble(sentence)

    def _say_in_text(self, sentence: str) -> None:
        self.text.show([TextBlock(sentence, "dim", first=MARGIN)])

    def _no_text(self) -> str | None:
        return None if self._blocks else "No text to copy."

    @unless(_no_text)
    def action_copy(self) -> None:
        """Copy the text, without escape sequences."""
        lines = [line for block in self._blocks for line in block.text.split("\n")]
        text = "\n".join(map(display_line, lines))
        self.copy_text(text, f"Copied {len(text):,} characters.")


def handover_blocks(text: str) -> list[TextBlock]:
    """A hand-over with its headings marked. Raises ReviewerError if it is empty."""
    from reviewer.compression.handover import HEADINGS

    if not text:
        raise ReviewerError("There is nothing to hand over here.")
    return [
        TextBlock(
            line, "strong" if line in HEADINGS or line.startswith("# ") else "text", first=MARGIN
        )
        for line in text.split("\n")
    ]
