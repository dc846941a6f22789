"""A checkpoint is whole or it is refused; and it belongs to one pipeline."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from reviewer.pipelines.checkpoint import (
    Checkpoint,
    fingerprint,
    require_own,
    write_checkpoint,
)
from reviewer.pipelines.dot import parse_dot
from reviewer.pipelines.run_folder import RunFolder
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


def test_layout_and_comments_do_not_make_another_pipeline() -> None:
    moved = DOT.replace("  goal", "\n\n  // the purpose\n  goal")
    require_own(CHECKPOINT, RunFolder(Path()), parse_dot(moved))


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
