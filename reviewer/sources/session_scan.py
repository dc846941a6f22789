"""Records and blocks, made of the turns that the readers of sessions yield."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TypeVar

from msgspec import Struct, structs

from reviewer.sources.events import Rewind
from reviewer.sources.hash_set import HashSet
from reviewer.sources.records import Block, Record, Role, Use
from reviewer.sources.source import Source
from reviewer.sources.turns import (
    Part,
    Reading,
    Spot,
    Turn,
    TurnReader,
    said,
    use_of,
)

UNKNOWN_IDS = ("REDACTED", "")
OPEN_REPLIES = 8
"""Replies that may interleave (when sub-agents work) before the oldest is closed."""


def distinct(turns: Iterable[Turn | Rewind], tally: Counter[str]) -> Iterator[Turn | Rewind]:
    """The turns without those that are repeated, as in a session that was resumed.

    Other words under the same id are another turn.
    """
    seen = HashSet()
    for turn in turns:
        if isinstance(turn, Turn) and turn.key:
            texts = tuple(part.text for part in turn.parts)
            if not seen.add((turn.key, turn.conversation, texts)):
                tally["repeated"] += 1
                continue
        yield turn


class SessionScan:
    """The records of one file: one for each message that has text.

    Iterating yields them with their final use; those of a log are all kept in memory until
    the end is known. `live` yields each as soon as it is complete.
    """

    def __init__(
        self, name: str, source: Source, turns: TurnReader, *, is_log: bool = False
    ) -> None:
        self.path, self.format = source.path, name
        self._turns, self.is_log = turns, is_log
        self._lines, self._sessions = source.lines, source.sessions
        self._reading = Reading(source)
        self._seen = HashSet()
        self._replies: dict[str, _Reply] = {}
        self.tally, self.errors = self._reading.tally, self._reading.errors

    def __iter__(self) -> Iterator[Record]:
        return settled(self.live(), self.is_log)

    def live(self) -> Iterator[Record | Rewind]:
        for turn in distinct(self._turns(self._reading), self.tally):
            if isinstance(turn, Rewind):
                yield from self._close_replies()
                yield turn
            elif _is_wanted(turn, self._lines, self._sessions):
                yield from self._taken(turn)
        yield from self._close_replies()

    def _taken(self, turn: Turn) -> Iterator[Record]:
        texts = list(_texts(turn))
        for part in turn.parts:
            if part.kind != "text" or part.is_data:
                what = part.text.strip("[]") if part.is_data else part.kind.replace("_", " ")
                self.tally[what] += 1
        if not texts:
            if not turn.parts:
                self.tally["turn without text"] += 1
            return
        uses = [use_of(turn, part) for part in texts]
        use = Use.MESSAGE if Use.MESSAGE in uses else uses[0]
        if turn.reply and use is Use.MESSAGE:
            yield from self._joined(turn, texts)
            return
        if use is Use.MESSAGE:
            for its in uses:
                if its is not use:
                    self.tally[f"{its.value} beside typed text"] += 1
            texts = [part for part, its in zip(texts, uses, strict=True) if its is use]
        yield from self._close_replies()
        yield from self._record(_Reply(turn, [part.text for part in texts], turn.spot, use))

    def _joined(self, turn: Turn, texts: list[Part]) -> Iterator[Record]:
        """Add a block of a reply. Only replies of sub-agents go on beside others."""
        reply = self._replies.get(turn.reply)
        if reply is None:
            if len(self._replies) >= OPEN_REPLIES:
                yield from self._record(self._replies.pop(next(iter(self._replies))))
            elif not turn.sidechain:
                yield from self._close_replies()
            said = [part.text for part in texts]
            self._replies[turn.reply] = _Reply(turn, said, turn.spot, Use.MESSAGE)
        else:
            reply.texts += (part.text for part in texts)
            reply.last = turn.spot

    def _close_replies(self) -> Iterator[Record]:
        for reply in self._replies.values():
            yield from self._record(reply)
        self._replies.clear()

    def _record(self, reply: _Reply) -> Iterator[Record]:
        turn, first, last, use = reply.first, reply.first.spot, reply.last, reply.use
        digest = turn.digest
        key = turn.key or f"sha256:{digest}"
        text = "\n\n".join(reply.texts).replace("\r\n", "\n")
        if not self._seen.add((key, text)):
            self.tally["repeated"] += 1
            return
        if not self._seen.add(key):
            self.tally["two records with one id"] += 1
            key = f"{key}:{digest[:16]}"
        if last is not first:
            digest = self._reading.digest(first.byte_start, last.byte_end)
        if turn.rewound and use is Use.MESSAGE:
            use = Use.REWOUND
        meta = {
            "agent": self.format,
            "model": turn.model,
            "cwd": turn.cwd,
            "gitBranch": turn.branch,
            "version": turn.version,
            "queued": "typed while the agent was busy" if turn.queued else "",
        }
        yield Record(
            key=key,
            line_start=first.line_start,
            line_end=last.line_end,
            byte_start=first.byte_start,
            byte_end=last.byte_end,
            sha256=digest,
            role=Role.ASSISTANT if use is Use.SUMMARY else turn.role,
            text=text,
            use=use,
            at=turn.at,
            session=turn.session,
            parent=turn.parent,
            sidechain=turn.sidechain,
            meta={name: value for name, value in meta.items() if value},
        )


class _Reply(Struct):
    """A message whose blocks may be turns of their own."""

    first: Turn
    texts: list[str]
    last: Spot
    use: Use


def _texts(turn: Turn) -> Iterator[Part]:
    """What somebody wrote in a turn; words on a refused call replace what is noted beside them."""
    refusals = dict.fromkeys(part.feedback.strip() for part in turn.parts)
    yield from (said(words, Use.MESSAGE) for words in refusals if words)
    for part in turn.parts:
        if part.kind == "text" and part.text.strip() and not part.is_data:
            yield part


class SessionBlocks:
    """The blocks of one file. Iterating and `live` differ as those of `SessionScan` do."""

    def __init__(
        self, name: str, source: Source, turns: TurnReader, *, is_log: bool = False
    ) -> None:
        self.path, self.format = source.path, name
        self._turns, self.is_log = turns, is_log
        self._lines, self._sessions = source.lines, source.sessions
        self._reading = Reading(source)
        self.tally, self.errors = self._reading.tally, self._reading.errors

    def __iter__(self) -> Iterator[Block]:
        return settled(self.live(), self.is_log)

    def live(self) -> Iterator[Block | Rewind]:
        for each in self.with_turns():
            yield each if isinstance(each, Rewind) else each[1]

    def with_turns(self) -> Iterator[tuple[Turn, Block] | Rewind]:
        """The blocks as they come, each with its turn."""
        tools: dict[str, str] = {}
        calls = _Calls()
        for turn in distinct(self._turns(self._reading), self.tally):
            if isinstance(turn, Rewind):
                yield turn
                continue
            if not _is_wanted(turn, self._lines, self._sessions):
                continue
            for part in turn.parts:
                name, call = part.name, calls.name_of(part)
                if part.kind == "tool_use" and call:
                    tools[call] = name
                elif part.kind == "tool_result":
                    name = tools.pop(call, "") or name
                use = use_of(turn, part)
                if turn.rewound and use in (Use.MESSAGE, Use.TOOL):
                    use = Use.REWOUND
                block = Block(
                    role=_role(turn, part, use),
                    kind=part.kind,
                    text=part.text.replace("\r\n", "\n"),
                    line_start=turn.spot.line_start,
                    line_end=turn.spot.line_end,
                    name=name,
                    at=turn.at,
                    use=use,
                    sidechain=turn.sidechain,
                    call=call,
                    error=part.error or bool(part.feedback),
                    code=part.code,
                    cwd=turn.cwd,
                    branch=turn.branch,
                    feedback=part.feedback,
                    session=turn.session,
                    conversation=turn.conversation,
                    span=(turn.spot.byte_start, turn.spot.byte_end),
                )
                yield turn, block


Marked = TypeVar("Marked", Record, Block)


def settled(found: Iterator[Marked | Rewind], is_log: bool) -> Iterator[Marked]:
    """The records or blocks with their final use, those of a log in the order of its lines."""
    if not is_log:
        for each in found:
            if not isinstance(each, Rewind):
                yield each
        return
    kept: list[Marked] = []
    for each in found:
        if isinstance(each, Rewind):
            kept = [rewound(it) if each.first <= it.line_start < each.end else it for it in kept]
        else:
            kept.append(each)
    kept.sort(key=lambda each: each.line_start)
    yield from kept


def rewound(marked: Marked) -> Marked:
    """A record or block of a branch that the person left."""
    if marked.use in (Use.MESSAGE, Use.TOOL):
        return structs.replace(marked, use=Use.REWOUND)
    return marked


class _Calls:
    """Names calls whose ids a collector has replaced, by their order."""

    def __init__(self) -> None:
        self._count = 0
        self._open: list[str] = []

    def name_of(self, part: Part) -> str:
        if part.call not in UNKNOWN_IDS or part.kind not in ("tool_use", "tool_result"):
            return part.call
        if part.kind == "tool_use":
            self._count += 1
            self._open.append(f"call {self._count}")
            return self._open[-1]
        return self._open.pop(0) if self._open else ""


def _is_wanted(turn: Turn, lines: tuple[int, float], sessions: frozenset[str] | None) -> bool:
    if turn.spot.line_start < lines[0] or turn.spot.line_end > lines[1]:
        return False
    return sessions is None or turn.session in sessions


def _role(turn: Turn, part: Part, use: Use) -> Role:
    """Who wrote a part; agents write summaries with the person's role."""
    if part.kind == "tool_result":
        return Role.TOOL
    return Role.ASSISTANT if use is Use.SUMMARY else turn.role
