"""How each agent is called for one answer: flags, files, and the parsing of its output.

The flags leave the agent no tools, MCP servers, hooks or instruction files, and keep it from saving
the session. Each agent runs in an empty private folder.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from reviewer.files import read_own, reason_of
from reviewer.llm.model import JsonSchema


class AgentRequest(Struct, frozen=True):
    """A question for an agent, and the empty folder in which it runs."""

    program: str
    system: str
    prompt: str
    model: str
    """Empty for the agent's default."""
    schema: JsonSchema | None
    folder: Path


class Invocation(Struct, frozen=True):
    """A command line, its standard input, and additions to its environment."""

    argv: tuple[str, ...]
    prompt: str
    environment: Mapping[str, str] = {}


class CommandOutput(Struct, frozen=True):
    """The output of a command, without colour codes."""

    out: str
    err: str
    code: int
    folder: Path


class AgentAnswer(Struct, frozen=True):
    """An agent's answer, or the reason for its absence (`problem`). Tokens: -1 if not reported."""

    text: str = ""
    problem: str = ""
    model: str = ""
    prompt_tokens: int = -1
    completion_tokens: int = -1

    @property
    def usage(self) -> tuple[int, int] | None:
        """The tokens of prompt and answer, if both are reported."""
        both = self.prompt_tokens, self.completion_tokens
        return both if min(both) >= 0 else None


class Agent(Struct, frozen=True):
    """An agent's command line. `title`: its usual name; `login`: how to log in."""

    program: str
    title: str
    login: str
    prepare: Callable[[AgentRequest], Invocation]
    read: Callable[[CommandOutput], AgentAnswer]
    tidy: Callable[[Path, Mapping[str, str]], None] | None = None
    """Removes the files that a call leaves behind in the home of its environment."""
    context_tokens: int = 100_000
    """The smallest context window among its models, including its own prompt."""


def _claude(asked: AgentRequest) -> Invocation:
    argv = [asked.program, "-p", "--output-format", "json"]
    if asked.model:
        argv += ["--model", asked.model]
    argv += ["--tools", "", "--setting-sources", "", "--strict-mcp-config"]
    argv += ["--no-session-persistence"]
    if asked.schema is not None:
        argv += ["--json-schema", json.dumps(asked.schema)]
    # Without a system prompt of ours, the agent sends its default one and its memories.
    argv += ["--system-prompt", asked.system or "Answer the question."]
    return Invocation(tuple(argv), asked.prompt)


def _claude_answer(output: CommandOutput) -> AgentAnswer:
    reply = _object(output.out)
    if reply is None:
        return AgentAnswer(problem=last_words(output) or "it printed no JSON")
    result = reply.get("result")
    text = result if isinstance(result, str) else ""
    if reply.get("is_error"):
        return AgentAnswer(problem=text or "it reports an error without a message")
    if isinstance(reply.get("structured_output"), dict):
        text = json.dumps(reply["structured_output"], ensure_ascii=False)
    usage, models = _mapping(reply, "usage"), _mapping(reply, "modelUsage")
    sent = [
        usage.get(name)
        for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    ]
    return AgentAnswer(
        text,
        model=next(iter(models), ""),
        prompt_tokens=sum(count for count in sent if isinstance(count, int)) if any(sent) else -1,
        completion_tokens=_number(usage, "output_tokens"),
    )


LAST_MESSAGE, SCHEMA, SYSTEM = "answer.txt", "schema.json", "system.md"

_CODEX_OFF = (
    "features.hooks=false", "features.shell_tool=false", "features.view_image=false",
    "features.multi_agent=false", "features.goals=false", "features.apps=false",
    "features.plugins=false", "web_search=disabled", "skills.bundled.enabled=false",
    "project_doc_max_bytes=0", "model_reasoning_effort=low",
)  # fmt: skip


def _codex(asked: AgentRequest) -> Invocation:
    folder = asked.folder
    argv = [asked.program, "exec", "--json", "--ephemeral", "--skip-git-repo-check"]
    argv += ["--ignore-user-config", "--ignore-rules", "-s", "read-only", "-C", str(folder)]
    if asked.schema is not None:
        (folder / SCHEMA).write_text(json.dumps(asked.schema), encoding="utf-8")
        argv += ["--output-schema", str(folder / SCHEMA)]
    argv += ["-o", str(folder / LAST_MESSAGE)]
    if asked.model:
        argv += ["-m", asked.model]
    for setting in _CODEX_OFF:
        argv += ["-c", setting]
    if asked.system:
        (folder / SYSTEM).write_text(asked.system, encoding="utf-8")
        argv += ["-c", f"model_instructions_file={json.dumps(str(folder / SYSTEM))}"]
    return Invocation((*argv, "-"), asked.prompt)


