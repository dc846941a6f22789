"""Tags: what a conversation is about as a ranked list: its names, and the phrases that recur."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from reviewer.compression.extractive.coverage import Coverage, Filling, Piece
from reviewer.compression.extractive.cues import Section
from reviewer.compression.extractive.expected import FUNCTION_WORDS, SPOKEN
from reviewer.compression.extractive.index_lines import pieces_of
from reviewer.compression.extractive.material import Material
from reviewer.compression.extractive.source_units import Form, SourceUnit

NAMES = 3.0
"""What a name counts in a list of tags, against what it counts in sentences."""
LONGEST_PHRASE = 4
MOST_PHRASES = 4000
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
    filling = Filling([*_names(material), *_phrases(material)], coverage)
    filling.fill(left)
    return [*tags, *(piece.unit.text for piece in filling.chosen)]


def _names(material: Material) -> list[Piece]:
    costs = material.index.costs
    return [
        _piece(material, -number, name, costs[name] + 1, pieces_of(name) & costs.keys())
        for number, name in enumerate(material.index.ranked[:MOST_PHRASES], 1)
    ]


def _phrases(material: Material) -> list[Piece]:
    """Runs of words between function words and signs, the most frequent ones."""
    counts: Counter[str] = Counter()
    shown: dict[str, str] = {}
    for unit in material.units:
        if unit.form in (Form.CODE, Form.CALL, Form.ERROR):
            continue
        for run in _RUN.findall(unit.text):
            words = run.split(" ")
            for start, word in enumerate(words):
                if not _content(word):
                    continue
                for end in range(start + 1, min(start + LONGEST_PHRASE, len(words)) + 1):
                    if _content(words[end - 1]):
                        phrase = " ".join(words[start:end])
                        shown.setdefault(phrase.lower(), phrase)
                        counts[phrase.lower()] += 1
    ranked = sorted(counts, key=lambda key: (-counts[key] * (1 + key.count(" ")), key))
    pieces = []
    for number, key in enumerate(ranked[:MOST_PHRASES]):
        phrase = shown[key]
        cost = material.count(f", {phrase}")
        pieces.append(_piece(material, number, phrase, cost))
    return pieces


def _piece(
    material: Material, number: int, tag: str, cost: int, names: Iterable[str] = ()
) -> Piece:
    unit = SourceUnit(0, Form.ITEM, tag)
    return Piece(number, unit, Section.FINDINGS, cost, material.expected, names=names)


def _content(word: str) -> bool:
    lower = word.lower()
    return len(word) > 2 and lower not in FUNCTION_WORDS and lower not in SPOKEN
