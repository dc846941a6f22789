"""A small session of each family of agents, in the shape that the agent writes."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zipfile
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from tests.unit.sources.builders import put

Json = dict[str, Any]
AT = "2026-03-01T09:00:0{}.000Z"


class Family(Struct, kw_only=True):
    """A session file, and what has to be read from it."""

    format: str
    write: Callable[[Path], Path]
    person: list[str]
    """What the person typed, in order."""
    agent: list[str]
    """What the agent said."""
    kept_out: dict[str, list[str]] = {}
    """Use -> beginnings of texts that are no words of this conversation."""
    calls: list[tuple[str, str]] = []
    """Tool calls with their names."""
    results: list[tuple[str, str, bool]] = []
    """Tool, text, and whether the call failed."""
    cwd: str = ""
    branch: str = ""
    model: str = ""


def lines(name: str, *records: Json | str) -> Callable[[Path], Path]:
    """A file with one object a line; a text stands for itself."""
    texts = [each if isinstance(each, str) else json.dumps(each) for each in records]
    return partial(put, name=name, data="".join(f"{text}\n" for text in texts))


def document(name: str, value: object) -> Callable[[Path], Path]:
    """A file that is one JSON document."""
    return partial(put, name=name, data=json.dumps(value, indent=1))


def database(name: str, *statements: str | tuple[str, Sequence[object]]) -> Callable[[Path], Path]:
    """A SQLite database."""

    def write(folder: Path) -> Path:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path)) as connection, connection:
            for statement in statements:
                sql, values = (statement, ()) if isinstance(statement, str) else statement
                connection.execute(sql, values)
        return path

    return write


def archive(name: str, **members: object) -> Callable[[Path], Path]:
    """A ZIP archive of JSON documents; `__` in a name stands for a dash."""

    def write(folder: Path) -> Path:
        path = folder / name
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            for member, value in members.items():
                packed.writestr(f"{member.replace('__', '-')}.json", json.dumps(value))
        return path

    return write


def _text(words: str) -> Json:
    return {"type": "text", "text": words}


def _use(name: str, command: str) -> Json:
    """A call as Anthropic's interface has it, and agents built on it."""
    return {"type": "tool_use", "id": "t1", "name": name, "input": {"command": command}}


def _result(text: str) -> Json:
    return {"type": "tool_result", "tool_use_id": "t1", "content": text}


def _says(role: str, *content: Json) -> Json:
    return {"role": role, "content": [*content]}


def _function(name: str, command: str) -> Json:
    """A call as OpenAI's interface has it."""
    arguments = json.dumps({"command": command})
    return {"id": "t1", "function": {"name": name, "arguments": arguments}}


def _codex(kind: str, second: int = 1, /, **payload: Any) -> Json:
    return {"timestamp": AT.format(second), "type": kind, "payload": payload}


def _said(role: str, text: str) -> Json:
    kind = "input_text" if role != "assistant" else "output_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


ASKED = (
    "# Context from my IDE setup:\n\n## Open tabs\n- a.py\n\n"
    "## My request for Codex:\nSell the blue trays first."
)
CODEX = Family(
    format="codex",
    write=lines(
        "rollout.jsonl",
        _codex("session_meta", id="c1", cwd="/work/shop", git={"branch": "main"}),
        _codex(
            "response_item", **_said("developer", "<permissions instructions>ask</permissions>")
        ),
        _codex(
            "response_item", **_said("user", "# AGENTS.md instructions for /work/shop\n\nBe kind")
        ),
        _codex("turn_context", cwd="/work/shop", model="gpt-9"),
        _codex("event_msg", type="user_message", message=ASKED),
        _codex("response_item", **_said("user", ASKED)),
        _codex("response_item", type="reasoning", summary=[{"text": "Look at the shelf."}]),
        _codex("event_msg", type="agent_reasoning", text="Look at the shelf."),
        _codex(
            "response_item",
            type="function_call",
            name="shell",
            call_id="k1",
            arguments=json.dumps({"command": ["ls", "trays"], "workdir": "/work/shop"}),
        ),
        _codex(
            "response_item",
            type="function_call_output",
            call_id="k1",
            output=json.dumps({"output": "no such shelf", "metadata": {"exit_code": 2}}),
        ),
        _codex("event_msg", type="agent_message", message="The blue trays go first."),
        _codex("response_item", **_said("assistant", "The blue trays go first.")),
        _codex("event_msg", type="task_complete", last_agent_message="The blue trays go first."),
        _codex("compacted", message="Blue before red.", replacement_history=[]),
    ),
    person=["Sell the blue trays first."],
    agent=["The blue trays go first."],
    kept_out={
        "boot text": ["<permissions", "# AGENTS.md"],
        "compaction summary": ["Blue before red."],
    },
    calls=[("shell", "ls trays")],
    results=[("shell", "no such shelf", True)],
    cwd="/work/shop",
    branch="main",
    model="gpt-9",
)


def codex_session(home: Path, name: str, cwd: Path | str, text: str) -> Path:
    """A session in its usual place, in which the person says one thing."""
    return lines(
        f".codex/sessions/2026/03/01/rollout-2026-03-01T09-00-00-{name}.jsonl",
        _codex("session_meta", id=name, cwd=str(cwd)),
        _codex("event_msg", type="user_message", message=text),
    )(home)


CODEX_DIRECT = Family(
    format="codex",
    write=lines(
        "old-rollout.jsonl",
        {
            "id": "c0",
            "timestamp": AT.format(0),
            "instructions": "Be kind",
            "git": {"branch": "old"},
        },
        {"record_type": "state"},
        _said("user", "<environment_context>\n<cwd>/work</cwd>\n</environment_context>"),
        {"record_type": "state"},
        _said("user", "Weigh the red trays."),
        _said("assistant", "They weigh two pounds."),
    ),
    person=["Weigh the red trays."],
    agent=["They weigh two pounds."],
    kept_out={"boot text": ["<environment_context>"]},
    branch="old",
)

