"""GitHub Copilot CLI sessions: a log of events."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.sources.formats import Facts, Format, Location
from reviewer.sources.formats import Fields as Outline
from reviewer.sources.records import Role, Use
from reviewer.sources.turns import (
    RECORDED_TWICE,
    SESSION_STATE,
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

_KINDS = frozenset(
    (
        "session",
        "user",
        "assistant",
        "tool",
        "hook",
        "system",
        "permission",
        "subagent",
        "skill",
        "abort",
        "external_tool",
        "user_input",
        "exit_plan_mode",
        "command",
        "elicitation",
        "pending_messages",
        "mcp",
        "commands",
    )
)


def _is_event(record: Outline) -> bool:
    kind = record.get("type")
    if not isinstance(kind, str) or not isinstance(record.get("data"), dict):
        return False
    return kind.partition(".")[0] in _KINDS and ("." in kind or kind == "abort")


def _turns(reading: Reading) -> Iterator[Turn]:
    session = cwd = branch = model = version = ""
    for spot, record in reading.objects():
        kind, data = words(record.get("type")), inner(record, "data")
        if kind in ("session.start", "session.resume", "session.context_changed"):
            where: Fields = inner(data, "context") or data
            session = words(data.get("sessionId")) or session
            version = words(data.get("copilotVersion")) or version
            cwd = words(where.get("cwd")) or cwd
            branch = words(where.get("branch")) or branch
        if kind == "session.model_change":
            model = words(data.get("newModel")) or model
        model = words(data.get("model")) or model if kind == "assistant.message" else model
        agent = words(record.get("agentId")) or words(data.get("parentToolCallId"))
        role, parts = _parts(reading, kind, data)
        if not parts:
            reading.tally[_reason(kind)] += 1
            continue
        name = words(record.get("id"))
        apart = bool(agent) or words(data.get("source")).startswith("agent-")
        yield Turn(
            spot=spot,
            role=Role.ASSISTANT if apart and role is Role.USER else role,
            parts=parts,
            key=f"{session}:{name}" if name and name != "REDACTED" else "",
            at=moment(record.get("timestamp")),
            session=session or None,
            parent=words(record.get("parentId")) or None,
            sidechain=apart,
            cwd=cwd,
            branch=branch,
            model=model,
            version=version,
        )


def _reason(kind: str) -> str:
    if kind.startswith("hook."):
        return "hook event"
    if kind == "tool.execution_start":
        return RECORDED_TWICE
    if kind.startswith(("session.", "assistant.turn_")):
        return SESSION_STATE
    return (kind or "(none)").replace(".", " ").replace("_", " ")[:40]


def _parts(reading: Reading, kind: str, data: Fields) -> tuple[Role, list[Part]]:
    text = words(data.get("content"))
    if kind == "user.message":
        source = words(data.get("source"))
        if not text.strip():
            return Role.USER, []
        if source and source not in ("user", "typed") and not source.startswith("agent-"):
            return Role.USER, [said(text, Use.WRAPPER)]
        return Role.USER, [typed(text, reading.tally)]
    if kind == "assistant.message":
        parts = thought(data.get("reasoningText"))
        parts += [said(text)] if text.strip() else []
        for request in each(data.get("toolRequests")):
            name, given = request.get("name"), request.get("arguments")
            parts.append(called(name, given, request.get("toolCallId")))
        return Role.ASSISTANT, parts
    if kind == "assistant.reasoning":
        return Role.ASSISTANT, thought(text)
    if kind == "tool.execution_complete":
        result = inner(data, "result")
        shown = result.get("content", result.get("detailedContent"))
        failed = data.get("success") is False
        if shown is None:
            shown = words(inner(data, "error").get("message")) or data.get("error")
        call, name = data.get("toolCallId"), data.get("toolName")
        return Role.TOOL, [returned(shown, call, name, error=failed)]
    if kind == "session.compaction_complete":
        summary = words(data.get("summaryContent"))
        return Role.ASSISTANT, [said(summary, Use.SUMMARY)] if summary.strip() else []
    if kind in ("system.message", "skill.invoked") and text.strip():
        return Role.SYSTEM, [said(text, Use.BOOT)]
    if kind in ("system.notification", "session.info") and text.strip():
        return Role.SYSTEM, [said(text, Use.WRAPPER)]
    return Role.SYSTEM, []


FORMAT = Format(
    name="copilot",
    agent="Copilot CLI",
    detect_record=_is_event,
    turns=_turns,
    locations=(
        Location(folder=".copilot/session-state", pattern="*/events.jsonl",
                 variable="COPILOT_HOME", moves=".copilot"),
        Location(folder=".copilot/session-state", pattern="*.jsonl",
                 variable="COPILOT_HOME", moves=".copilot"),
    ),
    facts=Facts(
        person="`user.message` without a `source`, as `content`",
        left_out="`transformedContent`, text of the system, of skills and for sub-agents, hooks,"
        " the system prompt; `tool.execution_start` repeats the request",
        folder="`context.cwd` and `context.branch` of `session.start`",
        compaction="`session.compaction_complete`",
        rewind="kept beside the log, not in it",
        subagent="`agentId`, `parentToolCallId`, `source` = `agent-...`",
        tested="real files, 1.0.10 to 1.0.74",
    ),
)  # fmt: skip
