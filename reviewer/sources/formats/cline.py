"""Cline, Roo Code and Kilo Code: the messages shown in the panel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from reviewer.sources.document import Document
from reviewer.sources.fields import Fields, moment, words, written_object
from reviewer.sources.format import Format, of_editor
from reviewer.sources.parts import Part, called, returned, said, thought, typed
from reviewer.sources.reading import Reading, silent
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.turns import RECORDED_TWICE, Session, Turn

_ANSWERS = ("text", "completion_result", "plan_mode_respond", "followup")


def _turns(reading: Reading) -> Iterator[Turn]:
    document = Document(reading)
    session = Session(id=reading.path.parent.name)
    first = True
    answered: Counter[str] = Counter()
    for spot, message in document.objects(document.root):
        if message.get("partial"):
            reading.tally["partial message"] += 1
            continue
        kind = words(message.get("say")) or words(message.get("ask"))
        role, parts = _parts(reading, message, kind, first)
        first = False
        text = parts[0].text if parts else ""
        if not parts:
            silent(reading.tally, kind)
            continue
        if role is Role.ASSISTANT and answered[text] and kind in _ANSWERS:
            reading.tally[RECORDED_TWICE] += 1
            continue
        answered[text] += kind in _ANSWERS
        stamp = message.get("ts")
        key = f"{session.id}:{stamp}:{message.get('type')}:{kind}" if stamp else ""
        yield session.turn(spot, role, parts, key=key, at=moment(stamp))


def _parts(reading: Reading, message: Fields, kind: str, first: bool) -> tuple[Role, list[Part]]:
    text = words(message.get("text"))
    if not text.strip():
        return Role.SYSTEM, []
    if kind in ("task", "user_feedback", "user_feedback_diff") or (first and kind == "text"):
        return Role.USER, typed(text, reading.tally)
    if kind in _ANSWERS:
        answer = written_object(text) if text.startswith("{") else {}
        its = words(answer.get("question")) or words(answer.get("response")) or text
        return Role.ASSISTANT, said(its)
    if kind == "reasoning":
        return Role.ASSISTANT, thought(text)
    if kind in ("tool", "use_mcp_server", "browser_action_launch", "browser_action"):
        given = written_object(text)
        return Role.ASSISTANT, called(given.get("tool") or kind, given or text)
    if kind == "command":
        return Role.ASSISTANT, called("command", {"command": text})
    if kind in ("command_output", "browser_action_result", "mcp_server_response"):
        return Role.TOOL, returned(text)
    if kind in ("error", "api_req_failed"):
        return Role.SYSTEM, said(text, RecordUse.WRAPPER)
    if kind in ("condense_context", "summarize_task"):
        return Role.ASSISTANT, said(text, RecordUse.SUMMARY)
    return Role.SYSTEM, []


_STORES = ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code")

FORMAT = Format(
    name="cline",
    agent="Cline, Roo Code",
    detect_document=lambda d: (
        "ts" in d and d.get("type") in ("say", "ask") and ("say" in d or "ask" in d)
    ),
    turns=_turns,
    locations=tuple(
        of_editor(
            f"Code/User/globalStorage/{store}",
            "tasks/*/ui_messages.json",
        )
        for store in _STORES
    ),
)
