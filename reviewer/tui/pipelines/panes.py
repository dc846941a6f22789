"""The panes of the Pipelines screen: the list of nodes, and the entries into a node."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from reviewer.pipelines.values import Handler
from reviewer.pipelines.walk import WalkStep
from reviewer.text.display import display_line
from reviewer.tui.evidence.structure import labelled
from reviewer.tui.kit.line import Part, apart
from reviewer.tui.kit.row_list import LoadedList
from reviewer.tui.kit.text import MARGIN, TextBlock, count, cut
from reviewer.tui.pipelines.model import Graph, NodeState
from reviewer.tui.theme import Glyphs, RowStyles

if TYPE_CHECKING:
    from reviewer.pipelines.resolve import NodeEntry
    from reviewer.pipelines.values import FidelityResolution, Pipeline, PipelineEdge, PipelineNode

PROMPT_ROWS = 6


class NodeList(LoadedList[WalkStep]):
    """The nodes in walking order, with their state in the run and their entry modes."""

    graph: Graph | None = None
    states: Mapping[str, NodeState] = MappingProxyType({})

    def show(self, graph: Graph | None) -> None:
        """Show a pipeline; the cursor stays on its node."""
        here = self.current
        self.graph, self.rows = graph, graph.stops if graph is not None else ()
        names = [each.node.name for each in self.rows]
        if here is not None and here.node.name in names:
            self.cursor = names.index(here.node.name)
        else:
            self.cursor = max(min(self.cursor, len(names) - 1), 0)
        self.rows_changed()

    def go_to(self, node: str) -> None:
        names = [each.node.name for each in self.rows]
        if node in names:
            self.move_to(names.index(node))

    def row_parts(self, at: int, width: int, style: RowStyles, sign: Glyphs) -> list[Part]:
        text, strong, dim, accent, warm = style
        stop, node = self.rows[at], self.rows[at].node
        state = self.states.get(node.name, NodeState())
        mark, warning = state_sign(state, sign)
        kind = "" if node.handler in ("codergen", node.name.lower()) else node.handler
        name = strong if at == self.cursor else text if stop.reachable else dim
        left: list[Part] = [
            (f"{mark} ", warm if warning else accent),
            (display_line(node.name), name),
            (f" {sign.times}{state.runs}" if state.runs > 1 else "", dim),
            (f"  {display_line(kind)}" if kind else "", dim),
            ("" if stop.reachable else f"  {sign.attention} not reached", warm),
        ]
        words = cut(display_line(self._modes(stop, state, sign)), width * 3 // 5, sign.ellipsis)
        return apart(left, [(f" {words}", dim)], width, text, sign.ellipsis)

    def _modes(self, stop: WalkStep, state: NodeState, sign: Glyphs) -> str:
        """The entry modes of a node, without duplicates."""
        if state.degraded_to:
            return f"{state.degraded_to} after a resume"
        if self.graph is None or stop.node.handler in ("start", "exit"):
            return ""
        ways = (mode_words(each, sign) for each in self.graph.into(stop.node))
        return ", ".join(dict.fromkeys(ways))


def state_sign(state: NodeState, sign: Glyphs) -> tuple[str, bool]:
    """The sign of a node's state in the run, and whether it is a warning."""
    if state.now:
        return ("?", True) if state.now == "asks" else (sign.arrow, False)
    signs = {
        "success": (sign.promoted, False),
        "partial_success": (sign.attention, True),
        "fail": (sign.rejected, True),
        "retry": (sign.rejected, True),
        "skipped": (sign.skip, False),
    }
    return signs.get(state.outcome, (" ", False))


def mode_words(entry: NodeEntry, sign: Glyphs) -> str:
    """`full «coding»`: the mode of an entry, and its shared thread."""
    thread = entry.shared_thread
    quoted = f'"{thread}"' if sign.ascii else f"«{thread}»"
    return entry.fidelity.value + (f" {quoted}" if thread else "")


