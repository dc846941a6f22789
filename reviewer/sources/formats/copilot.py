"""GitHub Copilot CLI sessions: an event log."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.sources.fields import Fields, each, first, inner, moment, words
from reviewer.sources.format import Format, Location
from reviewer.sources.parts import Part, called, returned, said, thought, typed
from reviewer.sources.reading import Reading, silent
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.turns import Session, Turn

_KINDS = frozenset(
    "session user assistant tool hook system permission subagent skill abort external_tool "  # noqa: SIM905
    "user_input exit_plan_mode command elicitation pending_messages mcp commands".split()
)


def _is_event(record: Fields) -> bool:
    kind = record.get("type")
    if not isinstance(kind, str) or not isinstance(record.get("data"), dict):
        return False
    return kind.partition(".")[0] in _KINDS and ("." in kind or kind == "abort")


def _turns(reading: Reading) -> Iterator[Turn]:
    session = Session()
    for spot, record in reading.objects():
        kind, data = words(record.get("type")), inner(record, "data")
        if kind in ("session.start", "session.resume", "session.context_changed"):
            session.enter(words(data.get("sessionId")))
            session.learn(data, version="copilotVersion")
            session.learn(inner(data, "context") or data, cwd="cwd", branch="branch")
        elif kind in ("session.model_change", "assistant.message"):
            session.learn(data, model="newModel" if "newModel" in data else "model")
        role, parts = _parts(reading, kind, data)
        if not parts:
            silent(reading.tally, kind)
            continue
        name = words(record.get("id"))
        agent = words(record.get("agentId")) or words(data.get("parentToolCallId"))
        yield session.turn(
            spot,
            role,
            parts,
            name=name if name != "REDACTED" else "",
            at=moment(record.get("timestamp")),
            apart=bool(agent) or words(data.get("source")).startswith("agent-"),
        )


def _parts(reading: Reading, kind: str, data: Fields) -> tuple[Role, list[Part]]:
    text = words(data.get("content"))
    if kind == "user.message":
        source = words(data.get("source"))
        if source and source not in ("user", "typed") and not source.startswith("agent-"):
            return Role.USER, said(text, RecordUse.WRAPPER)
        return Role.USER, typed(text, reading.tally)
    if kind == "assistant.message":
        parts = thought(data.get("reasoningText")) + said(text)
        for request in each(data.get("toolRequests")):
            name, given = request.get("name"), request.get("arguments")
            parts += called(name, given, request.get("toolCallId"))
        return Role.ASSISTANT, parts
    if kind == "assistant.reasoning":
        return Role.ASSISTANT, thought(text)
    if kind == "tool.execution_complete":
        shown = first(inner(data, "result"), "content", "detailedContent")
        failed = data.get("success") is False
        if shown is None:
            shown = words(inner(data, "error").get("message")) or data.get("error")
        call, tool = data.get("toolCallId"), data.get("toolName")
        return Role.TOOL, returned(shown, call, tool, error=failed)
    if kind == "session.task_complete":
        return Role.ASSISTANT, said(words(data.get("summary")))
    if kind == "session.compaction_complete":
        return Role.ASSISTANT, said(words(data.get("summaryContent")), RecordUse.SUMMARY)
    if kind in ("system.message", "skill.invoked"):
        return Role.SYSTEM, said(text, RecordUse.BOOT)
    if kind in ("system.notification", "session.info"):
        return Role.SYSTEM, said(text, RecordUse.WRAPPER)
    return Role.SYSTEM, []


FORMAT = Format(
    name="copilot",
    agent="Copilot CLI",
    detect_record=_is_event,
    turns=_turns,
    locations=tuple(
        Location(folder=".copilot/session-state", pattern=pattern, variable="COPILOT_HOME")
        for pattern in ("*/events.jsonl", "*.jsonl")
    ),
    tested="real files, 1.0.10 to 1.0.74",
)  # fmt: skip
