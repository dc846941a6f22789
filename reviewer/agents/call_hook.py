"""Hooks at prompts, failed calls and guarded calls: what agents tell them, and how they answer.

An agent waits for each of these, and most have nothing to say, so `reviewer hook` comes here before
anything else of the program is loaded. It is never in the agent's way: whatever fails, the answer
is empty, the exit code 0 (Copilot would deny the call), and no permission is ever given.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence

TYPE_CHECKING = False  # as type checkers read it; `typing` costs a fifth of the time
if TYPE_CHECKING:
    from typing import Any

SECONDS = 2
"""Before a hook gives up; `connect` allows it 5."""
MAX_INPUT = 8_000_000
"""Bytes of stdin."""

PROMPT, FAILURE, GUARD = "prompt", "error", "guard"
"""The moments of `recall.at_call`, which is loaded once there is something to look up."""

EVENTS: dict[str, dict[str, str]] = {
    "claude-code": {
        "UserPromptSubmit": PROMPT, "PostToolUseFailure": FAILURE, "PostToolUse": FAILURE,
        "PreToolUse": GUARD,
    },
    "codex": {"UserPromptSubmit": PROMPT, "PostToolUse": FAILURE, "PreToolUse": GUARD},
    "gemini": {"BeforeAgent": PROMPT, "AfterTool": FAILURE, "BeforeTool": GUARD},
    "opencode": {"prompt": PROMPT, "failure": FAILURE, "guard": GUARD},
    "copilot": {
        "userPromptSubmitted": PROMPT, "postToolUse": FAILURE, "postToolUseFailure": FAILURE,
        "preToolUse": GUARD,
    },
}  # fmt: skip
"""Agent -> the events that are answered here, by the agent's own names."""


def is_call(arguments: Sequence[str]) -> bool:
    """Whether a call of the program is one of these, as `connect` writes them."""
    return len(arguments) > 2 and (
        arguments[-3] == "hook"
        and arguments[-1] in EVENTS.get(arguments[-2], ())
        and len(arguments) % 2 == 1
        and all(each in ("--db", "--project") for each in arguments[:-3:2])
    )


def run(arguments: Sequence[str]) -> None:
    """Answer such a call of the program."""
    options = dict(zip(arguments[:-3:2], arguments[1:-3:2], strict=True))
    store = store_path(options.get("--db") or os.environ.get("REVIEWER_DB", ""))
    respond(store, options.get("--project"), *arguments[-2:])


def respond(store: str, project: str | None, agent: str, event: str) -> None:
    """Answer an event on stdout. Never raises, and ends the process after SECONDS."""
    if os.environ.get("REVIEWER_CHILD"):
        return
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
        signal.alarm(SECONDS)
    gc.disable()  # the process ends soon
    try:
        answer = answered(store, project, agent, event, sys.stdin.buffer.read(MAX_INPUT + 1))
        if answer:
            os.write(1, answer.encode())
    except Exception as problem:
        # A lock is soon gone, and to import what writes the log takes longer than a call may wait.
        if getattr(problem, "sqlite_errorname", "") != "SQLITE_BUSY":
            _log(store, f"{agent} {event}: {type(problem).__name__}: {problem}")
    finally:
        gc.enable()
        if hasattr(signal, "SIGALRM"):
            signal.alarm(0)


def answered(store: str, project: str | None, agent: str, event: str, data: bytes) -> str:
    """The answer to an event, in the agent's own shape; empty where there is nothing to say.

    Raises what `memories_at` raises, and ValueError for data that is no JSON.
    """
    moment = EVENTS[agent][event]
    told = json.loads(data) if len(data) <= MAX_INPUT else None
    if not isinstance(told, dict):
        return ""
    tool = _mapping(told, "tool_input", "toolArgs")
    command = _text(tool, "command") or _text(told, "command")
    output, reported_failed = _output(agent, told, command) if moment == FAILURE else ("", True)
    if moment == FAILURE and not output:
        return ""
    from reviewer.recall.at_call import HookEvent, memories_at  # late: most calls end above

    patched = _patched(command) if told.get("tool_name") == "apply_patch" else ()
    path = _text(tool, "file_path", "path", "filePath") or _text(told, "path")
    happened = HookEvent(
        moment,
        _text(told, "session_id", "sessionId", "sessionID"),
        _text(told, "cwd") or os.getcwd(),
        command="" if patched else command,
        tool=_text(told, "tool_name", "toolName"),
        paths=patched or ((path,) if path else ()),
        text=output or _text(told, "prompt"),
        reported_failed=reported_failed,
    )
    text = memories_at(store, project, happened)
    return f"{json.dumps(_shaped(agent, event, moment, text))}\n" if text else ""


