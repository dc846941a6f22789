"""Pi (pi-mono) and OpenClaw sessions: a list (version 1) or a tree of entries (version 3)."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.sources.events import Rewind
from reviewer.sources.formats import Facts, Format, Location
from reviewer.sources.formats import Fields as Outline
from reviewer.sources.records import Role, Use
from reviewer.sources.turns import (
    SESSION_STATE,
    Chain,
    Fields,
    Part,
    Reading,
    Trail,
    Turn,
    called,
    each,
    inner,
    moment,
    returned,
    rewind_at,
    said,
    thought,
    typed,
    words,
)

_ENTRIES = frozenset(
    (
        "session",
        "message",
        "compaction",
        "model_change",
        "thinking_level_change",
        "branch_summary",
        "custom",
        "custom_message",
        "label",
        "session_info",
    )
)


def _is_pi(record: Outline) -> bool:
    kind = record.get("type")
    if kind == "session":
        return "cwd" in record and "timestamp" in record
    if kind == "message":
        message = record.get("message")
        return (
            isinstance(message, dict)
            and "session_id" not in record
            and "sessionId" not in record
            and message.get("role") in ("user", "assistant", "toolResult", "bashExecution")
            and (message.get("role") == "toolResult" or "timestamp" in message or "api" in message)
        )
    return (
        isinstance(kind, str)
        and kind in _ENTRIES
        and "timestamp" in record
        and "data" not in (record)
        and ("parentId" in record or "summary" in record or "modelId" in record)
    )


def _turns(reading: Reading) -> Iterator[Turn | Rewind]:
    trail, calls = Trail(), dict[str, str]()
    session = cwd = model = ""
    chain = Chain("")
    for spot, entry in reading.objects():
        kind = words(entry.get("type"))
        if kind == "session":
            session, cwd = words(entry.get("id")), words(entry.get("cwd"))
            model = words(entry.get("modelId"))
            chain = Chain(_root(entry, session))
        elif kind == "model_change":
            model = words(entry.get("modelId")) or model
        message, name = inner(entry, "message"), words(entry.get("id"))
        if "parentId" in entry and name:
            before = words(entry.get("parentId"))
            first = trail.follow(name, calls.get(before, before), spot.line_start)
            if first is not None:
                yield rewind_at(spot, first)
        role, parts = _parts(reading, kind, entry, message)
        calls |= {part.call: name for part in parts if part.kind == "tool_use"}
        if not parts:
            reading.tally[SESSION_STATE if kind in _ENTRIES else f"unknown type: {kind[:40]}"] += 1
            continue
        at = moment(entry.get("timestamp")) or moment(message.get("timestamp"))
        yield Turn(
            spot=spot,
            role=role,
            parts=parts,
            key=chain.key(name, role, *(part.kind + part.call + part.text for part in parts)),
            at=at,
            session=session or None,
            parent=words(entry.get("parentId")) or None,
            cwd=cwd,
            model=words(message.get("model")) or model,
        )


def _root(entry: Fields, session: str) -> str:
    """The session that this one was branched from, whose entries it repeats.

    A name ends with the id of its session.
    """
    parent = words(entry.get("branchedFrom")) or words(entry.get("parentSession"))
    stem = parent.replace("\\", "/").rpartition("/")[2].removesuffix(".jsonl")
    return stem.rpartition("_")[2] or session


def _parts(reading: Reading, kind: str, entry: Fields, message: Fields) -> tuple[Role, list[Part]]:
    if kind in ("compaction", "branch_summary"):
        summary = words(entry.get("summary"))
        return Role.ASSISTANT, [said(summary, Use.SUMMARY)] if summary.strip() else []
    if kind != "message":
        return Role.SYSTEM, []
    speaker = words(message.get("role"))
    if speaker == "bashExecution":
        command = called("bash", {"command": words(message.get("command"))})
        code = message.get("exitCode")
        failed = code not in (0, None)
        printed = returned(message.get("output"), "", "bash", error=failed, code=code)
        return Role.USER, [command, printed]
    if speaker == "toolResult":
        failed = bool(message.get("isError"))
        found = returned(
            message.get("content"), message.get("toolCallId"), message.get("toolName"), error=failed
        )
        return Role.TOOL, [found]
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    parts: list[Part] = []
    for piece in each(content):
        text = words(piece.get("text"))
        if piece.get("type") == "text" and text.strip():
            parts.append(typed(text, reading.tally) if speaker == "user" else said(text))
        elif piece.get("type") == "thinking":
            parts += thought(piece.get("thinking"))
        elif piece.get("type") == "toolCall":
            parts.append(called(piece.get("name"), piece.get("arguments"), piece.get("id")))
    problem = words(message.get("errorMessage"))
    if problem and not parts:
        parts.append(said(problem, Use.WRAPPER))
    return (Role.USER if speaker == "user" else Role.ASSISTANT), parts


FORMAT = Format(
    name="pi",
    agent="Pi",
    detect_record=_is_pi,
    turns=_turns,
    is_log=True,
    locations=(
        Location(folder=".pi/agent/sessions", pattern="**/*.jsonl",
                 variable="PI_CODING_AGENT_DIR", moves=".pi/agent"),
        Location(folder=".openclaw/agents", pattern="*/sessions/*.jsonl"),
    ),
    facts=Facts(
        person="messages with the role `user`; commands that the person ran with `!`",
        left_out="nothing is wrapped around the person's words",
        folder="`cwd` of the session",
        compaction="`compaction.summary`",
        rewind="the chain of parents",
        subagent="not recorded",
        tested="real files (version 1); fixtures (version 3)",
    ),
)  # fmt: skip