def _codex_answer(output: CommandOutput) -> AgentAnswer:
    text, problem = "", ""
    usage: Mapping[str, Any] = {}
    for event in _events(output.out):
        item = _mapping(event, "item")
        if event.get("type") == "item.completed" and item.get("type") == "agent_message":
            text = _text(item, "text")
        elif event.get("type") == "turn.completed":
            usage = _mapping(event, "usage")
        elif event.get("type") == "turn.failed":
            problem = _text(_mapping(event, "error"), "message") or "the turn failed"
            passed_on = _mapping(_object(problem) or {}, "error")  # the endpoint's own error
            problem = _text(passed_on, "message") or problem
    try:
        text = read_own(output.folder / LAST_MESSAGE).decode("utf-8", "replace") or text
    except FileNotFoundError:
        pass  # it is in the events
    except OSError as unread:
        problem = problem or f"its {LAST_MESSAGE} cannot be read: {reason_of(unread)}"
    if problem or not text:
        return AgentAnswer(problem=problem or last_words(output))
    return AgentAnswer(
        text,
        prompt_tokens=_number(usage, "input_tokens"),
        completion_tokens=_number(usage, "output_tokens"),
    )


_GEMINI_SETTINGS = {
    "tools": {"core": []},
    "mcp": {"allowed": ["__none__"]},
    "hooksConfig": {"enabled": False},
    "context": {"fileName": "__none__.md", "includeDirectoryTree": False},
    "skills": {"enabled": False},
    "experimental": {"enableAgents": False},
}


def _gemini(asked: AgentRequest) -> Invocation:
    settings = asked.folder / ".gemini" / "settings.json"
    settings.parent.mkdir(mode=0o700)
    settings.write_text(json.dumps(_GEMINI_SETTINGS), encoding="utf-8")
    reports = asked.folder / "tmp"  # error reports, which contain the whole question
    reports.mkdir(mode=0o700)
    environment = {"TMPDIR": str(reports)}
    if asked.system:
        (asked.folder / SYSTEM).write_text(asked.system, encoding="utf-8")
        environment["GEMINI_SYSTEM_MD"] = str(asked.folder / SYSTEM)
    argv = [asked.program, "-p", "", "-o", "json"]
    if asked.model:
        argv += ["-m", asked.model]
    return Invocation((*argv, "-e", "none", "--skip-trust"), asked.prompt, environment)


def _gemini_answer(output: CommandOutput) -> AgentAnswer:
    reply = _object(output.out)
    if reply is None:
        return AgentAnswer(problem=last_words(output) or "it printed no JSON")
    error = _mapping(reply, "error")
    if error:
        return AgentAnswer(problem=_text(error, "message") or "it reports an error")
    models = _mapping(_mapping(reply, "stats"), "models")
    sent = answered = 0
    for used in models.values():
        tokens = _mapping(used, "tokens") if isinstance(used, dict) else {}
        sent += max(_number(tokens, "prompt"), 0)
        answered += max(_number(tokens, "candidates"), 0)
    return AgentAnswer(
        _text(reply, "response"),
        model=next(iter(models), ""),
        prompt_tokens=sent or -1,
        completion_tokens=answered or -1,
    )


def _gemini_tidy(folder: Path, environment: Mapping[str, str]) -> None:
    """Remove the chat of our folder, which Gemini CLI always saves."""
    home = environment.get("GEMINI_CLI_HOME") or environment.get("HOME", "")
    for kept in ("tmp", "history"):
        for marker in Path(home, ".gemini", kept).glob("reviewer-*/.project_root"):
            try:
                ours = marker.read_text(encoding="utf-8").strip() == str(folder)
            except (OSError, ValueError):
                continue
            if ours and not marker.parent.is_symlink():
                shutil.rmtree(marker.parent, ignore_errors=True)


def _opencode(asked: AgentRequest) -> Invocation:
    agent = {
        "mode": "primary",
        "prompt": asked.system or "Answer the question.",
        "tools": {"*": False},
        "permission": {"*": "deny"},
    }
    config = {
        "mcp": {"reviewer": {"type": "local", "command": ["reviewer"], "enabled": False}},
        "agent": {"txt": agent},
        "share": "disabled",
        "snapshot": False,
    }
    environment = {
        "OPENCODE_DB": ":memory:",
        "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
        "OPENCODE_CONFIG_CONTENT": json.dumps(config),
    }
    argv = [asked.program, "run", "--pure", "--agent", "txt", "--title", "t", "--format", "json"]
    if asked.model:
        argv += ["-m", asked.model]
    return Invocation(tuple(argv), asked.prompt, environment)


