"""Pi (pi-mono) and OpenClaw sessions: a list (version 1) or a tree of entries (version 3)."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.sources.events import Rewind
from reviewer.sources.fields import Fields, inner, moment, words
from reviewer.sources.format import Format, Location
from reviewer.sources.parts import Part, content_parts, returned, said
from reviewer.sources.reading import Reading, silent
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.turns import Session, Trail, Turn, rewind_at

_ENTRIES = frozenset(
    "session message compaction model_change thinking_level_change branch_summary custom "  # noqa: SIM905
    "custom_message label session_info".split()
)


def _is_pi(record: Fields) -> bool:
    kind = record.get("type")
    if kind == "session":
        return "cwd" in record and "timestamp" in record
    if kind == "message":
        message = inner(record, "message")
        return (
            "session_id" not in record
            and "sessionId" not in record
            and message.get("role") in ("user", "assistant", "toolResult", "bashExecution")
            and (message.get("role") == "toolResult" or "timestamp" in message or "api" in message)
        )
    return (
        isinstance(kind, str)
        and kind in _ENTRIES
        and "timestamp" in record
        and "data" not in record
        and ("parentId" in record or "summary" in record or "modelId" in record)
    )


def _turns(reading: Reading) -> Iterator[Turn | Rewind]:
    trail, calls = Trail(), dict[str, str]()
    session = Session()
    for spot, entry in reading.objects():
        kind = words(entry.get("type"))
        if kind == "session":
            session.id, session.cwd = words(entry.get("id")), words(entry.get("cwd"))
            session.model = words(entry.get("modelId"))
            session.seed(_root(entry) or session.id)
        elif kind == "model_change":
            session.learn(entry, model="modelId")
        message, name = inner(entry, "message"), words(entry.get("id"))
        if "parentId" in entry and name:
            before = words(entry.get("parentId"))
            first = trail.follow(name, calls.get(before, before), spot.line_start)
            if first is not None:
                yield rewind_at(spot, first)
        role, parts = _parts(reading, kind, entry, message)
        calls |= {part.call: name for part in parts if part.kind == "tool_use"}
        if not parts:
            silent(reading.tally, kind)
            continue
        yield session.turn(
            spot,
            role,
            parts,
            key=session.key_of(role, parts, name),
            at=moment(entry.get("timestamp"), message.get("timestamp")),
            model=words(message.get("model")),
        )


def _root(entry: Fields) -> str:
    """The session that this one was branched from, whose entries it repeats.

    Its file name ends with the session's id.
    """
    parent = words(entry.get("branchedFrom")) or words(entry.get("parentSession"))
    stem = parent.replace("\\", "/").rpartition("/")[2].removesuffix(".jsonl")
    return stem.rpartition("_")[2]


def _parts(reading: Reading, kind: str, entry: Fields, message: Fields) -> tuple[Role, list[Part]]:
    if kind in ("compaction", "branch_summary"):
        return Role.ASSISTANT, said(words(entry.get("summary")), RecordUse.SUMMARY)
    if kind != "message":
        return Role.SYSTEM, []
    speaker = words(message.get("role"))
    if speaker == "bashExecution":
        typed = f"! {words(message.get('command'))}\n{words(message.get('output'))}"
        return Role.USER, said(typed, RecordUse.WRAPPER)
    if speaker == "toolResult":
        call, name = message.get("toolCallId"), message.get("toolName")
        failed = bool(message.get("isError"))
        return Role.TOOL, returned(message.get("content"), call, name, error=failed)
    role = Role.USER if speaker == "user" else Role.ASSISTANT
    parts = content_parts(role, message.get("content"), reading.tally, data=False)
    return role, parts or said(words(message.get("errorMessage")), RecordUse.WRAPPER)


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
    tested="real files (version 1); fixtures (version 3)",
)  # fmt: skip
