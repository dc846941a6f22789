"""Kimi CLI sessions: the wire log (two generations) and the context file."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.sources.fields import Fields, first, inner, moment, words
from reviewer.sources.format import Format, Location
from reviewer.sources.parts import Part, called, function_calls, returned, said, thought, typed
from reviewer.sources.reading import Reading, silent
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.tool_text import part_text
from reviewer.sources.turns import Session, Turn

HARNESS = ("<system>", "<git-context>", "<system-reminder>")
_PREFIXES = ("context.", "turn.", "config.", "llm.", "usage.", "tools.", "permission.", "plan.")
_STATE_ROLES = ("_system_prompt", "_checkpoint", "_usage")


def _is_kimi(record: Fields) -> bool:
    kind = record.get("type")
    if kind == "metadata":
        return "protocol_version" in record
    if record.get("role") in _STATE_ROLES:
        return True
    if isinstance(kind, str):
        return kind.startswith(_PREFIXES) and "time" in record
    return "payload" in inner(record, "message") and "timestamp" in record


def _turns(reading: Reading) -> Iterator[Turn]:
    session = Session(id=_session_id(reading))
    for spot, record in reading.objects():
        kind = words(record.get("type"))
        if kind == "config.update":
            session.learn(record, cwd="cwd", model="modelAlias")
        origin = inner(record, "origin") or inner(record, "message", "origin")
        if origin.get("kind") == "system_trigger" and origin.get("name") == "subagent":
            session.subagent = True
        role, parts = _parts(reading, kind, record)
        if not parts:
            silent(reading.tally, kind)
            continue
        at = moment(record.get("time"), record.get("timestamp"))
        yield session.turn(spot, role, parts, at=at)


def _session_id(reading: Reading) -> str:
    """The session id is the folder name; sub-agents' files are below it."""
    folder = reading.path.parent
    while folder.name in ("agents", "main", "wire") or folder.name.startswith("agent-"):
        folder = folder.parent
    return f"{folder.parent.name}/{folder.name}" if folder.name else ""


def _parts(reading: Reading, kind: str, record: Fields) -> tuple[Role, list[Part]]:
    message = inner(record, "message")
    if kind in ("turn.prompt", "turn.steer"):
        text = part_text(record.get("input"))
        if inner(record, "origin").get("kind") not in ("user", "system_trigger", None):
            return Role.USER, said(text, RecordUse.WRAPPER)
        return Role.USER, typed(text, reading.tally)
    if kind == "context.append_message":  # the person's message was already recorded as a prompt
        origin = inner(message, "origin").get("kind")
        if message.get("role") != "user" or origin in ("user", "system_trigger"):
            return Role.SYSTEM, []
        return Role.USER, said(part_text(message.get("content")), RecordUse.WRAPPER)
    if kind == "context.append_loop_event":
        return _loop_event(inner(record, "event"))
    if kind == "context.apply_compaction":
        return Role.ASSISTANT, said(part_text(record.get("summary")), RecordUse.SUMMARY)
    if not kind and "payload" in message:
        return _wire(reading, words(message.get("type")), inner(message, "payload"))
    if not kind and "role" in record:
        return _context(reading, record)
    return Role.SYSTEM, []


def _loop_event(event: Fields) -> tuple[Role, list[Part]]:
    kind, call = event.get("type"), event.get("toolCallId")
    if kind == "content.part":
        return Role.ASSISTANT, _written(inner(event, "part"))
    if kind == "tool.call":
        return Role.ASSISTANT, called(event.get("name"), event.get("args"), call)
    if kind == "tool.result":
        result = inner(event, "result")
        failed = bool(result.get("isError"))
        return Role.TOOL, returned(result.get("output", result), call, error=failed)
    return Role.SYSTEM, []


def _wire(reading: Reading, kind: str, payload: Fields) -> tuple[Role, list[Part]]:
    """A message of the first generation, `{timestamp, message: {type, payload}}`."""
    if kind == "TurnBegin":
        return Role.USER, typed(part_text(payload.get("user_input")), reading.tally, HARNESS)
    if kind == "ContentPart":
        return Role.ASSISTANT, _written(payload)
    if kind == "ToolCall":
        return Role.ASSISTANT, function_calls([payload])
    if kind == "ToolResult":
        value = inner(payload, "return_value") or inner(payload, "result")
        failed = bool(value.get("is_error"))
        output = first(value, "output", "message")
        return Role.TOOL, returned(output, payload.get("tool_call_id"), error=failed)
    return Role.SYSTEM, []


def _written(part: Fields) -> list[Part]:
    is_thought = part.get("type") == "think"
    return thought(part.get("think")) if is_thought else said(words(part.get("text")))


def _context(reading: Reading, record: Fields) -> tuple[Role, list[Part]]:
    """A line of the context file, which has messages as sent to the model."""
    role, text = words(record.get("role")), part_text(record.get("content"))
    if role == "user":
        return Role.USER, typed(text, reading.tally, HARNESS)
    if role == "tool":
        return Role.TOOL, returned(text, record.get("tool_call_id"))
    if role == "assistant":
        return Role.ASSISTANT, said(text) + function_calls(record.get("tool_calls"))
    return Role.ASSISTANT, []


FORMAT = Format(
    name="kimi",
    agent="Kimi CLI",
    detect_record=_is_kimi,
    turns=_turns,
    locations=(
        Location(folder=".kimi/sessions", pattern="*/*/wire.jsonl", variable="KIMI_SHARE_DIR"),
        Location(folder=".kimi-code/sessions", pattern="**/wire.jsonl", variable="KIMI_CODE_HOME"),
    ),
    tested="fixtures, protocol 1.4",
)  # fmt: skip