CODEX_SUBAGENT = Family(
    format="codex",
    write=lines(
        "sub-rollout.jsonl",
        _codex("session_meta", id="c2", cwd="/work/shop", source={"subagent": "review"}),
        _codex("event_msg", type="user_message", message="Review the change of the shelf."),
        _codex("event_msg", type="agent_message", message="The shelf holds."),
    ),
    person=[],
    agent=["Review the change of the shelf.", "The shelf holds."],
    cwd="/work/shop",
)


def _gemini(name: str, kind: str, content: object, second: int = 1) -> Json:
    return {"id": name, "timestamp": AT.format(second), "type": kind, "content": content}


GEMINI = Family(
    format="gemini",
    write=document(
        "session-1.json",
        {
            "sessionId": "g1",
            "projectHash": "ab12",
            "kind": "main",
            "messages": [
                _gemini(
                    "m1",
                    "user",
                    [
                        {"text": "Count @shelf.txt please."},
                        {"text": "\n--- Content from referenced files ---"},
                        {"text": "red\nblue"},
                    ],
                ),
                _gemini("m2", "info", "Updated.", 2),
                {
                    "id": "m3",
                    "timestamp": AT.format(3),
                    "type": "gemini",
                    "model": "gemini-9",
                    "content": "Two trays.",
                    "thoughts": [{"subject": "Count", "description": "them"}],
                    "toolCalls": [
                        {
                            "id": "t1",
                            "name": "run_shell_command",
                            "args": {"command": "wc -l shelf.txt"},
                            "status": "success",
                            "result": [{"functionResponse": {"response": {"output": "2"}}}],
                        }
                    ],
                },
            ],
        },
    ),
    person=["Count @shelf.txt please."],
    agent=["Two trays."],
    kept_out={"wrapper": ["Updated."]},
    calls=[("run_shell_command", "wc -l shelf.txt")],
    results=[("run_shell_command", "2", False)],
    model="gemini-9",
)


GEMINI_LOG = Family(
    format="gemini",
    write=lines(
        "session-2.jsonl",
        {"sessionId": "g2", "projectHash": "ab12", "startTime": AT.format(0)},
        _gemini("m1", "user", "Paint the shelf green."),
        _gemini("m2", "gemini", "Painting"),
        _gemini("m2", "gemini", "Painted the shelf green."),
        _gemini("m3", "user", "And the door red."),
        {"$set": {"lastUpdated": AT.format(2)}},
        {"$rewindTo": "m2"},
        _gemini("m4", "user", "Leave the door alone."),
    ),
    person=["Paint the shelf green.", "Leave the door alone."],
    agent=["Painted the shelf green."],
    kept_out={"rewound": ["And the door red."]},
)


def _copilot(number: int, kind: str, /, *, at: int | None = None, **data: Any) -> Json:
    time = {} if at is None else {"timestamp": AT.format(at)}
    return {"id": f"e{number}", **time, "type": kind, "data": data}


COPILOT = Family(
    format="copilot",
    write=lines(
        "events.jsonl",
        _copilot(
            1, "session.start", sessionId="p1", context={"cwd": "/work/shop", "branch": "main"}
        ),
        _copilot(2, "system.message", content="You are Copilot."),
        _copilot(
            3,
            "user.message",
            at=1,
            content="Open at nine.",
            transformedContent="<current_datetime>now</current_datetime>\nOpen at nine.",
        ),
        _copilot(4, "user.message", content="A skill text.", source="skill-hours"),
        _copilot(5, "hook.start", input={"prompt": "Open at nine."}),
        _copilot(
            6,
            "assistant.message",
            content="We open at nine.",
            model="claude-9",
            toolRequests=[{"toolCallId": "t1", "name": "bash", "arguments": {"command": "date"}}],
        ),
        _copilot(7, "tool.execution_start", toolCallId="t1"),
        _copilot(
            8,
            "tool.execution_complete",
            toolCallId="t1",
            success=True,
            result={"content": "Sunday"},
        ),
        {
            "id": "e9",
            "type": "user.message",
            "agentId": "a1",
            "data": {"content": "Look at the clock.", "source": "agent-a1"},
        },
        _copilot(10, "session.compaction_complete", summaryContent="Opening hours were set."),
    ),
    person=["Open at nine."],
    agent=["We open at nine.", "Look at the clock."],
    kept_out={
        "boot text": ["You are Copilot."],
        "wrapper": ["A skill text."],
        "compaction summary": ["Opening hours"],
    },
    calls=[("bash", "date")],
    results=[("bash", "Sunday", False)],
    cwd="/work/shop",
    branch="main",
    model="claude-9",
)


_VSCODE_REQUEST = {
    "requestId": "r1",
    "timestamp": 1772355601000,
    "modelId": "copilot/gpt-9",
    "message": {"text": "Rename the tray class."},
    "variableData": {"variables": [{"name": "file:shelf.py"}]},
    "response": [
        {"kind": "thinking", "value": "Where is it?"},
        {"value": "I renamed it in "},
        {"kind": "inlineReference", "name": "shelf.py", "inlineReference": {"path": "/shelf.py"}},
        {"value": "."},
        {"kind": "toolInvocationSerialized", "toolId": "edit", "toolCallId": "t1"},
    ],
    "result": {
        "metadata": {
            "toolCallRounds": [
                {"toolCalls": [{"id": "t1", "name": "edit", "arguments": '{"file": "shelf.py"}'}]}
            ],
            "toolCallResults": {"t1": {"content": [{"value": {"node": {"children": [
                {"text": "one edit"}]}}}]}},
        }
    },
}  # fmt: skip

VSCODE = Family(
    format="vscode-chat",
    write=document(
        "chat.json",
        {"responderUsername": "GitHub Copilot", "sessionId": "v1", "requests": [_VSCODE_REQUEST]},
    ),
    person=["Rename the tray class."],
    agent=["I renamed it in shelf.py."],
    calls=[("edit", '{"file":"shelf.py"}')],
    results=[("edit", "one edit", False)],
    model="copilot/gpt-9",
)

