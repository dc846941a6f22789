"""Converts turns of segments to events, and turns of files to those of segments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from msgspec import structs

from reviewer.compression.values import SegmentTurn, TurnKind
from reviewer.sources.claude_words import SUMMARY_START, classify, command_called
from reviewer.sources.event_maker import EventMaker
from reviewer.sources.events import Call, Compaction, Event, Origin, Outcome, Result
from reviewer.sources.formats.codex import SUMMARY_START as CODEX_SUMMARY_START
from reviewer.sources.parts import Part
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.turns import Turn, is_left, use_of
from reviewer.text.runs import without_long_runs
from reviewer.text.secrets import mask

_READ = frozenset({RecordUse.MESSAGE, RecordUse.TOOL, RecordUse.SUMMARY, RecordUse.WRAPPER})
_BLOCK_KINDS: frozenset[TurnKind] = frozenset(("thinking", "tool_use", "tool_result"))


def is_summary(turn: SegmentTurn) -> bool:
    """Whether a turn is a summary of an earlier part of the conversation, ours or a client's."""
    return turn.summary or turn.text.lstrip().startswith((SUMMARY_START, CODEX_SUMMARY_START))


def is_read(turn: Turn, part: Part) -> bool:
    """Whether a part belongs to the conversation or shows the state of the work."""
    if use_of(turn, part) not in _READ or is_left(turn, part):
        return False
    return bool(part.text.strip()) or part.kind == "tool_result"


def is_notice(turn: Turn, part: Part) -> bool:
    """Whether a part is text of the client, other than a command called by the person."""
    return use_of(turn, part) is RecordUse.WRAPPER and not command_called(part.text.strip())


def turn_events(turns: Iterable[SegmentTurn]) -> Iterator[Event]:
    """The events of turns; the line of each is the number of its turn."""
    maker = EventMaker()
    for number, turn in enumerate(turns):
        if not turn.text.strip() and turn.kind != "tool_result":
            continue
        for event in maker.of_turn(_turn(number, turn)):
            if isinstance(event, Result) and turn.outcome:
                event = structs.replace(
                    event,
                    outcome=Outcome(turn.outcome),
                    exit_code=turn.exit_code,
                    words=turn.words,
                )
            yield event


def _turn(number: int, turn: SegmentTurn) -> Turn:
    use, text = RecordUse.MESSAGE, without_long_runs(turn.text)
    if turn.kind in _BLOCK_KINDS:
        use = RecordUse.MESSAGE if turn.kind == "thinking" else RecordUse.TOOL
    elif is_summary(turn):
        use = RecordUse.SUMMARY
    elif turn.role == "user" and not turn.name:
        use, text, _ = classify(text)
    origin = Origin(
        key="",
        line_start=number,
        line_end=number + 1,
        at=turn.at,
        sidechain=turn.aside,
        cwd=turn.folder,
        branch=turn.branch,
    )
    role = Role(turn.role) if turn.role in set(Role) else Role.NOTE
    return Turn(origin=origin, role=role, parts=[Part(turn.kind, text, use, turn.name, turn.call)])


class TurnMaker:
    """Converts the turns of one file to a segment's, secrets masked. `count` counts tokens."""

    def __init__(self, count: Callable[[str], int], format_name: str = "") -> None:
        self._count = count
        self._maker = EventMaker(format_name)

    def of_turn(self, turn: Turn, *, has_main: bool) -> Iterator[SegmentTurn]:
        """A turn part by part; beside the conversation, only calls of sub-agents and notices."""
        aside = turn.origin.sidechain and has_main
        for part in turn.parts:
            events = self._maker.of_part(turn, part)
            if is_read(turn, part) and (not aside or part.kind in ("tool_use", "tool_result")):
                yield self._made(turn, part, events[0], aside=aside or is_notice(turn, part))

    def _made(self, turn: Turn, part: Part, event: Event, *, aside: bool) -> SegmentTurn:
        """`aside`: not part of the conversation itself."""
        at = turn.origin
        text = without_long_runs(mask(part.text.replace("\r\n", "\n")).text)
        ended = event if isinstance(event, Result) else None
        role, name, call = turn.role, part.name, part.call
        if isinstance(event, Call):
            call = event.id
        elif isinstance(event, Result):
            role, name, call = Role.TOOL, event.tool or name, event.call
        elif isinstance(event, Compaction):
            role = Role.ASSISTANT  # agents write summaries with the person's role
        return SegmentTurn(
            str(role),
            text,
            0 if aside else self._count(text),
            part.kind,
            " ".join(name.split()),
            at.at,
            call=call,
            folder=at.cwd,
            branch=at.branch,
            outcome=str(ended.outcome) if ended else "",
            exit_code=ended.exit_code if ended else None,
            words=mask(ended.words).text if ended and ended.words else "",
            aside=aside,
            summary=isinstance(event, Compaction),
        )