def store_path(named: str) -> str:
    """The store that a hook reads: the one that is named, else that in the user's data folder."""
    if named:
        return os.path.expanduser(named)
    system: str = sys.platform
    if system == "linux":  # as platformdirs has it, which takes a fifth of the time
        base = os.environ.get("XDG_DATA_HOME", "").strip() or os.path.expanduser("~/.local/share")
        return os.path.join(base, "reviewer", "reviewer.db")
    from platformdirs import user_data_path

    return str(user_data_path("reviewer", appauthor=False) / "reviewer.db")


def _output(agent: str, told: Mapping[str, Any], command: str) -> tuple[str, bool]:
    """The output of a failed call, and whether the agent itself reports the failure. Empty after a
    call that went well. The exit code of a shell line with several parts is that of the last one.
    """
    if agent == "claude-code":
        if error := _text(told, "error"):
            return error, True
        return _text(_mapping(told, "tool_response"), "stdout"), False
    if agent == "codex":
        return _text(told, "tool_response"), False
    if agent == "opencode":
        return _text(told, "output"), True
    result = _mapping(told, "tool_response", "toolResult")
    text = _text(result, "llmContent", "textResultForLlm")
    _, stated, code = text.lower().rpartition("exit code")
    failed = bool(stated) and code.lstrip(": ")[:1] in "123456789"
    if not failed and not (stated and any(mark in command for mark in "|;")):
        return _text(told, "error") or _text(_mapping(result, "error"), "message"), True
    return text.partition("\nOutput: ")[2] or text, failed  # so Gemini CLI begins the first line


def _patched(patch: str) -> tuple[str, ...]:
    """The files of a patch of Codex."""
    marks = ("*** Add File: ", "*** Update File: ", "*** Delete File: ")
    return tuple(
        line.partition(": ")[2].strip() for line in patch.splitlines() if line.startswith(marks)
    )


def _shaped(agent: str, event: str, moment: str, text: str) -> dict[str, Any]:
    """A text for the model, or the reason of a denial, in the agent's own shape."""
    deny = moment == GUARD
    denial = {"permissionDecision": "deny", "permissionDecisionReason": text}
    if agent == "copilot":
        return denial if deny else {"additionalContext": text}
    if agent == "opencode":
        return {"deny": text} if deny else {"additionalContext": text}
    if agent == "gemini" and deny:
        return {"decision": "deny", "reason": text}
    said = denial if deny else {"additionalContext": text}
    return {"hookSpecificOutput": {"hookEventName": event, **said}}


def _text(value: Mapping[str, Any], *names: str) -> str:
    """The first of these fields that is a text or a list of texts, which are joined."""
    for name in names:
        found = value.get(name)
        if isinstance(found, list):
            found = "\n".join(each if isinstance(each, str) else _text(each, "text")
                              for each in found if isinstance(each, (str, dict)))  # fmt: skip
        if isinstance(found, str) and found:
            return found
    return ""


def _mapping(value: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    """The first of these fields that is an object, also one written as JSON."""
    for name in names:
        found = value.get(name)
        if isinstance(found, str) and found.startswith("{"):
            found = json.loads(found)
        if isinstance(found, dict):
            return found
    return {}


def _log(store: str, line: str) -> None:
    """A line in the log of hooks; none where it cannot be written."""
    try:
        from pathlib import Path

        from reviewer.agents.agent_files import AgentFiles
        from reviewer.clock import utc_now

        if os.path.exists(store):
            AgentFiles(Path(store)).log(utc_now(), line)
    except Exception:  # noqa: S110 - the agent must go on, and there is nowhere left to say it
        pass