VSCODE_LOG = Family(
    format="vscode-chat",
    write=lines(
        "v2.jsonl",
        {"kind": 0, "v": {"version": 3, "sessionId": "v2", "requests": []}},
        {"kind": 2, "k": ["requests"], "v": [{"requestId": "r1", "message": {"text": "Sweep."}}]},
        {"kind": 1, "k": ["requests", 0, "response"], "v": [{"value": "Sweeping"}]},
        {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": " done."}]},
        {"kind": 2, "k": ["requests"], "v": [{"requestId": "r2", "message": {"text": "Oops"}}]},
        {"kind": 2, "k": ["requests"], "v": [], "i": 1},
        {"kind": 1, "k": ["nowhere", 7, "x"], "v": 1},
    ),
    person=["Sweep."],
    agent=["Sweeping done."],
)

_BUBBLES = [
    {"type": 1, "bubbleId": "b1", "text": "Stack the crates."},
    {
        "type": 2,
        "bubbleId": "b2",
        "text": "Stacked.",
        "thinking": {"text": "High?"},
        "capabilityType": 15,
        "toolFormerData": {
            "toolCallId": "t1",
            "name": "run_terminal",
            "rawArgs": '{"command": "stack"}',
            "result": "3 crates",
            "status": "completed",
        },
    },
]

_ITEMS = "CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB)"


def _item(key: str, value: object) -> tuple[str, Sequence[object]]:
    return ("INSERT INTO ItemTable VALUES (?, ?)", [key, json.dumps(value)])


def _disk_item(key: str, value: object) -> tuple[str, Sequence[object]]:
    return ("INSERT INTO cursorDiskKV VALUES (?, ?)", [key, json.dumps(value)])


_OLD_CHAT = {
    "tabId": "k0",
    "lastSendTime": 1731784818255,
    "bubbles": [
        {"type": "user", "id": "x1", "text": "Label the crates."},
        {"type": "ai", "id": "x2", "rawText": "Labelled."},
    ],
}

CURSOR_2024 = Family(
    format="cursor",
    write=database(
        "state.vscdb",
        _ITEMS,
        _item(
            "composer.composerData",
            {"allComposers": [{"composerId": "k1", "conversation": _BUBBLES}]},
        ),
        _item("aiService.prompts", [{"text": "Stack the crates.", "commandType": 4}]),
        _item("workbench.panel.aichat.view.aichat.chatdata", {"tabs": [_OLD_CHAT]}),
    ),
    person=["Label the crates.", "Stack the crates."],
    agent=["Labelled.", "Stacked."],
    calls=[("run_terminal", "stack")],
    results=[("run_terminal", "3 crates", False)],
)

CURSOR = Family(
    format="cursor",
    write=database(
        "global.vscdb",
        _ITEMS,
        "CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB)",
        _disk_item(
            "composerData:k2",
            {
                "composerId": "k2",
                "createdAt": 1772355601000,
                "workspaceIdentifier": {"uri": {"fsPath": "/work/shop"}},
                "fullConversationHeadersOnly": [
                    {"bubbleId": "b1", "type": 1},
                    {"bubbleId": "b2", "type": 2},
                    {"bubbleId": "gone", "type": 2},
                ],
            },
        ),
        *(_disk_item(f"bubbleId:k2:{each['bubbleId']}", each) for each in _BUBBLES),
    ),
    person=["Stack the crates."],
    agent=["Stacked."],
    calls=[("run_terminal", "stack")],
    results=[("run_terminal", "3 crates", False)],
    cwd="/work/shop",
)


def _cursor_agent(role: str, *content: Json) -> Json:
    return {"role": role, "message": {"content": [*content]}}


CURSOR_AGENT = Family(
    format="cursor-agent",
    write=lines(
        "agent-transcripts/u1/u1.jsonl",
        _cursor_agent("user", _text("<user_query>\nLock the door.\n</user_query>")),
        _cursor_agent(
            "assistant",
            _text("Locked."),
            {"type": "tool_use", "name": "Shell", "input": {"command": "lock"}},
        ),
        _cursor_agent("assistant", _text("[REDACTED]")),
        {"type": "turn_ended"},
    ),
    person=["Lock the door."],
    agent=["Locked."],
    calls=[("Shell", "lock")],
)


def _stream(kind: str, *content: Json, **more: Any) -> Json:
    return {"type": kind, "session_id": "s1", "message": _says(kind, *content), **more}


CLAUDE_STREAM = Family(
    format="claude-stream",
    write=lines(
        "run.jsonl",
        {
            "type": "system",
            "subtype": "init",
            "session_id": "s1",
            "cwd": "/work/shop",
            "model": "claude-9",
            "tools": ["Bash"],
        },
        _stream("assistant", _text("I ring the bell.")),
        _stream("assistant", _use("Bash", "ring")),
        _stream("user", _result("dong")),
        _stream("user", _text("Find the bell."), parent_tool_use_id="t0"),
        {"type": "result", "session_id": "s1", "num_turns": 1, "result": "I ring the bell."},
    ),
    person=[],
    agent=["I ring the bell.", "Find the bell."],
    calls=[("Bash", "ring")],
    results=[("Bash", "dong", False)],
    cwd="/work/shop",
    model="claude-9",
)


def _node(name: str, parent: str | None, role: str = "", text: str = "", **message: Any) -> Json:
    found = None
    if role:
        content = {"content_type": "text", "parts": [text]}
        facts = {"id": f"id-{name}", "author": {"role": role}, "create_time": 1772355601.5}
        found = {**facts, "content": content, **message}
    return {"id": name, "parent": parent, "children": [], "message": found}


CHATGPT_CONVERSATION = {
    "conversation_id": "h1",
    "title": "Bread",
    "create_time": 1772355600.0,
    "current_node": "n5",
    "mapping": {
        "n0": _node("n0", None),
        "n1": _node("n1", "n0", "system", "hidden", metadata={
            "is_visually_hidden_from_conversation": True}),
        "n2": _node("n2", "n1", "user", "I bake rye bread."),
        "n3": _node("n3", "n2", "assistant", "Wheat is fine."),
        "n4": _node("n4", "n2", "assistant", "User bakes rye bread.", recipient="bio"),
        "n5": _node("n5", "n4", "assistant", "Rye needs time.", metadata={"model_slug": "gpt-9"}),
    },
}  # fmt: skip

CHATGPT = Family(
    format="chatgpt",
    write=document("conversations.json", [CHATGPT_CONVERSATION]),
    person=["I bake rye bread."],
    agent=["The agent remembered this: User bakes rye bread.", "Rye needs time."],
    kept_out={"boot text": ["hidden"], "rewound": ["Wheat is fine."]},
    model="gpt-9",
)
CHATGPT_ZIP = structs.replace(
    CHATGPT,
    write=archive(
        "export.zip", chat_html="", message_feedback=[], conversations__000=[CHATGPT_CONVERSATION]
    ),
)

_CLAUDE_AI = {
    "uuid": "q1",
    "name": "Tea",
    "created_at": AT.format(0),
    "chat_messages": [
        {
            "uuid": "m1",
            "sender": "human",
            "text": "Which tea?",
            "content": [_text("Which tea is green?")],
            "created_at": AT.format(1),
        },
        {"uuid": "m2", "sender": "assistant", "text": "Sencha.", "content": [None]},
    ],
}
CLAUDE_AI = Family(
    format="claude-ai",
    write=document("conversations.json", [_CLAUDE_AI]),
    person=["Which tea is green?"],
    agent=["Sencha."],
)
CLAUDE_AI_ZIP = structs.replace(
    CLAUDE_AI, write=archive("data.zip", conversations=[_CLAUDE_AI], users=[], projects=[])
)


def _opencode(role: str, *parts: Json, **info: Any) -> Json:
    name = f"msg_{info.pop('name')}"
    made = {"id": name, "sessionID": "o1", "role": role, "time": {"created": 1772355601000}}
    return {
        "info": {**made, **info},
        "parts": [{"id": f"prt_{name}{n}", **part} for n, part in enumerate(parts)],
    }


OPENCODE_INFO = {
    "id": "o1",
    "projectID": "pj",
    "directory": "/work/shop",
    "version": "1.2.0",
    "time": {"created": 1772355600000},
    "revert": {"messageID": "msg_5"},
}
_OPENCODE_MESSAGES = [
    _opencode(
        "user",
        {"type": "text", "text": "Water the plants."},
        {"type": "text", "text": "Called the Read tool", "synthetic": True},
        name="1",
    ),
    _opencode(
        "assistant",
        {"type": "step-start"},
        {"type": "reasoning", "text": "Dry?"},
        {
            "type": "tool",
            "tool": "bash",
            "callID": "REDACTED",
            "state": {"status": "error", "input": {"command": "water"}, "error": "no can"},
        },
        {"type": "text", "text": "Watered."},
        name="2",
        modelID="glm-9",
    ),
    _opencode("user", {"type": "compaction", "auto": True}, name="3"),
    _opencode("assistant", {"type": "text", "text": "Plants need water."}, name="4", summary=True),
    _opencode("user", {"type": "text", "text": "Now cut them."}, name="5"),
]
OPENCODE = Family(
    format="opencode",
    write=document("export.json", {"info": OPENCODE_INFO, "messages": _OPENCODE_MESSAGES}),
    person=["Water the plants."],
    agent=["Watered."],
    kept_out={"compaction summary": ["Plants need water."], "rewound": ["Now cut them."]},
    calls=[("bash", "water")],
    results=[("bash", "no can", True)],
    cwd="/work/shop",
    model="glm-9",
)


def opencode_database(path: Path, session: Json = OPENCODE_INFO) -> Path:
    """The database of OpenCode, with one session more."""
    statements: list[str | tuple[str, Sequence[object]]] = [
        "CREATE TABLE IF NOT EXISTS project (id TEXT, worktree TEXT)",
        "CREATE TABLE IF NOT EXISTS session (id TEXT, project_id TEXT, parent_id TEXT,"
        " directory TEXT, version TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER)",
        "CREATE TABLE IF NOT EXISTS message (id TEXT, session_id TEXT, time_created INTEGER,"
        " data TEXT)",
        "CREATE TABLE IF NOT EXISTS part (id TEXT, message_id TEXT, session_id TEXT, data TEXT)",
        (
            "INSERT INTO session VALUES (?, 'pj', NULL, ?, '1.18', ?, 1, 1772355609000)",
            [session["id"], session["directory"], json.dumps(session.get("revert"))],
        ),
    ]
    for number, message in enumerate(_OPENCODE_MESSAGES):
        info = {
            key: value for key, value in message["info"].items() if key not in ("id", "sessionID")
        }
        name = message["info"]["id"]
        if session is not OPENCODE_INFO:
            name = f"{session['id']}-{name}"
        statements.append(
            (
                "INSERT INTO message VALUES (?, ?, ?, ?)",
                [name, session["id"], number, json.dumps(info)],
            )
        )
        for part in message["parts"]:
            data = {key: value for key, value in part.items() if key != "id"}
            statements.append(
                ("INSERT INTO part VALUES (?, ?, ?, ?)", [part["id"], name, "o1", json.dumps(data)])
            )
    return database(path.name, *statements)(path.parent)


def opencode_of_two(home: Path, folder: Path | str) -> Path:
    """The database in its usual place, with session `o1` of a folder and `o2` of another one."""
    path = home / ".local/share/opencode/opencode.db"
    opencode_database(path, {**OPENCODE_INFO, "directory": str(folder)})
    return opencode_database(path, {**OPENCODE_INFO, "id": "o2", "directory": "/else"})


def opencode_folder(folder: Path) -> Path:
    """The storage folder of OpenCode before it had a database."""
    storage = folder / "storage"
    for message in _OPENCODE_MESSAGES:
        name = message["info"]["id"]
        document(f"message/o1/{name}.json", message["info"])(storage)
        for part in message["parts"]:
            document(f"part/{name}/{part['id']}.json", {**part, "messageID": name})(storage)
    return document("session/pj/o1.json", OPENCODE_INFO)(storage)


OPENCODE_DATABASE = structs.replace(
    OPENCODE, write=lambda folder: opencode_database(folder / "opencode.db")
)
OPENCODE_FOLDER = structs.replace(OPENCODE, write=opencode_folder)

_CRUSH_MESSAGES = (
    ("m1", "w1", "user", "text", {"text": "Polish the bells."}),
    ("m2", "w1", "assistant", "tool_call",
     {"id": "t1", "name": "bash", "input": '{"command": "polish"}'}),
    ("m3", "w1", "tool", "tool_result", {"tool_call_id": "t1", "content": "shiny"}),
    ("m4", "w1", "assistant", "text", {"text": "Bells were polished."}),
    ("m5", "w2", "user", "text", {"text": "Find the cloth."}),
)  # fmt: skip

CRUSH = Family(
    format="crush",
    write=database(
        ".crush/crush.db",
        "CREATE TABLE sessions (id TEXT, parent_session_id TEXT, title TEXT,"
        " summary_message_id TEXT, created_at INTEGER, updated_at INTEGER)",
        "CREATE TABLE files (id TEXT)",
        "CREATE TABLE messages (id TEXT, session_id TEXT, role TEXT, parts TEXT, model TEXT,"
        " created_at INTEGER)",
        "INSERT INTO sessions VALUES ('w1', NULL, 'Bells', 'm4', 1, 9)",
        "INSERT INTO sessions VALUES ('w2', 'w1', 'Sub', NULL, 2, 9)",
        *(
            (
                "INSERT INTO messages VALUES (?, ?, ?, ?, 'grok-9', 1772355601)",
                [name, session, role, json.dumps([{"type": kind, "data": data}])],
            )
            for name, session, role, kind, data in _CRUSH_MESSAGES
        ),
    ),
    person=["Polish the bells."],
    agent=["Find the cloth."],
    kept_out={"compaction summary": ["Bells were polished."]},
    calls=[("bash", "polish")],
    results=[("bash", "shiny", False)],
    model="grok-9",
)


_GOOSE_CALL = {"name": "shell", "arguments": {"command": "feed"}}
_GOOSE_MESSAGES = (
    ("user", _text("Feed the geese.")),
    ("assistant", {"type": "toolRequest", "id": "t1",
                   "toolCall": {"status": "success", "value": _GOOSE_CALL}}),
    ("user", {"type": "toolResponse", "id": "t1",
              "toolResult": {"status": "success", "value": [_text("fed")]}}),
    ("assistant", _text("They are fed.")),
)  # fmt: skip

GOOSE = Family(
    format="goose",
    write=database(
        "sessions.db",
        "CREATE TABLE schema_version (version INTEGER)",
        "CREATE TABLE sessions (id TEXT, working_dir TEXT, session_type TEXT, created_at TEXT,"
        " updated_at TEXT)",
        "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT,"
        " content_json TEXT, created_timestamp INTEGER)",
        "INSERT INTO sessions VALUES ('20260301_1', '/work/shop', 'user', '2026-03-01', '')",
        *(
            (
                "INSERT INTO messages (session_id, role, content_json, created_timestamp)"
                " VALUES ('20260301_1', ?, ?, 1772355601)",
                [role, json.dumps([content])],
            )
            for role, content in _GOOSE_MESSAGES
        ),
    ),
    person=["Feed the geese."],
    agent=["They are fed."],
    calls=[("shell", "feed")],
    results=[("shell", "fed", False)],
    cwd="/work/shop",
)


GOOSE_LOG = Family(
    format="goose-log",
    write=lines(
        "talk.jsonl",
        {"working_dir": "/work/shop", "message_count": 4},
        *(
            {"role": role, "created": 1772355601, "content": [content]}
            for role, content in _GOOSE_MESSAGES
        ),
    ),
    person=GOOSE.person,
    agent=GOOSE.agent,
    calls=GOOSE.calls,
    results=GOOSE.results,
    cwd="/work/shop",
)


def _pi(name: str, parent: str | None, role: str, content: Json, **message: Any) -> Json:
    return {
        "type": "message",
        "id": name,
        "parentId": parent,
        "timestamp": AT.format(1),
        "message": {**_says(role, content), "timestamp": 1, **message},
    }


_PI_CALL = {"type": "toolCall", "id": "t1", "name": "bash", "arguments": {"command": "mow"}}

PI = Family(
    format="pi",
    write=lines(
        "pi.jsonl",
        {
            "type": "session",
            "version": 3,
            "id": "i1",
            "timestamp": AT.format(0),
            "cwd": "/work/shop",
        },
        _pi("a", None, "user", _text("Cut the grass.")),
        _pi("b", "a", "assistant", _text("Which grass?")),
        _pi("c", "b", "user", _text("All of it!")),
        "",
        _pi("d", "b", "user", _text("The front lawn.")),
        _pi("e", "d", "assistant", _PI_CALL, model="claude-9"),
        _pi("f", "e", "toolResult", _text("mown"), toolCallId="t1", toolName="bash"),
        {
            "type": "compaction",
            "id": "g",
            "parentId": "f",
            "timestamp": AT.format(2),
            "summary": "Lawn done.",
        },
    ),
    person=["Cut the grass.", "The front lawn."],
    agent=["Which grass?"],
    kept_out={"rewound": ["All of it!"], "compaction summary": ["Lawn done."]},
    calls=[("bash", "mow")],
    results=[("bash", "mown", False)],
    cwd="/work/shop",
    model="",
)


def _droid(name: str, role: str, *content: Json, **more: Any) -> Json:
    return {"type": "message", "id": name, **more, "message": _says(role, *content)}


DROID = Family(
    format="droid",
    write=lines(
        "droid.jsonl",
        {"type": "session_start", "id": "d1", "cwd": "/work/shop"},
        _droid("m1", "user", _text("Mind the step."), timestamp=AT.format(1)),
        _droid("m2", "assistant", _text("Minded."), _use("Execute", "hop")),
        _droid("m3", "user", _result("hopped")),
    ),
    person=["Mind the step."],
    agent=["Minded."],
    calls=[("Execute", "hop")],
    results=[("Execute", "hopped", False)],
    cwd="/work/shop",
)


def _qwen(name: str, kind: str, *parts: Json, **more: Any) -> Json:
    return {
        "uuid": name,
        "sessionId": "n1",
        "timestamp": AT.format(1),
        "cwd": "/work/shop",
        "gitBranch": "main",
        "type": kind,
        "message": {"role": "user" if kind == "user" else "model", "parts": [*parts]},
        **more,
    }


QWEN = Family(
    format="qwen",
    write=lines(
        "qwen.jsonl",
        _qwen("u1", "user", {"text": "<hook_context>x</hook_context>Sort the mail."},
              parentUuid=None, systemPayload={"displayText": "Sort the mail."}),
        _qwen("u2", "assistant", {"text": "By size?", "thought": True}, {"text": "Sorted."},
              {"functionCall": {"id": "t1", "name": "shell", "args": {"command": "sort"}}},
              parentUuid="u1", model="qwen-9"),
        _qwen("u3", "tool_result",
              {"functionResponse": {"id": "t1", "name": "shell", "response": {"output": "ok"}}},
              parentUuid="u2"),
        _qwen("u4", "user", {"text": "A task has ended."}, subtype="notification",
              parentUuid="u3"),
    ),
    person=["Sort the mail."],
    agent=["Sorted."],
    kept_out={"wrapper": ["A task has ended."]},
    calls=[("shell", "sort")],
    results=[("shell", "ok", False)],
    cwd="/work/shop",
    branch="main",
    model="qwen-9",
)  # fmt: skip


def _kimi(time: int, kind: str, /, **more: Any) -> Json:
    return {"type": kind, **more, "time": 1772355600000 + time}


def _kimi_event(time: int, kind: str, /, **event: Any) -> Json:
    return _kimi(time, "context.append_loop_event", event={"type": kind, **event})


KIMI = Family(
    format="kimi",
    write=lines(
        "sessions/hash/k1/wire.jsonl",
        {"type": "metadata", "protocol_version": "1.4"},
        _kimi(0, "config.update", cwd="/work/shop", modelAlias="kimi-9"),
        _kimi(1000, "turn.prompt", input=[_text("Mend the net.")], origin={"kind": "user"}),
        _kimi(
            1001,
            "context.append_message",
            message={**_says("user", _text("Mend the net.")), "origin": {"kind": "user"}},
        ),
        _kimi_event(2000, "content.part", part=_text("Mended.")),
        _kimi_event(2001, "tool.call", toolCallId="t1", name="Bash", args={"command": "knot"}),
        _kimi_event(2002, "tool.result", toolCallId="t1", result={"output": "tied"}),
    ),
    person=["Mend the net."],
    agent=["Mended."],
    calls=[("Bash", "knot")],
    results=[("Bash", "tied", False)],
    cwd="/work/shop",
    model="kimi-9",
)


def _amp(number: int, role: str, *content: Json) -> Json:
    return {"role": role, "messageId": number, "content": [*content]}


AMP = Family(
    format="amp",
    write=document(
        "T-1.json",
        {
            "id": "T-1",
            "created": 1772355600000,
            "env": {"initial": {"trees": [{"uri": "file:///work/shop"}]}},
            "messages": [
                _amp(0, "user", _text("Close the gate.")),
                _amp(
                    1,
                    "assistant",
                    _text("Closed."),
                    {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"cmd": "close"}},
                ),
                _amp(
                    2,
                    "user",
                    {
                        "type": "tool_result",
                        "toolUseID": "t1",
                        "run": {"status": "done", "result": {"output": "shut"}},
                    },
                ),
            ],
        },
    ),
    person=["Close the gate."],
    agent=["Closed."],
    calls=[("Bash", "close")],
    results=[("Bash", '{"output":"shut"}', False)],
    cwd="/work/shop",
)


