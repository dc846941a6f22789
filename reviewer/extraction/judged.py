"""Verdicts on a record's statements, and the boot text against which they are checked afterwards.

A verdict depends on one record only, so records can be judged in any order and process. Whether a
statement restates boot text is settled later, in the order of the files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from msgspec import Struct

from reviewer.extraction.candidates import Candidate
from reviewer.extraction.passages import wording
from reviewer.text.units import UnitKind, units_of

MOST_KNOWN = 50_000
"""Sentences of boot text remembered; the oldest are dropped, so that memory stays flat."""


class Dropped(Struct, frozen=True):
    """What was not proposed (a line of `dropped.ndjson`); lines are 0-based."""

    reason: str
    content: str
    rule: str | None
    record: str
    line_start: int
    line_end: int


class Judged(Struct, frozen=True):
    """A stretch of a record: proposed, or dropped and why.

    `restates` replaces the outcome when `content` is known boot text; None: not checked.
    """

    outcome: Candidate | Dropped
    content: str = ""
    restates: Dropped | None = None

    @property
    def record(self) -> str:
        """Key of the judged record."""
        outcome = self.outcome
        return outcome.record if isinstance(outcome, Dropped) else outcome.record.key


class Remembered(Struct, frozen=True):
    """Wordings of boot text: from here on they are nothing new."""

    wordings: tuple[str, ...]


class Began(Struct, frozen=True):
    """Judging of a record began; all verdicts on it come before the next one begins."""

    key: str


Event: TypeAlias = Judged | Remembered | Began


class KnownText:
    """Sentences of boot text, injected memories and summaries: they are nothing new."""

    def __init__(self) -> None:
        self._sentences: dict[int, None] = {}

    def remember(self, text: str) -> None:
        """Add every sentence and list item of a text."""
        self.learn(sentences(text))

    def learn(self, wordings: Iterable[str]) -> None:
        """Add wordings."""
        for each in wordings:
            self._sentences[_fingerprint(each)] = None
            if len(self._sentences) > MOST_KNOWN:
                del self._sentences[next(iter(self._sentences))]

    def holds(self, content: str) -> bool:
        """Whether a wording is one of them."""
        return bool(self._sentences) and _fingerprint(content) in self._sentences

    def settle(self, judged: Judged) -> Candidate | Dropped:
        """The final outcome of a verdict."""
        if judged.restates is not None and self.holds(judged.content):
            return judged.restates
        return judged.outcome


def settled(
    judgements: Iterable[Judged], known: KnownText, dropped: Callable[[Dropped], None] | None
) -> Iterator[Candidate]:
    """The candidates among the verdicts; the rest goes to `dropped`."""
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


def _fingerprint(content: str) -> int:
    return hash(content.lower())  # cleaned already: as good as the duplicate key
