"""Relevance of entries to a task: SQLite's `bm25()` over an index in memory.

Rare words of the task count most, in titles and headings more than in the text. The index stems
English words; an identifier matches as a whole and by its parts. The query is then expanded with
rare words of the best entries, so that a wish ("warn me in time") finds the mechanism ("hooks") and
its rules.
"""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import sqrt

from msgspec import Struct

from reviewer.text.normalise import UNSPACED
from reviewer.text.stop_words import SPEECH_STOP_WORDS

WEIGHTS = (3.0, 1.5, 1.0)
"""Weights of a word in the title, in the heading above, and in the text."""

PART_WEIGHT = 0.5
"""Weight of the parts of an identifier or path, relative to the whole."""
TOP_ENTRIES, ADDED_WORDS = 6, 12
"""Query expansion: the number of best entries whose words are added, and of these words."""
EXPANSION_SHARE = 0.45
"""The most that expansion adds, as a share of the best score."""
MAX_WORDS = 200
"""Words of a task that are looked up: in a longer one, the most frequent."""
COMMON_SHARE = 5
"""A word that more than one in so many entries has does not tell them apart."""
MIN_ENTRIES = 24
"""Fewer entries are padded with empty ones: `bm25()` ignores a word that half of them have."""
MIN_WEIGHT = 0.01
"""The minimum `bm25()` of the best entry; below it, the task has only common words."""
MAX_MATCHED = 12
"""Matched words listed as the reason for a score."""
LONGEST_WORD = 80

_WORD = re.compile(r"\w[\w./:-]*+(?<=\w)|\w")
_PART = re.compile(r"[^\W\d_]{2,}")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


Query = Mapping[str, float]
"""The words of a task with their weights, in lower case."""


class Relevance(Struct, frozen=True):
    """The relevance of an entry. `score`: 0 to 1, relative to the best one; `words`: its rare words
    of the task, most telling first; `weight`: the raw `bm25()`.
    """

    score: float
    words: tuple[str, ...] = ()
    weight: float = 0.0


def query_of(*texts: str) -> Query:
    """The query for a task: a sentence, a diff or a list of files."""
    words: defaultdict[str, float] = defaultdict(float)
    for text in texts:
        for found in _WORD.finditer(text):
            for word, share in _shares(found[0][:LONGEST_WORD]):
                words[word] += share
    # In a small memory, common words are rare, too.
    telling = [word for word in words if word not in SPEECH_STOP_WORDS] or words
    most = sorted(telling, key=lambda word: -words[word])[:MAX_WORDS]
    # Repeated words count more, but not in proportion.
    return {word: sqrt(words[word]) for word in most}


def _shares(word: str) -> Iterator[tuple[str, float]]:
    """A word with its weight, and the parts of an identifier or path."""
    if run := "".join(UNSPACED.findall(word)):
        yield from ((run[at : at + 2], 1.0) for at in range(max(len(run) - 1, 1)))
    elif len(word) > 1 and any(sign.isalpha() for sign in word):
        yield word.lower(), 1.0
        parts = _PART.findall(_CAMEL.sub(" ", word))
        yield from ((part.lower(), PART_WEIGHT) for part in parts if part != word)


class Index:
    """A word index of entries, built once for any task."""

    def __init__(self, entries: Sequence[tuple[str, str, str]]) -> None:
        """`entries`: title, heading above and text of each."""
        self._entries = entries
        self._few = len(entries) // COMMON_SHARE
        self._connection = sqlite3.connect(":memory:", check_same_thread=False)
        self._connection.execute(
            "CREATE VIRTUAL TABLE entry USING fts5(title, above, body, content='',"
            " tokenize='porter unicode61')"
        )
        self._connection.executemany(
            "INSERT INTO entry (rowid, title, above, body) VALUES (?, ?, ?, ?)",
            ((at, *map(_split, entry)) for at, entry in enumerate(entries)),
        )
        self._connection.executemany(
            "INSERT INTO entry (rowid, title, above, body) VALUES (?, '', '', '')",
            ((at,) for at in range(len(entries), MIN_ENTRIES)),
        )

    def matches(self, query: Query) -> tuple[list[Relevance], tuple[str, ...]]:
        """The relevance of each entry, in order; and the words of the task that tell entries apart,
        most telling first.
        """
        sums = [0.0] * len(self._entries)
        having: list[list[tuple[float, str]]] = [[] for _ in self._entries]
        telling: dict[str, float] = {}
        for word, weight in query.items():
            found = self._scores(word)
            tells = 0 < len(found) <= max(self._few, 2)
            if tells:
                telling[word] = weight * max(found.values())
            for at, score in found.items():
                sums[at] += weight * score
                if tells:
                    having[at].append((weight * score, word))
        if max(sums, default=0.0) < MIN_WEIGHT:
            return [Relevance(0.0)] * len(sums), ()
        whole = self._expanded(sums, query)
        top = max(whole)
        return [
            Relevance(
                total / top, tuple(w for _, w in sorted(words, reverse=True)[:MAX_MATCHED]), own
            )
            for total, words, own in zip(whole, having, sums, strict=True)
        ], tuple(sorted(telling, key=lambda word: -telling[word]))

    def _expanded(self, sums: list[float], query: Query) -> list[float]:
        """The scores, with those of the expanded query added."""
        best = sorted(range(len(sums)), key=lambda at: (-sums[at], at))[:TOP_ENTRIES]
        given: defaultdict[str, dict[int, float]] = defaultdict(dict)
        for at in best:
            if sums[at] > 0:
                for word in query_of(*self._entries[at]):
                    if word not in query and 1 < len(found := self._scores(word)) <= self._few:
                        given[word][at] = sums[at] / sums[best[0]] * found.get(at, 0.0)
        followed = sorted(given, key=lambda word: -sum(given[word].values()))[:ADDED_WORDS]
        added = [0.0] * len(sums)
        for word in followed:
            total = sum(given[word].values())
            for at, score in self._scores(word).items():  # an entry does not raise itself
                added[at] += score * (total - given[word].get(at, 0.0))
        most = max(added, default=0.0)
        share = EXPANSION_SHARE * max(sums) / most if most else 0.0
        return [one + share * other for one, other in zip(sums, added, strict=True)]

    def _scores(self, word: str) -> dict[int, float]:
        rows = self._connection.execute(
            f"SELECT rowid, -bm25(entry, {WEIGHTS[0]}, {WEIGHTS[1]}, {WEIGHTS[2]})"
            " FROM entry WHERE entry MATCH ?",
            (f'"{_apart(word)}"',),
        )
        return dict(rows.fetchall())


def _split(text: str) -> str:
    """A text with the parts of its identifiers added as words."""
    spaced = _CAMEL.sub(" ", text)
    return _apart(text if spaced == text else f"{text}\n{spaced}")


def _apart(text: str) -> str:
    """A text with blanks around the characters of scripts that have none between words."""
    return UNSPACED.sub(r" \g<0> ", text)
