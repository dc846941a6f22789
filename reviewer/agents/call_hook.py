"""Hooks at prompts, failed calls, edits and guarded calls: parsing their payload, and the answer.

An agent waits for each of them, and most have no answer, so `reviewer hook` comes here before
the rest of the program is loaded. Those that end at once use `_json` and `_sqlite3`: importing
`json` and `sqlite3` takes as long as starting Python. A hook never blocks the agent: on any failure
the answer is empty and the exit code 0 (with another, Copilot would deny the call), and no
permission is ever granted.
"""

from __future__ import annotations

import os
import signal
import sys
from _json import make_scanner

from reviewer.agents.events import CHILD, EVENTS, TIMEOUTS, is_call_event
from reviewer.recall.event_kinds import EDIT, ERROR, GUARD
from reviewer.recall.gate import may_concern

TYPE_CHECKING = False  # recognised by type checkers; importing `typing` costs a fifth of the time
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

MAX_INPUT = 2_000_000
"""Bytes of stdin: agents cut outputs at some 100 kB."""
EDITORS = frozenset((
    "Edit", "NotebookEdit", "Write", "apply_patch", "create", "edit", "replace", "write",
    "write_file",
))  # fmt: skip
"""The tools with which agents edit files."""


def is_call(arguments: Sequence[str]) -> bool:
    """Whether these are the arguments of such a hook, as written by `connect`."""
    return len(arguments) > 2 and (
        arguments[-3] == "hook"
        and is_call_event(arguments[-2], arguments[-1])
        and len(arguments) % 2 == 1
        and all(option in ("--db", "--project") for option in arguments[:-3:2])
    )


def run(arguments: Sequence[str]) -> None:
    options = dict(zip(arguments[:-3:2], arguments[1:-3:2], strict=True))
    store = store_path(options.get("--db") or os.environ.get("REVIEWER_DB", ""))
    respond(store, options.get("--project"), *arguments[-2:])


def respond(store: str, project: str | None, agent: str, event: str) -> None:
    """Answer an event on stdout. Never raises; ends the process at its timeout."""
    if os.environ.get(CHILD):
        return
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
        signal.alarm(TIMEOUTS[EVENTS[agent][event]])
    try:
        answer = answer_to(store, project, agent, event, _input())
        if answer:
            os.write(1, answer.encode())
    except Exception as problem:
        # A lock is soon released, and importing the log takes longer than a call may wait.
        if getattr(problem, "sqlite_errorname", "") != "SQLITE_BUSY":
            _log(store, f"{agent} {event}: {type(problem).__name__}: {problem}")
    finally:
        if hasattr(signal, "SIGALRM"):
            signal.alarm(0)


def _input() -> bytes:
    """The payload; empty if too long. All of it is read: a closed pipe may upset the agent."""
    data = sys.stdin.buffer.read(MAX_INPUT + 1)
    while len(data) > MAX_INPUT:
        if not sys.stdin.buffer.read(65_536):
            return b""
    return data


def answer_to(store: str, project: str | None, agent: str, event: str, data: bytes) -> str:
    """The answer to an event, in the agent's own JSON; empty if there is none.

    Raises as `memories_at` does, and ValueError for invalid JSON.
    """
    kind = EVENTS[agent][event]
    payload = _read_json(data.decode("utf-8-sig", "surrogatepass")) if data else None
    if not isinstance(payload, dict):
        return ""
    tool = _mapping(payload, "tool_input", "toolArgs")
    command = first_text(tool, "command") or first_text(payload, "command")
    name = first_text(payload, "tool_name", "toolName")
    patched = _patched(command or first_text(payload, "toolArgs")) if name == "apply_patch" else ()
    path = first_text(tool, "file_path", "path", "filePath", "notebook_path") or first_text(
        payload, "path"
    )
    output, reported_failed = "", True
    if kind == ERROR:
        output, reported_failed = _output(agent, payload, command, path)
    if kind == ERROR and name in EDITORS and not (output and reported_failed):
        kind, output = EDIT, ""
    if kind == ERROR and not output:
        return ""
    paths = patched or ((path,) if path else ())
    if kind in (EDIT, GUARD) and not may_concern(store, kind, command, paths):
        return ""
    from reviewer.recall.at_call import HookEvent, memories_at  # late: most calls end above

    happened = HookEvent(
        kind,
        first_text(payload, "session_id", "sessionId", "sessionID"),
        first_text(payload, "cwd") or os.getcwd(),
        command="" if patched else command,
        tool=name,
        paths=paths,
        text=output or first_text(payload, "prompt"),
        reported_failed=reported_failed,
    )
    text = memories_at(store, project, happened)
    return f"{formatted(agent, event, text, deny=kind == GUARD)}\n" if text else ""


