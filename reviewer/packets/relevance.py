"""How well entries fit a task: rare shared terms, where they occur, phrases, and what follows.

Terms weigh by how rare they are among the entries; generic words of the language count for less.
A term in a title or in the heading above counts more than one in the text. Entries that share rare
names with the best entries follow in one step, so that a wish ("warn me in time") finds the
mechanism ("hooks") and the rules for it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import log, sqrt

from msgspec import Struct

from reviewer.packets.language import (
    GENERIC_WEIGHT,
    Token,
    generic_stems,
    terms_of,
    token_of,
    tokens,
    words_of,
)

TITLE, GROUP, BODY = 3.0, 1.5, 1.0
"""How often a term counts by the field in which it occurs."""

SATURATION = 1.2
LENGTH_SHARE = 0.6
"""The constants of BM25: how fast repetition stops to matter, and how much length is held against
an entry."""

NAMED = 1.6
"""What an identifier or file name of the task, or a part of an identifier, counts against a plain
word."""
FILE_PART, FOLDER_PART = 1.0, 0.4
"""What the parts of a file name and of the folders above it count, against a plain word."""
PHRASE = 0.5
"""What two terms that follow each other in the task and the entry add, against their weights."""
EXPLAINED = 300
"""Number of best entries that come with the other words that led to them."""
SHOWN = 6
"""Number of words that are kept to say why an entry fits."""
LEADERS = 6
"""Number of best entries whose names are followed."""
FOLLOWED = 12
"""Number of names that are followed."""
FOLLOW_SHARE = 0.45
"""The most that following adds, as a share of the best score."""
FLOOR, FLOOR_OF_WEAK = 0.02, 0.5
"""The least relevance of an entry without a telling word of the task, and the same if the task is
weak: then no entry is sure to be about it, and what follows from one says little.
"""
FLOOR_OF_FILE = 0.25
"""The least relevance to a file of an entry that has one word of its name."""
FAMILIAR = 4
"""A task is weak if the entries know fewer of its words and none has AGREEING telling ones, ..."""
AGREEING = 2
FAMILIAR_SHARE = 0.15
"""... or less of it by the weight of its words."""
COMMON = 5
"""A word that more than one in so many entries has does not tell them apart."""
MOST_TERMS = 80
"""Number of terms of a task; a longer task counts by its rarest and most repeated ones."""


class Field(Struct, frozen=True):
    """The terms of an entry. `counts` is weighted by field; `size` is their sum."""

    counts: Mapping[str, float]
    size: float
    texts: tuple[str, ...]

    def pairs_among(self, wanted: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
        """Those of some pairs of terms that follow each other in one of the texts."""
        found: set[tuple[str, str]] = set()
        for text in self.texts:
            before = ""
            for word in words_of(text):
                for each in token_of(word).stems:
                    if (before, each) in wanted:
                        found.add((before, each))
                    before = each
        return found

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

    `spelled`: for each term a word of the task that gave it. `names`: the terms that are whole
    identifiers or file names. `files`: for a task that only names files, the runs of terms by which
    an entry is about one of them; it needs one of these.
    """

    terms: Mapping[str, float]
    pairs: frozenset[tuple[str, str]]
    spelled: Mapping[str, str]
    names: frozenset[str] = frozenset()
    files: tuple[tuple[str, ...], ...] = ()


class Match(Struct, frozen=True):
    """How an entry fits. `score` is 0 to 1 against the best entry; `words` the task's words that
    it has, most telling first; `through` the
    names by which it follows from better entries. `weight` is the rarity of the words that
    match; `nested`: it follows the task above it; `unrelated`: it has too little to do with the
    task to be shown for it.
    """

    score: float
    words: tuple[str, ...] = ()
    through: tuple[str, ...] = ()
    weight: float = 0.0
    nested: bool = False
    unrelated: bool = False


NOTHING = Match(0.0)


def field_of(title: str, group: str, body: str) -> Field:
    """The terms of an entry by field."""
    counts: dict[str, float] = {}
    texts = (title, group, body)
    for text, weight in zip(texts, (TITLE, GROUP, BODY), strict=True):
        for word in words_of(text):
            for term in terms_of(word):
                counts[term] = counts.get(term, 0.0) + weight
    return Field(counts, sum(counts.values()), texts)


