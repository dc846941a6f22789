"""Tags: what a conversation is about as a ranked list: its names, and the phrases that recur."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest

from reviewer.compression.extractive.coverage import Coverage, Filling, Piece
from reviewer.compression.extractive.cues import Section
from reviewer.compression.extractive.expected import FUNCTION_WORDS, SPOKEN
from reviewer.compression.extractive.index_lines import pieces_of
from reviewer.compression.extractive.material import Material
from reviewer.compression.extractive.source_units import Form, SourceUnit

NAMES_SHARE = 0.65
"""How much of the list may be names where there are that many."""
LONGEST_PHRASE = 4
MOST_PHRASES = 4000
_RUN = re.compile(r"[^\W_]+(?:['’][^\W_]+)?(?: [^\W_]+(?:['’][^\W_]+)?)*")


def tag_list(material: Material, max_tokens: int, first: Sequence[str] = ()) -> list[str]:
    """The best tags that fit as a comma-separated list; `first` are there before all others."""
    count = material.count
    tags: list[str] = []
    left = max_tokens
    for tag in first:
        cost = count(f", {tag}")
        if cost <= left and tag not in tags:
            tags.append(tag)
            left -= cost
    names = _names(material, int(left * NAMES_SHARE), ", ".join(tags))
    left -= sum(count(f", {name}") for name in names)
    coverage = Coverage({})
    filling = Filling(_phrases(material), coverage)
    for tag in (*tags, *names):
        coverage.take(_piece(material, 0, tag, 1))
    filling.fill(left)
    phrases = [piece.unit.text for piece in filling.chosen]
    left -= filling.spent
    more = _names(material, left, ", ".join((*tags, *names)))
    both = zip_longest(names + more, phrases)
    return [*tags, *(tag for pair in both for tag in pair if tag is not None)]


def _names(material: Material, budget: int, text: str) -> list[str]:
    held = pieces_of(text)
    chosen: list[str] = []
    for name in material.index.ranked:
        cost = material.index.costs[name] + 1
        if cost <= budget and name not in held:
            chosen.append(name)
            held |= pieces_of(name)
            budget -= cost
    return chosen


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


def _piece(material: Material, number: int, phrase: str, cost: int) -> Piece:
    unit = SourceUnit(0, Form.ITEM, phrase)
    return Piece(number, unit, Section.FINDINGS, cost, material.expected)


def _content(word: str) -> bool:
    lower = word.lower()
    return len(word) > 2 and lower not in FUNCTION_WORDS and lower not in SPOKEN
