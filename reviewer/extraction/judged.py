"""What the extractors say of a record, before it is compared with what a pass knows already.

Judging looks at one record and nothing else, so it can be done anywhere and in any order; what
restates boot text is told afterwards, in the order of the files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from msgspec import Struct

from reviewer.extraction.candidates import Candidate
from reviewer.extraction.passages import wording
from reviewer.text.units import UnitKind, units_of

MOST_KNOWN = 50_000
"""Sentences of boot text remembered; the oldest give way, so that memory stays flat."""


class Dropped(Struct, frozen=True):
    """What was looked at and not proposed (a line of `dropped.ndjson`). Lines are 0-based."""

    reason: str
    content: str
    rule: str | None
    record: str
    line_start: int
    line_end: int


class Judged(Struct, frozen=True):
    """A stretch of a record: proposed, or dropped and why.

    `restates` is what it is instead when `content` says nothing new; None where nobody asks.
    """

    outcome: Candidate | Dropped
    content: str = ""
    restates: Dropped | None = None

    @property
    def record(self) -> str:
        """The key of the record that was judged."""
        outcome = self.outcome
        return outcome.record if isinstance(outcome, Dropped) else outcome.record.key


class Remembered(Struct, frozen=True):
    """Wordings that say nothing new from here on."""

    wordings: tuple[str, ...]


class Began(Struct, frozen=True):
    """A record is being looked at; until another one is, more may be said of it."""

    key: str


Event: TypeAlias = Judged | Remembered | Began


class KnownText:
    """Sentences of boot text, injected memories and summaries, which say nothing new."""

    def __init__(self) -> None:
        self._sentences: dict[int, None] = {}

    def remember(self, text: str) -> None:
        """Take in every sentence and list item of a text."""
        self.learn(sentences(text))

    def learn(self, wordings: Iterable[str]) -> None:
        """Take in wordings."""
        for each in wordings:
            self._sentences[_print(each)] = None
            if len(self._sentences) > MOST_KNOWN:
                del self._sentences[next(iter(self._sentences))]

    def holds(self, content: str) -> bool:
        """Whether a wording restates one of them."""
        return bool(self._sentences) and _print(content) in self._sentences

    def settle(self, judged: Judged) -> Candidate | Dropped:
        """What becomes of a judgement, knowing this."""
        if judged.restates is not None and self.holds(judged.content):
            return judged.restates
        return judged.outcome


def settled(
    judgements: Iterable[Judged], known: KnownText, dropped: Callable[[Dropped], None] | None
) -> Iterator[Candidate]:
    """The candidates among judgements; `dropped` hears of the rest."""
    for judged in judgements:
        outcome = known.settle(judged)
        if isinstance(outcome, Candidate):
            yield outcome
        elif dropped is not None:
            dropped(outcome)


def sentences(text: str) -> tuple[str, ...]:
    """The wordings of every sentence and list item of a text."""
    return tuple(
        wording(text[unit.start : unit.end])
        for unit in units_of(text)
        if unit.kind in (UnitKind.SENTENCE, UnitKind.LIST_ITEM)
    )


def _print(content: str) -> int:
    return hash(content.lower())  # cleaned already, so this is as good as the duplicate key
