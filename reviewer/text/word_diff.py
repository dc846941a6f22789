"""Word-level differences of an edit: the hunks that the edit pane shows and reverts."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Literal

from msgspec import Struct

Op = Literal["equal", "replace", "insert", "delete"]
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
# difflib compares every pair of equal tokens, again and again, so regions with many pairs are first
# cut where a word, or else a run of words, occurs once on both sides (patience diff). Regions that
# cannot be cut and have more than _MOST pairs count as rewritten.
_FEW = 20_000
_MOST = 100_000
_BUDGET = 300_000
"""Maximum pairs that one difference may compare; beyond that the rest counts as rewritten."""
_RUNS = (1, 8, 32)
"""Length, in tokens with white space, of the runs to search for."""

_Block = tuple[int, int, int, int]
"""original start, original end, edited start, edited end: tokens that differ"""


class Hunk(Struct, frozen=True):
    """A stretch of both texts: the same in both, or changed from one to the other."""

    op: Op
    original: str
    edited: str


def hunks(original: str, edited: str) -> tuple[Hunk, ...]:
    """The word-level difference of two texts, in order.

    The `.original` texts join to the original and the `.edited` texts to the edited text, exactly.
    Hunks begin and end at borders of words, punctuation and white space; changes with only white
    space between them are one hunk.
    """
    if original == edited:
        return (Hunk("equal", original, edited),) if original else ()
    before, after = _TOKEN.findall(original), _TOKEN.findall(edited)
    found: list[Hunk] = []
    at_before = at_after = 0
    for start_b, end_b, start_a, end_a in _merged(_changes(before, after), before):
        if start_b > at_before:
            same = "".join(before[at_before:start_b])
            found.append(Hunk("equal", same, same))
        found.append(_changed("".join(before[start_b:end_b]), "".join(after[start_a:end_a])))
        at_before, at_after = end_b, end_a
    if at_after < len(after):
        same = "".join(after[at_after:])
        found.append(Hunk("equal", same, same))
    return tuple(found)


def put_back(original: str, edited: str, index: int) -> str:
    """The edited text with its `index`-th changed hunk (from 0) restored to the original.

    Raises IndexError if the index is out of range.
    """
    changed = sum(hunk.op != "equal" for hunk in hunks(original, edited))
    if not 0 <= index < changed:
        raise IndexError(f"no changed hunk {index}: there are {changed}")
    return keep_only(original, edited, set(range(changed)) - {index})


def keep_only(original: str, edited: str, kept: Collection[int]) -> str:
    """The original with only the changed hunks whose numbers are in `kept` applied."""
    parts, number = [], 0
    for hunk in hunks(original, edited):
        parts.append(hunk.edited if hunk.op == "equal" or number in kept else hunk.original)
        number += hunk.op != "equal"
    return "".join(parts)


def _changed(original: str, edited: str) -> Hunk:
    if original and edited:
        return Hunk("replace", original, edited)
    return Hunk("delete", original, "") if original else Hunk("insert", "", edited)


def _merged(blocks: Iterator[_Block], before: Sequence[str]) -> Iterator[_Block]:
    """Join changes that touch or have only white space between them."""
    last: _Block | None = None
    for block in blocks:
        if last is not None and all(token.isspace() for token in before[last[1] : block[0]]):
            last = (last[0], block[1], last[2], block[3])
            continue
        if last is not None:
            yield last
        last = block
    if last is not None:
        yield last


def _changes(before: Sequence[str], after: Sequence[str]) -> Iterator[_Block]:
    """Regions of tokens that differ, in order; the parts between them are equal."""
    regions: list[_Block] = [(0, len(before), 0, len(after))]
    budget = _BUDGET
    while regions:
        start_b, end_b, start_a, end_a = regions.pop()
        while start_b < end_b and start_a < end_a and before[start_b] == after[start_a]:
            start_b, start_a = start_b + 1, start_a + 1
        while start_b < end_b and start_a < end_a and before[end_b - 1] == after[end_a - 1]:
            end_b, end_a = end_b - 1, end_a - 1
        if start_b == end_b and start_a == end_a:
            continue
        here, there = before[start_b:end_b], after[start_a:end_a]
        pairs = _pairs(here, there)
        if not here or not there:
            yield start_b, end_b, start_a, end_a
        elif pairs <= min(_FEW, budget):
            budget -= pairs
            yield from _compared(here, there, start_b, start_a)
        elif anchors := next(filter(None, (_anchors(here, there, run) for run in _RUNS)), None):
            borders = [(-1, -1), *anchors, (len(here), len(there))]
            regions += [
                (start_b + b + 1, start_b + next_b, start_a + a + 1, start_a + next_a)
                for (b, a), (next_b, next_a) in pairwise(borders)
            ][::-1]
        elif pairs <= min(_MOST, budget):
            budget -= pairs
            yield from _compared(here, there, start_b, start_a)
        else:
            yield start_b, end_b, start_a, end_a


def _pairs(here: Sequence[str], there: Sequence[str]) -> int:
    """How many pairs of equal tokens difflib would look at."""
    counts = Counter(there)
    return sum(counts[token] for token in here if not token.isspace())


def _compared(
    here: Sequence[str], there: Sequence[str], start_b: int, start_a: int
) -> Iterator[_Block]:
    # White space is everywhere, so it must neither decide which words match nor cost a pair.
    matcher = SequenceMatcher(str.isspace, here, there, autojunk=False)
    for tag, from_b, to_b, from_a, to_a in matcher.get_opcodes():
        if tag != "equal":
            yield start_b + from_b, start_b + to_b, start_a + from_a, start_a + to_a


def _anchors(here: Sequence[str], there: Sequence[str], run: int) -> list[tuple[int, int]]:
    """Pairs of positions of the runs that occur once on each side, in the same order on both."""
    place_here, place_there = _places_of_unique(here, run), _places_of_unique(there, run)
    pairs = [(at, place_there[key]) for key, at in place_here.items() if key in place_there]
    # The longest increasing subsequence, by patience sorting.
    tops: list[int] = []
    piles: list[int] = []
    previous: list[int] = []
    for number, (_, at) in enumerate(pairs):
        pile = bisect_left(tops, at)
        previous.append(piles[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [at]
        piles[pile : pile + 1] = [number]
    chain: list[tuple[int, int]] = []
    number = piles[-1] if piles else -1
    while number >= 0:
        chain.append(pairs[number])
        number = previous[number]
    return chain[::-1]


def _places_of_unique(tokens: Sequence[str], run: int) -> dict[tuple[str, ...], int]:
    """Positions, in order, of the runs of tokens that occur once and begin with a word or sign."""
    keys = list(zip(*(tokens[skip:] for skip in range(run)), strict=False))
    counts = Counter(keys)
    return {key: at for at, key in enumerate(keys) if counts[key] == 1 and not key[0].isspace()}
