"""Ctrl-C while a file is read, or a model, a command or agents are waited for: real signals to real
programs."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from threading import Event

import pytest

from tests.cli.conftest import Reviewer
from tests.cli.test_compress import model_at
from tests.cli.warm import Running
from tests.unit.llm.faults import Call, endpoint
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="looks into /proc to see how far the program is"
)

AT_ONCE = 10.0
"""Seconds between Ctrl-C and the end: far fewer than what was interrupted would have taken. A busy
machine needs more than the one second that a person waits for.
"""
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


def computed(process: Running) -> float:
    """The seconds that it has computed so far."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def interrupted(process: Running) -> tuple[float, str, str]:
    """Press Ctrl-C; returns how long the program went on, and its output."""
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    return time.monotonic() - began, out, err


def test_a_long_file_is_broken_off_in_the_middle(reviewer: Reviewer) -> None:
    talk = reviewer.folder / "talk.json"
    said = [
        {"role": "user", "content": f"We decided to keep drawer {number} closed, as it is dusty."}
        for number in range(40_000)
    ]
    talk.write_text(json.dumps(said))
    with reviewer.start("ingest", talk, "--json") as process:
        until(lambda: process.poll() is not None or computed(process) > 0.5)
        assert process.poll() is None, process.communicate()
        seconds, out, err = interrupted(process)
    assert process.returncode == 130, err
    assert seconds < AT_ONCE
    assert "Interrupted. Everything read so far is kept" in err
    counts = json.loads(out)
    assert counts["state"] == "interrupted"
    assert counts["records"] < len(said)
    reviewer.nothing_lost()


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
    ("words", "presses", "said"),
    [
        (["compress", "talk", "--engine", "model", "--apply"], 2, ""),
        (["propose", "talk.json", "--yes"], 1, "Interrupted with 1 piece left. Run the same"),
        (["model", "check"], 1, ""),
        (["pipeline", "run", "talk.dot", "--engine", "model"], 2, ""),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else str(given),
)
def test_a_model_that_never_answers(
    talk: Reviewer, words: list[str], presses: int, said: str
) -> None:
    asked, over = Event(), Event()

    def hangs(call: Call) -> None:
        call.begins()
        asked.set()
        over.wait(PATIENCE)

    (talk.folder / "talk.dot").write_text('digraph { start -> a -> exit; a [prompt="A"] }')
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
    assert said in err
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
