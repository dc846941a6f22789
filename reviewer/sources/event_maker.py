"""Turns the parts of a session into events, with the effects and outcomes of calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from msgspec import structs

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
from reviewer.sources.record_maker import CallNames
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

    def of_turn(self, turn: Turn) -> list[Event]:
        """The events of a turn, which share its origin."""
        return [event for block in self._names.blocks(turn) for event in self._events(block)]

    def of_block(self, block: Block) -> Sequence[Event]:
        """The events of a block whose call may have no id."""
        call = block.call
        if block.kind == "tool_use":
            call = self._names.asked(call)
        elif block.kind == "tool_result":
            call = self._names.answered(call)
        return self._events(block if call == block.call else structs.replace(block, call=call))

    def _events(self, block: Block) -> Sequence[Event]:
        origin, text, use = block.origin, block.text, block.use
        if use is RecordUse.REWOUND:
            return ()
        if block.kind == "thinking":
            return (Thought(origin, text),)
        if block.kind == "tool_use":
            return self._call(read_call(origin, block.call, block.name, text, block.given))
        if block.kind == "tool_result":
            return self._result(block)
        if use is RecordUse.SUMMARY:
            return (Compaction(origin, text),)
        if use is RecordUse.MESSAGE:
            return (Message(origin, _speaker(block), text, block.name),)
        return (Notice(origin, _kind(block), text, _SPEAKERS.get(block.role, Speaker.HARNESS)),)

    def _call(self, call: Call) -> Sequence[Event]:
        self._open[call.id] = call
        items = self._plan(call.origin).after(call)
        return (call,) if items is None else (call, Plan(call.origin, items))

    def _result(self, block: Block) -> Sequence[Event]:
        call = self._open.pop(block.call, None)
        text = without_recalled(block.text)
        held_back = text != block.text and AGAIN in text
        found = read_result(
            call,
            text,
            error=block.error,
            code=block.code,
            feedback=block.feedback,
            format_name=self._format,
        )
        result = Result(
            block.origin,
            block.call,
            call.tool if call else block.name,
            Outcome.INTERRUPTED if held_back else found.outcome,
            text,
            found.exit_code,
            found.words,
            found.task,
        )
        items = self._plan(block.origin).answered(call.id, text) if call else None
        return (result,) if items is None else (result, Plan(block.origin, items))

    def _plan(self, origin: Origin) -> Plans:
        return self._plans["sidechain" if origin.sidechain else origin.session]


def _speaker(block: Block) -> Speaker:
    if block.role is Role.ASSISTANT:
        task = block.name == "agent"  # a sub-agent's task
        return Speaker.SUBAGENT if block.origin.sidechain and not task else Speaker.AGENT
    return _SPEAKERS.get(block.role, Speaker.HARNESS)


def _kind(block: Block) -> NoticeKind:
    if block.is_data:
        return NoticeKind.DATA
    if block.text.lstrip().startswith(INTERRUPTION):
        return NoticeKind.INTERRUPTED
    return NoticeKind.WRAPPER if block.use is RecordUse.TOOL else NoticeKind(block.use.value)
