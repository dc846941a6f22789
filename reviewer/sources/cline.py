"""Cline, Roo Code and Kilo Code: the messages that the panel shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from reviewer.sources.formats import Facts, Format, Location
from reviewer.sources.records import Role, Use
from reviewer.sources.turns import (
    RECORDED_TWICE,
    SESSION_STATE,
    Document,
    Fields,
    Part,
    Reading,
    Turn,
    called,
    moment,
    returned,
    said,
    thought,
    typed,
    words,
)

_ANSWERS = ("text", "completion_result", "plan_mode_respond", "followup")


def _turns(reading: Reading) -> Iterator[Turn]:
    document = Document(reading)
    session = reading.path.parent.name
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
        if not parts or (role is Role.ASSISTANT and answered[text] and kind in _ANSWERS):
            reading.tally[
                RECORDED_TWICE if parts else f"{kind.replace('_', ' ')[:30] or SESSION_STATE}"
            ] += 1
            continue
        answered[text] += kind in _ANSWERS
        stamp = message.get("ts")
        yield Turn(
            spot=spot,
            role=role,
            parts=parts,
            key=f"{session}:{stamp}:{message.get('type')}:{kind}" if stamp else "",
            at=moment(stamp),
            session=session,
        )


def _parts(reading: Reading, message: Fields, kind: str, first: bool) -> tuple[Role, list[Part]]:
    text = words(message.get("text"))
    if not text.strip():
        return Role.SYSTEM, []
    if kind in ("task", "user_feedback", "user_feedback_diff") or (first and kind == "text"):
        return Role.USER, [typed(text, reading.tally)]
    if kind in _ANSWERS:
        return Role.ASSISTANT, [said(_answer(text))]
    if kind == "reasoning":
        return Role.ASSISTANT, thought(text)
    if kind in ("tool", "use_mcp_server", "browser_action_launch", "browser_action"):
        given = _object(text)
        return Role.ASSISTANT, [called(given.get("tool") or kind, given or text)]
    if kind == "command":
        return Role.ASSISTANT, [called("command", {"command": text})]
    if kind in ("command_output", "browser_action_result", "mcp_server_response"):
        return Role.TOOL, [returned(text)]
    if kind in ("error", "api_req_failed"):
        return Role.SYSTEM, [said(text, Use.WRAPPER)]
    if kind in ("condense_context", "summarize_task"):
        return Role.ASSISTANT, [said(text, Use.SUMMARY)]
    return Role.SYSTEM, []


def _object(text: str) -> Fields:
    try:
        found = msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _answer(text: str) -> str:
    """The words of an answer, which may be the field of an object."""
    found = _object(text) if text.startswith("{") else {}
    return words(found.get("question")) or words(found.get("response")) or text


_STORES = ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code")

FORMAT = Format(
    name="cline",
    agent="Cline, Roo Code",
    detect_document=lambda d: (
        "ts" in d and d.get("type") in ("say", "ask") and ("say" in d or "ask" in d)
    ),
    turns=_turns,
    locations=tuple(
        Location(
            folder=f".config/Code/User/globalStorage/{store}",
            variable="XDG_CONFIG_HOME",
            moves=".config",
            mac=f"Library/Application Support/Code/User/globalStorage/{store}",
            windows=f"%APPDATA%/Code/User/globalStorage/{store}",
            other_variable="VSCODE_PORTABLE",
            other_folder=f"user-data/User/globalStorage/{store}",
            pattern="tasks/*/ui_messages.json",
        )
        for store in _STORES
    ),
    facts=Facts(
        person="the first message (`task`), and `user_feedback`",
        left_out="requests to the API (they repeat the prompt), partial messages, checkpoints",
        tested="fixtures",
    ),
)
