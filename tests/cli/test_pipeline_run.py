"""`reviewer pipeline run|resume|runs`, in processes of their own that may be killed."""

from __future__ import annotations

import json
import os
import pty
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Reviewer
from tests.cli.test_compress import model_at
from tests.cli.warm import Running
from tests.unit.llm.faults import endpoint

TEA = """digraph tea {
  goal="a good cup"
  start [shape=Mdiamond]; done [shape=Msquare]
  boil [prompt="Boil water for $goal. Keep the kettle closed."]
  brew [prompt="Brew it.", fidelity=full, thread_id=kitchen]
  taste [prompt="Taste it.", fidelity=full, thread_id=kitchen]
  serve [shape=hexagon, label="Serve $goal?"]
  start -> boil -> brew -> taste -> serve
  serve -> done [label="[Y] Yes"]
  serve -> brew [label="[N] No, brew again"]
}
"""


@pytest.fixture
def tea(reviewer: Reviewer) -> Path:
    path = reviewer.folder / "tea.dot"
    path.write_text(TEA)
    return path


def only_run(reviewer: Reviewer) -> dict[str, Any]:
    (row,) = reviewer.rows("pipeline", "runs")
    return row


def stages(reviewer: Reviewer, run_id: str) -> list[dict[str, Any]]:
    return reviewer.rows("pipeline", "runs", run_id)


def kill_when(process: Running, event: str, node: str) -> None:
    """Send SIGKILL as soon as the run says that; it may have ended before it arrives."""
    assert process.stdout is not None
    for line in process.stdout:
        told = json.loads(line)
        if told["event"] == event and told.get("node") == node:
            break
    process.send_signal(signal.SIGKILL)
    process.stdout.read()
    assert process.wait(250) in (0, -signal.SIGKILL)


def test_it_runs_to_the_exit_with_the_stand_in_which_names_itself(
    reviewer: Reviewer, tea: Path
) -> None:
    done = reviewer.succeeds("pipeline", "run", tea, "--answer", "serve=yes")
    assert [line.split()[1] for line in done.stdout.splitlines()] == [
        "start", "boil", "brew", "taste", "serve", "done",
    ]  # fmt: skip
    assert "[offline stand-in]" in done.stdout
    assert "answered by offline stand-in" in done.stderr
    assert "Reached done." in done.stderr


def test_events_are_one_object_a_line(reviewer: Reviewer, tea: Path) -> None:
    events = reviewer.rows("pipeline", "run", tea, "--answer", "serve=n", "--answer", "serve=y")
    assert [each["event"] for each in events[:3]] == ["run_started", "stage_started", "stage_done"]
    assert (events[-1]["event"], events[-1]["state"]) == ("run_done", "done")
    walked = [each["node"] for each in events if each["event"] == "stage_done"]
    assert walked.count("brew") == 2


def test_at_a_terminal_the_question_is_asked(reviewer: Reviewer, tea: Path) -> None:
    controller, terminal = pty.openpty()
    with reviewer.start("pipeline", "run", tea, stdin=terminal) as process:
        os.write(controller, b"n\nmaybe\ny\n")
        out, err = process.communicate(timeout=250)
    os.close(controller)
    os.close(terminal)
    assert process.returncode == 0, err
    assert "Serve a good cup?" in err
    assert "No, brew again  -> brew" in err
    assert [line.split()[1] for line in out.splitlines()].count("serve") == 2


@pytest.mark.parametrize("node", ["start", "taste"])
def test_killed_after_a_stage_it_goes_on_with_the_next(
    reviewer: Reviewer, tea: Path, node: str
) -> None:
    with reviewer.start("pipeline", "run", tea, "--json", "--answer", "serve=y") as process:
        kill_when(process, "stage_done", node)
    row = only_run(reviewer)
    if row["state"] != "done":
        assert row["state"] == "interrupted"
        reviewer.succeeds("pipeline", "resume", row["run_id"], "--answer", "serve=y")
    walked = stages(reviewer, row["run_id"])
    assert [each["node"] for each in walked] == ["start", "boil", "brew", "taste", "serve", "done"]
    assert [each["step"] for each in walked] == [1, 2, 3, 4, 5, 6]
    reviewer.nothing_lost()


def test_a_model_that_fails_ends_the_run_which_can_go_on(reviewer: Reviewer, tea: Path) -> None:
    with endpoint(lambda call: call.refuses(500, "out of order")) as server:
        settings = model_at(server, reviewer)
        failed = reviewer("pipeline", "run", tea, "--engine", "model", env=settings)
        assert failed.returncode == 1
        assert "Traceback" not in failed.stderr
        assert "boil: " in failed.stderr
        row = only_run(reviewer)
        assert (row["state"], row["current_node"]) == ("failed", "boil")
        # It does not fall back to the stand-in without being asked to.
        assert reviewer("pipeline", "resume", row["run_id"], env=settings).returncode == 1
    reviewer.succeeds(
        "pipeline", "resume", row["run_id"], "--engine", "offline", "--answer", "serve=y",
        env=settings,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (("run", "missing.dot"), "missing.dot", 1),
        (("run", "tea.dot", "--answer", "serve"), "'serve' is not in the form NODE=LABEL", 2),
        (
            ("run", "tea.dot", "--answer", "brew=y"),
            "asks no question. Nodes that do: serve",
            1,
        ),
        (("run", "tea.dot", "--answer", "serve=perhaps"), "Answers: [Y] Yes", 1),
        (("run", "tea.dot", "--max-steps", "0"), "max-steps", 2),
        (("run", "tea.dot", "--engine", "model"), "base_url", 1),
        (("resume", "nothing"), "No run nothing", 1),
    ],
)
def test_a_refusal_is_one_line(
    reviewer: Reviewer, tea: Path, arguments: tuple[str, ...], said: str, code: int
) -> None:
    assert reviewer("pipeline", "run", tea).returncode == 3
    assert said in reviewer.fails("pipeline", *arguments, code=code)


def test_a_gate_nobody_answers_waits_and_is_answered_later(reviewer: Reviewer, tea: Path) -> None:
    waiting = reviewer("pipeline", "run", tea)
    assert waiting.returncode == 3
    assert "serve waits for an answer" in waiting.stderr
    row = only_run(reviewer)
    assert row["state"] == "waiting"
    assert reviewer("pipeline", "resume", row["run_id"]).returncode == 3
    assert only_run(reviewer)["state"] == "waiting"
    reviewer.succeeds("pipeline", "resume", row["run_id"], "--answer", "serve=yes")
    assert "every run of it has reached its exit" in reviewer.fails("pipeline", "resume", tea)
    other = reviewer.folder / "other.dot"
    other.write_text(TEA)
    assert "it has not been run here" in reviewer.fails("pipeline", "resume", other)
