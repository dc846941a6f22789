"""A pipeline and a run of it as the screen shows them: plain values, and reading them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import Struct

from reviewer.errors import ReviewerError
from reviewer.pipelines.values import RunHistory

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.pipelines.resolve import NodeEntry, ThreadPreview
    from reviewer.pipelines.run_store import RunView
    from reviewer.pipelines.service import StageTurn
    from reviewer.pipelines.values import Pipeline, PipelineNode, Preamble
    from reviewer.pipelines.walk import WalkStep


class NodeState(Struct, frozen=True):
    """A node in a run: its latest outcome, how often it ran, its present activity."""

    outcome: str = ""
    word: str = ""
    runs: int = 0
    now: str = ""
    """`runs` or `asks` while the run is in this node, else empty."""
    degraded_to: str = ""
    """The mode that replaced `full`, because a resume had lost the session."""


class NodeRow(NamedTuple):
    """A node. `entry` is how it is entered, None for a node that no edge enters."""

    node: PipelineNode
    entry: NodeEntry | None
    reachable: bool


class EdgeRow(NamedTuple):
    """An edge, below the node that it leaves. `back`: it returns to an earlier node."""

    entry: NodeEntry
    back: bool


Row = NodeRow | EdgeRow


class Graph(Struct, frozen=True):
    """A pipeline with its walk and all entries into its nodes."""

    pipeline: Pipeline
    stops: Sequence[WalkStep]
    entries: Mapping[int, NodeEntry]
    """By the index of the edge."""
    into: Mapping[str, tuple[NodeEntry, ...]]


class PipelinesModel:
    """Rows with a cursor, which stays on its node or edge through every change."""

    def __init__(self) -> None:
        self.graph: Graph | None = None
        self.rows: list[Row] = []
        self.cursor = 0
        self.states: dict[str, NodeState] = {}

    def load(self, graph: Graph | None) -> None:
        """Show another pipeline, or the same one read again."""
        here = self._key()
        self.graph = graph
        self._make_rows(here)

    @property
    def current(self) -> Row | None:
        return self.rows[self.cursor] if self.cursor < len(self.rows) else None

    @property
    def node(self) -> PipelineNode | None:
        """The node of the row under the cursor; for an edge its target."""
        row = self.current
        return None if row is None else row.node if isinstance(row, NodeRow) else row.entry.node

    def index_of(self, node: str) -> int | None:
        """The row of a node."""
        return next(
            (
                at
                for at, row in enumerate(self.rows)
                if isinstance(row, NodeRow) and row.node.name == node
            ),
            None,
        )

    def _make_rows(self, here: tuple[str, int] | None) -> None:
        self.rows = []
        if self.graph is not None:
            for stop in self.graph.stops:
                into = self.graph.into.get(stop.node.name, ())
                self.rows.append(NodeRow(stop.node, into[0] if into else None, stop.reachable))
                if len(stop.edges) > 1:
                    self.rows += [
                        EdgeRow(self.graph.entries[edge.index], edge.index in stop.back)
                        for edge in stop.edges
                    ]
        self.cursor = max(min(self.cursor, len(self.rows) - 1), 0)
        if here is not None:
            keys = [key_of(row) for row in self.rows]
            if here in keys:
                self.cursor = keys.index(here)
            elif (here[0], -1) in keys:
                self.cursor = keys.index((here[0], -1))

    def _key(self) -> tuple[str, int] | None:
        return None if self.current is None else key_of(self.current)


def key_of(row: Row) -> tuple[str, int]:
    """The identity of a row: the node's name and the index of the edge (-1 for none)."""
    if isinstance(row, NodeRow):
        return row.node.name, -1
    edge = row.entry.edge
    assert edge is not None
    return edge.source, edge.index


MODES = ("full", "truncate", "compact", "summary:low", "summary:medium", "summary:high")
"""In the order of the keys 1 to 6."""


class RunShown(Struct, frozen=True):
    """A run at this moment: its row, the state of each node, the history for preambles."""

    view: RunView
    history: RunHistory
    states: dict[str, NodeState]
    turns: Sequence[StageTurn] = ()
    trouble: str = ""
    """Why its checkpoint cannot be read, as a sentence."""


class NodeInput(Struct, frozen=True):
    """The input of a node in each mode, and its last answer. `stages`: how many ran before."""

    entry: NodeEntry
    preambles: dict[str, Preamble]
    thread_preview: ThreadPreview
    session: str
    """The thread's session as text."""
    session_tokens: int
    session_turns: int
    stages: int
    again: bool
    """The node has run: this is its input at that time, with the context as it is now."""
    last_answer: StageTurn | None = None


