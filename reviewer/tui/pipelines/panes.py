"""The parts of the Pipelines screen: its list, and nodes and preambles as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip

from reviewer.text.display import display_line
from reviewer.tui.evidence.structure import labelled
from reviewer.tui.kit.line import Part, cells_of, line_of
from reviewer.tui.kit.row_list import ModelList, cursor_bar
from reviewer.tui.kit.text import Run, TextBlock, TextSpan, count, cut
from reviewer.tui.pipelines.model import EdgeRow, NodeRow, PipelinesModel
from reviewer.tui.theme import Glyphs, Palette, RowStyles

if TYPE_CHECKING:
    from reviewer.pipelines.resolve import NodeEntry
    from reviewer.pipelines.values import FidelityResolution, PipelineEdge, Preamble, Remark
    from reviewer.pipelines.walk import WalkStep
    from reviewer.tui.pipelines.model import NodeInput, NodeState


# the list


class PipelineList(ModelList[PipelinesModel]):
    """Draws a `PipelinesModel` and moves its cursor."""

    @property
    def total(self) -> int:
        return len(self.model.rows)

    def row_strip(self, at: int, width: int, style: Palette, sign: Glyphs) -> Strip:
        row, here = self.model.rows[at], at == self.model.cursor
        on_row = style.on_row(here=here)
        bar = cursor_bar(on_row, sign, here=here, focused=self.has_focus)
        if isinstance(row, NodeRow):
            name = on_row.strong if here else on_row.text if row.reachable else on_row.dim
            parts, mode = self._node_parts(row, name, on_row, sign)
        else:
            parts, mode = _edge_parts(row, on_row, sign), mode_words(row.entry, sign)
        return _beside([bar, *parts], mode, width, on_row, sign)

    def _node_parts(
        self, row: NodeRow, name_style: Style, on_row: RowStyles, sign: Glyphs
    ) -> tuple[list[Part], str]:
        """A node's state, name and kind, and the words for how it is entered."""
        name, handler = row.node.name, row.node.handler
        state = self.model.states.get(name)
        mark, warning = state_sign(state, sign)
        again = f" {sign.times}{state.runs}" if state is not None and state.runs > 1 else ""
        kind = "" if handler in ("codergen", name.lower()) else f"  {display_line(handler)}"
        lost = "" if row.reachable else f"  {sign.attention} not reached"
        parts: list[Part] = [
            (f"{mark} ", on_row.warm if warning else on_row.accent),
            (display_line(name), name_style),
            (again, on_row.dim),
            (kind, on_row.dim),
            (lost, on_row.warm),
        ]
        if state is not None and state.degraded_to:
            return parts, f"{state.degraded_to} after a resume"
        return parts, mode_words(row.entry, sign) if handler not in ("start", "exit") else ""


def _edge_parts(row: EdgeRow, on_row: RowStyles, sign: Glyphs) -> list[Part]:
    """Where an edge leads, and under which condition."""
    edge = row.entry.edge
    asked = "" if edge is None else asked_words(edge)
    return [
        (f"   {arrow(sign, back=row.back)} ", on_row.dim),
        (display_line(row.entry.node.name), on_row.text),
        (f"  {display_line(asked)}" if asked else "", on_row.dim),
    ]


NAME_CELLS = 12
"""Cells that a name keeps before the mode beside it is shortened."""


def arrow(sign: Glyphs, *, back: bool = False) -> str:
    """The arrow before the target of an edge."""
    return "<-" if back else sign.arrow


def thread_mark(name: str, sign: Glyphs) -> str:
    """`«coding»`."""
    return f'"{name}"' if sign.ascii else f"«{name}»"


def state_sign(state: NodeState | None, sign: Glyphs) -> tuple[str, bool]:
    """The sign of a node's state in the run, and whether it is a warning."""
    if state is None:
        return " ", False
    if state.now == "asks":
        return "?", True
    if state.now == "runs":
        return (">" if sign.ascii else "▸"), False
    signs = {
        "success": (sign.promoted, False),
        "partial_success": (sign.attention, True),
        "fail": (sign.rejected, True),
        "retry": (sign.rejected, True),
        "skipped": (sign.skip, False),
    }
    return signs.get(state.outcome, (" ", False))


def mode_words(entry: NodeEntry | None, sign: Glyphs) -> str:
    """`full «coding»`: the mode in which a node is entered, and its shared thread."""
    if entry is None:
        return ""
    thread = entry.shared_thread
    return entry.fidelity.value + (f" {thread_mark(thread, sign)}" if thread else "")


def asked_words(edge: PipelineEdge) -> str:
    """When an edge is taken: its condition in brackets, else its label."""
    return f"[{edge.condition}]" if edge.condition else edge.label


