"""Kimi CLI sessions: the log of the wire (two generations) and the context file."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.sources.formats import Facts, Format, Location
from reviewer.sources.formats import Fields as Outline
from reviewer.sources.records import Role, Use
from reviewer.sources.tool_text import part_text
from reviewer.sources.turns import (
    RECORDED_TWICE,
    SESSION_STATE,
    Chain,
    Fields,
    Part,
    Reading,
    Turn,
    called,
    each,
    inner,
    moment,
    returned,
    said,
    thought,
    typed,
    words,
)

HARNESS = ("<system>", "<git-context>", "<system-reminder>")
_PREFIXES = ("context.", "turn.", "config.", "llm.", "usage.", "tools.", "permission.", "plan.")
_STATE_ROLES = ("_system_prompt", "_checkpoint", "_usage")


def _is_kimi(record: Outline) -> bool:
    kind, message = record.get("type"), record.get("message")
    if kind == "metadata":
        return "protocol_version" in record
    if record.get("role") in _STATE_ROLES:
        return True
    if isinstance(kind, str):
        return kind.startswith(_PREFIXES) and "time" in record
    return isinstance(message, dict) and "payload" in message and "timestamp" in record


def _turns(reading: Reading) -> Iterator[Turn]:
    session = _session(reading)
    chain = Chain(session)
    cwd = model = ""
    apart = False
    for spot, record in reading.objects():
        kind = words(record.get("type"))
        if kind == "config.update":
            cwd = words(record.get("cwd")) or cwd
            model = words(record.get("modelAlias")) or model
        origin = inner(record, "origin") or inner(record, "message", "origin")
        apart = apart or (
            origin.get("kind") == "system_trigger" and origin.get("name") == "subagent"
        )
        role, parts = _parts(reading, kind, record)
        if not parts:
            reading.tally[
                RECORDED_TWICE if kind == "context.append_message" else SESSION_STATE
            ] += 1
            continue
        at = moment(record.get("time")) or moment(record.get("timestamp"))
        yield Turn(
            spot=spot,
            role=Role.ASSISTANT if apart and role is Role.USER else role,
            parts=parts,
            key=chain.key(role, *(part.kind + part.call + part.text for part in parts)),
            at=at,
            session=session or None,
            sidechain=apart,
            cwd=cwd,
            model=model,
        )


def _session(reading: Reading) -> str:
    """The session's id is the name of its folder; files of sub-agents lie below it."""
    folder = reading.path.parent
    while folder.name in ("agents", "main", "wire") or folder.name.startswith("agent-"):
        folder = folder.parent
    return f"{folder.parent.name}/{folder.name}" if folder.name else ""


def _parts(reading: Reading, kind: str, record: Fields) -> tuple[Role, list[Part]]:
    if kind in ("turn.prompt", "turn.steer"):
        return _prompt(reading, record)
    if kind == "context.append_message":  # the person's message came before as a prompt
        message = inner(record, "message")
        origin = inner(message, "origin").get("kind")
        text = part_text(message.get("content"))
        if message.get("role") != "user" or origin in ("user", "system_trigger") or not text:
            return Role.SYSTEM, []
        return Role.USER, [said(text, Use.WRAPPER)]
    if kind == "context.append_loop_event":
        return _loop_event(inner(record, "event"))
    if kind == "context.apply_compaction":
        summary = part_text(record.get("summary"))
        return Role.ASSISTANT, [said(summary, Use.SUMMARY)] if summary.strip() else []
    if not kind and "payload" in inner(record, "message"):
        message = inner(record, "message")
        return _wire(reading, words(message.get("type")), inner(message, "payload"))
    if not kind and "role" in record:
        return _context(reading, record)
    return Role.SYSTEM, []


def _prompt(reading: Reading, record: Fields) -> tuple[Role, list[Part]]:
    text = part_text(record.get("input"))
    if not text.strip():
        return Role.USER, []
    if inner(record, "origin").get("kind") not in ("user", "system_trigger", None):
        return Role.USER, [said(text, Use.WRAPPER)]
    return Role.USER, [typed(text, reading.tally)]


def _loop_event(event: Fields) -> tuple[Role, list[Part]]:
    kind, part = event.get("type"), inner(event, "part")
    if kind == "content.part":
        if part.get("type") == "think":
            return Role.ASSISTANT, thought(part.get("think"))
        text = words(part.get("text"))
        return Role.ASSISTANT, [said(text)] if text.strip() else []
    if kind == "tool.call":
        call = event.get("toolCallId")
        return Role.ASSISTANT, [called(event.get("name"), event.get("args"), call)]
    if kind == "tool.result":
        result = inner(event, "result")
        failed = bool(result.get("isError"))
        output = result.get("output", result)
        return Role.TOOL, [returned(output, event.get("toolCallId"), error=failed)]
    return Role.SYSTEM, []


def _wire(reading: Reading, kind: str, payload: Fields) -> tuple[Role, list[Part]]:
    """A message of the first generation, `{timestamp, message: {type, payload}}`."""
    if kind == "TurnBegin":
        text = part_text(payload.get("user_input"))
        return Role.USER, [typed(text, reading.tally, HARNESS)] if text.strip() else []
    if kind == "ContentPart":
        if payload.get("type") == "think":
            return Role.ASSISTANT, thought(payload.get("think"))
        text = words(payload.get("text"))
        return Role.ASSISTANT, [said(text)] if text.strip() else []
    if kind == "ToolCall":
        function = inner(payload, "function")
        return Role.ASSISTANT, [
            called(function.get("name"), function.get("arguments"), payload.get("id"))
        ]
    if kind == "ToolResult":
        value = inner(payload, "return_value") or inner(payload, "result")
        failed = bool(value.get("is_error"))
        output = value.get("output", value.get("message"))
        return Role.TOOL, [returned(output, payload.get("tool_call_id"), error=failed)]
    return Role.SYSTEM, []


def _context(reading: Reading, record: Fields) -> tuple[Role, list[Part]]:
    """A line of the context file, which has messages as the model sees them."""
    role = words(record.get("role"))
    text = part_text(record.get("content"))
    if role == "user":
        return Role.USER, [typed(text, reading.tally, HARNESS)] if text.strip() else []
    if role == "tool":
        return Role.TOOL, [returned(text, record.get("tool_call_id"))]
    parts = [said(text)] if text.strip() else []
    for call in each(record.get("tool_calls")):
        function = inner(call, "function")
        parts.append(called(function.get("name"), function.get("arguments"), call.get("id")))
    return Role.ASSISTANT, parts if role == "assistant" else []


FORMAT = Format(
    name="kimi",
    agent="Kimi CLI",
    detect_record=_is_kimi,
    turns=_turns,
    locations=(
        Location(folder=".kimi/sessions", pattern="*/*/wire.jsonl", variable="KIMI_SHARE_DIR",
                 moves=".kimi"),
        Location(folder=".kimi-code/sessions", pattern="**/wire.jsonl", variable="KIMI_CODE_HOME",
                 moves=".kimi-code"),
    ),
    facts=Facts(
        person="`turn.prompt` or `TurnBegin.user_input` of a user",
        left_out="`context.append_message` repeats the prompt; checkpoints, reminders, triggers",
        folder="`config.update.cwd`; else the folder name is the md5 of the working folder",
        compaction="`context.apply_compaction`",
        rewind="the file is written anew",
        subagent="origin `system_trigger` named `subagent`",
        tested="fixtures, protocol 1.4",
    ),
)  # fmt: skip
