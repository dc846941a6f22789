"""Reads a run from a small JSON file (`pipeline preamble --history`) or from a checkpoint."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from reviewer.errors import ReviewerError
from reviewer.files import open_plain
from reviewer.pipelines.preamble import build_preamble, masked
from reviewer.pipelines.values import Pipeline, RunHistory, Stage

LARGEST = 256 * 1024 * 1024
"""Bytes of a history file, at most."""


class HistoryError(ReviewerError):
    """A file is not the history of a run; the message names the place."""


class _Run(Struct):
    """What `reviewer pipeline preamble --help` shows, or a checkpoint, which has `completed_nodes`
    and `logs` instead of `completed`.
    """

    run_id: str = ""
    completed: tuple[Stage, ...] = ()
    context: dict[str, Any] = {}
    retries: dict[str, tuple[int, int]] = {}
    completed_nodes: tuple[str, ...] = ()
    logs: tuple[Stage, ...] = ()
    node_retries: dict[str, int] = {}


def read_history(path: Path) -> RunHistory:
    """The run of a JSON file, a checkpoint or the folder of a run. Raises HistoryError."""
    path = path / "checkpoint.json" if path.is_dir() else path
    try:
        with open_plain(path) as file:
            data = file.read(LARGEST + 1)
        run = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"), type=_Run)
    except OSError as problem:
        raise HistoryError(f"Cannot read {path}: {problem.strerror or problem}.") from problem
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise HistoryError(f"{path} is not the history of a run: {problem}.") from problem
    return RunHistory(
        run.run_id,
        run.completed or _in_order(run.completed_nodes, run.logs),
        run.context,
        run.retries or {name: (done, done) for name, done in run.node_retries.items()},
    )


def stages_of(history: RunHistory, thread: str) -> tuple[Stage, ...]:
    """The stages whose conversation a thread carries, oldest first."""
    return tuple(stage for stage in history.completed if stage.thread == thread)


def conversation_of(pipeline: Pipeline, stages: Iterable[Stage]) -> str:
    """What was asked, as the file says it, and what was noted. The folder of a run has what a model
    really got and answered.
    """
    return "\n\n".join(
        f"### {stage.node} ({stage.outcome})\n{masked(_prompt(pipeline, stage))}\n\n"
        f"{masked(stage.notes).strip()}"
        for stage in stages
    )


def _prompt(pipeline: Pipeline, stage: Stage) -> str:
    node = pipeline.nodes.get(stage.node)
    return (node.prompt or node.label).strip() if node is not None else ""


def build_fidelity_preamble(
    mode: str,
    pipeline: Pipeline,
    context: Mapping[str, Any],
    completed_nodes: Sequence[str],
    current_node: str,
    logs: Sequence[Mapping[str, Any]],
) -> str:
    """The text of a preamble in Markdown, to put before the prompt of `current_node`.

    `logs` are the stages that ran, oldest first, as in a history file; a completed node without one
    is shown by its name. Raises ReviewerError.
    """
    try:
        stages = msgspec.convert(list(logs), tuple[Stage, ...])
    except msgspec.ValidationError as problem:
        raise HistoryError(f"{problem}.") from problem
    completed = _in_order(completed_nodes, stages)
    run_id = str(context.get("run_id") or context.get("internal.run_id") or "")
    history = RunHistory(run_id, completed, dict(context))
    return build_preamble(mode, pipeline, history, current_node).text


def _in_order(completed: Iterable[str], logs: Iterable[Stage]) -> tuple[Stage, ...]:
    """The n-th run of a node with the n-th log of that node."""
    waiting: defaultdict[str, deque[Stage]] = defaultdict(deque)
    for log in logs:
        waiting[log.node].append(log)
    return tuple(waiting[name].popleft() if waiting[name] else Stage(name) for name in completed)
