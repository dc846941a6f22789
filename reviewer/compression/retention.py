"""What must survive of IMPORTANT turns: gathered, put into the prompt, checked, mended.

From important-priority.md; where it leaves things open, settled.md says what holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from msgspec import Struct

from reviewer.commits.patterns import check_patterns
from reviewer.commits.values import Pattern, Priority, RetentionCriteria
from reviewer.compression.fidelity import KEY_POINTS
from reviewer.compression.pattern_places import first_place
from reviewer.compression.spans import clause_around
from reviewer.compression.values import AnchorPoint, Level, Segment, Turn
from reviewer.text.normalise import fold
from reviewer.text.units import units

CARE = (
    "Some of what follows was marked as important. Be conservative with it: keep its statements, "
    "names and figures."
)
"""What a prompt says for IMPORTANT turns without criteria."""
LONGEST_PATCH = 160
"""Characters of a span that is put back, unless what must survive is longer."""


class Prioritised(Protocol):
    """Anything that has a priority."""

    @property
    def priority(self) -> Priority:
        """How careful a compression must be with it."""
        ...


P = TypeVar("P", bound=Prioritised)


def classify(commits: Iterable[P]) -> tuple[list[P], list[P], list[P], list[P]]:
    """(pinned, important, normal, skip), each in order."""
    found: dict[Priority, list[P]] = {priority: [] for priority in Priority}
    for commit in commits:
        found[commit.priority].append(commit)
    return (
        found[Priority.PINNED],
        found[Priority.IMPORTANT],
        found[Priority.NORMAL],
        found[Priority.SKIP],
    )


class Asked(Struct, frozen=True):
    """One criterion and the turn that it was set on; `turn` is None for the call's own."""

    criteria: RetentionCriteria
    turn: int | None = None


class RetentionFailure(Struct, frozen=True):
    """A pattern that a summary does not match."""

    pattern: Pattern
    message: str
    """`substring not found: "$50k"`, with what else a person must know."""
    turn: int | None = None


def gather(segment: Segment, call: RetentionCriteria | None = None) -> tuple[Asked, ...]:
    """The criteria of a segment's IMPORTANT turns, and those of the call that can hold here.

    A pattern of the call is asked of the segments whose source it matches: what stands nowhere in
    a segment cannot survive in its summary.
    """
    found = [
        Asked(turn.retention, number)
        for number, turn in enumerate(segment.turns)
        if turn.priority is Priority.IMPORTANT and turn.retention
    ]
    if call is None:
        return tuple(found)
    here = tuple(each for each in call.patterns if _matched_turn(each, segment) is not None)
    own = RetentionCriteria(call.instructions, here)
    return (*found, Asked(own)) if own else tuple(found)


def asks_for_care(segment: Segment) -> bool:
    """Whether a turn is IMPORTANT without saying what must survive."""
    return any(t.priority is Priority.IMPORTANT and not t.retention for t in segment.turns)


def instructions(asked: Sequence[Asked]) -> tuple[str, ...]:
    """What people said in words must survive, each once."""
    return tuple(
        dict.fromkeys(each.criteria.instructions for each in asked if each.criteria.instructions)
    )


