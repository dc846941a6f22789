"""Word-level diff of an edit: the hunks that the edit pane shows and reverts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal

from msgspec import Struct

Op = Literal["equal", "replace", "insert", "delete"]
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_MOST = 300_000
"""Maximum pairs of equal words to compare, about a second of work; beyond that, a text counts as
rewritten between its first and last difference."""

_Block = tuple[int, int, int, int]
"""original start, original end, edited start, edited end: tokens that differ"""


class Hunk(Struct, frozen=True):
    """A stretch of both texts, either unchanged or replaced."""

    original: str
    edited: str

    @property
    def op(self) -> Op:
        """How the original stretch was changed."""
        if self.original == self.edited:
            return "equal"
        return "insert" if not self.original else "replace" if self.edited else "delete"


def hunks(original: str, edited: str) -> tuple[Hunk, ...]:
    """The word-level diff of two texts, in order.

    The `.original` texts concatenate to the original and the `.edited` texts to the edited text,
    exactly. Hunks begin and end at boundaries of words, punctuation and white space; changes
    separated only by white space form one hunk.
    """
    before, after = _TOKEN.findall(original), _TOKEN.findall(edited)
    found: list[Hunk] = []
    at = 0
    for start_b, end_b, start_a, end_a in _changes(before, after):
        same = "".join(before[at:start_b])
        old, new = "".join(before[start_b:end_b]), "".join(after[start_a:end_a])
        if found and not same.strip():
            last = found.pop()
            found.append(Hunk(f"{last.original}{same}{old}", f"{last.edited}{same}{new}"))
        else:
            found += [Hunk(same, same), Hunk(old, new)]
        at = end_b
    rest = "".join(before[at:])
    return tuple(each for each in (*found, Hunk(rest, rest)) if each.original or each.edited)


def put_back(original: str, edited: str, index: int) -> str:
    """The edited text with its `index`-th changed hunk (from 0) reverted.

    Raises IndexError if the index is out of range.
    """
    parts = list(hunks(original, edited))
    changed = [at for at, hunk in enumerate(parts) if hunk.op != "equal"]
    if not 0 <= index < len(changed):
        raise IndexError(f"no changed hunk {index}: there are {len(changed)}")
    return "".join(
        hunk.original if at == changed[index] else hunk.edited for at, hunk in enumerate(parts)
    )


def _changes(before: Sequence[str], after: Sequence[str]) -> Iterator[_Block]:
    """Stretches of differing tokens, in order; the parts between them are equal."""
    start, end_b, end_a = 0, len(before), len(after)
    while start < min(end_b, end_a) and before[start] == after[start]:
        start += 1
    while start < min(end_b, end_a) and before[end_b - 1] == after[end_a - 1]:
        end_b, end_a = end_b - 1, end_a - 1
    here, there = before[start:end_b], after[start:end_a]
    counts = Counter(there)
    if sum(counts[token] for token in here if not token.isspace()) > _MOST:
        yield start, end_b, start, end_a
        return
    # White space is everywhere, so it must not decide which words match.
    matcher = SequenceMatcher(str.isspace, here, there, autojunk=False)
    for tag, from_b, to_b, from_a, to_a in matcher.get_opcodes():
        if tag != "equal":
            yield start + from_b, start + to_b, start + from_a, start + to_a