def _beside(left: list[Part], right: str, width: int, style: RowStyles, sign: Glyphs) -> Strip:
    """The left part, and on the right as much of the mode as fits beside it."""
    words = display_line(right)
    room = width - 2 - min(cells_of(left), max(width * 3 // 5, NAME_CELLS))
    words = cut(words, room - 1, sign.ellipsis) if room > NAME_CELLS else ""
    rest = width - cell_len(words) - 1
    strip = line_of(left, rest - 2, style.text, sign.ellipsis).extend_cell_length(rest, style.text)
    return Strip.join(
        [strip, line_of([(words, style.dim)], width - rest, style.text, sign.ellipsis)]
    )


# text

ANSWER = "answer"
"""The view beside the six modes: the last answer."""
PROMPT_ROWS = 6
_WINS = " wins"


def entry_title(entry: NodeEntry, signs: Glyphs) -> str:
    """`implement → review`, or the node alone if no edge enters it."""
    if entry.edge is None:
        return entry.node.name
    return f"{entry.edge.source} {arrow(signs)} {entry.edge.target}"


def chain(resolution: FidelityResolution, signs: Glyphs) -> tuple[str, tuple[TextSpan, ...]]:
    """`edge full  >  node -  >  graph compact`, the step that decided marked and named.

    An earlier step with a value was skipped because the value is not a mode.
    """
    text, spans, decided = "", [], False
    for rule, value in resolution.steps:
        if text:
            text += "  > " if signs.ascii else "  › "
        start = len(text)
        text += f"{rule} {display_line(value) if value else 'nothing'}"
        if rule == resolution.rule:
            text += _WINS
            spans.append(TextSpan(start, len(text), "accent"))
            decided = True
        elif value and not decided:
            text += " (no such mode)"
            spans.append(TextSpan(start, len(text), "warm"))
    return text, tuple(spans)


def entry_blocks(
    entry: NodeEntry,
    stop: WalkStep | None,
    onwards: Sequence[NodeEntry],
    state: NodeState | None,
    remarks: Sequence[Remark],
    signs: Glyphs,
) -> list[TextBlock]:
    """How a node is entered and why, where it leads, its own attributes."""
    node, edge = entry.node, entry.edge
    text, spans = chain(entry.fidelity, signs)
    blocks = [
        labelled("fidelity", entry.fidelity.value, "strong"),
        labelled("", text, "dim", spans),
    ]
    text, spans = chain(entry.thread, signs)
    if entry.shared_thread:
        blocks.append(labelled("thread", thread_mark(entry.thread.value, signs), "strong"))
    else:
        blocks.append(labelled("thread", "a session of its own; in full mode it would be", "dim"))
    blocks.append(labelled("", text, "dim", spans))
    if edge is not None and (edge.condition or edge.label):
        asked = "  ".join(each for each in (edge.condition, edge.label) if each)
        blocks.append(labelled("if", asked, "text"))
    for place, each in enumerate(onwards):
        leads = each.edge
        back = stop is not None and leads is not None and leads.index in stop.back
        asked = f"  {asked_words(leads)}" if leads is not None and asked_words(leads) else ""
        text = f"{arrow(signs, back=back)} {each.node.name}{asked}  {mode_words(each, signs)}"
        blocks.append(labelled("" if place else "leads to", text, "text"))
    what = [node.handler, f"line {node.line + 1}"]
    what += [f"{count(node.max_retries, 'retry').replace('retrys', 'retries')}"] * bool(
        node.max_retries
    )
    what += [node.llm_model] if node.llm_model else []
    blocks.append(labelled("node", f" {signs.dot} ".join(what)))
    if state is not None and state.runs:
        mark, _ = state_sign(state, signs)
        mode = f", with {state.degraded_to} after a resume" if state.degraded_to else ""
        blocks.append(
            labelled("run", f"{mark} {state.outcome}, {count(state.runs, 'stage')}{mode}")
        )
    blocks += [labelled("remark", each.message, "warm") for each in remarks]
    if node.prompt:
        prompt = labelled("prompt", node.prompt, "text")
        blocks.append(TextBlock(prompt.text, "text", first=prompt.first, most=PROMPT_ROWS))
    return blocks


def bar(tokens: int, budget: int, cells: int, signs: Glyphs) -> str:
    """A bar of how much of a ceiling is used."""
    full, empty = signs.shades[0], signs.shades[-1]
    used = 0 if not budget else min(max(round(tokens * cells / budget), 1 if tokens else 0), cells)
    return full * used + empty * (cells - used)


def left_out(text: Preamble) -> str:
    """The parts that did not fit into a preamble, in words; empty when all did."""
    parts = [
        f"{count(text.left_out, 'oldest stage')} left out" if text.left_out else "",
        f"{count(text.values_left_out, 'value')} left out" if text.values_left_out else "",
        f"{count(text.shortened, 'text')} shortened" if text.shortened else "",
    ]
    return ", ".join(each for each in parts if each)


def preamble_title(mode: str, node_input: NodeInput, signs: Glyphs, *, chosen: bool) -> str:
    """`summary:high   2,964 of 3,000 tok · as resolved`."""
    parts = [mode]
    if mode == "full":
        turns = count(node_input.session_turns, "turn")
        parts.append(f"{turns}, {node_input.session_tokens:,} tok")
    else:
        text = node_input.preambles[mode]
        parts.append(f"{text.tokens:,} of {text.budget:,} tok")
    if mode == node_input.entry.fidelity.value:
        parts.append("as resolved")
    elif chosen:
        parts.append(f"resolved is {node_input.entry.fidelity.value}")
    return f" {signs.dot} ".join(parts)


def before_words(node_input: NodeInput) -> str:
    """The stages before this input, in words."""
    stages = count(node_input.stages, "stage") if node_input.stages else "no stage"
    again = ", before its latest run; context values as they are now" if node_input.again else ""
    return f"{node_input.entry.node.name} after {stages}{again}"


def preamble_blocks(mode: str, node_input: NodeInput, signs: Glyphs) -> list[TextBlock]:
    """The text of a mode, below its cost and its omissions."""
    if mode == "full":
        return _session_blocks(node_input, signs)
    text = node_input.preambles[mode]
    head = f"{bar(text.tokens, text.budget, 20, signs)}  {left_out(text) or 'nothing left out'}"
    style = "warm" if text.left_out or text.values_left_out or text.shortened else "dim"
    return [
        TextBlock(head, "dim", (TextSpan(22, len(head), style, here=False),), first=(Run(" "),)),
        TextBlock(f"{before_words(node_input)}", "faint", first=(Run(" "),)),
        TextBlock("", first=(Run(" "),)),
        TextBlock(text.text, first=(Run(" "),)),
    ]


def _session_blocks(node_input: NodeInput, signs: Glyphs) -> list[TextBlock]:
    """The session of a thread, and the part that a resume would lose."""
    thread_preview, node = node_input.thread_preview, node_input.entry.node.name
    name = thread_mark(thread_preview.thread, signs)
    turns = count(node_input.session_turns, "turn")
    instead = node_input.preambles[thread_preview.after_resume]
    if not node_input.session_turns:
        none = (
            f"The thread {name} has no session yet: {node} starts it with "
            f"{thread_preview.after_resume}."
        )
        return [
            TextBlock(none, "text", first=(Run(" "),)),
            TextBlock("", first=(Run(" "),)),
            TextBlock(instead.text, first=(Run(" "),)),
        ]
    blocks = [
        TextBlock(
            f"{node} continues the session of {name}: {turns}, {node_input.session_tokens:,} tok. "
            "Nothing is put before its prompt.",
            first=(Run(" "),),
        ),
        TextBlock(
            f"A resume would lose {'it' if node_input.session_turns == 1 else 'them'}: the first "
            f"such node gets {thread_preview.after_resume} instead ({instead.tokens:,} tok), once.",
            "warm",
            first=(Run(f" {signs.attention} ", "warm"),),
        ),
        TextBlock("", first=(Run(" "),)),
    ]
    return [*blocks, TextBlock(node_input.session, first=(Run(" "),))]


def answer_blocks(node_input: NodeInput, live: str) -> list[TextBlock]:
    """A node's last prompt and answer; `live` is an answer that is arriving."""
    if live:
        return [TextBlock(live, first=(Run(" "),))]
    if node_input.last_answer is None:
        return [TextBlock("This node has not answered in this run.", "dim", first=(Run(" "),))]
    turn = node_input.last_answer
    return [
        TextBlock("asked", "faint", first=(Run(" "),)),
        TextBlock(turn.prompt, "dim", first=(Run(" "),)),
        TextBlock("", first=(Run(" "),)),
        TextBlock("answered", "faint", first=(Run(" "),)),
        TextBlock(turn.answer, first=(Run(" "),)),
    ]


def shown_text(mode: str, node_input: NodeInput) -> str:
    """The text of a view for copying: of a mode, or the last answer."""
    if mode == ANSWER:
        return node_input.last_answer.answer if node_input.last_answer is not None else ""
    return node_input.session if mode == "full" else node_input.preambles[mode].text