def _opencode_answer(output: CommandOutput) -> AgentAnswer:
    pieces: list[str] = []
    tokens: Mapping[str, Any] = {}
    for event in _events(output.out):
        part = _mapping(event, "part")
        if event.get("type") == "text":
            pieces.append(_text(part, "text"))
        elif event.get("type") == "step_finish":
            tokens = _mapping(part, "tokens") or _mapping(event, "tokens")
        elif event.get("type") == "error":
            error = _mapping(event, "error")
            data = _mapping(error, "data")
            message = _text(data, "message") or _text(error, "name") or "it reports an error"
            return AgentAnswer(problem=_with_code(message, _number(data, "statusCode")))
    if not pieces:
        return AgentAnswer(problem=last_words(output))
    return AgentAnswer(
        "".join(pieces),
        prompt_tokens=_number(tokens, "input"),
        completion_tokens=_number(tokens, "output"),
    )


def _copilot(asked: AgentRequest) -> Invocation:
    # A home of its own hides the person's hooks, servers and sessions; also the login saved there,
    # but not those in the environment and of gh.
    home = asked.folder / "copilot"
    home.mkdir(mode=0o700)
    argv = [asked.program, "-s", "--no-color", "--available-tools=none", "--disable-builtin-mcps"]
    argv += ["--no-custom-instructions", "--no-ask-user"]
    if asked.model:
        argv += ["--model", asked.model]
    prompt = f"{asked.system}\n\n{asked.prompt}" if asked.system else asked.prompt
    return Invocation(tuple(argv), prompt, {"COPILOT_HOME": str(home)})


def _copilot_answer(output: CommandOutput) -> AgentAnswer:
    if output.code:
        return AgentAnswer(problem=" ".join(output.err.split()))
    return AgentAnswer(output.out)


def _any_answer(output: CommandOutput) -> AgentAnswer:
    return AgentAnswer(output.out)


AGENTS: dict[str, Agent] = {
    "claude": Agent(
        "claude",
        "Claude Code",
        "run claude in a terminal and log in",
        _claude,
        _claude_answer,
        context_tokens=180_000,
    ),
    "codex": Agent(
        "codex", "Codex", "run codex login", _codex, _codex_answer, context_tokens=180_000
    ),
    "gemini": Agent(
        "gemini",
        "Gemini CLI",
        "run gemini in a terminal and log in",
        _gemini,
        _gemini_answer,
        _gemini_tidy,
        context_tokens=400_000,
    ),
    "opencode": Agent(
        "opencode", "OpenCode", "run opencode auth login", _opencode, _opencode_answer
    ),
    "copilot": Agent(
        "copilot",
        "Copilot CLI",
        "run gh auth login, or set COPILOT_GITHUB_TOKEN",
        _copilot,
        _copilot_answer,
    ),
}


def agent_of(command: tuple[str, ...]) -> Agent:
    """The agent of a command, or one for any other program with its arguments.

    Any other program gets the instructions and the question on standard input and prints only the
    answer.
    """
    if len(command) == 1 and command[0] in AGENTS:
        return AGENTS[command[0]]

    def prepare(asked: AgentRequest) -> Invocation:
        prompt = f"{asked.system}\n\n{asked.prompt}" if asked.system else asked.prompt
        return Invocation((asked.program, *command[1:]), prompt)

    name = Path(command[0]).name
    return Agent(command[0], name, f"log in with {name}", prepare, _any_answer)


def _object(text: str) -> Mapping[str, Any] | None:
    """The JSON object that is the whole text, or its last line."""
    for candidate in (text, text.strip().rpartition("\n")[2]):
        try:
            value = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return value
    return None


def _events(text: str) -> Iterator[Mapping[str, Any]]:
    """The JSON objects of a text with one per line; other lines are notices."""
    for line in text.splitlines():
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value


def last_words(output: CommandOutput) -> str:
    """The error message at the end of the output, or its last line."""
    for text in (output.err, output.out):
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if lines:
            return _message_at_end(text) or lines[-1]
    return ""


def _message_at_end(text: str) -> str:
    """The error message, with its code, of a JSON object at the end of a text. The message may be
    an endpoint's answer, which is JSON again.
    """
    for begin in (text.rfind('{"error"'), text.rfind("\n{"), 0 if text.startswith("{") else -1):
        error = _mapping((_object(text[begin:]) if begin >= 0 else None) or {}, "error")
        if message := _text(error, "message"):
            inner = _mapping(_object(message) or {}, "error")
            return _with_code(_text(inner, "message") or message, _number(error, "code"))
    return ""


def _with_code(message: str, code: int) -> str:
    return f"{message} ({code})" if code >= 400 and str(code) not in message else message


def _mapping(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def _text(value: Mapping[str, Any], name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""


def _number(value: Mapping[str, Any], name: str) -> int:
    found = value.get(name)
    return found if isinstance(found, int) and not isinstance(found, bool) else -1
