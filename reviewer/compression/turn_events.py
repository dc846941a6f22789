"""Converts turns to events and blocks to turns, for segments of a store and for files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from msgspec import structs

from reviewer.compression.values import SegmentTurn, TurnKind
from reviewer.sources.claude_words import SUMMARY_START, classify, command_called
from reviewer.sources.event_maker import EventMaker
from reviewer.sources.events import Event, Origin, Outcome, Result
from reviewer.sources.formats.codex import SUMMARY_START as CODEX_SUMMARY_START
from reviewer.sources.records import Block, RecordUse, Role
from reviewer.text.runs import without_long_runs
from reviewer.text.secrets import mask

_BLOCK_KINDS: frozenset[TurnKind] = frozenset(("thinking", "tool_use", "tool_result"))


def is_summary(turn: SegmentTurn) -> bool:
    """Whether a turn is a summary of an earlier part of the conversation, ours or a client's."""
    return turn.summary or turn.text.lstrip().startswith((SUMMARY_START, CODEX_SUMMARY_START))


def is_notice(block: Block) -> bool:
    """Whether a block is text of the client, other than a command called by the person."""
    return block.use is RecordUse.WRAPPER and not command_called(block.text.strip())


def turn_events(turns: Iterable[SegmentTurn]) -> Iterator[Event]:
    """The events of turns; the line of each is the number of its turn."""
    maker = EventMaker()
    for number, turn in enumerate(turns):
        if not turn.text.strip() and turn.kind != "tool_result":
            continue
        block = _block(number, turn)
        for event in maker.of_block(block):
            if isinstance(event, Result) and turn.outcome:
                event = structs.replace(
                    event,
                    outcome=Outcome(turn.outcome),
                    exit_code=turn.exit_code,
                    words=turn.words,
                )
            yield event


def _block(number: int, turn: SegmentTurn) -> Block:
    use, text = RecordUse.MESSAGE, without_long_runs(turn.text)
    if turn.kind in _BLOCK_KINDS:
        use = RecordUse.MESSAGE if turn.kind == "thinking" else RecordUse.TOOL
    elif is_summary(turn):
        use = RecordUse.SUMMARY
    elif turn.role == "user" and not turn.name:
        use, text, _ = classify(text)
    return Block(
        Origin(
            key="",
            line_start=number,
            line_end=number + 1,
            at=turn.at,
            sidechain=turn.aside,
            cwd=turn.folder,
            branch=turn.branch,
        ),
        Role(turn.role) if turn.role in set(Role) else Role.NOTE,
        turn.kind,
        text,
        turn.name,
        use,
        turn.call,
    )


class TurnMaker:
    """Converts the blocks of one file to turns, secrets masked. `count` counts tokens."""

    def __init__(self, count: Callable[[str], int], format_name: str = "") -> None:
        self._count = count
        self._maker = EventMaker(format_name)

    def turn(self, block: Block, *, aside: bool = False) -> SegmentTurn:
        """A block as a turn. `aside`: not part of the conversation itself."""
        text = without_long_runs(mask(block.text).text)
        events = self._maker.of_block(block)
        ended = next((each for each in events if isinstance(each, Result)), None)
        return SegmentTurn(
            str(block.role),
            text,
            0 if aside else self._count(text),
            block.kind,
            " ".join(block.name.split()),
            block.origin.at,
            call=block.call,
            folder=block.origin.cwd,
            branch=block.origin.branch,
            outcome=str(ended.outcome) if ended else "",
            exit_code=ended.exit_code if ended else None,
            words=mask(ended.words).text if ended and ended.words else "",
            aside=aside,
        )

    def turns(self, blocks: Iterable[Block], *, has_main: bool) -> Iterator[SegmentTurn]:
        """The turns of blocks; beside the conversation, only calls of sub-agents and notices."""
        for block in blocks:
            aside = block.origin.sidechain and has_main
            if not aside or block.kind in ("tool_use", "tool_result"):
                yield self.turn(block, aside=aside or is_notice(block))
