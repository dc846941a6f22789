"""How well entries fit a task: SQLite's `bm25()` over an index in memory.

Rare words of the task count most, those of a title or of the heading above more than those of the
text. The index stems English words; an identifier is found as a whole and by its parts. Entries
that share rare words with the best ones follow in one step, so that a wish ("warn me in time")
finds the mechanism ("hooks") and its rules.
"""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import sqrt

from msgspec import Struct

WEIGHTS = (3.0, 1.5, 1.0)
"""What a word counts in the title, in the heading above, and in the text."""

PART = 0.5
"""What the parts of an identifier or path count beside the whole."""
LEADERS, FOLLOWED = 6, 12
"""Best entries whose words are followed, and the number of these words."""
FOLLOWING = 0.45
"""The most that following adds, as a share of the best score."""
MAX_WORDS = 200
"""Words of a task that are looked up; of a longer one those that it repeats most."""
COMMON = 5
"""A word that more than one in so many entries has does not tell them apart."""
FEWEST = 24
"""Among fewer entries empty ones are put: `bm25()` is blind to a word that half of them have."""
LEAST = 0.01
"""`bm25()` of the best entry, below which the task has only words that most entries have."""
SHOWN = 12
"""Words that say why an entry fits."""
LONGEST_WORD = 80

_WORD = re.compile(r"\w[\w./:-]*+(?<=\w)|\w")
_PART = re.compile(r"[^\W\d_]{2,}")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_UNSPACED = re.compile(r"([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])")
"""Writing without blanks between words: each sign is a word, and a run of them a phrase."""


class Query(Struct, frozen=True):
    """The words of a task with their weights, as they are spelled, in lower case."""

    words: Mapping[str, float]


class Relevance(Struct, frozen=True):
    """How an entry fits. `score`: 0 to 1 against the best one; `words`: those of the task that it
    has and few others have, the most telling first; `weight`: `bm25()` before that.
    """

    score: float
    words: tuple[str, ...] = ()
    weight: float = 0.0


def query_of(*texts: str) -> Query:
    """The words of some texts: a task as a sentence, a diff or a list of files."""
    words: defaultdict[str, float] = defaultdict(float)
    for text in texts:
        for found in _WORD.finditer(text):
            for word, share in _shares(found[0][:LONGEST_WORD]):
                words[word] += share
    most = sorted(words, key=lambda word: -words[word])[:MAX_WORDS]
    # Repetition says something, but not in proportion.
    return Query({word: sqrt(words[word]) for word in most})


def _shares(word: str) -> Iterator[tuple[str, float]]:
    """A word with its weight; of an identifier or path its parts too."""
    if run := "".join(_UNSPACED.findall(word)):
        yield from ((run[at : at + 2], 1.0) for at in range(max(len(run) - 1, 1)))
    elif len(word) > 1 and any(sign.isalpha() for sign in word):
        yield word.lower(), 1.0
        parts = _PART.findall(_CAMEL.sub(" ", word))
        yield from ((part.lower(), PART) for part in parts if part != word)


class Index:
    """Entries by their words: made once, asked for any task."""

    def __init__(self, entries: Sequence[tuple[str, str, str]]) -> None:
        """`entries`: title, heading above and text of each."""
        self._entries = entries
        self._few = len(entries) // COMMON
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
            ((at,) for at in range(len(entries), FEWEST)),
        )

    def matches(self, query: Query) -> tuple[list[Relevance], tuple[str, ...]]:
        """How each entry fits, in their order; and the words of the task that tell entries apart,
        the most telling first.
        """
        sums = [0.0] * len(self._entries)
        having: list[list[tuple[float, str]]] = [[] for _ in self._entries]
        telling: dict[str, float] = {}
        for word, weight in query.words.items():
            found = self._scores(word)
            tells = 0 < len(found) <= max(self._few, 2)
            if tells:
                telling[word] = weight * max(found.values())
            for at, score in found.items():
                sums[at] += weight * score
                if tells:
                    having[at].append((weight * score, word))
        if max(sums, default=0.0) < LEAST:
            return [Relevance(0.0)] * len(sums), ()
        whole = self._with_following(sums, query)
        top = max(whole)
        return [
            Relevance(total / top, tuple(w for _, w in sorted(words, reverse=True)[:SHOWN]), own)
            for total, words, own in zip(whole, having, sums, strict=True)
        ], tuple(sorted(telling, key=lambda word: -telling[word]))

    def _with_following(self, sums: list[float], query: Query) -> list[float]:
        """The scores, with what the rare words of the best entries add to the others."""
        best = sorted(range(len(sums)), key=lambda at: (-sums[at], at))[:LEADERS]
        given: defaultdict[str, dict[int, float]] = defaultdict(dict)
        for at in best:
            if sums[at] > 0:
                for word in query_of(*self._entries[at]).words:
                    if (
                        word not in query.words
                        and 1 < len(found := self._scores(word)) <= self._few
                    ):
                        given[word][at] = sums[at] / sums[best[0]] * found.get(at, 0.0)
        followed = sorted(given, key=lambda word: -sum(given[word].values()))[:FOLLOWED]
        added = [0.0] * len(sums)
        for word in followed:
            total = sum(given[word].values())
            for at, score in self._scores(word).items():  # no entry follows from itself
                added[at] += score * (total - given[word].get(at, 0.0))
        most = max(added, default=0.0)
        share = FOLLOWING * max(sums) / most if most else 0.0
        return [one + share * other for one, other in zip(sums, added, strict=True)]

    def _scores(self, word: str) -> dict[int, float]:
        rows = self._connection.execute(
            f"SELECT rowid, -bm25(entry, {WEIGHTS[0]}, {WEIGHTS[1]}, {WEIGHTS[2]})"
            " FROM entry WHERE entry MATCH ?",
            (_phrase(word),),
        )
        return dict(rows.fetchall())


def _split(text: str) -> str:
    """A text with the parts of its names as words too."""
    spaced = _CAMEL.sub(" ", text)
    return _UNSPACED.sub(r" \1 ", text if spaced == text else f"{text}\n{spaced}")


def _phrase(word: str) -> str:
    """A word as the index is asked for it."""
    spaced = _UNSPACED.sub(r" \1 ", word)
    return f'"{spaced}"'
