"""What `claude -p --output-format stream-json` prints: messages without ids of their own."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.sources.anthropic_parts import message_parts, speaker
from reviewer.sources.formats import Facts, Format
from reviewer.sources.formats import Fields as Outline
from reviewer.sources.records import Role
from reviewer.sources.turns import (
    RECORDED_TWICE,
    SESSION_STATE,
    Chain,
    Reading,
    Turn,
    inner,
    moment,
    words,
)

_KINDS = ("system", "assistant", "user", "result", "stream_event", "rate_limit_event")


def _is_stream(record: Outline) -> bool:
    kind = record.get("type")
    if kind not in _KINDS or "sessionId" in record or "parentUuid" in record:
        return False
    message = record.get("message")
    if kind == "system":
        init = message if isinstance(message, dict) else record
        return init.get("subtype") == "init" and "tools" in init
    if kind == "result":
        return "num_turns" in record or "duration_ms" in record or isinstance(message, dict)
    if kind in ("assistant", "user"):
        return isinstance(message, dict) and "role" in message and "content" in message
    return "event" in record or "session_id" in record


def _turns(reading: Reading) -> Iterator[Turn]:
    session = cwd = model = version = ""
    chain = Chain("")
    for spot, record in reading.objects():
        kind, message = words(record.get("type")), inner(record, "message")
        named = words(record.get("session_id")) or words(message.get("session_id"))
        if named and named != session:
            session, chain = named, Chain(named)
        if kind == "system":
            init = message or record
            cwd = words(init.get("cwd")) or cwd
            model = words(init.get("model")) or model
            version = words(init.get("claude_code_version")) or version
            if not session:
                chain = Chain(spot.raw.hex() if isinstance(spot.raw, bytes) else "")
        role = Role.USER if kind == "user" else Role.ASSISTANT
        parts = []
        if kind in ("user", "assistant"):
            parts = message_parts(role, message.get("content"), reading.tally)
        if not parts:
            repeats = kind in ("result", "stream_event")
            reading.tally[
                RECORDED_TWICE if repeats else SESSION_STATE if kind == "system" else "no content"
            ] += 1
            continue
        role = speaker(role, parts)
        apart = bool(record.get("parent_tool_use_id"))
        yield Turn(
            spot=spot,
            role=Role.ASSISTANT if apart and role is Role.USER else role,
            parts=parts,
            key=chain.key(role, *(part.kind + part.call + part.text for part in parts)),
            at=moment(record.get("timestamp")),
            session=session or None,
            sidechain=apart,
            cwd=cwd,
            model=words(message.get("model")) or model,
            version=version,
        )


FORMAT = Format(
    name="claude-stream",
    agent="Claude Code (-p, stream-json)",
    detect_record=_is_stream,
    turns=_turns,
    facts=Facts(
        person="`user` with text; the first prompt itself is not in the stream",
        left_out="results of tools, `result` (repeats the last reply), partial messages",
        folder="`cwd` of `system` `init`",
        compaction="a `user` message that begins like those of Claude Code",
        rewind="none",
        subagent="`parent_tool_use_id`",
        tested="real files, 2.0.75 and 2.0.76",
    ),
)
