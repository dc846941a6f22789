"""Retention criteria of IMPORTANT turns: collecting and checking them, and restoring spans.

See `docs/design.md`, "Priorities and retention".
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from reviewer.commits.retention import check_patterns
from reviewer.commits.values import Pattern, Priority, RetentionCriteria
from reviewer.compression.values import AnchorPoint, Segment
from reviewer.compression.verbatim import first_place, narrowed
from reviewer.text.normalise import fold
from reviewer.text.units import units

KEY_POINTS = "**Key Points:**"
"""The heading above restored anchors and retained spans."""
LONGEST_PATCH = 160
"""Characters of a restored span, unless the match itself is longer."""


class TurnCriteria(Struct, frozen=True):
    """The criteria of one turn; `turn` is None for criteria of the call."""

    criteria: RetentionCriteria
    turn: int | None = None


class RetentionFailure(Struct, frozen=True):
    """A pattern that a summary does not match."""

    pattern: Pattern
    message: str
    """`substring not found: "$50k"`, or with another reason."""
    turn: int | None = None


def collect_criteria(
    segment: Segment, call: RetentionCriteria | None = None
) -> tuple[TurnCriteria, ...]:
    """The criteria of a segment's IMPORTANT turns, and those of the call that apply to it.

    A pattern of the call applies to the segments whose source it matches: no summary of the others
    could meet it.
    """
    found = [
        TurnCriteria(turn.retention, number)
        for number, turn in enumerate(segment.turns)
        if turn.priority is Priority.IMPORTANT and turn.retention
    ]
    if call is None:
        return tuple(found)
    here = tuple(each for each in call.patterns if _matched_turn(each, segment) is not None)
    own = RetentionCriteria(call.instructions, here)
    return (*found, TurnCriteria(own)) if own else tuple(found)


def needs_care(segment: Segment) -> bool:
    """Whether a turn is IMPORTANT without criteria."""
    return any(t.priority is Priority.IMPORTANT and not t.retention for t in segment.turns)


def validate_retention(
    summary: str, criteria: Sequence[TurnCriteria | RetentionCriteria]
) -> list[RetentionFailure]:
    """The patterns that the summary does not match.

    Substrings are compared NFC-normalised with white space folded. Regular expressions run within a
    time limit; one that exceeds it fails.
    """
    wanted = [
        (pattern, each.turn if isinstance(each, TurnCriteria) else None)
        for each in criteria
        for pattern in (each.criteria if isinstance(each, TurnCriteria) else each).patterns
    ]
    checks = check_patterns([pattern for pattern, _ in wanted], summary)
    failures: dict[Pattern, RetentionFailure] = {}
    for (pattern, turn), check in zip(wanted, checks, strict=True):
        if check.state != "matches":
            more = "" if check.state == "missing" else f" ({check.message})"
            message = f'{pattern.mode} not found: "{pattern.text}"{more}'
            failures.setdefault(pattern, RetentionFailure(pattern, message, turn))
    return list(failures.values())


def diagnosis(failures: Sequence[RetentionFailure]) -> str:
    """Everything that a summary misses, as one sentence."""
    return "Summary missing: " + "; ".join(each.message for each in failures) + "."


def find_impossible(
    segment: Segment, failures: Sequence[RetentionFailure]
) -> tuple[RetentionFailure, ...]:
    """The failures that no summary can fix, because nothing in the segment matches the pattern."""
    return tuple(f for f in failures if _matched_turn(f.pattern, segment) is None)


def sentence_around(text: str, place: tuple[int, int]) -> str:
    """The sentence around a span; if that is too long, its clause, or the words next to it."""
    start, end = place
    for unit in units(text):
        if unit.start < place[1] and place[0] < unit.end:
            start, end = min(start, unit.start), max(end, unit.end)
    return text[slice(*narrowed(text, start, end, place, LONGEST_PATCH))].strip()


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


def _matched_turn(pattern: Pattern, segment: Segment) -> int | None:
    numbers = range(len(segment.turns))
    return next((n for n in numbers if first_place(pattern, segment.turns[n].text)), None)


class Criteria(Struct, frozen=True):
    """The requirements for a segment: instructions for the writer, and patterns to check."""

    instructions: tuple[str, ...] = ()
    patterns: tuple[Pattern, ...] = ()


def criteria(segment: Segment) -> Criteria:
    """The retention criteria of a segment, without duplicates."""
    asked = [each.criteria for each in collect_criteria(segment)]
    instructions = dict.fromkeys(each.instructions for each in asked if each.instructions)
    patterns = dict.fromkeys(pattern for each in asked for pattern in each.patterns)
    return Criteria(tuple(instructions), tuple(patterns))
