"""The events of a segment's turns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import structs

from reviewer.compression.values import SegmentTurn, TurnKind
from reviewer.sources.claude_words import NOTIFICATIONS, SUMMARY_START, classify
from reviewer.sources.event_maker import EventMaker
from reviewer.sources.events import Call, Event, Origin, Outcome, Result
from reviewer.sources.formats.codex import SUMMARY_START as CODEX_SUMMARY_START
from reviewer.sources.parts import Part
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.turns import Turn
from reviewer.text.runs import without_long_runs

SUMMARY_STARTS = (SUMMARY_START, CODEX_SUMMARY_START)
_BLOCK_KINDS: frozenset[TurnKind] = frozenset(("thinking", "tool_use", "tool_result"))


def is_summary(turn: SegmentTurn) -> bool:
    """Whether a turn is a summary of an earlier part of the conversation, ours or a client's."""
    return turn.summary or turn.text.lstrip().startswith(SUMMARY_STARTS)


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
            if isinstance(event, Call) and turn.outcome:  # its result is empty, so not a turn
                yield Result(
                    event.origin,
                    event.id,
                    event.tool,
                    Outcome(turn.outcome),
                    "",
                    turn.exit_code,
                    turn.words,
                )


def _turn(number: int, turn: SegmentTurn) -> Turn:
    use, kind, text = RecordUse.MESSAGE, turn.kind, without_long_runs(turn.text)
    if kind == "tool_result" and not turn.call and text.lstrip().startswith(NOTIFICATIONS):
        use, kind = RecordUse.WRAPPER, "text"
    elif kind in _BLOCK_KINDS:
        use = RecordUse.MESSAGE if kind == "thinking" else RecordUse.TOOL
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
    return Turn(origin=origin, role=role, parts=[Part(kind, text, use, turn.name, turn.call)])
