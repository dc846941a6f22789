"""The person's agent as the model: its real program is offered no tools, runs no hooks and is not
told the packet, and its answers and errors are understood.
"""

from __future__ import annotations

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
from tests.clients.conftest import Client
from tests.clients.fake_model import FakeModel

pytestmark = [pytest.mark.clients, pytest.mark.timeout(600), pytest.mark.xdist_group("clients")]

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
    chosen = ModelSettings(command=(name,), name=model, timeout=150)
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
    environment |= settings(program, command=[AGENTS[agent][0]], name=name, timeout=150)
    model.says = FOUND
    done = program("propose", session(program), "--yes", env=environment)
    assert done.returncode == 0, (done.stdout, done.stderr)
    (row,) = program.rows("queue", "list")
    assert row["content"].rstrip(".") == TRUE.rstrip(".")
    assert row["rule"] == f"command.{chat.name}"
    assert WORDS in model.sent()


@pytest.mark.parametrize("agent", ["claude-code", "codex", "opencode", "copilot"])
def test_an_error_of_the_model_is_a_sentence(
    agent: str, program: Reviewer, model: FakeModel
) -> None:
    client = Client(agent, program, model)
    chat = asked(client, program)
    model.status = 400
    with pytest.raises(ModelError) as caught:
        chat.complete([ChatMessage("user", "What is it?")], max_tokens=100)
    assert "made-up error" in str(caught.value)


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
