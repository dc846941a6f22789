"""Runs as files, and what a thread carries."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from reviewer.pipelines.dot import parse_dot
from reviewer.pipelines.history import HistoryError, read_history
from reviewer.pipelines.resolve import entry_after
from reviewer.pipelines.values import RunHistory, Stage, ToolCall


def test_the_documented_format_is_read(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(
        """
    {"run_id": "r1",
     "completed": [{"node": "plan", "outcome": "success", "notes": "...",
                    "tools": [{"name": "shell", "arguments": {}, "result": ""}],
                    "duration_s": 12.5}],
     "context": {"key": "any JSON value"},
     "retries": {"plan": [1, 3]}}"""
    )
    assert read_history(path) == RunHistory(
        "r1",
        (Stage("plan", notes="...", tools=(ToolCall("shell"),), duration_s=12.5),),
        {"key": "any JSON value"},
        {"plan": (1, 3)},
    )


def test_a_checkpoint_is_a_history_too(tmp_path: Path) -> None:
    checkpoint = {
        "run_id": "r2", "timestamp": "2026-02-14T10:00:00Z", "current_node": "b",
        "completed_nodes": ["a", "b", "a"], "node_retries": {"b": 2},
        "context": {"x": 1},
        "logs": [{"node": "a", "notes": "first"}, {"node": "b", "outcome": "fail"},
                 {"node": "a", "notes": "second"}],
    }  # fmt: skip
    (tmp_path / "checkpoint.json").write_text(json.dumps(checkpoint))
    found = read_history(tmp_path)
    assert found.run_id == "r2"
    assert [(stage.node, stage.notes, str(stage.outcome)) for stage in found.completed] == [
        ("a", "first", "success"), ("b", "", "fail"), ("a", "second", "success"),
    ]  # fmt: skip
    assert found.retries == {"b": (2, 2)}


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is not the history of a run"),
        (b'{"completed": [{"outcome": "fail"}]}', "missing required field `node`"),
    ],
)
def test_what_is_no_run_is_refused_with_the_file_and_the_place(
    tmp_path: Path, data: bytes, says: str
) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(data)
    with pytest.raises(HistoryError, match=re.escape(says)) as refused:
        read_history(path)
    assert str(path) in str(refused.value)
    with pytest.raises(HistoryError, match="No such file"):
        read_history(tmp_path / "none.json")


LOOM = parse_dot(
    "digraph loom { start -> wind -> weave -> dye -> press; weave -> wind; press -> weave }"
)


def run_of(*names: str) -> RunHistory:
    return RunHistory("r", tuple(Stage(name) for name in names))


def test_the_way_into_a_node_is_the_one_from_the_stage_that_ran_last() -> None:
    entry = entry_after(LOOM, run_of("start", "wind", "weave"), "wind")
    assert entry.edge is not None
    assert (entry.edge.source, entry.edge.target) == ("weave", "wind")
    elsewhere = entry_after(LOOM, run_of("start"), "press")
    assert elsewhere.edge is not None
    assert elsewhere.edge.source == "dye"
    first = entry_after(LOOM, RunHistory(""), "start")
    assert first.edge is None
