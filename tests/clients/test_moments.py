"""Each real agent at the moments of its work: a failed call, a guarded call, an edit, and a prompt
that names an act bring the memories that belong there into its next request, and each is counted.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Reviewer
from tests.clients.conftest import Client, work_tree
from tests.clients.fake_model import FakeModel
from tests.stored import rows_of
from tests.waiting import until

pytestmark = [pytest.mark.clients, pytest.mark.timeout(1_000), pytest.mark.xdist_group("clients")]

AGENTS = ("claude-code", "codex", "gemini", "opencode", "copilot")

FAILING = "printf 'till/coin.go:41:3: error is not nil but it returns nil (nilerr)\\n'; exit 1"
AT_FAILURE = "A swallowed error needs a directive and its reason in the same line."
AT_PUSH = "Others push too, so rebase on their work first."
AT_READ = "Old numbers are gone since the move."
AT_EDIT = "Every coin has its weight in grams."
AT_CHECK = "The check needs the coins of the till first: run make coins."
CHECK = """check:
	@echo 'a coin is missing' >&2; exit 1
"""


def project(program: Reviewer, agent: str) -> Path:
    """A project with a memory for a failure and one that guards a command, connected."""
    folder = work_tree(program)
    named = ["--project", folder.name]
    (folder / "Makefile").write_text(CHECK)
    moments = (
        (AT_FAILURE, "error nilerr"),
        (AT_PUSH, "guard git push"),
        (AT_CHECK, "command make check"),
    )
    for text, when in moments:
        assert program(*named, "remember", text, "--type", "knowledge").returncode == 0
        number = max(program.ids(*named))
        assert program(*named, "promote", number).returncode == 0
        assert program(*named, "edit", number, "--when", when).returncode == 0
    assert program(*named, "recall", "--command", "ls").returncode == 0  # makes them ready
    done = program("connect", agent, "--yes")
    assert done.returncode == 0, done.stderr
    return folder


def uses(program: Reviewer) -> set[tuple[str, str]]:
    """Each moment at which a memory was handed over, with the memory."""
    sql = "SELECT u.moment, m.content FROM use_of_memory u JOIN memory m ON m.id = u.memory_id"
    return {(moment, content) for moment, content in rows_of(program.db, sql)}


@pytest.mark.parametrize("agent", AGENTS)
def test_a_failed_call_brings_its_memory(agent: str, program: Reviewer, model: FakeModel) -> None:
    client = Client(agent, program, model)
    folder = project(program, agent)
    client.run_until(lambda: AT_FAILURE in model.sent(), f"Check it. [[RUN {FAILING}]]", folder)
    assert ("error", AT_FAILURE) in uses(program)


@pytest.mark.parametrize(
    ("agent", "tool"),
    [
        ("claude-code", "mcp__reviewer__read"),
        ("gemini", "mcp_reviewer_read"),
        ("copilot", "reviewer-read"),
    ],
)
def test_a_failed_call_of_a_tool_brings_its_memory(
    agent: str, tool: str, program: Reviewer, model: FakeModel
) -> None:
    client = Client(agent, program, model)
    folder = project(program, agent)
    named = ["--project", folder.name]
    assert program(*named, "remember", AT_READ, "--type", "knowledge").returncode == 0
    number = max(program.ids(*named))
    assert program(*named, "promote", number).returncode == 0
    done = program(*named, "edit", number, "--when", f"tool {tool}")
    path, said, _ = done.stderr.partition(" is rewritten")
    if said:  # else the process that `connect` has started was first
        settings = Path(path.splitlines()[-1])
        until(lambda: tool in settings.read_text(), 20)
    call = '[[CALL read {"what": "m:99999"}]]'
    client.run_until(lambda: ("error", AT_READ) in uses(program), f"Look it up. {call}", folder)
    assert AT_READ in model.sent()


@pytest.mark.parametrize("call", ["make check 2>&1 | tail -5", "cd . && make check 2>&1 | cat"])
def test_a_failure_that_the_shell_hides_brings_the_memory_of_its_command(
    call: str, program: Reviewer, model: FakeModel
) -> None:
    client = Client("claude-code", program, model)
    folder = project(program, "claude-code")
    model.runs = [call]
    client.run_until(
        lambda: ("error", AT_CHECK) in uses(program), "See whether it is well.", folder
    )
    until(lambda: "for the failed call" in model.sent(), 20)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_guard_denies_once(agent: str, program: Reviewer, model: FakeModel) -> None:
    client = Client(agent, program, model)
    folder = project(program, agent)
    call = "[[RUN git -C . push nowhere]]"

    def denied_once() -> bool:
        sent = json.dumps(model.requests[-1]) if model.requests else ""
        return "Repeat the call to go on." in sent and "fatal: " in sent

    client.run_until(denied_once, f"Do it. {call} {call}", folder)
    assert ("guard", AT_PUSH) in uses(program)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_prompt_that_names_an_act_brings_its_memory(
    agent: str, program: Reviewer, model: FakeModel
) -> None:
    client = Client(agent, program, model)
    folder = project(program, agent)
    client.run_until(
        lambda: ("prompt", AT_PUSH) in uses(program), "Please push it and open a PR.", folder
    )
    until(lambda: "what this prompt names" in model.sent(), 20)


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("claude-code", "fake-1"),
        ("codex", "gpt-5.5"),
        ("codex", "gpt-6-sol"),
        ("gemini", "fake-1"),
        ("opencode", "fake-1"),
        ("opencode", "gpt-6"),
        ("copilot", "fake-1"),
        ("copilot", "gpt-6"),
    ],
)
def test_the_first_edit_of_a_file_brings_its_memory(
    agent: str, name: str, program: Reviewer, model: FakeModel
) -> None:
    client = Client(agent, program, model, name)
    folder = project(program, agent)
    named = ["--project", folder.name]
    assert program(*named, "remember", AT_EDIT, "--type", "knowledge").returncode == 0
    number = max(program.ids(*named))
    assert program(*named, "promote", number).returncode == 0
    assert program(*named, "edit", number, "--when", "edit coins/").returncode == 0
    (folder / "coins").mkdir()

    def prompt(number: int) -> str:
        model.requests.clear()
        model.writes = [folder / "coins" / f"{coin}{number}" for coin in ("copper", "silver")]
        return "Do it."

    def given() -> list[int]:
        counts = [json.dumps(body).count("for edits of coins/:") for body in model.requests]
        return [count for count in counts if count]

    more = ("--sandbox", "danger-full-access") if agent == "codex" else ()
    client.run_until(lambda: given() == [1, 1], prompt, folder, *more)  # behind each of two edits
    assert ("edit", AT_EDIT) in uses(program)
    assert all(path.read_text() == "new\n" for path in model.writes)
