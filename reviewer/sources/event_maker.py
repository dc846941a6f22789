"""Turns the parts of a session into events, with the effects and outcomes of calls."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence

from msgspec import structs

from reviewer.sources.calls import POLLING, Plans, read_call, task_of
from reviewer.sources.claude_words import INTERRUPTION
from reviewer.sources.events import (
    Act,
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
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.results import read_result
from reviewer.sources.turns import Turn, is_left, use_of
from reviewer.text.tags import AGAIN, without_recalled

UNKNOWN_IDS = ("REDACTED", "")
_SPEAKERS = {
    Role.USER: Speaker.PERSON,
    Role.NOTE: Speaker.PERSON,
    Role.ASSISTANT: Speaker.AGENT,
}


class EventMaker:
    """Makes events from the parts of one file, in order."""

    def __init__(self, format_name: str = "") -> None:
        self._format = format_name
        self._open: dict[str, Call] = {}
        self._unnamed: deque[str] = deque()
        """Open calls whose ids a collector has replaced; results come in the same order."""
        self._running: dict[str, Call] = {}
        """Commands in the background, by task."""
        self._plans: defaultdict[str | None, Plans] = defaultdict(Plans)
        self._count = 0

    def of_turn(self, turn: Turn) -> Sequence[Event]:
        """The events of a turn, which share its origin."""
        parts = turn.parts
        if len(parts) == 1:
            return self.of_part(turn, parts[0])
        return [event for part in parts for event in self.of_part(turn, part)]

    def of_part(self, turn: Turn, part: Part) -> Sequence[Event]:
        """The event of a part, and the plan if it changes that; none on an abandoned branch."""
        if is_left(turn, part):
            return ()
        origin, text, use = turn.origin, part.text, use_of(turn, part)
        if "\r" in text:
            text = text.replace("\r\n", "\n")
        if part.kind == "thinking":
            return (Thought(origin, text),)
        if part.kind == "tool_use":
            return self._call(read_call(origin, self._asked(part), part.name, text, part.given))
        if part.kind == "tool_result":
            return self._result(origin, part, text)
        if use is RecordUse.SUMMARY:
            return (Compaction(origin, text),)
        if use is RecordUse.MESSAGE:
            return (Message(origin, _speaker(turn, part), text, part.name),)
        return (Notice(origin, _kind(part, use), text, _SPEAKERS.get(turn.role, Speaker.HARNESS)),)

    def _call(self, call: Call) -> Sequence[Event]:
        if call.tool.lower() in POLLING:
            call = self._polling(call)
        self._open[call.id] = call
        items = self._plan(call.origin).after(call)
        return (call,) if items is None else (call, Plan(call.origin, items))

    def _polling(self, call: Call) -> Call:
        """A call for more output of a running command, with that command."""
        started = self._running.get(task_of(call))
        if started is None:
            return call
        return structs.replace(
            call,
            origin=structs.replace(call.origin, cwd=started.origin.cwd),
            act=Act.RUN,
            command=started.command,
            commands=started.commands,
        )

    def _asked(self, part: Part) -> str:
        """The id of a call."""
        if part.call not in UNKNOWN_IDS:
            return part.call
        self._count += 1
        self._unnamed.append(f"call {self._count}")
        return self._unnamed[-1]

    def _result(self, origin: Origin, part: Part, whole: str) -> Sequence[Event]:
        name = part.call
        if name in UNKNOWN_IDS:
            name = self._unnamed.popleft() if self._unnamed else ""
        call = self._open.pop(name, None)
        text = without_recalled(whole)
        held_back = text != whole and AGAIN in text
        found = read_result(call, part, text, self._format)
        if found.task and call is not None and call.command:
            self._running[found.task] = call
        elif call is not None and found.outcome is not Outcome.UNKNOWN:
            self._running.pop(task_of(call), None)  # later polls repeat the end
        outcome = Outcome.INTERRUPTED if held_back else found.outcome
        tool = call.tool if call else part.name
        result = Result(
            origin,
            name,
            tool,
            outcome,
            text,
            found.exit_code,
            found.words,
            found.task,
        )
        items = self._plan(origin).answered(call.id, text) if call else None
        return (result,) if items is None else (result, Plan(origin, items))

    def _plan(self, origin: Origin) -> Plans:
        return self._plans["sidechain" if origin.sidechain else origin.session]


def _speaker(turn: Turn, part: Part) -> Speaker:
    if turn.role is Role.ASSISTANT:
        task = part.name == "agent"  # a sub-agent's task
        return Speaker.SUBAGENT if turn.origin.sidechain and not task else Speaker.AGENT
    return _SPEAKERS.get(turn.role, Speaker.HARNESS)


def _kind(part: Part, use: RecordUse) -> NoticeKind:
    if part.is_data:
        return NoticeKind.DATA
    if part.text.lstrip().startswith(INTERRUPTION):
        return NoticeKind.INTERRUPTED
    return NoticeKind.WRAPPER if use is RecordUse.TOOL else NoticeKind(use.value)