def _cline(millisecond: int, kind: str, text: str, by: str = "say", **more: Any) -> Json:
    return {"ts": 1772355600000 + millisecond, "type": by, by: kind, "text": text, **more}


CLINE = Family(
    format="cline",
    write=document(
        "tasks/17/ui_messages.json",
        [
            _cline(0, "task", "Hang the sign."),
            _cline(1, "api_req_started", "{}"),
            _cline(2, "text", "Hang", partial=True),
            _cline(3, "text", "Hanging it."),
            _cline(4, "command", "hang sign", "ask"),
            _cline(5, "command_output", "hung"),
            _cline(6, "user_feedback", "Higher."),
            _cline(7, "completion_result", "It hangs."),
            _cline(8, "completion_result", "It hangs.", "ask"),
        ],
    ),
    person=["Hang the sign.", "Higher."],
    agent=["Hanging it.", "It hangs."],
    calls=[("command", "hang sign")],
    results=[("command", "hung", False)],
)


CONTINUE = Family(
    format="continue",
    write=document(
        "s.json",
        {
            "sessionId": "t1",
            "workspaceDirectory": "file:///work/shop",
            "dateCreated": "1772355600000",
            "history": [
                {
                    "message": {"role": "user", "id": "m1", "content": [_text("Fold the maps.")]},
                    "promptLogs": [{"prompt": "Fold the maps."}],
                },
                {"message": {"role": "assistant", "id": "m2", "content": "Folded."}},
            ],
        },
    ),
    person=["Fold the maps."],
    agent=["Folded."],
    cwd="/work/shop",
)


