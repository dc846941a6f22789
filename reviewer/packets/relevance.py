"""How well entries fit a task: rare shared terms, where they occur, phrases, and what follows.

Terms weigh by how rare they are among the entries; generic words of the language count for less.
A term in a title or in the heading above counts more than one in the text. Entries that share rare
names with the best entries follow in one step, so that a wish ("warn me in time") finds the
mechanism ("hooks") and the rules for it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import log, sqrt

from msgspec import Struct

from reviewer.packets.language import (
    ALIKE_WEIGHT,
    GENERIC_WEIGHT,
    alike,
    counted_tokens,
    generic_stems,
    tokens,
)

TITLE, GROUP, BODY = 3.0, 1.5, 1.0
"""How often a term counts by the field in which it occurs."""

SATURATION = 1.2
LENGTH_SHARE = 0.6
"""The constants of BM25: how fast repetition stops to matter, and how much length is held against
an entry."""

NAMED = 1.6
"""What a term of an identifier or file name of the task counts, against a plain word."""
PHRASE = 0.5
"""What two terms that follow each other in the task and the entry add, against their weights."""
TOLD = 300
"""Number of best entries of which it is told which other words led to them."""
SHOWN = 6
"""Number of words that are kept to say why an entry fits."""
LEADERS = 6
"""Number of best entries whose names are followed."""
FOLLOWED = 12
"""Number of names that are followed."""
FOLLOW_SHARE = 0.45
"""The most that following adds, as a share of the best score."""
MOST_TERMS = 80
"""Number of terms of a task; a longer task counts by its rarest and most repeated ones."""


class Field(Struct, frozen=True):
    """The terms of an entry. `counts` is weighted by field; `size` is their sum."""

    counts: Mapping[str, float]
    size: float
    texts: tuple[str, ...]

    def has_pair(self, one: str, other: str) -> bool:
        """Whether two terms follow each other in one of the texts."""
        for text in self.texts:
            before = ""
            for token in tokens(text):
                for each in token.stems:
                    if each == other and before == one:
                        return True
                    before = each
        return False

    def spelled(self, term: str) -> str:
        """A word of the entry that has the term."""
        for text in self.texts:
            for token in tokens(text):
                for each, part in zip(token.stems, token.parts, strict=True):
                    if each == term:
                        return part
        return term


class Query(Struct, frozen=True):
    """The terms of a task with their weights before rarity, and its pairs of neighbours.

    `spelled`: for each term a word of the task that gave it.
    """

    terms: Mapping[str, float]
    pairs: frozenset[tuple[str, str]]
    spelled: Mapping[str, str]


class Match(Struct, frozen=True):
    """How an entry fits. `score` is 0 to 1 against the best entry; `words` the task's words that
    it has, most telling first; `alike` those found through a word of like meaning; `through` the
    names by which it follows from better entries. `weight` is the rarity of the words that
    match; `nested`: it follows the task above it.
    """

    score: float
    words: tuple[str, ...] = ()
    alike: tuple[str, ...] = ()
    through: tuple[str, ...] = ()
    weight: float = 0.0
    nested: bool = False


NOTHING = Match(0.0)


def field_of(title: str, group: str, body: str) -> Field:
    """The terms of an entry by field."""
    counts: defaultdict[str, float] = defaultdict(float)
    texts = (title, group, body)
    for text, weight in zip(texts, (TITLE, GROUP, BODY), strict=True):
        for token, times in counted_tokens(text):
            for each in token.stems:
                counts[each] += weight * times
            if token.name:
                counts[token.name] += weight * times
    return Field(dict(counts), sum(counts.values()), texts)


def query_of(parts: Iterable[tuple[str, float]]) -> Query:
    """The query of some texts, each with its weight."""
    terms: defaultdict[str, float] = defaultdict(float)
    pairs: set[tuple[str, str]] = set()
    spelled: dict[str, str] = {}
    for text, weight in parts:
        before = ""
        for word, name, stems, words in tokens(text):
            for each, part in zip(stems, words, strict=True):
                terms[each] += weight * (NAMED if name else 1.0)
                spelled.setdefault(each, part)
                if before and before != each:
                    pairs.add((before, each))
                before = each
            if name:
                terms[name] += weight * NAMED
                spelled.setdefault(name, word)
    # repetition says something, but not in proportion
    return Query({each: sqrt(count) for each, count in terms.items()}, frozenset(pairs), spelled)


class Index:
    """Entries by their terms: built once, scored for any task."""

    def __init__(self, fields: Sequence[Field]) -> None:
        self._fields = tuple(fields)
        self._seen: Counter[str] = Counter()
        for each in self._fields:
            self._seen.update(each.counts.keys())
        self._mean = sum(each.size for each in self._fields) / max(len(self._fields), 1) or 1.0

    def rarity(self, term: str) -> float:
        """How much a term tells here: its rarity among the entries, less for generic words."""
        count, seen = len(self._fields), self._seen.get(term, 0)
        rare = log(1 + (count - seen + 0.5) / (seen + 0.5))
        return rare * (GENERIC_WEIGHT if term in generic_stems() else 1.0)

    def telling(self, query: Query) -> tuple[str, ...]:
        """The words of the query that tell entries apart, the most telling first."""
        weights = self._weights(query)
        best = sorted(weights, key=lambda term: (-weights[term], term))
        return tuple(dict.fromkeys(query.spelled[term] for term in best))

    def matches(self, query: Query) -> list[Match]:
        """How each entry fits the query, in their order."""
        weights = self._weights(query)
        near = self._near(weights)
        direct = [self._direct(each, weights, query.pairs) for each in self._fields]
        meant = [self._sum(each, near) for each in self._fields]
        base = [one + other for one, other in zip(direct, meant, strict=True)]
        best = max(base, default=0.0)
        if best <= 0:
            return [NOTHING for _ in self._fields]
        names, given = self._names(base, weights)
        follow = [self._sum(each, names) for each in self._fields]
        for at, own in given.items():  # no entry follows from itself
            others = {term: names[term] - own.get(term, 0.0) for term in names}
            follow[at] = self._sum(self._fields[at], others)
        most = max(follow, default=0.0) or 1.0
        whole = [
            one + best * FOLLOW_SHARE * other / most
            for one, other in zip(base, follow, strict=True)
        ]
        top = max(whole)
        told = set(sorted(range(len(whole)), key=lambda at: -whole[at])[:TOLD])
        return [
            Match(
                whole[at] / top,
                tuple(dict.fromkeys(query.spelled[term] for term in _by_weight(weights, field))),
                _spelled(near, field) if at in told else (),
                _spelled(names, field) if at in told else (),
                direct[at],
            )
            for at, field in enumerate(self._fields)
        ]

    def _weights(self, query: Query) -> dict[str, float]:
        found = {
            term: count * self.rarity(term)
            for term, count in query.terms.items()
            if term in self._seen
        }
        best = sorted(found, key=lambda term: (-found[term], term))[:MOST_TERMS]
        return {term: found[term] for term in best}

    def _near(self, weights: Mapping[str, float]) -> dict[str, float]:
        near: dict[str, float] = {}
        for term, weight in weights.items():
            for other in alike().get(term, ()):
                if other in self._seen and other not in weights:
                    own = min(weight, self.rarity(other))
                    near[other] = max(near.get(other, 0.0), ALIKE_WEIGHT * own)
        return near

    def _direct(
        self, field: Field, weights: Mapping[str, float], pairs: frozenset[tuple[str, str]]
    ) -> float:
        score = self._sum(field, weights)
        for one, other in pairs:
            if one not in field.counts or other not in field.counts:
                continue
            if field.has_pair(one, other):
                score += PHRASE * (weights.get(one, 0.0) + weights.get(other, 0.0)) / 2
        return score

    def _sum(self, field: Field, weights: Mapping[str, float]) -> float:
        norm = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * field.size / self._mean)
        score = 0.0
        for term in weights.keys() & field.counts.keys():
            count = field.counts[term]
            score += weights[term] * count * (SATURATION + 1) / (count + norm)
        return score

    def _names(
        self, base: Sequence[float], weights: Mapping[str, float]
    ) -> tuple[dict[str, float], dict[int, dict[str, float]]]:
        """Rare terms of the best entries that are not in the task, with their weights; and for each
        of these entries what it gives to them.
        """
        best = sorted(range(len(base)), key=lambda at: (-base[at], at))[:LEADERS]
        top = base[best[0]]
        shared: defaultdict[str, float] = defaultdict(float)
        given: dict[int, dict[str, float]] = {}
        most = max(len(self._fields) // 5, 3)
        for at in best:
            if base[at] <= 0:
                continue
            field = self._fields[at]
            norm = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * field.size / self._mean)
            given[at] = {
                term: base[at] / top * self.rarity(term) * count / (count + norm)
                for term, count in field.counts.items()
                if term not in weights and 1 < self._seen[term] <= most
            }
            for term, weight in given[at].items():
                shared[term] += weight
        names = sorted(shared, key=lambda term: (-shared[term], term))[:FOLLOWED]
        return {term: shared[term] for term in names}, given


def _by_weight(weights: Mapping[str, float], field: Field) -> list[str]:
    return sorted(weights.keys() & field.counts.keys(), key=lambda term: (-weights[term], term))


def _spelled(weights: Mapping[str, float], field: Field) -> tuple[str, ...]:
    return tuple(map(field.spelled, _by_weight(weights, field)[:SHOWN]))
