"""Antigravity: the steps of a session, one a line."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.sources.formats import Facts, Format
from reviewer.sources.records import Role, Use
from reviewer.sources.turns import (
    SESSION_STATE,
    Chain,
    Part,
    Reading,
    Turn,
    called,
    each,
    moment,
    returned,
    said,
    thought,
    typed,
    words,
)


def _turns(reading: Reading) -> Iterator[Turn]:
    session = reading.path.parent.name
    chain = Chain(f"{session}/{reading.path.stem}")
    for spot, step in reading.objects():
        source, kind = step.get("source"), words(step.get("type"))
        text = words(step.get("content"))
        role, parts = Role.ASSISTANT, list[Part]()
        if kind == "USER_INPUT":
            role = Role.USER
            request, closed, _ = text.partition("<USER_REQUEST>")[2].partition("</USER_REQUEST>")
            text = request.strip() if closed else text
            parts = [typed(text, reading.tally)] if text.strip() else []
        elif kind == "CHECKPOINT" and text.strip():
            parts = [said(text, Use.SUMMARY)]
        elif source == "SYSTEM":
            role, parts = Role.SYSTEM, [said(text, Use.WRAPPER)] if text.strip() else []
        elif kind == "PLANNER_RESPONSE":
            parts = thought(step.get("thinking"))
            parts += [said(text)] if text.strip() else []
            for call in each(step.get("tool_calls")):
                parts.append(called(call.get("name"), call.get("args")))
        elif text.strip():
            role, parts = Role.TOOL, [returned(text, "", kind.lower())]
        if not parts:
            reading.tally[SESSION_STATE] += 1
            continue
        yield Turn(
            spot=spot,
            role=role,
            parts=parts,
            key=chain.key(role, *(part.kind + part.text for part in parts)),
            at=moment(step.get("created_at")),
            session=session or None,
        )


FORMAT = Format(
    name="antigravity",
    agent="Antigravity",
    detect_record=lambda r: "step_index" in r and "source" in r,
    turns=_turns,
    facts=Facts(
        person="`USER_INPUT`, between `<USER_REQUEST>` tags",
        left_out="settings and messages of the system",
        compaction="`CHECKPOINT`",
        tested="fixtures",
    ),
)