def _action(number: int, source: str, action: str, **args: Any) -> Json:
    return {"id": number, "source": source, "action": action, "args": args}


_OPENHANDS_CALL = {"function_name": "bash", "tool_call_id": "t1"}

OPENHANDS = Family(
    format="openhands",
    write=lines(
        "output.jsonl",
        {
            "instance_id": "shop-1",
            "instruction": "Fix the lamp.",
            "history": [
                _action(0, "agent", "system", content="You help."),
                _action(1, "user", "message", content="Fix the lamp."),
                {
                    **_action(2, "agent", "run", command="fix", thought="First I look."),
                    "tool_call_metadata": _OPENHANDS_CALL,
                },
                {
                    "id": 3,
                    "source": "agent",
                    "observation": "run",
                    "content": "dark",
                    "extras": {"metadata": {"exit_code": 1}},
                    "tool_call_metadata": _OPENHANDS_CALL,
                },
                {  # an editor for viewing too, whose `command` says which
                    **_action(4, "agent", "read", path="/lamp.py"),
                    "tool_call_metadata": {"function_name": "str_replace_editor"},
                },
            ],
        },
    ),
    person=["Fix the lamp."],
    agent=["First I look."],
    kept_out={"boot text": ["You help."]},
    calls=[
        ("bash", "fix"),
        ("str_replace_editor", '{"path":"/lamp.py","command":"view"}'),
    ],
    results=[("bash", "dark", True)],
)


