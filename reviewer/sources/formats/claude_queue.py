"""Texts queued in a Claude Code session while the agent was busy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from reviewer.sources.claude_words import is_command
from reviewer.sources.records import Role
from reviewer.sources.turns import Turn, message_text

ANSWERS = 2
"""Agent replies after which a text that left the queue is no longer expected as a turn."""


class _Held(Struct):
    """A queued text whose fate is still open."""

    turn: Turn
    words: int
    left_at: str | None = None
    """When it left the queue; None: still queued."""
    answers: int = 0
    last_reply: str = ""


class TextQueue:
    """Keeps each queued text until it appears as a turn, is taken back, or is given up.

    It may appear as a turn, or as text given to the agent in mid-turn, shortly before or after it
    leaves the queue. The older history of a resumed session may come in between.
    """

    def __init__(self, tally: Counter[str]) -> None:
        self._tally = tally
        self.held: list[_Held] = []
        self._gone = 0
        """Texts that appeared as turns before the record of their leaving the queue."""

    def enqueued(self, turn: Turn) -> None:
        self.held.append(_Held(turn, _hash(turn)))

    def taken_back(self, turn: Turn) -> None:
        self._tally["queued text taken back"] += 1
        self._take(_hash(turn))

    def left(self, turn: Turn | None, at: str | None) -> None:
        """A text left the queue: the one in `turn`, or the oldest."""
        words = None if turn is None else _hash(turn)
        found = [held for held in self.held if words in (None, held.words)]
        if self._gone and (turn is None or not found):
            self._gone -= 1
        elif waiting := [held for held in found if held.left_at is None]:
            waiting[0].left_at = at or ""

    def passed(self, turn: Turn) -> Iterator[Turn]:
        """Process a turn; yields the queued texts that will not appear as turns."""
        if turn.role is Role.USER:
            taken = self._take(_hash(turn))
            if taken is not None:
                self._tally["queued text that comes again"] += 1
                self._gone += taken.left_at is None
        elif turn.origin.reply and not turn.origin.sidechain:
            yield from self._answered(turn)

    def ended(self) -> Iterator[Turn]:
        """The texts still queued at the end of the file."""
        for held in self.held:
            yield from self._told(held)
        self.held.clear()

    def _answered(self, turn: Turn) -> Iterator[Turn]:
        for held in list(self.held):
            if held.left_at is None or held.last_reply == turn.origin.reply:
                continue
            if (turn.origin.at or held.left_at) < held.left_at:
                continue
            held.answers, held.last_reply = held.answers + 1, turn.origin.reply
            if held.answers >= ANSWERS:
                self.held.remove(held)
                yield from self._told(held)

    def _told(self, held: _Held) -> Iterator[Turn]:
        """A text recorded nowhere else; a command is recorded when it runs."""
        if is_command(message_text(held.turn)):
            self._tally["queue operation"] += 1
        else:
            yield held.turn

    def _take(self, words: int) -> _Held | None:
        for held in self.held:
            if held.words == words:
                self.held.remove(held)
                return held
        return None


def _hash(turn: Turn) -> int:
    """A hash that identifies repeated text; valid only within this process."""
    return hash(message_text(turn).strip())
