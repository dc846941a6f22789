"""The log of compressions on the screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from reviewer.engine import Engine
from reviewer.tui.compress import keys
from reviewer.tui.kit import keys as shared
from reviewer.tui.kit.actor import runs
from reviewer.tui.kit.screen import TextScreen
from reviewer.tui.kit.text import Block, Run, count
from reviewer.tui.kit.text_pane import TextPane


class LogPane(TextPane, inherit_bindings=False, pane=shared.NO_KEYS):
    """The lines; the screen handles the keys."""

    BINDINGS: ClassVar[list[BindingType]] = []


class LogScreen(TextScreen, pane=keys.LOG_TEXT):
    """The lines so far, the newest in sight."""

    AUTO_FOCUS = "#compress-log"

    def __init__(self, engine: Engine, lines: Sequence[str]) -> None:
        super().__init__(engine)
        self._lines_shown = tuple(lines)

    def compose(self) -> ComposeResult:
        yield LogPane(id="compress-log")
        yield self.status
        yield self.footer

    def on_mount(self) -> None:
        self.show_footer()
        lines = self._lines_shown
        blocks = [
            Block(line, "warm" if " WARNING " in line else "text", first=(Run(" "),))
            for line in lines
        ] or [Block("Nothing was compressed yet.", "dim", first=(Run(" "),))]
        self.text.show(
            blocks,
            title=f"Log of compressions, {count(len(lines), 'line')}",
            hints=(f"{shared.COPY.key} copy",),
        )
        self.call_after_refresh(self.text.go_end)

    @runs(shared.COPY)
    def copy(self) -> None:
        """Copy all lines."""
        self.copy_text(
            "\n".join(self._lines_shown), f"Copied {count(len(self._lines_shown), 'line')}."
        )

    @runs(keys.CLOSE_LOG)
    def close(self) -> None:
        self.dismiss()