_ATIF_STEPS = [
    {"step_id": 1, "source": "user", "message": "Light the fire.", "timestamp": AT.format(1)},
    {
        "step_id": 2,
        "source": "agent",
        "message": "Lit.",
        "tool_calls": [
            {"tool_call_id": "t1", "function_name": "bash", "arguments": {"command": "light"}}
        ],
        "observation": {"results": [{"source_call_id": "t1", "content": {"warm": True}}]},
    },
    {"step_id": 3, "source": "system", "message": "Session ended."},
]
_ATIF_HEAD = {
    "schema_version": "ATIF-v1.4",
    "session_id": "f1",
    "agent": {"name": "a", "model_name": "m-9"},
}
ATIF = Family(
    format="atif",
    write=document("t.atif.json", {**_ATIF_HEAD, "steps": _ATIF_STEPS}),
    person=["Light the fire."],
    agent=["Lit."],
    kept_out={"wrapper": ["Session ended."]},
    calls=[("bash", "light")],
    results=[("bash", '{"warm":true}', False)],
    model="m-9",
)
ATIF_LINES = structs.replace(
    ATIF, write=lines("t.atif.jsonl", {"__header__": True, **_ATIF_HEAD}, *_ATIF_STEPS)
)

MINI = Family(
    format="mini-swe-agent",
    write=document(
        "x.traj.json",
        {
            "trajectory_format": "mini-swe-agent-1.1",
            "instance_id": "shop-2",
            "messages": [
                {"role": "system", "content": "You help."},
                {"role": "user", "content": "Fix the tap."},
                {
                    "role": "assistant",
                    "content": "I look.",
                    "tool_calls": [_function("bash", "drip")],
                    "extra": {"actions": [{"command": "drip"}]},
                },
                {"role": "tool", "tool_call_id": "t1", "content": "drop"},
                {"role": "exit", "content": "diff"},
            ],
        },
    ),
    person=["Fix the tap."],
    agent=["I look."],
    kept_out={"boot text": ["You help."], "wrapper": ["diff"]},
    calls=[("bash", "drip")],
    results=[("bash", "drop", False)],
)


