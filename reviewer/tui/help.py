"""The keys that work with the present focus, as lines to choose: what each does, or why it cannot
run now, and at the end what the signs mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from reviewer.text.signs import MEANINGS
from reviewer.tui.kit.action import Action, shown_key
from reviewer.tui.kit.actor import Actor, reachable
from reviewer.tui.kit.option import Option
from reviewer.tui.kit.text import cut
from reviewer.tui.theme import Glyphs

if TYPE_CHECKING:
    from reviewer.tui.kit.host import Host
    from reviewer.tui.kit.screen import KitScreen


KEY_CELLS, TITLE_CELLS = 10, 17


class HelpRow(NamedTuple):
    """An action with the node that runs it; neither for a line of the legend."""

    keys: str
    title: str
    explanation: str
    action: Action | None = None
    node: Actor | None = None


def help_rows(host: Host, below: KitScreen) -> list[HelpRow]:
    """The actions that keys reach on a screen, most useful first, then what the signs mean.

    An action that stands beside another one adds its key to that row.
    """
    found = reachable(below)
    keys_of: dict[str, list[str]] = {}
    for action, _ in found:
        shown = [shown_key(key) for key in host.keymap_in_use.keys(action)]
        if shown:
            keys_of.setdefault(action.beside or action.id, []).append(shown[0])
    known = {action.id for action, _ in found}
    rows = [
        HelpRow(
            " ".join(keys_of[action.id]),
            node.title_of(action),
            node.why_not(action) or action.short,
            action,
            node,
        )
        for action, node in found
        if action.id in keys_of and action.beside not in known
    ]
    first = [action for action, _ in below.footer_actions()]
    rows.sort(key=lambda row: first.index(row.action) if row.action in first else len(first))
    return [*rows, *legend(host.glyphs)]


def legend(signs: Glyphs) -> list[HelpRow]:
    """What the signs beside rows mean, in two rows."""
    words = [f"{getattr(signs, name)} {title}" for name, (title, _) in MEANINGS.items()]
    half = (len(words) + 1) // 2
    return [
        HelpRow("", title, "   ".join(some))
        for title, some in (("signs", words[:half]), ("", words[half:]))
    ]


async def show_help(host: Host, below: KitScreen) -> None:
    """Offer the rows; the chosen one runs."""
    rows = help_rows(host, below)
    ellipsis = host.glyphs.ellipsis

    async def then(option: Option) -> None:
        row = rows[int(option.key)]
        if row.node is not None and row.action is not None:
            await row.node.perform(row.action)

    options = [
        Option(
            str(at),
            cut(row.keys, KEY_CELLS, ellipsis).ljust(KEY_CELLS + 1) + row.title.ljust(TITLE_CELLS),
            row.explanation,
        )
        for at, row in enumerate(rows)
    ]
    await below.choose("Keys here", options, then, whole=True)
