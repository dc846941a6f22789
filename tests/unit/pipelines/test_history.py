"""Runs as files, and what a thread carries."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from reviewer.pipelines.dot import parse_dot
from reviewer.pipelines.history import FORMAT, HistoryError, parse_history, read_history
from reviewer.pipelines.resolve import entry_after, thread_preview
from reviewer.pipelines.values import RunHistory, Stage, StageOutcome, ToolCall


def test_the_documented_format_is_read(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(FORMAT)
    assert read_history(path) == RunHistory(
        "r1",
        (Stage("plan", notes="...", tools=(ToolCall("shell"),), duration_s=12.5),),
        {"key": "any JSON value"},
        {"plan": (1, 3)},
    )


def test_every_key_may_be_missing() -> None:
    assert parse_history({}) == RunHistory("")
    assert parse_history({"completed": ["a", {"node": "b"}]}).completed == (Stage("a"), Stage("b"))


@pytest.mark.parametrize(
    ("word", "outcome"),
    [("success", "success"), ("FAILED", "fail"), ("partial_success", "partial_success"),
     ("retry", "retry"), ("skipped", "skipped"), ("needs_salt", "success")],
)  # fmt: skip
def test_words_for_outcomes(word: str, outcome: str) -> None:
    found = parse_history({"completed": [{"node": "a", "outcome": word}]})
    assert found.completed[0].outcome == StageOutcome(outcome)


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
    ("value", "place"),
    [
        ([], "got `array`"),
        ({"completed": {"a": 1}}, "$.completed"),
        ({"completed": [{"outcome": "fail"}]}, "no node"),
        ({"completed": [{"node": "a", "notes": 5}]}, "$.completed[0].notes"),
        ({"completed": [{"node": "a", "tools": [{}]}]}, "$.completed[0].tools[0]"),
        ({"completed": [{"node": "a", "duration_s": "long"}]}, "$.completed[0].duration_s"),
        ({"completed": [7]}, "$.completed[0]"),
        ({"context": [1]}, "$.context"),
        ({"retries": {"a": [1]}}, "$.retries[...]"),
        ({"run_id": 5}, "$.run_id"),
    ],
)
def test_what_is_no_run_is_refused_with_its_place(value: Any, place: str) -> None:
    with pytest.raises(HistoryError, match=re.escape(place)):
        parse_history(value)


@pytest.mark.parametrize("data", [b"", b"{", b"{'a': 1}", b"[" * 5000, b"\xff\xff"])
def test_what_is_no_json_is_refused_with_the_files_name(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(data)
    with pytest.raises(HistoryError, match=r"run\.json is not JSON"):
        read_history(path)
    with pytest.raises(HistoryError, match="No such file"):
        read_history(tmp_path / "none.json")


LOOM = parse_dot(
    """digraph loom { default_fidelity=truncate
    start [shape=Mdiamond]
    wind [prompt="Wind the thread" fidelity=full thread_id=red]
    weave [prompt="Weave on" fidelity=full thread_id=red]
    dye [prompt=x fidelity=full thread_id=blue]
    press [prompt=y]
    start -> wind -> weave -> dye -> press; weave -> wind [thread_id=ignored] press -> weave }"""
)


def run_of(*names: str) -> RunHistory:
    return RunHistory("r", tuple(Stage(name, notes=f"{name} is done") for name in names))


def stages_carried(history: RunHistory, node: str) -> list[str]:
    entry = entry_after(LOOM, history, node)
    return [stage.node for stage in thread_preview(LOOM, history, entry).stages]


def test_a_thread_carries_the_stages_that_had_it_and_no_others() -> None:
    history = run_of("start", "wind", "weave", "wind", "weave", "dye", "press")
    assert stages_carried(history, "weave") == ["wind", "weave", "wind", "weave"]
    assert stages_carried(history, "dye") == ["dye"]
    assert stages_carried(history, "press") == []
    assert stages_carried(run_of("start"), "wind") == []


def test_what_is_carried_is_told_and_counted() -> None:
    history = run_of("start", "wind")
    found = thread_preview(LOOM, history, entry_after(LOOM, history, "weave"))
    assert found.thread == "red"
    assert found.text == "### wind (success)\nWind the thread\n\nwind is done"
    assert found.tokens > 5
    assert found.after_resume == "summary:high"


def test_the_way_into_a_node_is_the_one_from_the_stage_that_ran_last() -> None:
    entry = entry_after(LOOM, run_of("start", "wind", "weave"), "wind")
    assert entry.edge is not None
    assert (entry.edge.source, entry.edge.target) == ("weave", "wind")
    elsewhere = entry_after(LOOM, run_of("start"), "press")
    assert elsewhere.edge is not None
    assert elsewhere.edge.source == "dye"
    first = entry_after(LOOM, RunHistory(""), "start")
    assert first.edge is None
