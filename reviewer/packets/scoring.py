"""How much an entry matters now: recency + relevance (`smart-retrieval.md`, Entry Scoring)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from math import log, sqrt

from reviewer.packets.values import Item, Score
from reviewer.text.stop_words import NOTE_STOP_WORDS

ENOUGH_MATCHES = 3
"""So many matching keywords make an entry fully relevant."""

RECENT = ((7, 1.0), (30, 0.7), (90, 0.4))
"""Up to so many days: that recency."""
OLD = 0.2

_WORD = re.compile(r"\w+")
_LABEL = re.compile(r"(?:^|(?<=\s))#[\w-]+(?::\S+)?")
_FIELD = re.compile(r"^\W*\*\*[\w /-]{2,40}(?::\*\*|\*\*:)", re.MULTILINE)
"""The name of a field of an entry, `**Status**:`: every entry has it."""
SHORTEST_WORD = 3
KEY_LENGTH = 20
"""Letters. Longer words with digits in them may be secrets, and no output names those."""


def words(text: str) -> frozenset[str]:
    """The distinct words of a text that may say what it is about: lower-case, without stop words,
    numbers and words of less than three letters; a plural counts as its singular.
    """
    found = set(_WORD.findall(text.lower())) - NOTE_STOP_WORDS
    return frozenset(
        _singular(word)
        for word in found
        if len(word) >= SHORTEST_WORD and not (word.isdigit() or _may_be_key(word))
    )


def task_keywords(tasks: Iterable[str]) -> frozenset[str]:
    """What the tasks are about; labels such as `#added:2026-02-14` say nothing of it."""
    found: set[str] = set()
    for task in tasks:
        found |= words(_LABEL.sub(" ", task))
    return frozenset(found)


def recency(days: int | None) -> float:
    """0.2 to 1.0 for an age in days: up to 7, 30, 90, and older. No date counts as old, a date
    in the future as today.
    """
    if days is None:
        return OLD
    return next((value for limit, value in RECENT if days <= limit), OLD)


def relevance(matches: int) -> float:
    """0 to 1 for a number of matching keywords; three are enough."""
    return min(matches / ENOUGH_MATCHES, 1.0)


def age_in_days(at: datetime | None, now: datetime) -> int | None:
    """Days since the date of `at`, whatever the hour, so that a packet stays the same for a day;
    None without a date.
    """
    return None if at is None else (now.date() - at.date()).days


class Corpus:
    """The entries that compete, with their words: built once, scored for any task and date."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = tuple(items)
        self._words = [words(f"{item.title}\n{_FIELD.sub(' ', item.text)}") for item in self.items]

    def scores(self, keywords: frozenset[str], now: datetime) -> list[Score]:
        """The score of each entry, in the order of `items`."""
        matches = [found & keywords for found in self._words]
        holding = Counter(word for found in matches for word in found)
        rare = {word: log(1 + len(self.items) / times) for word, times in holding.items()}
        return [
            _score(item, found, len(said), rare, now)
            for item, found, said in zip(self.items, matches, self._words, strict=True)
        ]


def ranked(items: Sequence[Item], scores: Sequence[Score]) -> list[int]:
    """Places of the entries, the best first: by score, then by how rare the matching keywords
    are, then the newest, then as they stand; superseded ones last.
    """
    return sorted(
        range(len(items)),
        key=lambda at: (
            items[at].superseded,
            -scores[at].total,
            -scores[at].rarity,
            -(moment.timestamp() if (moment := items[at].at) else float("-inf")),
            at,
        ),
    )


def _score(
    item: Item, matched: frozenset[str], said: int, rare: dict[str, float], now: datetime
) -> Score:
    days = age_in_days(item.at, now)
    recent, relevant = recency(days), relevance(len(matched))
    # Long entries hold more of everything: the root of their length takes that out.
    rarity = sum(rare[word] for word in sorted(matched)) / sqrt(max(said, 1))
    return Score(
        total=0.0 if item.superseded else recent + relevant,
        recency=recent,
        relevance=relevant,
        rarity=rarity,
        matched=tuple(sorted(matched, key=lambda word: (-rare[word], word))),
        days=days,
    )


def _may_be_key(word: str) -> bool:
    """Whether a word is long like a key or a hash, or without any letter."""
    if len(word) < KEY_LENGTH:
        return not word.strip("_0123456789")
    return len(word) > 2 * KEY_LENGTH or any(sign.isdigit() for sign in word)


def _singular(word: str) -> str:
    """`hooks` as `hook`, `policies` as `policy`; `class` and `status` stay."""
    if len(word) > SHORTEST_WORD + 1 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > SHORTEST_WORD and word[-1] == "s" and word[-2] not in "siu":
        return word[:-1]
    return word
