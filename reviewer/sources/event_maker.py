"""Turns the parts of a session into events, with the effects and outcomes of calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from reviewer.sources.calls import Plans, read_call
from reviewer.sources.events import (
    Call,
    Compaction,
    Event,
    Message,
    Notice,
    NoticeKind,
    Origin,
    Outcome,
    Plan,
    Result,
    Speaker,
    Thought,
)
from reviewer.sources.parts import Part
from reviewer.sources.record_maker import CallNames, role_of
from reviewer.sources.records import Block, RecordUse, Role
from reviewer.sources.results import read_result
from reviewer.sources.turns import Turn
from reviewer.text.tags import AGAIN, without_recalled

INTERRUPTION = "[Request interrupted by user"
_SPEAKERS = {
    Role.USER: Speaker.PERSON,
    Role.NOTE: Speaker.PERSON,
    Role.ASSISTANT: Speaker.AGENT,
}


class EventMaker:
    """Makes events from the parts of one file, in order."""

    def __init__(self, format_name: str = "") -> None:
        self._format = format_name
        self._names = CallNames()
        self._open: dict[str, Call] = {}
        self._plans: defaultdict[str | None, Plans] = defaultdict(Plans)

    def of_block(self, block: Block) -> Sequence[Event]:
        """The events of a block."""
        part = Part(
            block.kind, block.text, error=block.error, code=block.code, feedback=block.feedback
        )
        call = block.call
        if block.kind == "tool_use":
            call = self._names.asked(call)
        elif block.kind == "tool_result":
            call = self._names.answered(call)
        return self.add(block.origin, part, block.use, block.role, name=block.name, call=call)

    def of_turn(self, turn: Turn) -> list[Event]:
        """The events of a turn, which share its origin."""
        found: list[Event] = []
        for part, use, name, call in self._names.parts(turn):
            role = role_of(turn, part, use)
            found += self.add(turn.origin, part, use, role, name=name, call=call)
        return found

    def add(
        self, origin: Origin, part: Part, use: RecordUse, role: Role, *, name: str, call: str
    ) -> Sequence[Event]:
        """The events of a part: text, thought, call or result."""
        if use is RecordUse.REWOUND:
            return ()
        text = part.text.replace("\r\n", "\n") if "\r" in part.text else part.text
        if part.kind == "thinking":
            return (Thought(origin, text),)
        if part.kind == "tool_use":
            return self._call(read_call(origin, call, name, text, part.given))
        if part.kind == "tool_result":
            return self._result(origin, call, name, text, part)
        if use is RecordUse.SUMMARY:
            return (Compaction(origin, text),)
        if use is RecordUse.MESSAGE:
            return (Message(origin, _speaker(origin, role, name), text, name),)
        speaker = _SPEAKERS.get(role, Speaker.HARNESS)
        return (Notice(origin, _kind(part, use, text), text, speaker),)

    def _call(self, call: Call) -> Sequence[Event]:
        self._open[call.id] = call
        items = self._plan(call.origin).after(call)
        return (call,) if items is None else (call, Plan(call.origin, items))

    def _result(
        self, origin: Origin, call_id: str, tool: str, text: str, part: Part
    ) -> Sequence[Event]:
        call = self._open.pop(call_id, None)
        own = without_recalled(text)
        held_back = own != text and AGAIN in own
        text = own
        found = read_result(
            call,
            text,
            error=part.error or bool(part.feedback),
            code=part.code,
            feedback=part.feedback,
            format_name=self._format,
        )
        result = Result(
            origin,
            call_id,
            call.tool if call else tool,
            Outcome.INTERRUPTED if held_back else found.outcome,
            text,
            found.exit_code,
            found.words,
            found.task,
        )
        items = self._plan(origin).answered(call.id, text) if call else None
        return (result,) if items is None else (result, Plan(origin, items))

    def _plan(self, origin: Origin) -> Plans:
        return self._plans["sidechain" if origin.sidechain else origin.session]


def _speaker(origin: Origin, role: Role, name: str) -> Speaker:
    if role is Role.ASSISTANT:
        task = name == "agent"  # a sub-agent's task
        return Speaker.SUBAGENT if origin.sidechain and not task else Speaker.AGENT
    return _SPEAKERS.get(role, Speaker.HARNESS)


def _kind(part: Part, use: RecordUse, text: str) -> NoticeKind:
    if part.is_data:
        return NoticeKind.DATA
    if text.lstrip().startswith(INTERRUPTION):
        return NoticeKind.INTERRUPTED
    return NoticeKind.WRAPPER if use is RecordUse.TOOL else NoticeKind(use.value)
