"""Reads a run from a small JSON file (`pipeline preamble --history`) or from a checkpoint."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from reviewer.errors import ReviewerError
from reviewer.files import open_plain
from reviewer.pipelines.outcomes import outcome_of
from reviewer.pipelines.preamble import build_preamble
from reviewer.pipelines.values import Pipeline, RunHistory, Stage, ToolCall

LARGEST = 256 * 1024 * 1024
"""Bytes of a history file, at most."""

FORMAT = """\
{"run_id": "r1",
 "completed": [{"node": "plan", "outcome": "success", "notes": "...",
                "tools": [{"name": "shell", "arguments": {}, "result": ""}],
                "duration_s": 12.5}],
 "context": {"key": "any JSON value"},
 "retries": {"plan": [1, 3]}}"""
"""Stages oldest first, retries as [done, allowed]. Every key may be missing."""


_Kind = TypeVar("_Kind")


class HistoryError(ReviewerError):
    """A file is not the history of a run; the message names the place."""


class _Tool(Struct):
    name: str
    arguments: Any = None
    result: Any = None


class _Stage(Struct):
    node: str | None = None
    node_id: str | None = None
    outcome: str | None = None
    notes: str | None = None
    tools: list[str | _Tool] | None = None
    duration_s: float | None = None


class _Run(Struct):
    """FORMAT, or a checkpoint, which has `completed_nodes` instead of `completed`."""

    run_id: str | None = None
    context: dict[str, Any] | None = None
    completed: list[str | _Stage] | None = None
    retries: dict[str, int | tuple[int, int]] | None = None
    completed_nodes: list[str] | None = None
    logs: list[_Stage] | None = None
    node_retries: dict[str, int] | None = None


def read_history(path: Path) -> RunHistory:
    """The run of a JSON file (FORMAT), or of a checkpoint. Raises HistoryError."""
    path = path / "checkpoint.json" if path.is_dir() else path
    data = _read(path)
    try:
        value = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise HistoryError(f"{path} is not JSON: {problem}.") from problem
    try:
        return parse_history(value)
    except HistoryError as problem:
        raise HistoryError(f"{path}: {problem}") from problem


def _read(path: Path) -> bytes:
    try:
        with open_plain(path) as file:
            data = file.read(LARGEST + 1)
    except OSError as problem:
        raise HistoryError(f"Cannot read {path}: {problem.strerror or problem}.") from problem
    if len(data) > LARGEST:
        raise HistoryError(f"{path} is larger than {LARGEST // 2**20} MB.")
    return data


def parse_history(value: object) -> RunHistory:
    """The run in a JSON value: FORMAT, or the keys of a checkpoint.

    Raises HistoryError, which names the place that cannot be read.
    """
    run = _converted(value, _Run)
    context, retries = run.context or {}, run.retries or run.node_retries or {}
    if run.completed_nodes is not None and run.completed is None:
        completed = _in_order(run.completed_nodes, run.logs or ())
    else:
        completed = tuple(map(_stage, run.completed or ()))
    return RunHistory(
        run.run_id or _run_id(context),
        completed,
        context,
        {key: (each, each) if isinstance(each, int) else each for key, each in retries.items()},
    )


def build_fidelity_preamble(
    mode: str,
    pipeline: Pipeline,
    context: Mapping[str, Any],
    completed_nodes: Sequence[str],
    current_node: str,
    logs: Sequence[Mapping[str, Any]],
) -> str:
    """The text of a preamble in Markdown, to put before the prompt of `current_node`.

    `logs` are the stages that ran, oldest first, as in `completed` of FORMAT; a completed node
    without one is shown by its name. Raises ReviewerError.
    """
    stages = _in_order(completed_nodes, [_converted(dict(log), _Stage) for log in logs])
    history = RunHistory(_run_id(context), stages, dict(context))
    return build_preamble(mode, pipeline, history, current_node).text


def _in_order(completed: Sequence[str], logs: Sequence[_Stage]) -> tuple[Stage, ...]:
    """The n-th run of a node with the n-th log of that node."""
    waiting: defaultdict[str, deque[_Stage]] = defaultdict(deque)
    for log in logs:
        waiting[log.node or log.node_id or ""].append(log)
    return tuple(
        _stage(waiting[name].popleft()) if waiting[name] else Stage(name) for name in completed
    )


def _stage(value: str | _Stage) -> Stage:
    """One stage: a node's name, or its log."""
    if isinstance(value, str):
        return Stage(value)
    node = value.node or value.node_id
    if node is None:
        raise HistoryError("A stage has no node.")
    return Stage(
        node,
        outcome_of(value.outcome or "success"),
        value.notes or "",
        tuple(map(_tool, value.tools or ())),
        value.duration_s or 0.0,
    )


def _tool(value: str | _Tool) -> ToolCall:
    if isinstance(value, str):
        return ToolCall(value)
    arguments, result = value.arguments or {}, value.result or ""
    return ToolCall(
        value.name,
        arguments if isinstance(arguments, dict) else {"arguments": arguments},
        result if isinstance(result, str) else msgspec.json.encode(result).decode(),
    )


def _run_id(context: Mapping[str, Any]) -> str:
    return str(context.get("run_id") or context.get("internal.run_id") or "")


def _converted(value: object, kind: type[_Kind]) -> _Kind:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as problem:
        raise HistoryError(f"{problem}.") from problem
