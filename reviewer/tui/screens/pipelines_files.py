"""Finding pipelines and runs: below the working folder, and among what ran."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from reviewer.tui.screens.pipelines_model import Graph, NodeState
from reviewer.tui.screens.pipelines_values import MODES, Handed, RunShown

if TYPE_CHECKING:
    from reviewer.engine import Engine, RunHistory, RunView, Way

ENDINGS = (".dot", ".gv", ".fabro")
MOST = 200
LOOKED_AT = 20_000
DEEPEST = 6
_PASSED_OVER = {"node_modules", "__pycache__", "target", "venv", "site-packages", "dist"}


def pipelines_below(folder: Path) -> list[Path]:
    """DOT files below a folder, hidden and built folders left out, nearest first."""
    found: list[Path] = []
    todo = [(folder, 0)]
    looked_at = 0
    while todo and looked_at < LOOKED_AT and len(found) < MOST:
        place, depth = todo.pop(0)
        try:
            entries = sorted(os.scandir(place), key=lambda entry: entry.name)
        except OSError:
            continue  # a folder that cannot be read holds nothing to choose
        for entry in entries:
            looked_at += 1
            if entry.name.startswith(".") or entry.name in _PASSED_OVER:
                continue
            if entry.is_dir(follow_symlinks=False):
                if depth < DEEPEST:
                    todo.append((Path(entry.path), depth + 1))
            elif entry.name.endswith(ENDINGS):
                found.append(Path(entry.path))
    return found[:MOST]


def read_graph(engine: Engine, path: Path) -> Graph:
    """A pipeline with its walk and its ways. Raises DotError, ReviewerError."""
    rules = engine.pipelines.rules
    pipeline = rules.read(path)
    ways: dict[int, Way] = {}
    into: dict[str, list[Way]] = {}
    for way in rules.ways(pipeline):
        assert way.edge is not None
        ways[way.edge.index] = way
        into.setdefault(way.node.name, []).append(way)
    return Graph(
        pipeline, rules.walk(pipeline), ways, {name: tuple(each) for name, each in into.items()}
    )


def read_run(engine: Engine, view: RunView) -> RunShown:
    """A run as its checkpoint tells it; what cannot be read is said in `trouble`."""
    from reviewer.engine import RunHistory
    from reviewer.errors import ReviewerError

    pipelines = engine.pipelines
    try:
        history = pipelines.history_of(view.run_id)
        turns = pipelines.conversation(view.run_id)
    except ReviewerError as problem:
        return RunShown(view, RunHistory(view.run_id), {}, (), str(problem))
    states: dict[str, NodeState] = {}
    for stage in history.completed:
        runs = states[stage.node].runs if stage.node in states else 0
        states[stage.node] = NodeState(str(stage.outcome), str(stage.outcome), runs + 1)
    return RunShown(view, history, states, turns)


def read_handed(
    engine: Engine, graph: Graph, run: RunShown | None, way: Way | None, node: str
) -> Handed:
    """What a node gets in each mode: before its latest stage of the run, else after all of it."""
    from reviewer.engine import RunHistory

    rules = engine.pipelines.rules
    history = run.history if run is not None else RunHistory("")
    before, again = _before(history, node)
    chosen = way or rules.way_of_run(graph.pipeline, before, node)
    preambles = {
        mode: rules.preamble(graph.pipeline, mode, before, node) for mode in MODES if mode != "full"
    }
    carried = rules.carried(graph.pipeline, before, chosen)
    stages = len(before.completed)
    turns = [
        turn
        for turn in (run.turns if run is not None else ())
        if turn.thread and turn.thread == chosen.thread.value and turn.step <= stages
    ]
    session = "\n\n".join(
        f"### {turn.node}, stage {turn.step}\n{turn.prompt}\n\n{turn.answer}" for turn in turns
    )
    said = [turn for turn in (run.turns if run is not None else ()) if turn.node == node]
    return Handed(
        way=chosen,
        preambles=preambles,
        carried=carried,
        session=session or carried.text,
        session_tokens=rules.tokens(session) if turns else carried.tokens,
        session_turns=len(turns) or len(carried.stages),
        stages=stages,
        again=again,
        said=said[-1] if said else None,
    )


def _before(history: RunHistory, node: str) -> tuple[RunHistory, bool]:
    """The run before the latest stage of a node, and whether there is one."""
    import msgspec

    for at in range(len(history.completed) - 1, -1, -1):
        if history.completed[at].node == node:
            return msgspec.structs.replace(history, completed=history.completed[:at]), True
    return history, False
