"""Verdicts on statements, and the boot text that they are checked against afterwards.

A verdict depends on one record only, so records can be judged in any order and in any process.
Whether a statement restates boot text is decided later, in the order of the files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from msgspec import Struct

from reviewer.extraction.candidates import Candidate
from reviewer.extraction.passages import wording
from reviewer.text.units import UnitKind, cached_units

MOST_KNOWN = 50_000
"""Maximum sentences of boot text to remember; the oldest are dropped."""


class Dropped(Struct, frozen=True):
    """Text that was not proposed (a line of `dropped.ndjson`); lines are 0-based."""

    reason: str
    content: str
    rule: str | None
    record: str
    line_start: int
    line_end: int


class Verdict(Struct, frozen=True):
    """The outcome for a stretch of a record: a proposal, or the reason why it was dropped.

    `restates` replaces the outcome when `content` is known boot text; None: not checked.
    """

    outcome: Candidate | Dropped
    content: str = ""
    restates: Dropped | None = None

    @property
    def record(self) -> str:
        """Key of the record."""
        outcome = self.outcome
        return outcome.record if isinstance(outcome, Dropped) else outcome.record.key


class Remembered(Struct, frozen=True):
    """Wordings of boot text, which count as known from here on."""

    wordings: tuple[str, ...]


class Began(Struct, frozen=True):
    """Marks the start of a record; all verdicts on it come before the next start."""

    key: str


Event: TypeAlias = Verdict | Remembered | Began


class KnownText:
    """Sentences of boot text, injected memories and summaries, which are not proposed again."""

    def __init__(self) -> None:
        self._sentences: dict[int, None] = {}

    def remember(self, text: str) -> None:
        """Add every sentence and list item of a text."""
        self.learn(sentences(text))

    def learn(self, wordings: Iterable[str]) -> None:
        for each in wordings:
            self._sentences[_fingerprint(each)] = None
            if len(self._sentences) > MOST_KNOWN:
                del self._sentences[next(iter(self._sentences))]

    def contains(self, content: str) -> bool:
        """Whether a wording is known, regardless of case."""
        return bool(self._sentences) and _fingerprint(content) in self._sentences

    def settle(self, verdict: Verdict) -> Candidate | Dropped:
        """The final outcome of a verdict."""
        if verdict.restates is not None and self.contains(verdict.content):
            return verdict.restates
        return verdict.outcome


def settled(
    verdicts: Iterable[Verdict], known: KnownText, dropped: Callable[[Dropped], None] | None
) -> Iterator[Candidate]:
    """The candidates among the verdicts; the rest goes to `dropped`."""
    for verdict in verdicts:
        outcome = known.settle(verdict)
        if isinstance(outcome, Candidate):
            yield outcome
        elif dropped is not None:
            dropped(outcome)


def sentences(text: str) -> tuple[str, ...]:
    """The wordings of every sentence and list item of a text."""
    return tuple(
        wording(text[unit.start : unit.end])
        for unit in cached_units(text)
        if unit.kind in (UnitKind.SENTENCE, UnitKind.LIST_ITEM)
    )


def stable_fingerprint(content: str) -> int:
    """A number for a wording, the same in every process and on every machine (64 bits, signed)."""
    digest = hashlib.blake2b(content.lower().encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def _fingerprint(content: str) -> int:
    return hash(content.lower())  # already cleaned, so this equals the duplicate key
