"""Retention criteria of IMPORTANT turns: collecting and checking them, and restoring spans.

See `docs/design.md`, "Priorities and retention".
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from reviewer.commits.criteria import NO_CRITERIA, check_patterns
from reviewer.commits.values import Pattern, Priority, RetentionCriteria
from reviewer.compression.values import AnchorPoint, Segment
from reviewer.compression.verbatim import first_place, narrowed
from reviewer.text.normalise import fold
from reviewer.text.units import units

KEY_POINTS = "**Key Points:**"
"""The heading above restored anchors and retained spans."""
LONGEST_PATCH = 160
"""Characters of a restored span, unless the match itself is longer."""


class RetentionFailure(Struct, frozen=True):
    """A pattern that a summary does not match."""

    pattern: Pattern
    message: str
    """`substring not found: "$50k"`, or with another reason."""


def criteria_of(segment: Segment, call: RetentionCriteria = NO_CRITERIA) -> RetentionCriteria:
    """The criteria of a segment's IMPORTANT turns, and those of the call that apply to it, without
    duplicates; the instructions are a line each.

    A pattern of the call applies to the segments whose source it matches: no summary of the others
    could meet it.
    """
    asked = [turn.retention for turn in segment.turns if turn.priority is Priority.IMPORTANT]
    patterns = tuple(pattern for pattern in call.patterns if is_in(segment, pattern))
    return together(*asked, RetentionCriteria(call.instructions, patterns))


def together(*criteria: RetentionCriteria) -> RetentionCriteria:
    """All of these criteria as one, without duplicates."""
    lines = "\n".join(each.instructions for each in criteria if each.instructions).split("\n")
    patterns = (pattern for each in criteria for pattern in each.patterns)
    instructions = "\n".join(dict.fromkeys(filter(None, lines)))
    return RetentionCriteria(instructions or None, tuple(dict.fromkeys(patterns)))


def validate_retention(summary: str, patterns: Sequence[Pattern]) -> list[RetentionFailure]:
    """The patterns that the summary does not match.

    Substrings are compared NFC-normalised with white space folded. Regular expressions run within a
    time limit; one that exceeds it fails.
    """
    failures = []
    for check in check_patterns(patterns, summary):
        if check.state != "matches":
            more = "" if check.state == "missing" else f" ({check.message})"
            message = f'{check.pattern.mode} not found: "{check.pattern.text}"{more}'
            failures.append(RetentionFailure(check.pattern, message))
    return failures


def diagnosis(failures: Sequence[RetentionFailure]) -> str:
    """Everything that a summary misses, as one sentence."""
    return "Summary missing: " + "; ".join(each.message for each in failures) + "."


def sentence_around(text: str, place: tuple[int, int]) -> str:
    """The sentence around a span; if that is too long, its clause, or the words next to it."""
    start, end = place
    for unit in units(text):
        if unit.start < place[1] and place[0] < unit.end:
            start, end = min(start, unit.start), max(end, unit.end)
    return text[slice(*narrowed(text, start, end, place, LONGEST_PATCH))]


def append_points(content: str, points: Sequence[str]) -> str:
    """The content with the points appended to its Key Points, added if it has none."""
    if not points:
        return content
    listed = "\n".join(f"- {point}" for point in points)
    if KEY_POINTS in content:
        return f"{content.rstrip()}\n{listed}"
    body = content.rstrip()
    return f"{body}\n\n{KEY_POINTS}\n{listed}" if body else f"{KEY_POINTS}\n{listed}"


def anchor_points(anchors: Sequence[AnchorPoint], segment: Segment) -> tuple[str, ...]:
    """The Key Points of anchors, with the sentence around a criterion's match; none for an anchor
    contained in another one.
    """
    texts = [
        " ".join(sentence_around(segment.turns[each.turn].text, (each.start, each.end)).split())
        if each.source == "retained"
        else each.content
        for each in anchors
    ]
    folded = [fold(text) for text in texts]
    lines = [
        f"[{anchor.type}]: {text}"
        for anchor, text, mine in zip(anchors, texts, folded, strict=True)
        if not any(mine in other and mine != other for other in folded)
    ]
    return tuple(dict.fromkeys(lines))


def is_in(segment: Segment, pattern: Pattern) -> bool:
    """Whether a pattern matches a text of the segment."""
    return any(first_place(pattern, turn.text) for turn in segment.turns)