def query_of(parts: Iterable[tuple[str, float]]) -> Query:
    """The query of some texts, each with its weight."""
    terms: defaultdict[str, float] = defaultdict(float)
    pairs: set[tuple[str, str]] = set()
    spelled: dict[str, str] = {}
    names: set[str] = set()
    for text, weight in parts:
        before = ""
        for token in tokens(text):
            word, name, stems, words = token
            shares = _shares(token)
            for each, part, share in zip(stems, words, shares, strict=True):
                terms[each] += weight * share
                spelled.setdefault(each, part)
                if before and before != each:
                    pairs.add((before, each))
                before = each
            if name:
                names.add(name)
                terms[name] += weight * NAMED
                spelled.setdefault(name, word)
    # repetition says something, but not in proportion
    counts = {each: sqrt(count) for each, count in terms.items()}
    return Query(counts, frozenset(pairs), spelled, frozenset(names))


def runs_of_file(path: str) -> Iterator[tuple[str, ...]]:
    """The terms that name a file: its path, its folders, its name, and the words of its name and of
    its folder.
    """
    folders, _, name = path.rpartition("/")
    above = folders.split("/")
    ways = ("/".join(above[at:]) for at in range(len(above) - 1))
    for whole in dict.fromkeys((path, name, *ways)):
        if found := token_of(whole).name:
            yield (found,)
    for part in (name.lstrip(".").partition(".")[0], folders.rpartition("/")[2]):
        stems = token_of(part).stems
        if any(stem not in generic_stems() for stem in stems):
            yield stems


def is_name(term: str) -> bool:
    """Whether a term is a path or the name of a file, not a word."""
    return "/" in term or "." in term


def _shares(token: Token) -> list[float]:
    """What each part of a word counts, against a plain word."""
    if not token.name:
        return [1.0] * len(token.parts)
    folders, _, file = token.spelled.rpartition("/")
    if not folders and not _SUFFIX.search(file):
        return [NAMED] * len(token.parts)
    own = len(token_of(file).parts)
    return [FOLDER_PART] * (len(token.parts) - own) + [FILE_PART] * own


_SUFFIX = re.compile(r"\w\.[a-z]\w{0,4}$", re.IGNORECASE)


