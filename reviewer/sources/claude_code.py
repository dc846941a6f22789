"""Reading a Claude Code session (`formats.md`, section 1)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from reviewer.clock import written_moment
from reviewer.sources.claude_index import Place, Words, index_session, text_hash
from reviewer.sources.claude_lines import LineFields, Turn, parse_words
from reviewer.sources.lines import BLOCK, TextForm, reading
from reviewer.sources.records import Record, Role, Use
from reviewer.sources.seen import Seen

OPEN_REPLIES = 8
"""How many replies may be told interleaved (sub-agents at work) before the oldest is closed."""


class _Reply(Struct):
    """A reply of the agent whose blocks still arrive, one line each."""

    line: LineFields
    turn: Turn
    texts: list[str]
    first: Place
    last: Place
    key: str
    sha256: str


class ClaudeCodeScan:
    """One session file. Iterating reads it for the tree first; words that are too many to be kept
    meanwhile are read again."""

    format = "claude-code"

    def __init__(self, path: Path, form: TextForm, lines: tuple[int, float]) -> None:
        self.path = path
        self.tally: Counter[str] = Counter()
        self.errors: list[str] = []
        self.form = form
        self.lines = lines
        self._replies: dict[str, _Reply] = {}
        self._given = Seen()
        self._queued: Counter[int] = Counter()
        self._expected: Counter[int] = Counter()

    def __iter__(self) -> Iterator[Record]:
        index = index_session(self.path, self.form, self.lines, self.tally, self.errors)
        self._expected = index.expected()
        with reading(self.path) as stream:
            for place in index.places():
                yield from self._read(stream, place)
            yield from self._close_replies(stream)

    def _read(self, stream: BinaryIO, place: Place) -> Iterator[Record]:
        words = place.words or self._words(stream, place)
        if words is None:
            return
        line, turn, digest = words.line, words.turn, words.sha256
        key = line.uuid or f"sha256:{digest}"
        if turn.role is Role.ASSISTANT and turn.reply and turn.use is Use.SAID:
            yield from self._join(
                stream, _Reply(line, turn, [turn.text], place, place, key, digest)
            )
            return
        if turn.queued and self._comes_again(turn):
            self.tally["queued text that comes again"] += 1
            return
        yield from self._close_replies(stream)
        yield from self._give(_Reply(line, turn, [turn.text], place, place, key, digest))

    def _words(self, stream: BinaryIO, place: Place) -> Words | None:
        """The words of a record, read again; None where the file has changed meanwhile."""
        stream.seek(place.start)
        raw = stream.read(place.length)
        line, turn = parse_words(self.form.utf8(raw), Counter())
        if turn is None:
            return None
        return Words(line, turn, hashlib.sha256(raw).hexdigest())

    def _comes_again(self, turn: Turn) -> bool:
        """Whether a queued text is also an ordinary turn, or was queued before or taken back."""
        text = text_hash(turn)
        self._queued[text] += 1
        return self._queued[text] <= self._expected[text]

    def _join(self, stream: BinaryIO, block: _Reply) -> Iterator[Record]:
        name = block.turn.reply or ""
        reply = self._replies.get(name)
        if reply is None:
            if len(self._replies) >= OPEN_REPLIES:
                yield from self._close(stream, self._replies.pop(next(iter(self._replies))))
            elif not block.line.is_sidechain:
                yield from self._close_replies(stream)
            self._replies[name] = block
        elif block.turn.text in reply.texts:
            self.tally["repeated"] += 1
        else:
            reply.texts.append(block.turn.text)
            reply.last = block.last

    def _close_replies(self, stream: BinaryIO) -> Iterator[Record]:
        for reply in self._replies.values():
            yield from self._close(stream, reply)
        self._replies.clear()

    def _close(self, stream: BinaryIO, reply: _Reply) -> Iterator[Record]:
        if len(reply.texts) > 1:
            end = reply.last.start + reply.last.length
            reply.sha256 = _sha256_of(stream, reply.first.start, end)
        yield from self._give(reply)

    def _give(self, reply: _Reply) -> Iterator[Record]:
        line, turn = reply.line, reply.turn
        text = "\n\n".join(reply.texts).replace("\r\n", "\n")
        # A resumed session repeats earlier turns, with their ids or with new ones for old replies.
        names = [reply.key, (turn.reply, text)] if turn.reply else [reply.key]
        if any(name in self._given for name in names):
            self.tally["repeated"] += 1
            return
        for name in names:
            self._given.add(name)
        use = turn.use
        if reply.first.rewound and use is Use.SAID:
            use = Use.REWOUND
        meta = {"cwd": line.cwd, "gitBranch": line.git_branch, "version": line.version}
        if turn.queued:
            meta["queued"] = "typed while the agent was busy"
        yield Record(
            key=reply.key,
            line_start=reply.first.line,
            line_end=reply.last.line + 1,
            byte_start=reply.first.start,
            byte_end=reply.last.start + reply.last.length,
            sha256=reply.sha256,
            role=turn.role,
            text=text,
            use=use,
            at=written_moment(line.timestamp),
            session=line.session_id,
            parent=line.parent_uuid or line.logical_parent_uuid,
            sidechain=bool(line.is_sidechain),
            meta={name: value for name, value in meta.items() if value},
        )


def _sha256_of(stream: BinaryIO, start: int, end: int) -> str:
    digest = hashlib.sha256()
    stream.seek(start)
    while start < end and (block := stream.read(min(BLOCK, end - start))):
        digest.update(block)
        start += len(block)
    return digest.hexdigest()
