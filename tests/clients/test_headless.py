"""The person's agent as the model: its real program is offered no tools, runs no hooks and is not
told the packet, and its answers and errors are understood.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from reviewer.llm.command import CommandChat
from reviewer.llm.model import ChatMessage, ModelError
from reviewer.settings import ModelSettings
from tests.cli.agent_projects import filled
from tests.cli.conftest import Reviewer
from tests.cli.test_propose import FOUND, TRUE, WORDS, session, settings
from tests.clients.conftest import PATIENCE, Client
from tests.clients.fake_model import FakeModel

pytestmark = [pytest.mark.clients, pytest.mark.timeout(1_000), pytest.mark.xdist_group("clients")]

AGENTS = {
    "claude-code": ("claude", "haiku"), "codex": ("codex", "fake-1"),
    "gemini": ("gemini", "gemini-2.5-flash-lite"), "opencode": ("opencode", "fake/fake-1"),
    "copilot": ("copilot", "fake-1"),
}  # fmt: skip
"""Agent -> the name that settings give it, and a model."""

OFFERED = {"codex": {"request_user_input"}}
"""The tools that no flag takes away."""


CODEX = """#!/bin/sh
shift
exec {command} exec -c 'model_provider="fake"' \\
    -c 'model_providers.fake={{name="fake",base_url="{url}/v1",env_key="FAKE_KEY",\
wire_api="responses",request_max_retries=1,stream_max_retries=1}}' "$@"
"""


def asked(client: Client, program: Reviewer) -> CommandChat:
    """A chat through the real program, on a PATH of its own."""
    name, model = AGENTS[client.agent]
    folder = program.folder / "bin"
    folder.mkdir()
    if client.agent == "codex":  # it is asked without its settings, which name our model
        (folder / name).write_text(CODEX.format(command=client.command, url=client.model.url))
        (folder / name).chmod(0o755)
    else:
        (folder / name).symlink_to(client.command)
    chosen = ModelSettings(command=(name,), name=model, timeout=PATIENCE)
    environment = {**client.environment, "PATH": chat_path(program, client)}
    return CommandChat(chosen, environment=environment)


def chat_path(program: Reviewer, client: Client) -> str:
    """A PATH on which the agent comes first."""
    return f"{program.folder / 'bin'}{os.pathsep}{client.environment['PATH']}"


def offered(body: dict[str, Any]) -> set[str]:
    """The names of the tools in a request."""
    names: set[str] = set()
    for tool in body.get("tools") or []:
        own = tool.get("functionDeclarations", tool.get("tools", [tool]))
        names |= {each.get("name") or each.get("function", {}).get("name", "") for each in own}
    return names


def transcripts(home: Path) -> set[Path]:
    return {path for path in home.rglob("*.jsonl") if "history" not in path.name}


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_answers_without_tools_hooks_or_a_session(
    agent: str, program: Reviewer, model: FakeModel
) -> None:
    client = Client(agent, program, model)
    filled(program)
    assert program("connect", agent, "--yes").returncode == 0
    chat = asked(client, program)
    before = transcripts(client.home)
    answer = chat.complete(
        [ChatMessage("system", "Be brief."), ChatMessage("user", "What is it?")], max_tokens=100
    )
    assert answer.text.strip() == "OK"
    assert model.requests
    for body in model.requests:
        assert offered(body) == OFFERED.get(agent, set())
    sent = model.sent()
    assert "Be brief." in sent
    assert "thermal paper" not in sent
    assert transcripts(client.home) == before
    assert not Path(f"{program.db}-agents/sessions").exists()


@pytest.mark.parametrize("agent", AGENTS)
def test_its_statements_wait_with_their_proof(
    agent: str, program: Reviewer, model: FakeModel
) -> None:
    """The whole way of `reviewer propose`, from the settings to the queue."""
    client = Client(agent, program, model)
    chat = asked(client, program)
    name = AGENTS[agent][1]
    environment = {**client.environment, "PATH": chat_path(program, client)}
    environment |= settings(program, command=[AGENTS[agent][0]], name=name, timeout=PATIENCE)
    model.says = FOUND
    done = program("propose", session(program), "--yes", env=environment)
    assert done.returncode == 0, (done.stdout, done.stderr)
    (row,) = program.rows("queue", "list")
    assert row["content"].rstrip(".") == TRUE.rstrip(".")
    assert row["rule"] == f"command.{chat.name}"
    assert WORDS in model.sent()


TALK = [
    "The kiosk in bay 7 prints too slowly. Never restart the spooler while tickets are printed.",
    "I measured it: the spooler opens port 9417 for each ticket, which takes 300 ms. "
    + "It waits for an answer, writes a few bytes and goes away again, as it always did. " * 12,
    "Then keep the port open.",
    "Done: `spooler.py` keeps port 9417 open, and a ticket takes 40 ms now.",
    "Good. Write a test for it, and do not touch the gate controller.",
    "The test is `test_port_stays_open` in tests/test_spooler.py; it passes.",
]
SUMMARY = "The kiosk printed too slowly; `spooler.py` keeps port 9417 open now, 40 ms a ticket."


@pytest.mark.parametrize("agent", AGENTS)
def test_it_writes_a_summary_that_is_applied(
    agent: str, program: Reviewer, model: FakeModel
) -> None:
    """The whole way of `reviewer compress --engine model`, from the settings to the context."""
    client = Client(agent, program, model)
    project = filled(program).name
    assert program("connect", agent, "--yes").returncode == 0
    asked(client, program)
    talk = [
        {"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(TALK)
    ]
    (program.folder / "talk.json").write_text(json.dumps(talk))
    named = ["--project", project]
    assert program(*named, "context", "import", program.folder / "talk.json").returncode == 0
    environment = {**client.environment, "PATH": chat_path(program, client)}
    environment |= settings(
        program, command=[AGENTS[agent][0]], name=AGENTS[agent][1], timeout=PATIENCE
    )
    model.says = SUMMARY
    made = (*named, "compress", "talk", "--engine", "model", "--apply", "--anyway")
    done = program(*made, env=environment)
    assert done.returncode == 0, (done.stdout, done.stderr)
    compiled = program(*named, "compile", "talk").stdout
    assert SUMMARY in compiled
    assert TALK[2] not in compiled
    sent = model.sent()
    assert TALK[3] in sent
    assert "thermal paper" not in sent  # no hook was run
    for body in model.requests:
        assert offered(body) == OFFERED.get(agent, set())
    assert holding(client.home, TALK[3]) == []
    assert not Path(f"{program.db}-agents/sessions").exists()


def holding(home: Path, words: str) -> list[Path]:
    """The files of a home that have some words, other than answers that `reviewer` keeps."""
    return [
        path.relative_to(home)
        for path in home.rglob("*")
        if path.is_file()
        and not path.is_relative_to(home / ".cache" / "reviewer")
        and words.encode() in path.read_bytes()
    ]


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(("status", "sentence"), [(400, "made-up error"), (401, "gave no answer")])
def test_an_error_of_the_model_is_a_sentence(
    agent: str, program: Reviewer, model: FakeModel, status: int, sentence: str
) -> None:
    client = Client(agent, program, model)
    chat = asked(client, program)
    model.status = status
    with pytest.raises(ModelError) as caught:
        chat.complete([ChatMessage("user", "What is it?")], max_tokens=100)
    assert sentence in str(caught.value)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_file_that_the_text_names_is_not_sent(
    agent: str, program: Reviewer, model: FakeModel
) -> None:
    """Agents replace `@path` in a prompt by the file, and a transcript may say anything."""
    client = Client(agent, program, model)
    chat = asked(client, program)
    for place in (program.folder / "kept.txt", client.home / "kept.txt"):
        place.write_text("The pelican is never sent.\n")
    named = [f"@{program.folder}/kept.txt", "@~/kept.txt", f'@"{program.folder}/kept.txt"']
    words = "".join(f"Compare {each} with it.\n{each}\n({each})\n> {each}\n" for each in named)
    question = [ChatMessage("system", f"Be brief. {words}"), ChatMessage("user", words)]
    assert chat.complete(question, max_tokens=100).text.strip() == "OK"
    assert model.requests
    assert "pelican" not in model.sent()