def _asked(edge: PipelineEdge | None) -> str:
    """The condition of an edge in brackets, else its label, after two blanks."""
    if edge is None or not (edge.condition or edge.label):
        return ""
    return f"  [{edge.condition}]" if edge.condition else f"  {edge.label}"


def chain(resolution: FidelityResolution, signs: Glyphs) -> str:
    """`edge nothing  › node nothing  › compact, set by the graph  › default full`."""
    decided = {"default": "by default", "own name": "its own name"}
    steps = (
        f"{display_line(value)}, {decided.get(rule, f'set by the {rule}')}"
        if rule == resolution.rule
        else f"{rule} {display_line(value) or 'nothing'} {remark}".rstrip()
        for rule, value, remark in resolution.explained("")
    )
    return ("  > " if signs.ascii else "  › ").join(steps)


def entry_blocks(
    graph: Graph, stop: WalkStep, state: NodeState, signs: Glyphs
) -> Iterable[TextBlock]:
    """The entries into a node with reasons, its outgoing edges, its own attributes."""
    from reviewer.pipelines.resolve import entry_through

    node, ways = stop.node, graph.into(stop.node)
    for way in ways or [entry_through(graph.pipeline, None, node)]:
        edge = way.edge
        source = f"from {edge.source}" if edge is not None else "at the start"
        yield labelled("entered", f"{source}{_asked(edge)}  {mode_words(way, signs)}", "strong")
        yield labelled("  fidelity", chain(way.fidelity, signs), "dim")
        if way.shared_thread:
            yield labelled("  thread", chain(way.thread, signs), "dim")
    for place, edge in enumerate(stop.edges):
        sign = "<-" if edge.index in stop.back else signs.arrow
        mode = mode_words(graph.entries[edge.index], signs)
        leads = f"{sign} {edge.target}{_asked(edge)}  {mode}"
        yield labelled("" if place else "leads to", leads, "text")
    what = [node.handler, f"line {node.line + 1}"]
    if node.max_retries:
        what.append(count(node.max_retries, "retry", "retries"))
    what += [node.llm_model] if node.llm_model else []
    yield labelled("node", f" {signs.dot} ".join(what))
    if state.runs:
        mode = f", with {state.degraded_to} after a resume" if state.degraded_to else ""
        yield labelled("run", f"{state.outcome}, {count(state.runs, 'stage')}{mode}")
    if state.remark:
        yield labelled("remark", state.remark, "warm")
    lines = {node.line, *(way.edge.line for way in ways if way.edge is not None)}
    for remark in graph.pipeline.warnings:
        if remark.line in lines:
            yield labelled("remark", remark.message, "warm")
    if node.prompt:
        prompt = labelled("prompt", node.prompt, "text")
        yield TextBlock(prompt.text, "text", first=prompt.first, most=PROMPT_ROWS)


def what_runs(pipeline: Pipeline) -> tuple[list[PipelineNode], list[PipelineNode]]:
    """The nodes that call an agent or a model, and those with a shell command."""
    from reviewer.pipelines.handlers import is_model_stage

    nodes = pipeline.nodes.values()
    stages = [each for each in nodes if is_model_stage(each)]
    return stages, [each for each in nodes if each.handler == Handler.TOOL]


def run_blocks(
    stages: Sequence[PipelineNode], commands: Sequence[PipelineNode], models: Collection[str]
) -> Iterator[TextBlock]:
    """A line for each command and each prompt of a run, with the model that a node names, if it is
    one of the `models`.
    """
    from reviewer.pipelines.commands import command_of

    for node in commands:
        yield TextBlock(f"{node.name}  $ {command_of(node)}", "warm", first=MARGIN)
    for node in stages:
        asks = f"  asks {node.llm_model}" if node.llm_model in models else "  prompt"
        yield TextBlock(f"{node.name}{asks}: {node.prompt or node.label}", first=MARGIN)
