"""A pipeline, a run and the input of a node, without widgets."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from reviewer.errors import ReviewerError
from reviewer.pipelines.values import MODES, RunHistory
from reviewer.system import working_folder
from reviewer.tui.kit.text import count

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.pipelines.resolve import NodeEntry
    from reviewer.pipelines.run_store import RunView
    from reviewer.pipelines.service import StageTurn
    from reviewer.pipelines.values import Pipeline, PipelineNode
    from reviewer.pipelines.walk import WalkStep

FULL, ANSWER = "full", "answer"
VIEWS = (*(each for each in MODES if each != FULL), FULL, ANSWER)
"""The modes, shortest first, then the last answer."""
ENDINGS = (".dot", ".gv", ".fabro")
MAX_FILES, MAX_FOLDERS, DEEPEST = 200, 2_000, 6
_SKIPPED_FOLDERS = {"node_modules", "__pycache__", "target", "venv", "site-packages", "dist"}


class Graph(Struct, frozen=True):
    """A pipeline with its walk, and the entry of each edge into its target."""

    pipeline: Pipeline
    stops: Sequence[WalkStep]
    entries: Mapping[int, NodeEntry]

    def into(self, node: PipelineNode) -> list[NodeEntry]:
        return [each for each in self.entries.values() if each.node.name == node.name]


class NodeState(Struct, frozen=True):
    """A node in a run: its latest outcome, number of runs, current activity."""

    outcome: str = ""
    runs: int = 0
    now: str = ""
    """`runs` or `asks` while the run is at this node, else empty."""
    degraded_to: str = ""
    """The mode that replaced `full` after a resume, which loses the session."""
    remark: str = ""
    """A warning about its latest answer."""


class RunShown(Struct, frozen=True):
    """The current state of a run. `trouble`: why its checkpoint cannot be read."""

    view: RunView
    history: RunHistory
    stages: int = 0
    states: dict[str, NodeState] = {}
    turns: Sequence[StageTurn] = ()
    trouble: str = ""


class NodeInput(Struct, frozen=True):
    """The input of a node in a mode, or its last answer."""

    entry: NodeEntry
    mode: str
    title: str
    remark: str
    text: str


def pipelines_below(folder: Path) -> Iterator[Path]:
    """At most MAX_FILES DOT files below a folder, skipping hidden and build folders."""
    return islice(_pipelines_below(folder), MAX_FILES)


def _pipelines_below(folder: Path) -> Iterator[Path]:
    for place, folders, names in islice(os.walk(folder), MAX_FOLDERS):
        deep = len(Path(place).relative_to(folder).parts) >= DEEPEST
        folders[:] = (
            ()
            if deep
            else sorted(each for each in folders if each[0] != "." and each not in _SKIPPED_FOLDERS)
        )
        yield from (Path(place, name) for name in sorted(names) if name.endswith(ENDINGS))


def is_any_pipeline(engine: Engine, project: str | None) -> bool:
    """Whether there is a run of the project, or a DOT file below the working folder."""
    return bool(engine.pipelines.runs(project)) or any(pipelines_below(working_folder()))


def read_graph(path: Path) -> Graph:
    """A pipeline with its walk and its entries. Raises DotError, ReviewerError."""
    from reviewer.pipelines.dot import read_pipeline
    from reviewer.pipelines.resolve import entries
    from reviewer.pipelines.walk import walk

    pipeline = read_pipeline(path)
    ways = {each.edge.index: each for each in entries(pipeline) if each.edge is not None}
    return Graph(pipeline, walk(pipeline), ways)


def read_run(engine: Engine, view: RunView) -> RunShown:
    """The state of a run from its checkpoint."""
    try:
        logs = engine.pipelines.checkpoint(view.run_id).logs
        history = engine.pipelines.history_of(view.run_id)
        turns = engine.pipelines.conversation(view.run_id)
    except ReviewerError as problem:
        return RunShown(view, RunHistory(view.run_id), trouble=str(problem))
    states: dict[str, NodeState] = {}
    for stage in logs:
        runs = states.get(stage.node, NodeState()).runs + 1
        mode = stage.fidelity if stage.degraded else ""
        states[stage.node] = NodeState(str(stage.outcome), runs, "", mode, stage.remark)
    if view.state == "running":
        before = states.get(view.current_node, NodeState())
        states[view.current_node] = structs.replace(before, now="runs")
    return RunShown(view, history, len(logs), states, turns)


def read_input(graph: Graph, run: RunShown | None, node: str, view: str) -> NodeInput:
    """The input of a node before its latest stage, or after the whole run if it has none.

    `view`: a mode or the answer; empty for the resolved mode.
    """
    from reviewer.pipelines.preamble import build_preamble
    from reviewer.pipelines.resolve import entry_after

    before, again = _before(run.history if run else RunHistory(""), node)
    entry = entry_after(graph.pipeline, before, node)
    mode = view or entry.fidelity.value
    if mode == ANSWER:
        return _answer(run, entry)
    stages = len(before.completed)
    when = f"{node} after {count(stages, 'stage') if stages else 'no stage'}"
    when += ", before its latest run; context values as they are now" if again else ""
    if mode == FULL:
        return _session(graph, run, before, entry, when)
    preamble = build_preamble(mode, graph.pipeline, before, node)
    size = f"{preamble.tokens:,} of {preamble.budget:,} tok"
    remark = "; ".join((when, *preamble.missing()))
    return NodeInput(entry, mode, _title(entry, mode, size), remark, preamble.text)


def _title(entry: NodeEntry, mode: str, size: str) -> str:
    resolved = entry.fidelity.value
    return f"{mode}: {size}, {'as resolved' if mode == resolved else f'resolved is {resolved}'}"


def _session(
    graph: Graph, run: RunShown | None, before: RunHistory, entry: NodeEntry, when: str
) -> NodeInput:
    """The session that a node continues, or its replacement if there is none."""
    from reviewer.pipelines.preamble import build_preamble
    from reviewer.pipelines.resolve import DEGRADED_MODE
    from reviewer.text.tokens import counter

    last = before.completed[-1].step if before.completed else 0
    turns = [
        turn
        for turn in (run.turns if run else ())
        if turn.thread == entry.thread.value and turn.step <= last
    ]
    text = "\n\n".join(
        f"### {turn.node}, stage {turn.step}\n{turn.prompt}\n\n{turn.answer}" for turn in turns
    )
    title = _title(entry, FULL, f"{count(len(turns), 'turn')}, {counter().count(text):,} tok")
    instead = build_preamble(DEGRADED_MODE, graph.pipeline, before, entry.node.name)
    if not turns:
        remark = f"{when}; no session in this thread yet: it starts with {DEGRADED_MODE}"
        return NodeInput(entry, FULL, title, remark, instead.text)
    remark = (
        f"{when}; it continues the session, with no preamble. A resume would lose the session:"
        f" {DEGRADED_MODE} replaces it once ({instead.tokens:,} tok)"
    )
    return NodeInput(entry, FULL, title, remark, text)


def _answer(run: RunShown | None, entry: NodeEntry) -> NodeInput:
    turns = [turn for turn in (run.turns if run else ()) if turn.node == entry.node.name]
    title = f"The last answer of {entry.node.name}"
    if not turns:
        return NodeInput(entry, ANSWER, title, "No answer in this run yet", "")
    return NodeInput(entry, ANSWER, title, f"Asked: {turns[-1].prompt}", turns[-1].answer)


def _before(history: RunHistory, node: str) -> tuple[RunHistory, bool]:
    """The history before the latest stage of a node, and whether it has run."""
    for at in range(len(history.completed) - 1, -1, -1):
        if history.completed[at].node == node:
            return structs.replace(history, completed=history.completed[:at]), True
    return history, False