# reading

ENDINGS = (".dot", ".gv", ".fabro")
MOST = 200
MOST_READ = 20_000
DEEPEST = 6
_SKIPPED_FOLDERS = {"node_modules", "__pycache__", "target", "venv", "site-packages", "dist"}


def pipelines_below(folder: Path) -> list[Path]:
    """DOT files below a folder, without hidden and build folders, nearest first."""
    found: list[Path] = []
    todo = [(folder, 0)]
    entries_read = 0
    while todo and entries_read < MOST_READ and len(found) < MOST:
        place, depth = todo.pop(0)
        try:
            entries = sorted(os.scandir(place), key=lambda entry: entry.name)
        except OSError:
            continue  # ignore folders that cannot be read
        for entry in entries:
            entries_read += 1
            if entry.name.startswith(".") or entry.name in _SKIPPED_FOLDERS:
                continue
            if entry.is_dir(follow_symlinks=False):
                if depth < DEEPEST:
                    todo.append((Path(entry.path), depth + 1))
            elif entry.name.endswith(ENDINGS):
                found.append(Path(entry.path))
    return found[:MOST]


def read_graph(path: Path) -> Graph:
    """A pipeline with its walk and its entries. Raises DotError, ReviewerError."""
    from reviewer.pipelines.dot import read_pipeline
    from reviewer.pipelines.resolve import entries as entries_of
    from reviewer.pipelines.walk import walk

    pipeline = read_pipeline(path)
    entries: dict[int, NodeEntry] = {}
    into: dict[str, list[NodeEntry]] = {}
    for entry in entries_of(pipeline):
        assert entry.edge is not None
        entries[entry.edge.index] = entry
        into.setdefault(entry.node.name, []).append(entry)
    return Graph(
        pipeline, walk(pipeline), entries, {name: tuple(each) for name, each in into.items()}
    )


def read_run(engine: Engine, view: RunView) -> RunShown:
    """A run according to its checkpoint; `trouble`: the reason why a part cannot be read."""
    pipelines = engine.pipelines
    try:
        history = pipelines.history_of(view.run_id)
        turns = pipelines.conversation(view.run_id)
    except ReviewerError as problem:
        return RunShown(view, RunHistory(view.run_id), {}, (), str(problem))
    states: dict[str, NodeState] = {}
    for stage in history.completed:
        runs = states[stage.node].runs if stage.node in states else 0
        states[stage.node] = NodeState(
            str(stage.outcome),
            str(stage.outcome),
            runs + 1,
            degraded_to=stage.fidelity if stage.degraded else "",
        )
    return RunShown(view, history, states, turns)


def read_node_input(
    graph: Graph, run: RunShown | None, entry: NodeEntry | None, node: str
) -> NodeInput:
    """A node's input in each mode: before its latest stage of the run, else after all of it."""
    from reviewer.pipelines.preamble import build_preamble
    from reviewer.pipelines.resolve import entry_after, thread_preview
    from reviewer.text.tokens import counter

    history = run.history if run is not None else RunHistory("")
    before, again = _before(history, node)
    chosen = entry or entry_after(graph.pipeline, before, node)
    preambles = {
        mode: build_preamble(mode, graph.pipeline, before, node) for mode in MODES if mode != "full"
    }
    preview = thread_preview(graph.pipeline, before, chosen)
    stages = len(before.completed)
    turns = [
        turn
        for turn in (run.turns if run is not None else ())
        if turn.thread and turn.thread == chosen.thread.value and turn.step <= stages
    ]
    session = "\n\n".join(
        f"### {turn.node}, stage {turn.step}\n{turn.prompt}\n\n{turn.answer}" for turn in turns
    )
    answers = [turn for turn in (run.turns if run is not None else ()) if turn.node == node]
    return NodeInput(
        entry=chosen,
        preambles=preambles,
        thread_preview=preview,
        session=session or preview.text,
        session_tokens=counter().count(session) if turns else preview.tokens,
        session_turns=len(turns) or len(preview.stages),
        stages=stages,
        again=again,
        last_answer=answers[-1] if answers else None,
    )


def _before(history: RunHistory, node: str) -> tuple[RunHistory, bool]:
    """The run before the latest stage of a node, and whether it had one."""
    for at in range(len(history.completed) - 1, -1, -1):
        if history.completed[at].node == node:
            return msgspec.structs.replace(history, completed=history.completed[:at]), True
    return history, False