class Index:
    """Entries by their terms: built once, scored for any task.

    Scoring goes from a term to the entries that have it, so that its cost grows with these and
    not with all entries.
    """

    def __init__(self, fields: Sequence[Field]) -> None:
        self._fields = tuple(fields)
        having: defaultdict[str, list[int]] = defaultdict(list)
        for at, each in enumerate(self._fields):
            for term in each.counts:
                having[term].append(at)
        self._few = max(len(self._fields) // COMMON, 3)
        self._having = dict(having)
        """For each term the entries that have it, in their order."""
        mean = sum(each.size for each in self._fields) / max(len(self._fields), 1) or 1.0
        self._norms = [
            SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * each.size / mean)
            for each in self._fields
        ]

    def rarity(self, term: str) -> float:
        """How much a term tells here: its rarity among the entries, less for generic words."""
        count, seen = len(self._fields), self._seen(term)
        rare = log(1 + (count - seen + 0.5) / (seen + 0.5))
        return rare * (GENERIC_WEIGHT if term in generic_stems() else 1.0)

    def telling(self, query: Query) -> tuple[str, ...]:
        """The words of the query that tell entries apart, the most telling first."""
        return tuple(dict.fromkeys(query.spelled[term] for term in self._weights(query)))

    def matches(self, query: Query) -> list[Match]:
        """How each entry fits the query, in their order."""
        weights = self._weights(query)
        direct = self._sums(weights)
        base = list(direct)
        self._add_pairs(base, weights, query.pairs)
        best = max(base, default=0.0)
        if best <= 0:
            return [Match(0.0, unrelated=bool(query.files)) for _ in self._fields]
        names, given = self._names(base, weights)
        follow = self._sums(names)
        for at, own in given.items():  # no entry follows from itself
            follow[at] = self._sum(at, {term: names[term] - own.get(term, 0.0) for term in names})
        most = max(follow, default=0.0) or 1.0
        whole = [
            one + best * FOLLOW_SHARE * other / most
            for one, other in zip(base, follow, strict=True)
        ]
        top = max(whole)
        telling = self._counts_of_telling(weights)
        floor = top * (FLOOR_OF_WEAK if self._is_weak(query, max(telling)) else FLOOR)
        about = self._about(query, whole)
        explained = set(sorted(range(len(whole)), key=lambda at: -whole[at])[:EXPLAINED])
        words: list[list[str]] = [[] for _ in self._fields]
        for term in weights:
            for at in self._having[term]:
                words[at].append(query.spelled[term])
        return [
            Match(
                whole[at] / top,
                tuple(dict.fromkeys(words[at])),
                _spelled(names, field) if at in explained else (),
                direct[at],
                unrelated=at not in about if query.files else whole[at] < floor and not telling[at],
            )
            for at, field in enumerate(self._fields)
        ]

    def _seen(self, term: str) -> int:
        """Number of entries that have a term."""
        return len(self._having.get(term, ()))

    def _weights(self, query: Query) -> dict[str, float]:
        """The terms that count, with their weights, the most telling first."""
        found = {
            term: count * self.rarity(term)
            for term, count in query.terms.items()
            if term in self._having
        }
        best = sorted(found, key=lambda term: (-found[term], term))[:MOST_TERMS]
        return {term: found[term] for term in best}

    def _is_weak(self, query: Query, telling: int) -> bool:
        """Whether the entries know too little of a task to say what it is about. `telling`: the
        most telling words of it that one entry has.
        """
        weights = {
            term: count * self.rarity(term)
            for term, count in query.terms.items()
            if term not in query.names
        }
        known = [weight for term, weight in weights.items() if term in self._having]
        if len(known) < FAMILIAR and telling < AGREEING:
            return True
        return sum(known) < FAMILIAR_SHARE * sum(weights.values())

    def _about(self, query: Query, scores: Sequence[float]) -> set[int]:
        """The entries that are about a file of the task: they name it or a folder of it, or have
        words of its name side by side that few others have, a single one in an entry that fits.
        """
        found: set[int] = set()
        least = FLOOR_OF_FILE * max(scores)
        for run in query.files:
            having = set.intersection(*(set(self._having.get(term, ())) for term in run))
            pairs = set(pairwise(run))
            if pairs:
                having = {at for at in having if pairs <= self._fields[at].pairs_among(pairs)}
            elif not is_name(run[0]):
                having = {at for at in having if scores[at] >= least}
            if len(having) <= self._few or is_name(run[0]):
                found |= having
        return found

    def _counts_of_telling(self, weights: Iterable[str]) -> list[int]:
        """How many words of the task each entry has that are neither generic nor common here."""
        counts = [0] * len(self._fields)
        for term in weights:
            if term not in generic_stems() and self._seen(term) <= self._few:
                for at in self._having[term]:
                    counts[at] += 1
        return counts

    def _sums(self, weights: Mapping[str, float]) -> list[float]:
        """For each entry the weights of the terms that it has, more for repeated ones."""
        sums = [0.0] * len(self._fields)
        for term, weight in weights.items():
            most = weight * (SATURATION + 1)
            for at in self._having.get(term, ()):
                count = self._fields[at].counts[term]
                sums[at] += most * count / (count + self._norms[at])
        return sums

    def _sum(self, at: int, weights: Mapping[str, float]) -> float:
        counts, norm = self._fields[at].counts, self._norms[at]
        return sum(
            weight * (SATURATION + 1) * counts[term] / (counts[term] + norm)
            for term, weight in weights.items()
            if term in counts
        )

    def _add_pairs(
        self,
        sums: list[float],
        weights: Mapping[str, float],
        pairs: Iterable[tuple[str, str]],
    ) -> None:
        """Add what neighbours in the task count where they are neighbours in an entry too."""
        gains = {
            (one, other): PHRASE * (weights.get(one, 0.0) + weights.get(other, 0.0)) / 2
            for one, other in sorted(pairs)
            if one in self._having and other in self._having
        }
        candidates: set[int] = set()
        for one, other in gains:
            candidates.update(set(self._having[one]).intersection(self._having[other]))
        for at in candidates:
            found = self._fields[at].pairs_among(gains)
            sums[at] += sum(gains[pair] for pair in sorted(found))

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
        for at in best:
            if base[at] <= 0:
                continue
            norm = self._norms[at]
            given[at] = {
                term: base[at] / top * self.rarity(term) * count / (count + norm)
                for term, count in self._fields[at].counts.items()
                if term not in weights and 1 < self._seen(term) <= self._few
            }
            for term, weight in given[at].items():
                shared[term] += weight
        names = sorted(shared, key=lambda term: (-shared[term], term))[:FOLLOWED]
        return {term: shared[term] for term in names}, given


def _by_weight(weights: Mapping[str, float], field: Field) -> list[str]:
    return sorted(weights.keys() & field.counts.keys(), key=lambda term: (-weights[term], term))


def _spelled(weights: Mapping[str, float], field: Field) -> tuple[str, ...]:
    return tuple(map(field.spelled, _by_weight(weights, field)[:SHOWN]))
