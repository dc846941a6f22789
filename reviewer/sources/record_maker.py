"""Turns the readers' turns into records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from reviewer.sources.events import Origin
from reviewer.sources.parts import Part
from reviewer.sources.reading import Reading
from reviewer.sources.records import Record, RecordUse, Role
from reviewer.sources.turns import Turn, use_of

_COUNTED_AS = {
    "thinking": "thinking",
    "tool_use": "tool use",
    "tool_result": "tool result",
}
OPEN_REPLIES = 8
"""Maximum interleaved replies (with parallel sub-agents) before the oldest is closed."""


class RecordMaker:
    """Makes records from the turns of a file: one per message with text."""

    def __init__(self, reading: Reading, name: str) -> None:
        self._reading, self._tally, self._format = reading, reading.tally, name
        self._seen: dict[int, int] = {}
        """The text of each record by its key, as hashes."""
        self._replies: dict[str, _Reply] = {}

    def add(self, turn: Turn) -> Iterable[Record]:
        """The records completed by this turn."""
        texts = _refusals(turn)
        for part in turn.parts:
            if part.is_data:
                self._tally[part.text.strip("[]")] += 1
            elif part.kind != "text":
                self._tally[_COUNTED_AS[part.kind]] += 1
            elif part.text.strip():
                texts.append(part)
        if not texts:
            if not turn.parts:
                self._tally["turn without text"] += 1
            return ()
        return self._told(turn, texts)

    def _told(self, turn: Turn, texts: list[Part]) -> Iterator[Record]:
        uses = [use_of(turn, part) for part in texts]
        use = RecordUse.MESSAGE if RecordUse.MESSAGE in uses else uses[0]
        if turn.origin.reply and use is RecordUse.MESSAGE:
            yield from self._joined(turn, texts)
            return
        if use is RecordUse.MESSAGE:
            for its in uses:
                if its is not use:
                    self._tally[f"{its.value} beside typed text"] += 1
            texts = [part for part, its in zip(texts, uses, strict=True) if its is use]
        yield from self.close()
        yield from self._record(_Reply(turn, [part.text for part in texts], turn.origin, use))

    def close(self) -> Iterator[Record]:
        """The records of the open replies."""
        for reply in self._replies.values():
            yield from self._record(reply)
        self._replies.clear()

    def _joined(self, turn: Turn, texts: list[Part]) -> Iterator[Record]:
        """Add a block of a reply. Only sub-agents' replies may interleave with others."""
        reply = self._replies.get(turn.origin.reply)
        if reply is None:
            if len(self._replies) >= OPEN_REPLIES:
                yield from self._record(self._replies.pop(next(iter(self._replies))))
            elif not turn.origin.sidechain:
                yield from self.close()
            said = [part.text for part in texts]
            self._replies[turn.origin.reply] = _Reply(turn, said, turn.origin, RecordUse.MESSAGE)
        else:
            reply.texts += (part.text for part in texts)
            reply.last = turn.origin

    def _record(self, reply: _Reply) -> Iterator[Record]:
        turn, first, last, use = reply.first, reply.first.origin, reply.last, reply.use
        digest, key = first.sha256, first.key
        text = "\n\n".join(reply.texts).replace("\r\n", "\n")
        known = hash(text)
        while (earlier := self._seen.get(hash(key))) is not None:
            if earlier == known:
                self._tally["repeated"] += 1
                return
            self._tally["two records with one id"] += 1
            key = f"{key}:{digest[:16]}"
        self._seen[hash(key)] = known
        if last is not first:
            digest = self._reading.digest(first.byte_start, last.byte_end)
        if turn.rewound and use is RecordUse.MESSAGE:
            use = RecordUse.REWOUND
        yield Record(
            key=key,
            line_start=first.line_start,
            line_end=last.line_end,
            byte_start=first.byte_start,
            byte_end=last.byte_end,
            sha256=digest,
            role=Role.ASSISTANT if use is RecordUse.SUMMARY else turn.role,
            text=text,
            use=use,
            at=first.at,
            session=first.session,
            sidechain=first.sidechain,
            shape=turn.shape,
            headings=turn.headings,
            meta=self._session_facts(first) if turn.facts is None else turn.facts,
        )

    def _session_facts(self, origin: Origin) -> dict[str, str]:
        found = {
            "agent": self._format,
            "model": origin.model,
            "cwd": origin.cwd,
            "gitBranch": origin.branch,
            "version": origin.version,
            "queued": "typed while the agent was busy" if origin.queued else "",
        }
        return {name: value for name, value in found.items() if value}


class _Reply(Struct):
    """A message whose blocks may be separate turns."""

    first: Turn
    texts: list[str]
    last: Origin
    use: RecordUse


def _refusals(turn: Turn) -> list[Part]:
    """The person's text when refusing calls."""
    found = {part.feedback.strip(): None for part in turn.parts if part.feedback}
    return [Part("text", words, RecordUse.MESSAGE) for words in found if words]
