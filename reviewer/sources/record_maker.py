"""Turns the readers' turns into records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from reviewer.sources.events import Origin
from reviewer.sources.parts import Part
from reviewer.sources.reading import Reading
from reviewer.sources.records import Record, RecordUse, Role
from reviewer.sources.turns import Turn, use_of

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
        parts = [part for part in turn.parts if self._is_told(part)]
        if any(part.feedback for part in turn.parts):
            parts = [*_refusals(turn), *parts]
        if parts:
            return self._told(turn, parts)
        if not turn.parts:
            self._tally["turn without text"] += 1
        return ()

    def _told(self, turn: Turn, parts: list[Part]) -> Iterator[Record]:
        uses = [use_of(turn, part) for part in parts]
        use = RecordUse.MESSAGE if RecordUse.MESSAGE in uses else uses[0]
        texts = [part.text for part in parts]
        if use is RecordUse.MESSAGE:
            texts = [part.text for part, its in zip(parts, uses, strict=True) if its is use]
            for its in uses:
                if its is not use:
                    self._tally[f"{its.value} beside typed text"] += 1
        name = turn.origin.reply if use is RecordUse.MESSAGE else ""
        if begun := self._replies.get(name):
            begun.texts += texts
            begun.last = turn.origin
            return
        if not name or not turn.origin.sidechain:  # only sub-agents' replies may interleave
            yield from self.close()
        elif len(self._replies) >= OPEN_REPLIES:
            yield from self._record(self._replies.pop(next(iter(self._replies))))
        reply = _Reply(turn, texts, turn.origin, use)
        if name:
            self._replies[name] = reply
        else:
            yield from self._record(reply)

    def _is_told(self, part: Part) -> bool:
        """Whether a part has text for a record; others are counted."""
        if part.kind == "text" and not part.is_data:
            return bool(part.text.strip())
        self._tally[part.text.strip("[]") if part.is_data else part.kind.replace("_", " ")] += 1
        return False

    def close(self) -> Iterator[Record]:
        """The records of the open replies."""
        for reply in self._replies.values():
            yield from self._record(reply)
        self._replies.clear()

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
