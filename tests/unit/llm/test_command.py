"""An agent's command line as a model, with programs that behave well and badly."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from reviewer.llm.command import CommandChat, agents_found
from reviewer.llm.model import CancelledError, ChatMessage, ModelError
from reviewer.llm.open_model import check_model
from reviewer.settings import ModelSettings, Settings
from tests.waiting import PATIENCE, is_gone, until

ASK = [ChatMessage("system", "Be short."), ChatMessage("user", "What is a ledger?")]
TOKEN = "ghp_" + "x7Kd9QwErTy" * 4
SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def program(folder: Path, body: str, name: str = "ask") -> Path:
    """A program of these lines of Python; `seen` collects what it was given."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    seen = folder / "seen.json"
    path.write_text(
        f"#!{sys.executable}\n"
        "import json, os, subprocess, sys, time\n"
        "def note(**more):\n"
        "    known = {'argv': sys.argv[1:], 'cwd': os.getcwd(), 'environment': dict(os.environ),\n"
        "             'files': {name: open(name).read() for root, _, names in os.walk('.')\n"
        "                       for name in (os.path.join(root, one) for one in names)}}\n"
        f"    own = {str(seen)!r} + str(os.getpid())  # two may be asked at once\n"
        "    open(own, 'w').write(json.dumps({**known, **more}))\n"
        f"    os.rename(own, {str(seen)!r})\n"
        "def say(text): sys.stdout.write(text); sys.stdout.flush()\n"
        "def complain(text): sys.stderr.write(text); sys.stderr.flush()\n"
        f"{body}\n",
        encoding="utf-8",
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def seen(folder: Path) -> dict[str, Any]:
    found = json.loads((folder / "seen.json").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def chat(path: Path, *arguments: str, **more: Any) -> CommandChat:
    return CommandChat(
        ModelSettings(command=(str(path), *arguments), **{"timeout": PATIENCE, **more}),
    )


def agent(folder: Path, name: str, body: str, model: str = "", **more: str) -> CommandChat:
    """A known agent, replaced by a program of the same name."""
    program(folder, body, name)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return CommandChat(
        ModelSettings(command=(name,), name=model, timeout=PATIENCE),
        environment={**os.environ, "PATH": path, "CLAUDECODE": "1", **more},
    )


def test_any_program_gets_the_prompt_and_its_output_is_the_answer(tmp_path: Path) -> None:
    path = program(tmp_path, "note(prompt=sys.stdin.read()); say('A book of acts.\\n')")
    answer = chat(path, "--plain").complete(ASK, max_tokens=50)
    given = seen(tmp_path)
    assert (answer.text, answer.model) == ("A book of acts.", "ask")
    assert answer.counted_by == "cl100k_base"
    assert given["argv"] == ["--plain"]
    assert given["prompt"] == "Be short.\n\nWhat is a ledger?"
    assert given["environment"]["REVIEWER_CHILD"] == "1"  # hooks of ours are silent
    # Else Claude Code replaces `@path` in a prompt, which may quote anybody, by the file.
    assert given["environment"]["CLAUDE_CODE_DISABLE_ATTACHMENTS"] == "1"


def test_it_runs_in_an_empty_folder_that_is_gone_afterwards(tmp_path: Path) -> None:
    path = program(tmp_path, "note(mode=os.stat('.').st_mode & 0o777); say('Yes.')")
    chat(path).complete(ASK, max_tokens=50)
    given = seen(tmp_path)
    assert given["files"] == {}
    assert given["mode"] == 0o700
    assert not Path(given["cwd"]).exists()


def test_secrets_are_masked_on_the_way_out_and_back(tmp_path: Path) -> None:
    path = program(tmp_path, f"note(prompt=sys.stdin.read()); say('It is {TOKEN}')")
    answer = chat(path).complete([ChatMessage("user", f"Push with {TOKEN}")], max_tokens=50)
    assert TOKEN not in seen(tmp_path)["prompt"] + answer.text
    assert "[masked github-token]" in seen(tmp_path)["prompt"]


def test_claude_gets_no_tools_no_hooks_no_servers_and_keeps_no_session(tmp_path: Path) -> None:
    told = {
        "type": "result", "is_error": False, "result": "A book of acts.",
        "usage": {"input_tokens": 3, "cache_creation_input_tokens": 4, "output_tokens": 5},
        "modelUsage": {"claude-haiku-5-5": {}},
    }  # fmt: skip
    model = agent(tmp_path, "claude", f"note(prompt=sys.stdin.read()); say({json.dumps(told)!r})")
    answer = model.complete(ASK, max_tokens=50)
    given = seen(tmp_path)
    assert given["argv"] == [
        "-p", "--output-format", "json", "--tools", "", "--setting-sources", "",
        "--strict-mcp-config", "--no-session-persistence", "--system-prompt", "Be short.",
    ]  # fmt: skip
    assert given["prompt"] == "What is a ledger?"
    assert "CLAUDECODE" not in given["environment"]
    assert (answer.text, answer.model) == ("A book of acts.", "claude-haiku-5-5")
    assert (answer.prompt_tokens, answer.completion_tokens) == (7, 5)
    assert answer.counted_by == "endpoint"


def test_claude_can_be_asked_for_a_shape_and_a_model(tmp_path: Path) -> None:
    told = {"is_error": False, "result": "", "structured_output": {"statements": []}}
    model = agent(tmp_path, "claude", f"note(); say({json.dumps(told)!r})", model="haiku")
    answer = model.complete(ASK, schema=SCHEMA, max_tokens=50)
    given = seen(tmp_path)["argv"]
    assert given[given.index("--model") + 1] == "haiku"
    assert json.loads(given[given.index("--json-schema") + 1]) == SCHEMA
    assert json.loads(answer.text) == {"statements": []}


def test_codex_gets_no_tools_no_hooks_and_answers_in_a_file(tmp_path: Path) -> None:
    body = """
note(prompt=sys.stdin.read())
given = sys.argv
open(given[given.index('-o') + 1], 'w').write('A book of acts.')
say('{"type":"turn.completed","usage":{"input_tokens":9,"output_tokens":4}}')
"""
    model = agent(tmp_path, "codex", body)
    answer = model.complete(ASK, schema=SCHEMA, max_tokens=50)
    given = seen(tmp_path)
    for wanted in (
        "--ephemeral", "--ignore-user-config", "features.hooks=false", "features.shell_tool=false",
        "project_doc_max_bytes=0", "read-only",
    ):  # fmt: skip
        assert wanted in given["argv"]
    assert given["argv"][-1] == "-"
    assert json.loads(given["files"]["./schema.json"]) == SCHEMA
    assert given["files"]["./system.md"] == "Be short."
    assert (answer.text, answer.prompt_tokens, answer.completion_tokens) == (
        "A book of acts.", 9, 4,
    )  # fmt: skip


def test_an_answer_of_codex_of_any_size_is_not_taken_into_memory(tmp_path: Path) -> None:
    body = "open(sys.argv[sys.argv.index('-o') + 1], 'wb').truncate(1 << 40)"
    with pytest.raises(ModelError, match=r"answer\.txt cannot be read.*larger than"):
        agent(tmp_path, "codex", body).complete(ASK, max_tokens=50)


def test_gemini_gets_settings_without_tools_servers_and_hooks(tmp_path: Path) -> None:
    told = {
        "response": "A book of acts.",
        "stats": {"models": {"gemini-x": {"tokens": {"prompt": 9, "candidates": 4}}}},
    }
    model = agent(tmp_path, "gemini", f"note(prompt=sys.stdin.read()); say({json.dumps(told)!r})")
    answer = model.complete(ASK, max_tokens=50)
    given = seen(tmp_path)
    settings = json.loads(given["files"]["./.gemini/settings.json"])
    assert settings["tools"] == {"core": []}
    assert settings["hooksConfig"] == {"enabled": False}
    assert given["argv"] == ["-p", "", "-o", "json", "-e", "none", "--skip-trust"]
    assert given["environment"]["GEMINI_SYSTEM_MD"].endswith("system.md")
    assert (answer.text, answer.model, answer.prompt_tokens) == ("A book of acts.", "gemini-x", 9)


def test_opencode_gets_an_agent_without_tools(tmp_path: Path) -> None:
    events = [
        {"type": "step_start"},
        {"type": "text", "part": {"text": "A book "}},
        {"type": "text", "part": {"text": "of acts."}},
        {"type": "step_finish", "part": {"tokens": {"input": 9, "output": 4}}},
    ]
    lines = "\n".join(json.dumps(each) for each in events)
    model = agent(tmp_path, "opencode", f"note(prompt=sys.stdin.read()); say({lines!r})")
    answer = model.complete(ASK, max_tokens=50)
    given = seen(tmp_path)
    config = json.loads(given["environment"]["OPENCODE_CONFIG_CONTENT"])
    assert config["agent"]["txt"]["tools"] == {"*": False}
    assert config["mcp"]["reviewer"]["enabled"] is False
    assert given["environment"]["OPENCODE_DB"] == ":memory:"
    assert (answer.text, answer.completion_tokens) == ("A book of acts.", 4)


def test_copilot_gets_no_tools_and_a_home_of_its_own(tmp_path: Path) -> None:
    model = agent(tmp_path, "copilot", "note(prompt=sys.stdin.read()); say('A book of acts.')")
    answer = model.complete(ASK, max_tokens=50)
    given = seen(tmp_path)
    assert "--available-tools=none" in given["argv"]
    assert "--disable-builtin-mcps" in given["argv"]
    assert given["environment"]["COPILOT_HOME"] == f"{given['cwd']}/copilot"
    assert given["environment"]["REVIEWER_CHILD"] == "1"
    assert answer.text == "A book of acts."


def test_what_gemini_leaves_in_the_home_is_removed_and_nothing_else(tmp_path: Path) -> None:
    home = tmp_path / "home"
    body = """
from pathlib import Path
for name, root in (("reviewer-ours", os.getcwd()), ("reviewer-work", "/somebody/reviewer-work")):
    for kept in ("tmp", "history"):
        folder = Path(os.environ["HOME"], ".gemini", kept, name)
        folder.mkdir(parents=True)
        (folder / ".project_root").write_text(root)
        (folder / "chat.jsonl").write_text("{}")
say('{"response": "A book of acts."}')
"""
    model = agent(tmp_path, "gemini", body, HOME=str(home))
    assert model.complete(ASK, max_tokens=50).text == "A book of acts."
    left = sorted(str(path.relative_to(home)) for path in home.rglob("chat.jsonl"))
    assert left == [
        ".gemini/history/reviewer-work/chat.jsonl", ".gemini/tmp/reviewer-work/chat.jsonl",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("say('An answer.'); complain('disk full\\n'); sys.exit(1)", ["exit code 1", "disk full"]),
        ("os.kill(os.getpid(), 9)", ["signal 9", "does not say why"]),
        ("say('  \\n')", ["empty answer"]),
        ("complain('Not logged in\\n'); sys.exit(1)", ["Not logged in", "log in with ask"]),
        (f"complain('bad key {TOKEN}\\n'); sys.exit(1)", ["[masked github-token]"]),
        (r"complain('\x1b[31mboom\x1b[0m\n'); sys.exit(3)", ["exit code 3", "boom."]),
    ],
)
def test_a_failure_is_one_sentence(tmp_path: Path, body: str, said: list[str]) -> None:
    with pytest.raises(ModelError) as failed:
        chat(program(tmp_path, body)).complete(ASK, max_tokens=50)
    message = str(failed.value)
    assert all(words in message for words in said), message
    assert "\n" not in message
    assert "\x1b" not in message
    assert TOKEN not in message


@pytest.mark.parametrize(
    ("name", "body", "said"),
    [
        ("claude", """say('{"is_error": true, "result": "API Error: 529 overloaded"}')""",
         ["Claude Code", "529", "run claude in a terminal"]),
        ("gemini",
         """inner = json.dumps({'error': {'code': 400, 'message': 'bad model', 'status': 'BAD'}})
error = {'type': 'Error', 'message': inner, 'code': 400}
complain('Error when talking to Gemini API\\n    at main {\\n  status: 400\\n}\\n')
complain(json.dumps({'session_id': 'one', 'error': error}, indent=2) + '\\n')
sys.exit(144)""", ["Gemini CLI", "exit code 144", "bad model (400)."]),
        ("codex",
         """inner = json.dumps({'error': {'message': 'no such model'}})
say(json.dumps({'type': 'turn.failed', 'error': {'message': inner}}))
sys.exit(1)""", ["Codex", "code 1): no such model."]),
        ("copilot", """complain('Package extraction took 3ms\\n429 rate limit reached\\n')
sys.exit(1)""", ["Copilot CLI", "rate limit"]),
        ("opencode",
         """data = {'message': 'try later', 'statusCode': 429, 'isRetryable': True}
say(json.dumps({'type': 'error', 'error': {'name': 'APIError', 'data': data}}))
sys.exit(1)""", ["OpenCode", "try later (429)"]),
    ],
)  # fmt: skip
def test_an_error_of_an_agent_is_read_from_its_own_shape(
    tmp_path: Path, name: str, body: str, said: list[str]
) -> None:
    with pytest.raises(ModelError) as failed:
        agent(tmp_path, name, body).complete(ASK, max_tokens=50)
    assert all(words in str(failed.value) for words in said), failed.value


def test_reports_of_errors_are_written_into_the_folder_that_goes(tmp_path: Path) -> None:
    """Those of Gemini CLI have the whole question in them."""
    body = """
import tempfile
note(report=tempfile.mkstemp()[1])
say('{"response": "A book of acts."}')
"""
    agent(tmp_path, "gemini", body).complete(ASK, max_tokens=50)
    given = seen(tmp_path)
    assert Path(given["report"]).is_relative_to(given["cwd"])
    assert not Path(given["report"]).exists()


def test_a_command_that_hangs_is_ended_with_all_it_started(tmp_path: Path) -> None:
    path, child = tmp_path / "ask", tmp_path / "child"
    path.write_text(  # a shell begins within the two seconds on any machine
        "#!/bin/sh\ntrap '' TERM\nsleep 600 &\n"
        f"echo $! > '{child}'\necho still connecting >&2\nsleep 600\n"
    )
    path.chmod(0o755)
    with pytest.raises(ModelError, match=r"within 2 seconds.*still connecting"):
        chat(path, timeout=2.0).complete(ASK, max_tokens=50)
    until(lambda: is_gone(int(child.read_text())))


def test_a_cancellation_ends_the_whole_group(tmp_path: Path) -> None:
    body = """
child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])
note(child=child.pid)
time.sleep(600)
"""
    with pytest.raises(CancelledError):
        chat(program(tmp_path, body)).complete(
            ASK, max_tokens=50, cancelled=(tmp_path / "seen.json").exists
        )
    until(lambda: is_gone(seen(tmp_path)["child"]))


@pytest.mark.parametrize("body", ["\nwhile True: say('x' * 65536)", "\nsay('x' * (9 << 20))"])
def test_a_flood_is_stopped_or_refused_once_it_ended(tmp_path: Path, body: str) -> None:
    with pytest.raises(ModelError, match="printed more than 8 MB"):
        chat(program(tmp_path, body)).complete(ASK, max_tokens=50)


def test_a_missing_command_is_named_with_what_is_installed(tmp_path: Path) -> None:
    program(tmp_path, "", "codex")
    with pytest.raises(ModelError, match=r"claude was not found.*Installed here: codex"):
        CommandChat(ModelSettings(command=("claude",)), environment={"PATH": str(tmp_path)})
    assert [each.title for each in agents_found(str(tmp_path))] == ["Codex"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (ModelSettings(command=("claude",), base_url="https://models.example/v1"), "Both"),
        (ModelSettings(command=("",)), "must begin with a program"),
        (ModelSettings(command=("a\0b",)), "must begin with a program"),
    ],
)
def test_unusable_settings_are_refused(settings: ModelSettings, said: str) -> None:
    with pytest.raises(ModelError, match=said):
        check_model(Settings(model=settings))