SWE_AGENT = Family(
    format="swe-agent",
    write=document(
        "x.traj",
        {
            "environment": "swe",
            "trajectory": [{"action": "ls"}],
            "history": [
                {"role": "system", "content": "SETTING"},
                {"agent": "main", "content": "Here is a demonstration of it", "is_demo": True},
                {"role": "user", "content": "Fix the roof."},
                {"role": "assistant", "content": "I climb.\n```\nls\n```", "thought": "I climb.",
                 "action": "ls"},
                {"role": "user", "content": "tiles"},
            ],
            "info": {},
        },
    ),
    person=["Fix the roof."],
    agent=["I climb."],
    kept_out={"boot text": ["SETTING"], "template": ["Here is a demonstration"]},
    calls=[("action", "ls")],
    results=[("action", "tiles", False)],
)  # fmt: skip


def _app_server(method: str, **params: Any) -> Json:
    return {"message": {"method": method, "params": params}}


_WIND = {"type": "userMessage", "id": "i1", "content": [_text("Wind the clock.")]}

APP_SERVER = Family(
    format="codex-app-server",
    write=lines(
        "app.jsonl",
        "# App-server events log",
        _app_server(
            "thread/started",
            thread={"id": "z1", "cwd": "/work/shop", "gitInfo": {"branch": "b"}},
        ),
        *(
            _app_server(method, threadId="z1", item=_WIND)
            for method in ("codex/event/item_started", "item/started", "item/completed")
        ),
        _app_server("item/completed", item={"type": "agentMessage", "id": "i2", "text": "Wound."}),
    ),
    person=["Wind the clock."],
    agent=["Wound."],
    cwd="/work/shop",
    branch="b",
)


