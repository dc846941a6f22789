"""Tags: what a conversation is about as a ranked list: its names, and the phrases that recur."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import log2, sqrt

from reviewer.compression.extractive.coverage import Coverage, Filling
from reviewer.compression.extractive.cues import Section
from reviewer.compression.extractive.expected import FUNCTION_WORDS, SPOKEN
from reviewer.compression.extractive.index_lines import pieces_of
from reviewer.compression.extractive.material import Material
from reviewer.compression.extractive.pieces import Piece
from reviewer.compression.extractive.source_units import Form, SourceUnit
from reviewer.compression.words import FUNCTION_WORDS as COMMON_WORDS

NAMES = 6.0
"""What a name counts in a list of tags, against what it counts in sentences."""
LONGEST_PHRASE, LONGEST_SAYING = 6, 8
"""Words of a tag, where names fill the list and where there are none."""
SAYING = 0.5
"""Power of its words by which a phrase weighs more where there are no names: in talk two words
name a topic, but not what was said about it."""
MOST_PHRASES = 4000
"""Candidates of each kind that are weighed."""
_WORDS = frozenset({Form.PROSE, Form.ITEM, Form.HEADING})
_COMMON = COMMON_WORDS | SPOKEN | FUNCTION_WORDS.keys()
_RUN = re.compile(r"[^\W_]+(?:['’][^\W_]+)?(?: [^\W_]+(?:['’][^\W_]+)?)*")


def tag_list(material: Material, max_tokens: int, first: Sequence[str] = ()) -> list[str]:
    """The best tags that fit as a comma-separated list; `first` are there before all others."""
    count = material.count
    needs = material.needs.need
    coverage = Coverage({name: NAMES * need for name, need in needs.items()})
    tags: list[str] = []
    left = max_tokens + 1  # the first tag needs no comma
    for tag in first:
        cost = count(f", {tag}")
        if cost <= left and tag not in tags:
            tags.append(tag)
            left -= cost
            coverage.take(_piece(material, 0, tag, 1))
    wordy = 1 - min(material.index.total / max(max_tokens, 1), 1.0)
    filling = Filling([*_names(material), *_phrases(material, wordy)], coverage)
    filling.fill(left)
    return [*tags, *(piece.unit.text for piece in filling.chosen)]


def _names(material: Material) -> list[Piece]:
    costs = material.index.costs
    return [
        _piece(material, -number, name, costs[name] + 1, pieces_of(name) & costs.keys())
        for number, name in enumerate(material.index.ranked[:MOST_PHRASES], 1)
    ]


def _phrases(material: Material, wordy: float) -> list[Piece]:
    """Runs of words that begin and end with one of content; what recurs weighs more.

    `wordy`: the share of the list that names cannot fill, 0 to 1; the more, the longer the runs.
    """
    longest = round(LONGEST_PHRASE + wordy * (LONGEST_SAYING - LONGEST_PHRASE))
    counts: Counter[str] = Counter()
    shown: dict[str, str] = {}
    words_only = [unit for unit in material.units if unit.form in _WORDS]
    for unit in words_only or material.units:
        for run in _RUN.findall(unit.text):
            words = run.split(" ")
            lower = [word.lower() for word in words]
            for start in range(len(words)):
                if not _content(lower[start]):
                    continue
                pairs: set[tuple[str, str]] = set()
                for end in range(start + 1, min(start + longest, len(words)) + 1):
                    last = lower[end - 1]
                    pair = (lower[end - 2], last) if end > start + 1 else ("", last)
                    if last in SPOKEN or pair[0] == last or pair in pairs:
                        break  # what is stammered is no phrase
                    pairs.add(pair)
                    if _content(last):
                        phrase = " ".join(lower[start:end])
                        shown.setdefault(phrase, " ".join(words[start:end]))
                        counts[phrase] += 1
    ranked = sorted(counts, key=lambda key: (-counts[key] * (1 + key.count(" ")), key))
    pieces = []
    for number, key in enumerate(ranked[:MOST_PHRASES]):
        cost = material.count(f", {shown[key]}")
        weight = sqrt(log2(1 + counts[key])) * (1 + key.count(" ")) ** (SAYING * wordy)
        pieces.append(_piece(material, number, shown[key], cost, weight=weight))
    return pieces


def _piece(
    material: Material,
    number: int,
    tag: str,
    cost: int,
    names: Iterable[str] = (),
    weight: float = 1.0,
) -> Piece:
    unit = SourceUnit(0, Form.ITEM, tag)
    return Piece(
        number, unit, Section.FINDINGS, cost, material.expected, names=names, weight=weight
    )


def _content(lower: str) -> bool:
    return len(lower) > 2 and not lower.isdigit() and lower not in _COMMON
