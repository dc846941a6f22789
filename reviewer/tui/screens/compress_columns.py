"""The four levels of a segment side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Horizontal

from reviewer.compressing import Level
from reviewer.tui.kit.line import Separator
from reviewer.tui.kit.text import Block, Run
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.theme import glyphs
from reviewer.tui.widgets.compress_original import original_blocks
from reviewer.tui.widgets.compress_row import level_name
from reviewer.tui.widgets.compress_summary import summary_blocks, summary_title

if TYPE_CHECKING:
    from reviewer.tui.screens.compress import CompressScreen


class Columns:
    """Four panes of a `CompressScreen`, made when they are first shown."""

    LEAST = 100
    """Columns that they need."""

    def __init__(self, screen: CompressScreen) -> None:
        self._screen = screen
        self.panes: list[TextPane] = []

    async def make(self) -> None:
        """Make the panes, unless they are there."""
        if self.panes:
            return
        row = Horizontal(id="columns")
        await self._screen.query_one("#body").mount(row)
        panes = [TextPane(id=f"level-{int(level)}") for level in Level]
        for place, pane in enumerate(panes):
            await row.mount(*([Separator()] if place else []), pane)
        self.panes = panes

    def draw(self) -> None:
        """Draw what is known of every level of the segment under the cursor."""
        if not self.panes:
            return
        screen, model = self._screen, self._screen.model
        choice, segment = model.choice, model.current
        signs = glyphs(screen.app)
        for level, pane in zip(Level, self.panes, strict=True):
            if choice is None or segment is None:
                pane.show([], title=level_name(level))
                continue
            at_level = model.at_level(choice, level)
            found = model.shown(at_level)
            here = f"{signs.bar} " if level == choice.level else ""
            if level is Level.FULL:
                anchors = found.compressed.anchors if found is not None else ()
                blocks, _ = original_blocks(segment, anchors, signs)
                pane.show(blocks, title=f"{here}Full {segment.tokens:,}", keep_scroll=True)
            elif found is None:
                words = model.trouble(at_level) or signs.ellipsis
                pane.show([Block(words, "dim", first=(Run(" "),))], title=here + level_name(level))
            else:
                blocks, _ = summary_blocks(found, {}, None, (), signs)
                title = here + summary_title(found, signs).replace("fidelity ", "")
                pane.show(blocks, title=title, keep_scroll=True)
