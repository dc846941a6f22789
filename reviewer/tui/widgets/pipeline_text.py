"""A way into a node, and what the node gets in a mode, as blocks of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reviewer.text.display import display_line
from reviewer.tui.kit.text import Block, Run, Span, count
from reviewer.tui.screens.pipelines_values import MODES
from reviewer.tui.theme import Glyphs
from reviewer.tui.widgets.pipeline_row import (
    arrow,
    asked_words,
    mode_words,
    state_sign,
    thread_mark,
)
from reviewer.tui.widgets.structure_text import labelled

if TYPE_CHECKING:
    from reviewer.engine import Preamble, Remark, Resolution, Stop, Way
    from reviewer.tui.screens.pipelines_model import NodeState
    from reviewer.tui.screens.pipelines_values import Handed

PROMPT_ROWS = 6
_WINS = " wins"


def way_title(way: Way, signs: Glyphs) -> str:
    """`implement → review`, or the node alone where nothing leads to it."""
    if way.edge is None:
        return way.node.name
    return f"{way.edge.source} {arrow(signs)} {way.edge.target}"


def chain(resolution: Resolution, signs: Glyphs) -> tuple[str, tuple[Span, ...]]:
    """`edge full  >  node -  >  graph compact`, the step that decided marked and named.

    A step before it that said something was passed over, because it is no mode.
    """
    text, spans, decided = "", [], False
    for rule, said in resolution.steps:
        if text:
            text += "  > " if signs.rule == "-" else "  › "
        start = len(text)
        text += f"{rule} {display_line(said) if said else signs.minus}"
        if rule == resolution.rule:
            text += _WINS
            spans.append(Span(start, len(text), "accent"))
            decided = True
        elif said and not decided:
            text += " (no such mode)"
            spans.append(Span(start, len(text), "warm"))
    return text, tuple(spans)


def way_blocks(
    way: Way,
    stop: Stop | None,
    onwards: Sequence[Way],
    state: NodeState | None,
    remarks: Sequence[Remark],
    signs: Glyphs,
) -> list[Block]:
    """How a node is entered and why so, where it leads, what it is."""
    node, edge = way.node, way.edge
    text, spans = chain(way.fidelity, signs)
    blocks = [
        labelled("fidelity", way.fidelity.value, "strong"),
        labelled("", text, "dim", spans),
    ]
    text, spans = chain(way.thread, signs)
    if way.shared_thread:
        blocks.append(labelled("thread", thread_mark(way.thread.value, signs), "strong"))
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
        blocks.append(labelled("run", f"{mark} {state.outcome}, {count(state.runs, 'stage')}"))
    blocks += [labelled("remark", each.message, "warm") for each in remarks]
    if node.prompt:
        prompt = labelled("prompt", node.prompt, "text")
        blocks.append(Block(prompt.text, "text", first=prompt.first, most=PROMPT_ROWS))
    return blocks


def bar(tokens: int, budget: int, cells: int, signs: Glyphs) -> str:
    """How much of a ceiling is used."""
    full, empty = signs.shades[0], signs.shades[-1]
    used = 0 if not budget else min(max(round(tokens * cells / budget), 1 if tokens else 0), cells)
    return full * used + empty * (cells - used)


def left_out(text: Preamble) -> str:
    """What a preamble had no room for, in words; empty when it has all."""
    parts = [
        f"{count(text.left_out, 'oldest stage')} left out" if text.left_out else "",
        f"{count(text.values_left_out, 'value')} left out" if text.values_left_out else "",
        f"{count(text.shortened, 'text')} shortened" if text.shortened else "",
    ]
    return ", ".join(each for each in parts if each)


def preamble_title(mode: str, handed: Handed, signs: Glyphs, *, chosen: bool) -> str:
    """`summary:high   2,964 of 3,000 tok · as resolved`."""
    parts = [mode]
    if mode == "full":
        turns = count(handed.session_turns, "turn")
        parts.append(f"{turns}, {handed.session_tokens:,} tok")
    else:
        text = handed.preambles[mode]
        parts.append(f"{text.tokens:,} of {text.budget:,} tok")
    if mode == handed.way.fidelity.value:
        parts.append("as resolved")
    elif chosen:
        parts.append(f"resolved is {handed.way.fidelity.value}")
    return f" {signs.dot} ".join(parts)


def before_words(handed: Handed) -> str:
    """After which stages this is handed over."""
    stages = count(handed.stages, "stage") if handed.stages else "no stage"
    again = ", before its latest run; context values as they are now" if handed.again else ""
    return f"{handed.way.node.name} after {stages}{again}"


def preamble_blocks(mode: str, handed: Handed, signs: Glyphs) -> list[Block]:
    """The text of a mode, under what it cost and what it left out."""
    if mode == "full":
        return _session_blocks(handed, signs)
    text = handed.preambles[mode]
    head = f"{bar(text.tokens, text.budget, 20, signs)}  {left_out(text) or 'nothing left out'}"
    style = "warm" if text.left_out or text.values_left_out or text.shortened else "dim"
    return [
        Block(head, "dim", (Span(22, len(head), style, here=False),), first=(Run(" "),)),
        Block(f"{before_words(handed)}", "faint", first=(Run(" "),)),
        Block("", first=(Run(" "),)),
        Block(text.text, first=(Run(" "),)),
    ]


def _session_blocks(handed: Handed, signs: Glyphs) -> list[Block]:
    """What a thread carries, and what a resume would lose of it."""
    carried, node = handed.carried, handed.way.node.name
    name = thread_mark(carried.thread, signs)
    turns = count(handed.session_turns, "turn")
    instead = handed.preambles[carried.after_resume]
    if not handed.session_turns:
        said = f"The thread {name} has no session yet: {node} would begin it, with nothing before."
        return [Block(said, "text", first=(Run(" "),))]
    blocks = [
        Block(
            f"{node} goes on with the session of {name}: {turns}, {handed.session_tokens:,} tok. "
            "Nothing is put before its prompt.",
            first=(Run(" "),),
        ),
        Block(
            f"A resume would lose {'it' if handed.session_turns == 1 else 'them'}: the first such "
            f"node gets {carried.after_resume} instead ({instead.tokens:,} tok), once.",
            "warm",
            first=(Run(f" {signs.stale} ", "warm"),),
        ),
        Block("", first=(Run(" "),)),
    ]
    return [*blocks, Block(handed.session, first=(Run(" "),))]


def said_blocks(handed: Handed, live: str) -> list[Block]:
    """What a node was asked and answered; `live` is what arrives of an answer now."""
    if live:
        return [Block(live, first=(Run(" "),))]
    if handed.said is None:
        return [Block("It has said nothing in this run.", "dim", first=(Run(" "),))]
    turn = handed.said
    return [
        Block("asked", "faint", first=(Run(" "),)),
        Block(turn.prompt, "dim", first=(Run(" "),)),
        Block("", first=(Run(" "),)),
        Block("answered", "faint", first=(Run(" "),)),
        Block(turn.answer, first=(Run(" "),)),
    ]


def shown_text(mode: str, handed: Handed) -> str:
    """The text of a view, as it is copied: of a mode, of all six, or what was said."""
    if mode == "all":
        return "\n\n".join(f"== {each}\n{shown_text(each, handed)}" for each in MODES)
    if mode == "said":
        return handed.said.answer if handed.said is not None else ""
    return handed.session if mode == "full" else handed.preambles[mode].text
