"""What the rules propose comes from the sessions of every agent that records its calls."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from reviewer.proposing.offline import offline_proposals, proposals_by_session
from reviewer.proposing.session_events import Event, EventKind, session_events
from reviewer.proposing.view_calls import COMMAND_TOOLS
from tests.unit.sources.families import FAMILIES, Family, Json, database, document, lines

WORK = (
    ("bash -lc 'ls'", "shelf.py", False),
    ("make fmt && make test", "12 passed", False),
    ("git add -A && git commit -m 'Read the index once'", "1 file changed", False),
    ("make test", "FAILED", True),
    ("make fmt && make test", "12 passed", False),
    ("git commit -am 'Close the shelf'", "1 file changed", False),
)
PI_HEAD: Json = {
    "type": "session",
    "version": 3,
    "id": "i1",
    "timestamp": "2026-03-01T09:00:00Z",
    "cwd": "/work/shop",
}
STATEMENT = "Before a commit, run `make fmt` and `make test`."


def codex() -> list[Json]:
    records: list[Json] = [{"type": "session_meta", "payload": {"id": "c1", "cwd": "/work/shop"}}]
    for number, (command, output, failed) in enumerate(WORK):
        arguments = json.dumps({"command": ["bash", "-lc", command]})
        result = json.dumps({"output": output, "metadata": {"exit_code": int(failed)}})
        for item in (
            {"type": "function_call", "name": "shell", "arguments": arguments},
            {"type": "function_call_output", "output": result},
        ):
            payload = {**item, "call_id": f"k{number}"}
            records.append({"type": "response_item", "payload": payload})
    return records


def copilot() -> list[Json]:
    records: list[Json] = [{"id": "e0", "type": "session.start", "data": {"sessionId": "p1"}}]
    for number, (command, output, failed) in enumerate(WORK):
        call = {"toolCallId": f"t{number}", "name": "bash", "arguments": {"command": command}}
        made = {"content": "", "toolRequests": [call]}
        done = {"toolCallId": f"t{number}", "success": not failed, "result": {"content": output}}
        records.append({"id": f"a{number}", "type": "assistant.message", "data": made})
        records.append({"id": f"b{number}", "type": "tool.execution_complete", "data": done})
    return records


def gemini() -> Json:
    return {
        "sessionId": "g1",
        "projectHash": "ab12",
        "messages": [
            {
                "id": f"m{number}",
                "type": "gemini",
                "content": "",
                "toolCalls": [
                    {
                        "id": f"t{number}",
                        "name": "run_shell_command",
                        "args": {"command": command},
                        "status": "error" if failed else "success",
                        "result": [{"functionResponse": {"response": {"output": output}}}],
                    }
                ],
            }
            for number, (command, output, failed) in enumerate(WORK)
        ],
    }


def opencode_part(number: int) -> Json:
    command, output, failed = WORK[number]
    state: Json = {"status": "completed", "input": {"command": command}, "output": output}
    if failed:
        state = {"status": "error", "input": {"command": command}, "error": output}
    return {"type": "tool", "tool": "bash", "callID": f"t{number}", "state": state}


def opencode() -> Json:
    info = {"id": "o1", "directory": "/work/shop", "time": {"created": 1772355600000}}
    messages = [
        {
            "info": {"id": f"m{number}", "role": "assistant", "sessionID": "o1"},
            "parts": [opencode_part(number)],
        }
        for number in range(len(WORK))
    ]
    return {"info": info, "messages": messages}


def opencode_database(*sessions: tuple[str, str]) -> Callable[[Path], Path]:
    """A database in which each of these sessions, with its folder, does the same work."""
    return database(
        "opencode.db",
        "CREATE TABLE project (id TEXT)",
        "CREATE TABLE session (id TEXT, directory TEXT, version TEXT, time_created INTEGER,"
        " time_updated INTEGER)",
        "CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT)",
        "CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT)",
        *(("INSERT INTO session VALUES (?, ?, '1.18', 1, 2)", each) for each in sessions),
        *(
            statement
            for name, _ in sessions
            for number in range(len(WORK))
            for statement in (
                (
                    'INSERT INTO message VALUES (?, ?, ?, \'{"role": "assistant"}\')',
                    (f"{name}-{number}", name, number),
                ),
                (
                    "INSERT INTO part VALUES (?, ?, ?, ?)",
                    (f"p{number}", f"{name}-{number}", name, json.dumps(opencode_part(number))),
                ),
            )
        ),
    )


def pi() -> list[Json]:
    records: list[Json] = [PI_HEAD]
    last: str | None = None
    for number, (command, output, failed) in enumerate(WORK):
        call = {"type": "toolCall", "id": f"t{number}", "name": "bash"}
        made = {"role": "assistant", "content": [{**call, "arguments": {"command": command}}]}
        text = {"type": "text", "text": output}
        answer = {"role": "toolResult", "toolCallId": f"t{number}", "isError": failed}
        for name, message in (
            (f"a{number}", made),
            (f"b{number}", {**answer, "content": [text]}),
        ):
            entry = {"type": "message", "id": name, "parentId": last, "message": message}
            records.append({**entry, "timestamp": PI_HEAD["timestamp"]})
            last = name
    return records


WRITERS: dict[str, Callable[[Path], Path]] = {
    "codex": lines("rollout.jsonl", *codex()),
    "copilot": lines("events.jsonl", *copilot()),
    "gemini": document("session.json", gemini()),
    "opencode export": document("export.json", opencode()),
    "opencode database": opencode_database(("o1", "/work/shop")),
    "pi": lines("pi.jsonl", *pi()),
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_checks_before_each_commit_are_proposed(
    write: Callable[[Path], Path], tmp_path: Path
) -> None:
    (found,) = offline_proposals(write(tmp_path))
    assert found.statement == STATEMENT


def test_each_session_of_a_database_proposes_for_itself(tmp_path: Path) -> None:
    path = opencode_database(("o1", "/work/shop"), ("o2", "/work/shop"))(tmp_path)
    found = proposals_by_session(path)
    assert {session: len(proposals) for session, proposals in found.items()} == {"o1": 1, "o2": 1}
    assert list(proposals_by_session(path, frozenset({"o2"}))) == ["o2"]


def shell_events(family: Family, path: Path) -> list[Event]:
    kinds = (EventKind.CALL, EventKind.DONE, EventKind.FAILED)
    return [event for event in session_events(path) if event.kind in kinds]


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_every_family_tells_its_shell_commands_and_how_they_ended(
    family: Family, tmp_path: Path
) -> None:
    path = family.write(tmp_path)
    calls = [text for name, text in family.calls if name.lower() in COMMAND_TOOLS]
    ended = [failed for name, _, failed in family.results if name.lower() in COMMAND_TOOLS]
    events = shell_events(family, path)
    if family.format in ("specstory", "aider"):  # nothing there says whether a call succeeded
        assert events == []
        return
    told = [event for event in events if event.kind is EventKind.CALL]
    assert len(told) == len(calls)
    assert [event.kind is EventKind.FAILED for event in events if event not in told] == ended


NOTES = """# Context Checkpoint

## Goal
Sell trays.

## Key Decisions
1. **The label goes last** - `print_label()` needs the weight, because the scale is read only once.
2. Blue first.
"""


def test_a_summary_with_headings_but_no_numbers_is_read(tmp_path: Path) -> None:
    compaction = {
        "type": "compaction",
        "id": "z",
        "parentId": None,
        "summary": NOTES,
        "timestamp": PI_HEAD["timestamp"],
    }
    path = lines("pi.jsonl", PI_HEAD, compaction)(tmp_path)
    (found,) = offline_proposals(path)
    assert found.statement.startswith("`print_label()` needs the weight")
