"""Each real agent: connected, the packet in what its model gets, a proposal in the queue, and every
file as it was after it is disconnected.
"""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from reviewer.agents.agent_files import AgentFiles
from tests.cli.agent_projects import filled
from tests.cli.conftest import Reviewer
from tests.clients.conftest import Client, work_tree
from tests.clients.fake_model import FakeModel
from tests.waiting import until

pytestmark = [pytest.mark.clients, pytest.mark.timeout(1_000), pytest.mark.xdist_group("clients")]

AGENTS = ("claude-code", "codex", "gemini", "opencode", "copilot")

TASK = "Which paper are the tickets printed on?"
"""A packet for a task leaves out what has nothing to do with it."""

KEEP, KEPT = "Keep all of this in the summary", "given again after the compaction."
"""How what a compaction must keep begins and ends."""

PACKET_SENT = re.compile(
    r"(?:<|&lt;)recalled-memory[^\n]*\n# Context packet.*?/recalled-memory(?:>|&gt;)", re.DOTALL
)
"""Gemini CLI escapes the tags."""

RULES = [
    f"The spooler of gate {gate} needs port {9400 + gate} free, otherwise it hangs silently."
    for gate in range(1, 60)
]
"""One for each try: what an agent did not wait for is queued all the same, and then known."""


def settings_files(home: Path) -> dict[Path, bytes]:
    """The files that agents read their settings from, as they are."""
    return {
        path: path.read_bytes()
        for name in (".claude.json", ".claude", ".codex", ".gemini", ".config/opencode", ".copilot")
        for path in (home / name, *(home / name).rglob("*"))
        if path.is_file() and path.suffix in (".json", ".toml", ".jsonc", ".js")
    }


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_gets_the_packet_and_proposes(
    agent: str, program: Reviewer, model: FakeModel
) -> None:
    client = Client(agent, program, model)
    folder = work_tree(program)
    (folder / "spooler.md").write_text("\n\n".join(["# Spooler", *RULES, ""]))
    before = settings_files(client.home)
    done = program("connect", agent, "--yes")
    assert done.returncode == 0, done.stderr
    wired = {path: data for path, data in settings_files(client.home).items()
             if before.get(path) != data}  # fmt: skip
    assert wired

    def prompt(number: int) -> str:
        rule = RULES[number % len(RULES)]
        passage = {"text": rule, "file": "spooler.md"}
        calls = {"search": {"words": "gate"}, "propose": {"statement": rule, "quotes": [passage]}}
        return " ".join(f"[[CALL {tool} {json.dumps(given)}]]" for tool, given in calls.items())

    files = AgentFiles(program.db)

    def all_of_it() -> bool:
        sent = model.sent()
        return (
            "Tickets are printed on thermal paper" in sent
            and "] (constraint) The gate controller accepts" in sent
            and "Queued as #" in sent
            and files.given(agent) is not None
            and (agent == "opencode" or any(note.ended for note in files.sessions()))
        )

    client.run_until(all_of_it, lambda number: f"{TASK} {prompt(number)}", folder)
    sent = model.sent()
    assert 'recalled-memory source="reviewer"' in sent
    named = ["--project", folder.name]
    proposed = [*named, "queue", "list", "--filter", "proposer:mcp"]
    rows = program.rows(*proposed)
    assert rows
    assert {row["content"] for row in rows} <= {rule.rstrip(".") for rule in RULES}
    assert {row["rule"] for row in rows} == {f"mcp.{agent}"}
    given = files.given(agent)
    assert given is not None
    assert given.project == folder.name
    assert PACKET_SENT.search(sent)

    unchanged = {path for path, data in wired.items() if path.read_bytes() == data}
    done = program("disconnect", agent, "--yes")
    assert done.returncode == 0, done.stderr
    for path in sorted(wired):
        now = path.read_bytes() if path.exists() else None
        assert now == before.get(path) or path not in unchanged
        assert now is None or b"reviewer" not in now


def between(text: str, first: str, last: str) -> str:
    """The first passage from some words to some others."""
    start = text.index(first)
    return text[start : text.index(last, start) + len(last)]


def test_claude_code_reads_the_line_in_its_memory_folder(
    program: Reviewer, model: FakeModel
) -> None:
    client = Client("claude-code", program, model)
    folder = work_tree(program)
    done = subprocess.run(
        [sys.executable, "-m", "reviewer", "--db", program.db, "connect", "claude-code",
         "--memory", "--yes"],
        cwd=folder, env=program.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    line = "[Decided by the person: ticket-office](reviewer.md)"
    client.run_until(lambda: line in model.sent(), "Have a look.", folder)
    sent = model.sent()
    assert "thermal paper" not in sent  # the file itself is read when it is needed


def test_claude_code_is_told_what_a_compaction_must_keep(
    program: Reviewer, model: FakeModel
) -> None:
    client = Client("claude-code", program, model)
    folder = work_tree(program)
    assert program("connect", "claude-code", "--yes").returncode == 0
    session = "6f2f3a52-95a2-4b53-8d44-0d6a3f4f2b11"
    for turn in ("Never call the gate controller from tests.", "Now print two languages."):
        more = ["--session-id", session] if turn.startswith("Never") else ["--resume", session]
        assert client.run(turn, folder, *more).returncode == 0
    model.requests.clear()
    client.run_until(lambda: KEEP in model.sent(), "/compact", folder, "--resume", session)
    told = between(model.sent(), KEEP, KEPT)
    assert "Never call the gate controller from tests." in told


def test_our_own_headless_call_runs_no_hook(program: Reviewer, model: FakeModel) -> None:
    """Also where the flags that turn hooks off were forgotten."""
    client = Client("claude-code", program, model)
    folder = filled(program)
    assert program("connect", "claude-code", "--yes").returncode == 0
    client.environment["REVIEWER_CHILD"] = "1"
    client.run_until(lambda: model.requests, "Hello.", folder)
    assert "thermal paper" not in model.sent()
    assert AgentFiles(program.db).sessions() == []


def test_opencode_is_told_what_a_compaction_must_keep(program: Reviewer, model: FakeModel) -> None:
    client = Client("opencode", program, model)
    folder = work_tree(program)
    assert program("connect", "opencode", "--yes").returncode == 0
    client.run("Hello.", folder)  # it prepares itself when it starts first
    port = free_port()
    names = {"providerID": "fake", "modelID": "fake-1"}
    with subprocess.Popen(
        [client.command, "serve", "--port", str(port)],
        cwd=folder, env=client.environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as server:  # fmt: skip
        try:
            made: list[str] = []
            until(lambda: made or answers(port, "/session", {}, made, seconds=10), 200)
            session = json.loads(made[0])["id"]
            said = {"model": names, "parts": [{"type": "text", "text": "Print two languages."}]}

            def sent_after(path: str, body: dict[str, Any], words: str) -> bool:
                return answers(port, f"/session/{session}/{path}", body, made) and (
                    words in model.sent()
                )

            until(lambda: sent_after("message", said, "thermal paper"), 240)
            model.requests.clear()
            until(lambda: sent_after("summarize", names, KEEP), 240)
        finally:
            server.terminate()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def answers(
    port: int, path: str, body: dict[str, Any], into: list[str], *, seconds: float = 120
) -> bool:
    """Whether a server answers a request with success; its answer goes into a list."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}",
        json.dumps(body).encode(),
        {"content-type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=seconds) as response:
            into.append(response.read().decode())
    except (urllib.error.URLError, TimeoutError):
        return False
    return True
