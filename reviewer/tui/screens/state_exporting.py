"""Export from the State screen: which form and where, then the difference, then the writing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from reviewer.tui.kit.choice_pane import Option

if TYPE_CHECKING:
    from reviewer.tui.screens.state import StateScreen

FORMS = (
    Option("markdown", "Markdown", "a page to read: reviewer-export.md"),
    Option("ndjson", "JSON Lines", "all of it, for programs: reviewer-export.ndjson"),
    Option("folder", ".context folder", "decisions, learnings and so on: .context/"),
    Option("AGENTS.md", "AGENTS.md", "the marked block in the file of this folder"),
    Option("CLAUDE.md", "CLAUDE.md", "the marked block in the file of this folder"),
)
PLACES = {
    "markdown": "reviewer-export.md",
    "ndjson": "reviewer-export.ndjson",
    "folder": ".context",
}


class Exporting:
    """What `X` does on a `StateScreen`."""

    def __init__(self, screen: StateScreen) -> None:
        self._screen = screen

    async def begin(self) -> None:
        """Ask for the form; the difference follows."""
        await self._screen.asking.ask("Export", "the difference is shown first", FORMS, self._show)

    async def _show(self, option: Option) -> None:
        from reviewer.tui.export.screen import ExportScreen

        place = Path.cwd() / PLACES.get(option.key, option.key)
        screen = self._screen
        screen.app.push_screen(ExportScreen(screen.engine, screen.project, option.key, place))
