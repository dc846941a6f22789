"""Reads a run from a small JSON file (`pipeline preamble --history`) or from a checkpoint."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from reviewer.errors import ReviewerError
from reviewer.files import open_plain
from reviewer.pipelines.checkpoint import log_path, with_log
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


class HistoryError(ReviewerError):
    """A file is not the history of a run; the message names the place."""


def read_history(path: Path) -> RunHistory:
    """The run of a JSON file (FORMAT), or of a checkpoint. Raises HistoryError."""
    path = path / "checkpoint.json" if path.is_dir() else path
    data = _read(path)
    try:
        value = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise HistoryError(f"{path} is not JSON: {problem}.") from problem
    log = log_path(path)
    if path.name == "checkpoint.json" and log.exists() and isinstance(value, dict):
        with suppress(KeyError, TypeError, ValueError):  # parse_history names what is wrong
            value = with_log(value, _read(log))
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
    run = _object(value, "the file")
    context = _object(run.get("context") or {}, "context")
    if "completed_nodes" in run and "completed" not in run:
        nodes = [_text(each, "completed_nodes") for each in _list(run["completed_nodes"], "it")]
        logs = [_object(each, "logs") for each in _list(run.get("logs") or [], "logs")]
        history = history_from(context, nodes, logs)
        done = _object(run.get("node_retries") or {}, "node_retries")
        retries = {key: (_whole(each, "node_retries"),) * 2 for key, each in done.items()}
        name = _text(run.get("run_id") or history.run_id, "run_id")
        return msgspec.structs.replace(history, run_id=name, retries=retries)
    completed = _list(run.get("completed") or [], "completed")
    return RunHistory(
        run_id=_text(run.get("run_id") or "", "run_id"),
        completed=tuple(stage_of(each, f"completed[{at}]") for at, each in enumerate(completed)),
        context=context,
        retries={
            key: _pair(each, f"retries.{key}")
            for key, each in _object(run.get("retries") or {}, "retries").items()
        },
    )


def history_from(
    context: Mapping[str, Any], completed: Sequence[str], logs: Sequence[Mapping[str, Any]]
) -> RunHistory:
    """A run from its context, its completed nodes and their logs, oldest first.

    The n-th run of a node takes the n-th log of that node. The run's id is `run_id` of the context,
    or `internal.run_id`. Retries are its `internal.retry_count.NODE`.
    """
    waiting: defaultdict[str, deque[Stage]] = defaultdict(deque)
    for at, log in enumerate(logs):
        if "node" in log or "node_id" in log:
            stage = stage_of(log, f"logs[{at}]")
            waiting[stage.node].append(stage)
    stages = tuple(waiting[name].popleft() if waiting[name] else Stage(name) for name in completed)
    prefix = "internal.retry_count."
    return RunHistory(
        run_id=str(context.get("run_id") or context.get("internal.run_id") or ""),
        completed=stages,
        context=dict(context),
        retries={
            key.removeprefix(prefix): (value, value)
            for key, value in context.items()
            if key.startswith(prefix) and isinstance(value, int)
        },
    )


def stage_of(value: object, where: str) -> Stage:
    """One stage: a node's name, or an object with `node`, `outcome`, `notes`, `tools` and
    `duration_s`. Raises HistoryError.
    """
    if isinstance(value, str):
        return Stage(value)
    stage = _object(value, where)
    node = stage.get("node") or stage.get("node_id")
    tools = _list(stage.get("tools") or [], f"{where}.tools")
    return Stage(
        node=_text(node, f"{where}.node"),
        outcome=outcome_of(_text(stage.get("outcome") or "success", f"{where}.outcome")),
        notes=_text(stage.get("notes") or "", f"{where}.notes"),
        tools=tuple(_tool(tool, f"{where}.tools[{at}]") for at, tool in enumerate(tools)),
        duration_s=_number(stage.get("duration_s") or 0, f"{where}.duration_s"),
    )


def _tool(value: object, where: str) -> ToolCall:
    if isinstance(value, str):
        return ToolCall(value)
    tool = _object(value, where)
    arguments = tool.get("arguments") or {}
    result = tool.get("result") or ""
    return ToolCall(
        _text(tool.get("name"), f"{where}.name"),
        arguments if isinstance(arguments, dict) else {"arguments": arguments},
        result if isinstance(result, str) else msgspec.json.encode(result).decode(),
    )


def _object(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise HistoryError(f"{where} has to be an object, not {_kind(value)}.")
    return dict(value)


def _list(value: object, where: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise HistoryError(f"{where} has to be a list, not {_kind(value)}.")
    return list(value)


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise HistoryError(f"{where} has to be a text, not {_kind(value)}.")
    return value


def _number(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise HistoryError(f"{where} has to be a number, not {_kind(value)}.")
    return float(value)


def _whole(value: object, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise HistoryError(f"{where} has to be a whole number, not {_kind(value)}.")
    return value


def _pair(value: object, where: str) -> tuple[int, int]:
    if isinstance(value, int):
        return _whole(value, where), _whole(value, where)
    pair = [_whole(each, where) for each in _list(value, where)]
    if len(pair) != 2:
        raise HistoryError(f"{where} has to be [done, allowed].")
    return pair[0], pair[1]


def _kind(value: object) -> str:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return "nothing" if value is None else kinds.get(type(value), "a number")


def build_fidelity_preamble(
    mode: str,
    pipeline: Pipeline,
    context: Mapping[str, Any],
    completed_nodes: Sequence[str],
    current_node: str,
    logs: Sequence[Mapping[str, Any]],
) -> str:
    """The text of a preamble in Markdown, to put before the prompt of `current_node`.

    `logs` are the stages that ran, oldest first, as `stage_of` reads
    them; a completed node without one is shown by its name. Raises ReviewerError.
    """
    history = history_from(context, completed_nodes, logs)
    return build_preamble(mode, pipeline, history, current_node).text