def validate_retention(
    summary: str, criteria: Sequence[Asked | RetentionCriteria]
) -> list[RetentionFailure]:
    """The patterns that the summary does not match; empty when all hold.

    Substrings are compared NFC-normalised with white space folded, regular expressions run within
    a time limit; one that takes longer fails, because nobody knows whether it matches.
    """
    wanted = [
        (pattern, each.turn if isinstance(each, Asked) else None)
        for each in criteria
        for pattern in (each.criteria if isinstance(each, Asked) else each).patterns
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
    """What a summary is missing, as one sentence."""
    return "Summary missing: " + "; ".join(each.message for each in failures) + "."


def missing_spans(
    segment: Segment, failures: Sequence[RetentionFailure], level: Level = Level.BRIEF
) -> tuple[tuple[str, ...], tuple[RetentionFailure, ...]]:
    """Verbatim spans of the source that mend the failures, and those that nothing there can mend.

    A span is the sentence around the match, at Tags the match itself; its criterion's own turn
    first. What another span says is not said again.
    """
    spans: dict[str, None] = {}
    hopeless = []
    for failure in failures:
        number = _matched_turn(failure.pattern, segment, failure.turn)
        if number is None:
            hopeless.append(failure)
            continue
        spans[_span(failure.pattern, segment.turns[number].text, level)] = None
    return said_once(tuple(spans)), tuple(hopeless)


def _span(pattern: Pattern, text: str, level: Level) -> str:
    """The span to quote; one that the pattern no longer matches alone is taken wider."""
    place = first_place(pattern, text)
    assert place is not None
    forms = [text[slice(*place)], sentence_around(text, place)]
    for form in forms if level is Level.TAGS else reversed(forms):
        if first_place(pattern, form) is not None:
            return form
    start = text.rfind("\n", 0, place[0]) + 1
    end = text.find("\n", place[1])
    return text[start : len(text) if end < 0 else end].strip()


def sentence_around(text: str, place: tuple[int, int]) -> str:
    """The sentence around a span; where that is too long its clause, or else the span alone."""
    start, end = place
    for unit in units(text):
        if unit.start < place[1] and place[0] < unit.end:
            start, end = min(start, unit.start), max(end, unit.end)
    if end - start > LONGEST_PATCH:
        start, end = clause_around(text, start, end, place)
    if end - start > LONGEST_PATCH:
        start, end = place
    return text[start:end].strip()


def said_once(texts: Sequence[str]) -> tuple[str, ...]:
    """The texts without those that another of them holds verbatim, in order."""
    folded = [fold(text) for text in texts]
    return tuple(
        text
        for number, text in enumerate(texts)
        if not any(
            folded[number] in other and (len(other) > len(folded[number]) or place < number)
            for place, other in enumerate(folded)
            if place != number
        )
    )


def append_points(content: str, points: Sequence[str]) -> str:
    """The points as a list under Key Points at the end, in the list that is there already."""
    if not points:
        return content
    listed = "\n".join(f"- {point}" for point in points)
    if KEY_POINTS in content:
        return f"{content.rstrip()}\n{listed}"
    body = content.rstrip()
    return f"{body}\n\n{KEY_POINTS}\n{listed}" if body else f"{KEY_POINTS}\n{listed}"


def anchor_point_line(anchor: AnchorPoint) -> str:
    """How an anchor stands under Key Points."""
    return f"[{anchor.type}]: {anchor.content}"


def anchor_points(anchors: Sequence[AnchorPoint]) -> tuple[str, ...]:
    """The lines of anchors under Key Points; one that another holds needs none of its own."""
    alone = set(said_once([each.content for each in anchors]))
    lines = (anchor_point_line(each) for each in anchors if each.content in alone)
    return tuple(dict.fromkeys(lines))


def patch(
    summary: str,
    segment: Segment,
    failures: Sequence[RetentionFailure],
    level: Level = Level.BRIEF,
) -> tuple[str, tuple[RetentionFailure, ...]]:
    """The summary with what is missing put back, and what nothing in the source can mend."""
    spans, hopeless = missing_spans(segment, failures, level)
    return append_points(summary, spans), hopeless


def build_summarize_prompt(
    user_prompt: str,
    *,
    instructions: str | None = None,
    retention_instructions: Sequence[str] = (),
    patterns: Sequence[Pattern] = (),
    care: bool = False,
) -> str:
    """The prompt with the sections that a call needs beside its template.

    `retention_instructions` and the texts of `patterns` get the document's IMPORTANT section;
    `care` adds the line for content that was marked without saying what must survive.
    """
    parts = [user_prompt.rstrip()]
    details = [*retention_instructions]
    details += [
        f'the exact text "{each.text}"'
        if each.mode == "substring"
        else f"text that matches the regular expression {each.text}"
        for each in patterns
    ]
    if details:
        listed = "\n".join(f"- {detail}" for detail in details)
        parts.append(
            "IMPORTANT: The following content was marked as important. You MUST\n"
            f"preserve these specific details in your summary:\n{listed}"
        )
    if care:
        parts.append(CARE)
    if instructions:
        parts.append(instructions.strip())
    return "\n\n".join(parts)


def steering(diagnosis: str) -> str:
    """What the next attempt is told, behind the summary that it is to mend."""
    return (
        f"Previous summary failed validation: {diagnosis}\n"
        "Revise to include the missing details while keeping the summary concise."
    )


def _matched_turn(pattern: Pattern, segment: Segment, first: int | None = None) -> int | None:
    order: list[int] = list(range(len(segment.turns)))
    if first is not None:
        order = [first, *(number for number in order if number != first)]
    turns: Sequence[Turn] = segment.turns
    return next((n for n in order if first_place(pattern, turns[n].text) is not None), None)
