"""Antigravity: the steps of a session, one per line."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.sources.fields import each, moment, words
from reviewer.sources.format import Format
from reviewer.sources.parts import Part, called, returned, said, thought, typed
from reviewer.sources.reading import Reading, silent
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.turns import Session, Turn


def _turns(reading: Reading) -> Iterator[Turn]:
    session = Session(id=reading.path.parent.name)
    session.seed(f"{session.id}/{reading.path.stem}")
    for spot, step in reading.objects():
        source, kind = step.get("source"), words(step.get("type"))
        text = words(step.get("content"))
        role, parts = Role.ASSISTANT, list[Part]()
        if kind == "USER_INPUT":
            role = Role.USER
            request, closed, _ = text.partition("<USER_REQUEST>")[2].partition("</USER_REQUEST>")
            parts = typed(request.strip() if closed else text, reading.tally)
        elif kind == "CHECKPOINT" and text.strip():
            parts = said(text, RecordUse.SUMMARY)
        elif source == "SYSTEM":
            role, parts = Role.SYSTEM, said(text, RecordUse.WRAPPER)
        elif kind == "PLANNER_RESPONSE":
            parts = thought(step.get("thinking")) + said(text)
            for call in each(step.get("tool_calls")):
                parts += called(call.get("name"), call.get("args"))
        elif text.strip():
            role, parts = Role.TOOL, returned(text, "", kind.lower())
        if not parts:
            silent(reading.tally, kind)
            continue
        yield session.turn(spot, role, parts, at=moment(step.get("created_at")))


FORMAT = Format(
    name="antigravity",
    agent="Antigravity",
    detect_record=lambda r: "step_index" in r and "source" in r,
    turns=_turns,
)
