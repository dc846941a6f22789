"""The output of `claude -p --output-format stream-json`: messages without ids of their own."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.sources.fields import Fields, inner, moment, words
from reviewer.sources.format import Format
from reviewer.sources.parts import content_parts, speaker
from reviewer.sources.reading import Reading, silent
from reviewer.sources.records import Role
from reviewer.sources.turns import Session, Turn

_KINDS = ("system", "assistant", "user", "result", "stream_event", "rate_limit_event")


def _is_stream(record: Fields) -> bool:
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
    session = Session()
    for spot, record in reading.objects():
        kind, message = words(record.get("type")), inner(record, "message")
        session.enter(words(record.get("session_id")) or words(message.get("session_id")))
        if kind == "system":
            init = message or record
            session.learn(init, cwd="cwd", model="model", version="claude_code_version")
            if not session.id:
                session.seed(bytes(spot.raw).hex())
        role = Role.USER if kind == "user" else Role.ASSISTANT
        parts = []
        if kind in ("user", "assistant"):
            parts = content_parts(role, message.get("content"), reading.tally)
        if not parts:
            silent(reading.tally, kind)
            continue
        yield session.turn(
            spot,
            speaker(role, parts),
            parts,
            at=moment(record.get("timestamp")),
            apart=bool(record.get("parent_tool_use_id")),
            model=words(message.get("model")),
        )


FORMAT = Format(
    name="claude-stream",
    agent="Claude Code (-p, stream-json)",
    detect_record=_is_stream,
    turns=_turns,
    tested="real files, 2.0.75 and 2.0.76",
)
