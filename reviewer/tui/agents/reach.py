"""Which agents get a fact, and where each of them finds it."""

from __future__ import annotations

from pathlib import Path

from reviewer.agents.reach import Route, reach
from reviewer.engine import Engine
from reviewer.projects import work_tree
from reviewer.tui.agents import keys
from reviewer.tui.kit import keys as shared
from reviewer.tui.kit.screen import TextScreen
from reviewer.tui.kit.text import Run, TextBlock
from reviewer.tui.theme import Glyphs, glyphs


class ReachScreen(TextScreen, pane=keys.REACH):
    """The ways of one memory or entity to every agent."""

    def __init__(self, engine: Engine, number: int) -> None:
        super().__init__(engine, title=f"Which agents get #{number}?")
        self._number = number

    def on_mount(self) -> None:
        tree = work_tree()
        root = Path(tree.root) if tree else None
        self.read(lambda: self._ways(root), self._show)

    def _ways(self, root: Path | None) -> tuple[str, list[Route]]:
        content = self.engine.queue.candidate(self._number).content
        return content, reach(self.engine, self._number, root=root)

    def _show(self, found: tuple[str, list[Route]]) -> None:
        content, ways = found
        self.text.show(reach_blocks(content, ways, glyphs(self.app)))


def reach_blocks(content: str, ways: list[Route], signs: Glyphs) -> list[TextBlock]:
    """The wording, then the ways below the name of each agent; those without one come last."""
    margin = (Run(" "),)
    blocks = [TextBlock(content, "strong", first=margin, rest=margin)]
    title = ""
    for way in sorted(ways, key=lambda each: not each.where):
        if not way.where:
            if title:
                blocks.append(TextBlock(""))
                title = ""
            blocks.append(TextBlock(f"{way.title}: {way.how}", "dim", first=margin))
            continue
        if way.title != title:
            title = way.title
            blocks += [TextBlock(""), TextBlock(title, "accent", first=margin)]
        sign = signs.promoted if way.gets else signs.rejected
        first = (Run(f"   {sign} ", "text" if way.gets else "warm"), Run(f"{way.where:<14}"))
        blocks.append(
            TextBlock(way.how, "text" if way.gets else "dim", first=first, rest=(Run(" " * 19),))
        )
    if not any(way.where for way in ways):
        blocks += [
            TextBlock(""),
            TextBlock(
                f"No agent is connected: {shared.SHOW_AGENTS.key}, then {keys.CONNECT.key}.",
                "warm",
                first=margin,
            ),
        ]
    return blocks