def store_path(named: str) -> str:
    """The path of the hook's store: the given one, or that in the user's data folder."""
    if named:
        return os.path.expanduser(named)
    system: str = sys.platform
    if system == "linux":  # as in platformdirs, whose import takes a fifth of the time
        base = os.environ.get("XDG_DATA_HOME", "").strip() or os.path.expanduser("~/.local/share")
        return os.path.join(base, "reviewer", "reviewer.db")
    from platformdirs import user_data_path

    return str(user_data_path("reviewer", appauthor=False) / "reviewer.db")


def _output(agent: str, payload: Mapping[str, Any], command: str, path: str) -> tuple[str, bool]:
    """The output of a failed call, and whether the agent itself reports the failure. Empty for a
    successful call. A shell line with several parts has the exit code of its last one; the result
    of an edit may be a text about exit codes.
    """
    if agent == "claude-code":
        if error := first_text(payload, "error"):
            return error, True
        return first_text(_mapping(payload, "tool_response"), "stdout"), False
    if agent == "codex":
        return first_text(payload, "tool_response"), False
    if agent == "opencode":
        return first_text(payload, "output"), True
    result = _mapping(payload, "tool_response", "toolResult")
    text = first_text(result, "llmContent", "textResultForLlm")
    _, stated, code = text.lower().rpartition("exit code")
    failed = bool(stated and not path) and "1" <= code.lstrip(": ")[:1] <= "9"
    if not failed and not (stated and any(mark in command for mark in "|;")):
        error = first_text(payload, "error") or first_text(_mapping(result, "error"), "message")
        return error, True
    return text.partition("\nOutput: ")[2] or text, failed  # the first line of Gemini CLI


def _patched(patch: str) -> tuple[str, ...]:
    marks = ("*** Add File: ", "*** Update File: ", "*** Delete File: ")
    return tuple(
        line.partition(": ")[2].strip() for line in patch.splitlines() if line.startswith(marks)
    )


def formatted(agent: str, event: str, text: str, *, deny: bool = False) -> str:
    """Context for the model, or the reason for a denial, in the agent's own JSON."""
    denial = {"permissionDecision": "deny", "permissionDecisionReason": text}
    answer: dict[str, Any] = denial if deny else {"additionalContext": text}
    if agent == "cursor":
        answer = {"additional_context": text}
    elif agent == "gemini" and deny:
        answer = {"decision": "deny", "reason": text}
    elif agent == "opencode" and deny:
        answer = {"deny": text}
    elif agent not in ("copilot", "opencode"):
        answer = {"hookSpecificOutput": {"hookEventName": event, **answer}}
    import json

    return json.dumps(answer)


class _Json:
    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float


def _read_json(text: str) -> object:
    """The value at the beginning of a text. Raises ValueError for invalid JSON."""
    try:
        return make_scanner(_Json)(text.lstrip(), 0)[0]  # type: ignore[arg-type]
    except StopIteration:
        raise ValueError("the payload is not JSON") from None


def first_text(value: Mapping[str, Any], *names: str) -> str:
    """The first of these fields with a text or a list of texts, which is joined."""
    for name in names:
        found = value.get(name)
        if isinstance(found, list):
            found = "\n".join(part if isinstance(part, str) else first_text(part, "text")
                              for part in found if isinstance(part, (str, dict)))  # fmt: skip
        if isinstance(found, str) and found:
            return found
    return ""


def _mapping(value: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    """The first of these fields with an object, or an object as JSON text."""
    for name in names:
        found = value.get(name)
        if isinstance(found, str) and found.startswith("{"):
            found = _read_json(found)
        if isinstance(found, dict):
            return found
    return {}


def _log(store: str, line: str) -> None:
    """Append a line to the hooks' log, if possible."""
    try:
        from pathlib import Path

        from reviewer.agents.agent_files import AgentFiles
        from reviewer.clock import utc_now

        if os.path.exists(store):
            AgentFiles(Path(store)).log(utc_now(), line)
    except Exception:  # noqa: S110 - the agent must go on, and the log was the last resort
        pass
