"""Which agents get a fact, and where."""

from __future__ import annotations

from pathlib import Path

from reviewer.agents.reach import reach
from reviewer.engine import Engine
from reviewer.projects import work_tree
from reviewer.tui.agents import keys
from reviewer.tui.kit import keys as shared
from reviewer.tui.kit.text import Run, TextBlock
from reviewer.tui.theme import Glyphs


def reach_blocks(engine: Engine, memory: int, signs: Glyphs) -> list[TextBlock]:
    """The wording, then for each agent how it gets the fact; agents that do not come last."""
    tree = work_tree()
    ways = reach(engine, memory, root=Path(tree.root) if tree else None)
    content, margin = engine.queue.candidate(memory).content, (Run(" "),)
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
