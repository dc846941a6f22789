"""Ctrl-C while a model, a command or other agents are waited for: real signals, real processes."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from threading import Event

import pytest

from tests.cli.conftest import Reviewer
from tests.cli.test_compress import model_at
from tests.cli.test_ctrl_c import AT_ONCE, interrupted
from tests.unit.llm.faults import Call, endpoint
from tests.waiting import PATIENCE, until

TALK = "We decided to keep the drawer {} closed, because `lid{}.py` needs {} ms."
GREETING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
PARALLEL_GRAPH = (
    "digraph d { start [shape=Mdiamond]; exit [shape=Msquare]; both [shape=component];"
    ' join [shape=tripleoctagon]; a [prompt="A"]; b [prompt="B"];'
    " start -> both; both -> a; both -> b; a -> join; b -> join; join -> exit }"
)


@pytest.fixture
def talk(reviewer: Reviewer) -> Reviewer:
    """The program with a context `talk`, and a file `talk.json`."""
    said = [
        {"role": "assistant" if n % 2 else "user", "content": TALK.format(n, n, n * 3)}
        for n in range(30)
    ]
    (reviewer.folder / "talk.json").write_text(json.dumps(said))
    reviewer.succeeds("--project", "kiosk", "context", "import", "talk.json")
    return reviewer


@pytest.mark.timeout(200)
@pytest.mark.parametrize(
    ("words", "presses"),
    [
        (["compress", "talk", "--engine", "model", "--apply"], 2),
        (["propose", "talk.json", "--yes"], 2),
        (["model", "check"], 1),
        (["pipeline", "run", "parallel.dot", "--engine", "model"], 2),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else str(given),
)
def test_a_model_that_never_answers(talk: Reviewer, words: list[str], presses: int) -> None:
    asked, over = Event(), Event()

    def hangs(call: Call) -> None:
        call.begins()
        asked.set()
        over.wait(PATIENCE)

    (talk.folder / "parallel.dot").write_text(PARALLEL_GRAPH)
    with endpoint(hangs) as server:
        known = model_at(server, talk)
        try:
            with talk.start("--project", "kiosk", *words, env=known) as process:
                until(lambda: asked.is_set() or process.poll() is not None)
                assert process.poll() is None, process.communicate()
                for _ in range(presses - 1):
                    process.send_signal(signal.SIGINT)
                    # Two signals are one where the first has not been taken.
                    assert process.stderr is not None
                    assert any("Stopping." in line for line in process.stderr)
                seconds, _, err = interrupted(process)
        finally:
            over.set()
    assert process.returncode == 130, err
    assert seconds < AT_ONCE
    assert "Traceback" not in err
    talk.nothing_lost()


@pytest.mark.timeout(200)
def test_a_command_of_a_pipeline_ends_with_it(talk: Reviewer) -> None:
    began = talk.folder / "began"
    pid = talk.folder / "pid"
    (talk.folder / "tool.dot").write_text(
        "digraph d { start -> a -> exit;"
        f' a [shape=parallelogram, tool_command="echo $$ > {pid}; touch {began}; sleep 600"] }}'
    )
    words = ("--project", "kiosk", "pipeline", "run", "tool.dot", "--allow-tools")
    with talk.start(*words) as process:
        until(lambda: began.exists() or process.poll() is not None)
        assert process.poll() is None, process.communicate()
        seconds, _, err = interrupted(process)
    assert process.returncode == 130, err
    assert "Cancelled in a." in err
    assert [row["state"] for row in talk.rows("pipeline", "runs")] == ["cancelled"]
    assert seconds < AT_ONCE
    until(lambda: not Path(f"/proc/{pid.read_text().strip()}").exists())
    talk.nothing_lost()


@pytest.mark.parametrize(("verb", "typed"), [("watch", ""), ("mcp", f"{json.dumps(GREETING)}\n")])
def test_watch_and_mcp_end(talk: Reviewer, verb: str, typed: str) -> None:
    with talk.start("--project", "kiosk", verb) as process:
        assert process.stdin is not None
        process.stdin.write(typed)
        process.stdin.flush()
        said = process.stderr if verb == "watch" else process.stdout
        assert said is not None
        begun = said.readline()
        if verb == "mcp" and not begun:
            pytest.skip("the extra mcp is not installed")
        assert begun, process.communicate()
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        _, err = process.communicate(timeout=PATIENCE)
    assert time.monotonic() - began < AT_ONCE
    assert process.returncode in (0, 130), err
    assert "Traceback" not in err
