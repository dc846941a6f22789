"""Which turns of a session are the person's, and which are notices with the person's role."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reviewer.proposing.session_view import read_view
from reviewer.sources.events import Speaker
from tests.unit.sources.builders import Json, Session

TASK = (
    "<task-notification>\n<task-id>b7</task-id>\n<status>completed</status>\n</task-notification>"
)
STARTED = json.dumps(
    {"task_id": "a70", "description": "Count the trays", "task_type": "local_bash"}
)
IDE = "# Context from my IDE setup:\n\n## Open tabs\n- tray.py\n\n## My request for Codex:\n"
PROMPT_FILE = (
    "\n## User Input\n\n```text\n{}\n```\n\nYou **MUST** consider the input.\n\n## Outline\n"
    "1. Count.\n"
)


def user(content: Any, **more: Any) -> Json:
    return {"type": "user", "message": {"role": "user", "content": content}, **more}


def from_(kind: str) -> Json:
    return {"origin": {"kind": kind}}


def queue(content: Any, operation: str = "enqueue") -> Json:
    return {"type": "queue-operation", "operation": operation, "content": content}


def given(prompt: Any, mode: str = "prompt", **more: Any) -> Json:
    told = {"type": "queued_command", "prompt": prompt, "commandMode": mode, **more}
    return {"type": "attachment", "attachment": told}


def refusal(words: str = "") -> list[Json]:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "rm trays"}}
    text = "The user doesn't want to proceed with this tool use."
    text += f" To tell you how to proceed, the user said:\n{words}" if words else ""
    result = {"type": "tool_result", "tool_use_id": "t1", "content": text, "is_error": True}
    return [{"type": "assistant", "message": {"content": [call]}}, user([result])]


def tags(name: str, words: str = "") -> str:
    return f"<command-name>/{name}</command-name>\n<command-args>{words}</command-args>"


CLAUDE_CODE: dict[str, tuple[list[Json], list[str]]] = {
    "typed": ([user("Sell blue trays")], ["Sell blue trays"]),
    "typed in an app": (
        [user("Sell blue trays", promptSource="sdk", **from_("human"))],
        ["Sell blue trays"],
    ),
    "from a task": ([user("The count is done.", **from_("task-notification"))], []),
    "of the client": ([user("Base folder of this skill: review", isMeta=True)], []),
    "from a channel": ([user("New mail", promptSource="queued", **from_("channel"))], []),
    "stopped by a hook": ([user("Operation stopped by hook: Another session is active")], []),
    "an element with where its output is": (
        [user("<bash-notification>\n<status>0</status>\n</bash-notification>\nRead /tmp/out.")],
        [],
    ),
    "words beside an element": (
        [user("Why does <tray-list>a</tray-list> flicker?")],
        ["Why does <tray-list>a</tray-list> flicker?"],
    ),
    "a task queued as JSON": ([queue(STARTED)], []),
    "a notice queued in blocks": ([queue([{"type": "text", "text": TASK}])], []),
    "other JSON is the person's": ([queue('{"trays": 4}')], ['{"trays": 4}']),
    "queued": ([queue("and the red ones")], ["and the red ones"]),
    "queued and taken back": ([queue("red?"), queue("red?", "popAll")], []),
    "queued and told again": (
        [queue("red ones"), queue(None, "dequeue"), user("red ones", promptSource="queued")],
        ["red ones"],
    ),
    "queued and absorbed": (
        [queue("red ones"), queue("red ones", "remove"), given("red ones", **from_("human"))],
        ["red ones"],
    ),
    "absorbed in blocks": ([given([{"type": "text", "text": "in bold"}])], ["in bold"]),
    "an odd attachment": ([{"type": "attachment", "attachment": "odd"}], []),
    "a notice absorbed": ([given(TASK, "task-notification")], []),
    "absorbed from a coordinator": ([given("Use the list.", **from_("coordinator"))], []),
    "a command queued, then run": (
        [queue("/compact keep the list"), user(tags("compact", "keep the list"))],
        ["/compact keep the list"],
    ),
    "an image": ([user([{"type": "image"}, {"type": "text", "text": "as here"}])], ["as here"]),
    "a refusal with words": (
        refusal("keep them"),
        ["refused: Bash: rm trays; the person said: keep them"],
    ),
}  # fmt: skip


def event(text: str, **more: Any) -> Json:
    return {"type": "event_msg", "payload": {"type": "user_message", "message": text, **more}}


def item(*texts: str) -> Json:
    content = [{"type": "input_text", "text": text} for text in texts]
    return {"type": "response_item", "payload": {"type": "message", "role": "user",
                                                 "content": content}}  # fmt: skip


def twice(text: str) -> list[Json]:
    return [item(text), event(text)]


CODEX: dict[str, tuple[list[Json], list[str]]] = {
    "told twice": (twice("Sell blue trays"), ["Sell blue trays"]),
    "told twice, the event first": ([event("Sell"), item("Sell")], ["Sell"]),
    "the same words again": ([*twice("go on"), *twice("go on")], ["go on", "go on"]),
    "an item without an event": (
        [item("Count what was done so far."), *twice("Sell"), item("A hook says: stop.")],
        ["Sell"],
    ),
    "context of an editor": (twice(f"{IDE}Sell"), ["Sell"]),
    "an image without words": (
        [event(f"{IDE}\n", local_images=["a"])],
        ["(an image, without words)"],
    ),
    "a prompt file": (twice(PROMPT_FILE.format("blue trays")), ["blue trays"]),
    "a prompt file without input": (
        [*twice(PROMPT_FILE.format("")), *twice("Sell")],
        ["(a prompt file, without input: Outline 1. Count.)", "Sell"],
    ),
    "no events": (
        [item("<environment_context>a</environment_context>"), item("Sell"),
         item("<hook_prompt run=1>Go on</hook_prompt>")],
        ["Sell"],
    ),
}  # fmt: skip


def persons(path: Path) -> list[str]:
    return [line.text for line in read_view(path).lines if line.speaker is Speaker.PERSON]


@pytest.mark.parametrize("name", CLAUDE_CODE)
def test_claude_code(name: str, tmp_path: Path) -> None:
    session = Session()
    session.reply("Ready.")
    records, expected = CLAUDE_CODE[name]
    for record in records:
        more = {key: value for key, value in record.items() if key != "type"}
        if record["type"] == "queue-operation":
            session.bare("queue-operation", **more)
        else:
            session.add(record["type"], **more)
    assert persons(session.write(tmp_path / "session.jsonl")) == expected


@pytest.mark.parametrize("name", CODEX)
def test_codex(name: str, tmp_path: Path) -> None:
    records, expected = CODEX[name]
    first = {"type": "session_meta", "payload": {"id": "c1", "cwd": "/work/shop"}}
    at = "2026-02-14T10:00:00Z"
    path = tmp_path / "rollout.jsonl"
    path.write_text(
        "".join(json.dumps({"timestamp": at, **each}) + "\n" for each in (first, *records))
    )
    assert persons(path) == expected
