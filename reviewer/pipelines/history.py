"""Reads the history of a run from a JSON file (`pipeline preamble --history`) or a checkpoint."""

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
"""Maximum bytes of a history file."""


class HistoryError(ReviewerError):
    """A file is not a valid history of a run; the message names the position."""


class _Run(Struct):
    """The format of `reviewer pipeline preamble --help`, or of a checkpoint, which has
    `completed_nodes` and `logs` in place of `completed`.
    """

    run_id: str = ""
    completed: tuple[Stage, ...] = ()
    context: dict[str, Any] = {}
    retries: dict[str, tuple[int, int]] = {}
    completed_nodes: tuple[str, ...] = ()
    logs: tuple[Stage, ...] = ()
    node_retries: dict[str, int] = {}


def read_history(path: Path) -> RunHistory:
    """The history from a JSON file, a checkpoint or a run's folder. Raises HistoryError."""
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
    """The stages in a thread's conversation, oldest first."""
    return tuple(stage for stage in history.completed if stage.thread == thread)


def conversation_of(pipeline: Pipeline, stages: Iterable[Stage]) -> str:
    """The prompts as in the file, and the notes. The actual prompts and answers are in the run's
    folder.
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
    """The preamble in Markdown for the prompt of `current_node`.

    `logs` are the finished stages, oldest first, as in a history file; a completed node without one
    is shown by name only. Raises ReviewerError.
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
    """Match the n-th run of a node to its n-th log."""
    waiting: defaultdict[str, deque[Stage]] = defaultdict(deque)
    for log in logs:
        waiting[log.node].append(log)
    return tuple(waiting[name].popleft() if waiting[name] else Stage(name) for name in completed)
