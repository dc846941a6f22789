"""Scores of entries: recency + relevance to the task."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from math import log, sqrt

from reviewer.packets.values import Item, Score
from reviewer.text.stop_words import NOTE_STOP_WORDS

ENOUGH_MATCHES = 3
"""With this many matching keywords an entry is fully relevant."""

RECENT = ((7, 1.0), (30, 0.7), (90, 0.4))
"""Age in days up to -> recency."""
OLD = 0.2

_WORD = re.compile(r"\w+")
_LABEL = re.compile(r"(?:^|(?<=\s))#[\w-]+(?::\S+)?")
_FIELD = re.compile(r"^\W*\*\*[\w /-]{2,40}(?::\*\*|\*\*:)", re.MULTILINE)
"""A field label such as `**Status**:`, which says nothing about the entry."""
SHORTEST_WORD = 3
KEY_LENGTH = 20
"""Longer words that contain digits may be secrets, and are not used as keywords."""


def words(text: str) -> frozenset[str]:
    """The distinct keywords of a text: lower case, in the singular, without stop words, numbers
    and words of less than three letters.
    """
    found = set(_WORD.findall(text.lower())) - NOTE_STOP_WORDS
    return frozenset(
        _singular(word)
        for word in found
        if len(word) >= SHORTEST_WORD and not (word.isdigit() or _may_be_key(word))
    )


def task_keywords(tasks: Iterable[str]) -> frozenset[str]:
    """Keywords of the tasks, without labels such as `#added:2026-02-14`."""
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
    """The ranked entries with their words: built once, scored for any task and date."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = tuple(items)
        self._words = [words(f"{item.title}\n{_FIELD.sub(' ', item.text)}") for item in self.items]

    def scores(self, keywords: frozenset[str], now: datetime) -> list[Score]:
        """The score of each entry, in the order of `items`."""
        matches = [found & keywords for found in self._words]
        counts = Counter(word for found in matches for word in found)
        rare = {word: log(1 + len(self.items) / times) for word, times in counts.items()}
        return [
            _score(item, found, len(all_words), rare, now)
            for item, found, all_words in zip(self.items, matches, self._words, strict=True)
        ]


def ranked(items: Sequence[Item], scores: Sequence[Score]) -> list[int]:
    """Indices of the entries, best first: by score, then by rarity of the matching keywords, then
    newest first, then in their order; superseded entries last.
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
    item: Item, matched: frozenset[str], word_count: int, rare: dict[str, float], now: datetime
) -> Score:
    days = age_in_days(item.at, now)
    recent, relevant = recency(days), relevance(len(matched))
    # Long entries contain more keywords of any kind; the square root compensates for that.
    rarity = sum(rare[word] for word in sorted(matched)) / sqrt(max(word_count, 1))
    return Score(
        total=0.0 if item.superseded else recent + relevant,
        recency=recent,
        relevance=relevant,
        rarity=rarity,
        matched=tuple(sorted(matched, key=lambda word: (-rare[word], word))),
        days=days,
    )


def _may_be_key(word: str) -> bool:
    """Whether a word looks like a key or hash, or has no letters."""
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
