"""`reviewer pipeline check|show|preamble` as a script and a person call them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Reviewer

CANOE = """digraph canoe {
  goal="A canoe that floats" default_fidelity="truncate"
  start [shape=Mdiamond]
  carve [prompt="Carve the hull" fidelity="full" thread_id="hull"]
  test [prompt="Put it into water" fidelity="sumary:high"]
  done [shape=Msquare]
  start -> carve -> test
  test -> carve [condition="outcome=fail" fidelity="full"]
  test -> done [condition="outcome=success"]
}
"""


@pytest.fixture
def canoe(reviewer: Reviewer) -> Path:
    path = reviewer.folder / "canoe.dot"
    path.write_text(CANOE)
    return path


@pytest.fixture
def run(reviewer: Reviewer) -> Path:
    path = reviewer.folder / "run.json"
    stages = [{"node": "carve", "notes": f"Hull {n} has holes. " * 40} for n in range(40)]
    value = {"run_id": "r9", "completed": stages, "context": {"wood": "larch"}}
    path.write_text(json.dumps(value))
    return path


def test_check_lists_every_edge_with_its_deciding_rule(reviewer: Reviewer, canoe: Path) -> None:
    (found,) = reviewer.rows("pipeline", "check", canoe)
    assert [node["name"] for node in found["nodes"]] == ["start", "carve", "test", "done"]
    keys = ("source", "target", "fidelity", "fidelity_rule")
    assert [tuple(edge[key] for key in keys) for edge in found["edges"]] == [
        ("start", "carve", "full", "node"), ("carve", "test", "truncate", "graph"),
        ("test", "carve", "full", "edge"), ("test", "done", "truncate", "graph"),
    ]  # fmt: skip
    assert [(e["thread"], e["thread_rule"], e["thread_used"]) for e in found["edges"]][:2] == [
        ("hull", "node", True), ("carve", "previous node", False),
    ]  # fmt: skip
    assert [(each["rule"], each["line"]) for each in found["warnings"]] == [("unknown-mode", 4)]


def test_check_for_people(reviewer: Reviewer, canoe: Path) -> None:
    done = reviewer.succeeds("pipeline", "check", canoe)
    lines = done.stdout.splitlines()
    assert lines[0] == "canoe: 4 nodes, 4 edges"
    assert any("test -> carve" in line and "full (edge)" in line and "hull (node)" in line
               for line in lines)  # fmt: skip
    assert any("line 5: test: unknown fidelity 'sumary:high'" in line for line in lines)


def test_show_walks_the_graph(reviewer: Reviewer, canoe: Path) -> None:
    stops = reviewer.rows("pipeline", "show", canoe)
    assert [stop["name"] for stop in stops] == ["start", "carve", "test", "done"]
    assert [(edge["target"], edge["back"]) for edge in stops[2]["edges"]] == [
        ("carve", True), ("done", False),
    ]  # fmt: skip
    assert "-> carve (back): full" in reviewer("pipeline", "show", canoe).stdout


def test_show_explains_a_node_step_by_step(reviewer: Reviewer, canoe: Path) -> None:
    told = reviewer("pipeline", "show", canoe, "--node", "test").stdout
    lines = [line.split() for line in told.splitlines()]
    assert ["node", "sumary:high", "(no", "such", "mode)"] in lines
    assert ["graph", "truncate", "<-", "decides"] in lines
    (entry,) = reviewer.rows("pipeline", "show", canoe, "--node", "test")
    assert entry["fidelity_steps"] == {
        "edge": None, "node": "sumary:high", "graph": "truncate", "default": "compact",
    }  # fmt: skip


def test_show_of_an_unknown_node_names_near_ones(reviewer: Reviewer, canoe: Path) -> None:
    done = reviewer("pipeline", "show", canoe, "--node", "crave")
    assert done.returncode == 1
    assert "carve" in done.stderr


def preamble(reviewer: Reviewer, *arguments: object) -> list[dict[str, Any]]:
    return reviewer.rows("pipeline", "preamble", *arguments)


def test_each_mode_says_its_tokens_and_its_ceiling(
    reviewer: Reviewer, canoe: Path, run: Path
) -> None:
    before = run.read_bytes()
    rows = preamble(reviewer, canoe, "--node", "test", "--mode", "all", "--history", run)
    assert [(row["mode"], row["budget"]) for row in rows] == [
        ("full", 0), ("truncate", 100), ("compact", 500), ("summary:low", 600),
        ("summary:medium", 1500), ("summary:high", 3000),
    ]  # fmt: skip
    assert all(row["tokens"] <= row["budget"] for row in rows[1:])
    assert rows[-1]["left_out"] > 10
    assert "larch" in rows[-1]["text"]
    assert run.read_bytes() == before


def test_full_shows_what_the_thread_carries(reviewer: Reviewer, canoe: Path) -> None:
    path = reviewer.folder / "run.json"
    stages = [
        {"node": "carve", "thread": "hull", "notes": "The hull is thin."},
        {"node": "test", "notes": "It floats."},
    ]
    path.write_text(json.dumps({"completed": stages}))
    (row,) = preamble(reviewer, canoe, "--node", "carve", "--history", path)
    assert (row["mode"], row["thread"], row["after_resume"]) == ("full", "hull", "summary:high")
    assert row["carries"] == ["carve"]
    assert row["text"] == "### carve (success)\nCarve the hull\n\nThe hull is thin."
    done = reviewer("pipeline", "preamble", canoe, "--node", "carve", "--history", path)
    assert 'thread "hull" has 1 stage' in done.stderr


def test_a_preamble_for_people_is_the_text_and_a_line_about_it(
    reviewer: Reviewer, canoe: Path, run: Path
) -> None:
    done = reviewer("pipeline", "preamble", canoe, "--node", "test", "--history", run,
                    "--mode", "summary:medium")  # fmt: skip
    assert done.stdout.startswith("## Pipeline Progress\n")
    assert "of 1,500 tokens" in done.stderr
    assert "oldest stages left out" in done.stderr