GROK = Family(
    format="grok",
    write=lines(
        "g1/chat_history.jsonl",
        {"type": "system", "content": "You are Grok."},
        {"type": "user", "content": [{"type": "text", "text": "<user_info>x</user_info>"}],
         "synthetic_reason": "environment_context"},
        {"type": "user", "content": [{"type": "text", "text": "Roll the dough."}]},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Thin?"}]},
        {"type": "assistant", "content": "Rolled.", "model_id": "grok-9",
         "tool_calls": [{"id": "t1", "name": "roll", "arguments": '{"command": "roll"}'}]},
        {"type": "tool_result", "tool_call_id": "t1", "content": "flat"},
    ),
    person=["Roll the dough."],
    agent=["Rolled."],
    kept_out={"boot text": ["You are Grok.", "<user_info>"]},
    calls=[("roll", "roll")],
    results=[("roll", "flat", False)],
    model="grok-9",
)  # fmt: skip

ANTIGRAVITY = Family(
    format="antigravity",
    write=lines(
        "a1/steps.jsonl",
        {"step_index": 0, "source": "USER_EXPLICIT", "type": "USER_INPUT",
         "created_at": "2026-03-01T09:00:00Z",
         "content": "<USER_REQUEST>\nOil the hinge.\n</USER_REQUEST>\n<USER_SETTINGS_CHANGE>x"},
        {"step_index": 1, "source": "MODEL", "type": "PLANNER_RESPONSE", "content": "Oiled.",
         "tool_calls": [{"name": "oil", "args": {"drops": 2}}]},
        {"step_index": 2, "source": "MODEL", "type": "RUN_COMMAND", "content": "quiet"},
        {"step_index": 3, "source": "SYSTEM", "type": "CHECKPOINT", "content": "Hinges oiled."},
    ),
    person=["Oil the hinge."],
    agent=["Oiled."],
    kept_out={"compaction summary": ["Hinges oiled."]},
    calls=[("oil", '{"drops":2}')],
    results=[("oil", "quiet", False)],
)  # fmt: skip

HERMES = Family(
    format="hermes",
    write=database(
        ".hermes/state.db",
        "CREATE TABLE schema_version (version INTEGER)",
        "CREATE TABLE state_meta (key TEXT, value TEXT)",
        "CREATE TABLE sessions (id TEXT, model TEXT, model_config TEXT, cwd TEXT,"
        " parent_session_id TEXT, started_at REAL)",
        "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT,"
        " tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL)",
        "INSERT INTO sessions VALUES ('h1', 'hermes-9', '{}', '/work/shop', NULL, 1772355600.0)",
        "INSERT INTO sessions VALUES"
        " ('h2', 'hermes-9', '{\"_delegate_from\": \"h1\"}', NULL, 'h1', 1772355601.0)",
        *(
            (
                "INSERT INTO messages (session_id, role, content, tool_call_id, tool_calls,"
                " tool_name, timestamp) VALUES (?, ?, ?, ?, ?, ?, 1772355601.5)",
                values,
            )
            for values in (
                ("h1", "user", "[CONTEXT COMPACTION] The lamps are lit.", None, None, None),
                ("h1", "user", "Trim the wicks.", None, None, None),
                ("h1", "assistant", "Trimming.", None,
                 json.dumps([_function("terminal", "trim")]), None),
                ("h1", "tool", "trimmed", "t1", None, "terminal"),
                ("h1", "user", "Review the conversation above and consider saving to memory: x",
                 None, None, None),
                ("h1", "assistant", "Nothing to save.", None, None, None),
                ("h2", "user", "Count the lamps.", None, None, None),
            )
        ),
    ),
    person=["Trim the wicks."],
    agent=["Trimming.", "Count the lamps."],
    kept_out={
        "compaction summary": ["[CONTEXT COMPACTION]"],
        "wrapper": ["Review the conversation", "Nothing to save."],
    },
    calls=[("terminal", "trim")],
    results=[("terminal", "trimmed", False)],
    cwd="/work/shop",
    model="hermes-9",
)  # fmt: skip


def _cursor_chat(folder: Path) -> Path:
    messages: list[Json] = [
        {"role": "system", "content": "You are Cursor."},
        _says("user", _text("<user_info>Linux</user_info>")),
        _says("user", _text("<user_query>\nWind the clock.\n</user_query>")),
        {"role": "assistant", "content": [
            {"type": "reasoning", "text": "Stopped?"},
            {"type": "text", "text": "Winding."},
            {"type": "tool-call", "toolCallId": "t1", "toolName": "Shell",
             "args": {"command": "wind"}}]},
        {"role": "tool", "content": [
            {"type": "tool-result", "toolCallId": "t1", "toolName": "Shell", "result": "tick"}]},
    ]  # fmt: skip
    blobs: list[tuple[str, bytes]] = []
    for message in messages:
        data = json.dumps(message).encode()
        blobs.append((hashlib.sha256(data).hexdigest(), data))
    root = b"".join(b"\x0a\x20" + bytes.fromhex(name) for name, _ in blobs)
    taken_back = _says("user", _text("<user_query>\nStop the clock.\n</user_query>"))
    blobs.append(("taken back", json.dumps(taken_back).encode()))
    meta = {"agentId": "q1", "latestRootBlobId": "root", "createdAt": 1772355600000,
            "lastUsedModel": "cursor-9"}  # fmt: skip
    return database(
        ".cursor/chats/ab12/q1/store.db",
        "CREATE TABLE meta (key TEXT, value TEXT)",
        "CREATE TABLE blobs (id TEXT, data BLOB)",
        ("INSERT INTO meta VALUES ('0', ?)", [json.dumps(meta).encode().hex()]),
        ("INSERT INTO blobs VALUES ('root', ?)", [root]),
        *(("INSERT INTO blobs VALUES (?, ?)", blob) for blob in blobs),
    )(folder)


CURSOR_CHAT = Family(
    format="cursor-chat",
    write=_cursor_chat,
    person=["Wind the clock."],
    agent=["Winding."],
    kept_out={"boot text": ["You are Cursor.", "<user_info>"]},
    calls=[("Shell", "wind")],
    results=[("Shell", "tick", False)],
    model="cursor-9",
)

FAMILIES: dict[str, Family] = {
    name.lower(): value
    for name, value in list(globals().items())
    if isinstance(value, Family) and not name.startswith("_")
}
