"""How a node or an edge of a pipeline looks in the list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.strip import Strip

from reviewer.text.display import display_line
from reviewer.tui.kit.line import Part, cells_of, cut, line_of
from reviewer.tui.theme import Glyphs, Palette

if TYPE_CHECKING:
    from reviewer.engine import PipelineEdge, Way
    from reviewer.tui.screens.pipelines_model import NodeState

NAME_CELLS = 12
"""A name keeps at least so many cells before the mode beside it gives way."""


def arrow(sign: Glyphs, *, back: bool = False) -> str:
    """What stands before the target of an edge."""
    if sign.rule == "-":
        return "<-" if back else "->"
    return "↺" if back else "→"


def thread_mark(name: str, sign: Glyphs) -> str:
    """`«coding»`."""
    return f'"{name}"' if sign.rule == "-" else f"«{name}»"


def state_sign(state: NodeState | None, sign: Glyphs) -> tuple[str, bool]:
    """The sign of how a node stands in the run, and whether it is a warning."""
    if state is None:
        return " ", False
    if state.now == "asks":
        return "?", True
    if state.now == "runs":
        return (">" if sign.rule == "-" else "▸"), False
    signs = {
        "success": (sign.promoted, False),
        "partial_success": (sign.cluster, True),
        "fail": (sign.rejected, True),
        "retry": (sign.rejected, True),
        "skipped": (sign.skip, False),
    }
    return signs.get(state.outcome, (" ", False))


def mode_words(way: Way | None, sign: Glyphs) -> str:
    """`full «coding»`: the mode in which a node is entered, and its shared thread."""
    if way is None:
        return ""
    thread = way.shared_thread
    return way.fidelity.value + (f" {thread_mark(thread, sign)}" if thread else "")


def asked_words(edge: PipelineEdge) -> str:
    """When an edge is taken: its condition in brackets, else its label."""
    return f"[{edge.condition}]" if edge.condition else edge.label


def node_strip(
    name: str,
    handler: str,
    way: Way | None,
    state: NodeState | None,
    width: int,
    style: Palette,
    sign: Glyphs,
    *,
    reachable: bool,
    here: bool,
    focused: bool,
) -> Strip:
    """A node: how it stands, its name, how it is entered. Exactly `width` cells."""
    text = style.strong_here if here else style.text if reachable else style.dim
    accent = style.accent_here if here else style.accent
    warm = style.warm_here if here else style.warm
    dim = style.dim_here if here else style.dim
    mark, warning = state_sign(state, sign)
    kind = "" if handler in ("codergen", name.lower()) else f"  {display_line(handler)}"
    again = f" {sign.times}{state.runs}" if state is not None and state.runs > 1 else ""
    lost = "" if reachable else f"  {sign.stale} not reached"
    left: list[Part] = [
        (sign.bar if here else " ", accent if focused else dim),
        (f"{mark} ", warm if warning else accent),
        (display_line(name), text),
        (again, dim),
        (kind, dim),
        (lost, warm),
    ]
    words = mode_words(way, sign) if handler not in ("start", "exit") else ""
    return _beside(left, words, width, style, sign, here=here)


def edge_strip(
    way: Way, width: int, style: Palette, sign: Glyphs, *, back: bool, here: bool, focused: bool
) -> Strip:
    """An edge: where it leads, under which condition, in which mode. Exactly `width` cells."""
    text = style.text_here if here else style.text
    accent = style.accent_here if here else style.accent
    dim = style.dim_here if here else style.dim
    edge = way.edge
    asked = "" if edge is None else asked_words(edge)
    left: list[Part] = [
        (sign.bar if here else " ", accent if focused else dim),
        (f"   {arrow(sign, back=back)} ", dim),
        (display_line(way.node.name), text),
        (f"  {display_line(asked)}" if asked else "", dim),
    ]
    return _beside(left, mode_words(way, sign), width, style, sign, here=here)


def _beside(
    left: list[Part], right: str, width: int, style: Palette, sign: Glyphs, *, here: bool
) -> Strip:
    """The left part, and on the right as much of the mode as leaves it readable."""
    fill = style.text_here if here else style.text
    dim = style.dim_here if here else style.dim
    words = display_line(right)
    room = width - 2 - min(cells_of(left), max(width * 3 // 5, NAME_CELLS))
    words = cut(words, room - 1, sign.ellipsis) if room > NAME_CELLS else ""
    rest = width - cell_len(words) - 1
    strip = line_of(left, rest - 2, fill, sign.ellipsis).extend_cell_length(rest, fill)
    return Strip.join([strip, line_of([(words, dim)], width - rest, fill, sign.ellipsis)])
