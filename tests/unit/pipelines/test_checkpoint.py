"""A checkpoint is whole or it is refused; and it belongs to one pipeline."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from reviewer.pipelines.checkpoint import (
    Checkpoint,
    fingerprint,
    history_of,
    read_checkpoint,
    require_own,
    write_checkpoint,
)
from reviewer.pipelines.dot import parse_dot
from reviewer.pipelines.events import CheckpointError, RunError
from reviewer.pipelines.run_folder import RunFolder, write_run_file
from reviewer.pipelines.values import Stage, StageOutcome

DOT = """digraph brew {
  goal="tea"
  start [shape=Mdiamond]; boil [prompt="Boil", max_retries=2]; done [shape=Msquare]
  start -> boil -> done
}"""
PIPELINE = parse_dot(DOT)
CHECKPOINT = Checkpoint(
    run_id="r1",
    pipeline=fingerprint(PIPELINE),
    pipeline_name="brew",
    timestamp="2026-03-01T00:00:00.000Z",
    current_node="boil",
    completed_nodes=["start", "boil"],
    node_retries={"boil": 1},
    context={"heat": {"now": 90}},
    logs=[
        Stage("start", step=1, handler="start", word="success", fidelity="compact"),
        Stage("boil", StageOutcome.FAIL, "dry", step=2, handler="codergen", fidelity="full"),
    ],
    next_node="done",
    next_edge=1,
)


def test_it_has_the_documents_keys_and_only_the_owner_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.json"
    write_checkpoint(RunFolder(tmp_path), CHECKPOINT)
    keys = {"timestamp", "current_node", "completed_nodes", "node_retries", "context", "logs"}
    assert keys <= json.loads(path.read_text()).keys()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("data", [b"[]", b"{}", b'{"run_id": 1}', b"[" * 100_000, b"\xff\xfe"])
def test_something_else_is_refused_too(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "checkpoint.json"
    path.write_bytes(data)
    with pytest.raises(CheckpointError):
        read_checkpoint(path)


def test_when_writing_fails_the_one_before_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "checkpoint.json"
    write_checkpoint(RunFolder(tmp_path), CHECKPOINT)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RunError, match="No space left on device"):
        write_run_file(path, b"{")
    assert read_checkpoint(path) == CHECKPOINT


def test_layout_and_comments_do_not_make_another_pipeline() -> None:
    moved = DOT.replace("  goal", "\n\n  // the purpose\n  goal")
    require_own(CHECKPOINT, RunFolder(Path()), parse_dot(moved))


def test_it_tells_preambles_of_the_run() -> None:
    history = history_of(CHECKPOINT, PIPELINE)
    assert [(stage.node, stage.outcome) for stage in history.completed] == [
        ("start", "success"), ("boil", "fail"),
    ]  # fmt: skip
    assert history.completed[1].notes == "dry"
    assert history.retries == {"boil": (1, 2)}


@pytest.mark.parametrize("node", ["../../etc", "a/b", "..", "", "x" * 500, "née", "a\0b", "a\nb"])
def test_whatever_a_node_is_called_its_folder_is_one_plain_name(node: str) -> None:
    name = Stage(node, step=3).folder
    assert "/" not in name
    assert name.isascii()
    assert name.isprintable()
    assert not name.startswith(".")
    assert len(name) < 100


def test_nodes_whose_names_look_alike_get_different_folders() -> None:
    assert Stage("a/b").folder != Stage("a:b").folder
