"""How faithful a summary is, without a model, and what it no longer says (settled.md)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reviewer.compression.markers import without_markers
from reviewer.compression.source_terms import SourceTerms, SummaryTerms, mentioned
from reviewer.compression.spans import TAG_LENGTH, TAG_LENGTHS, tag_of
from reviewer.compression.values import (
    AnchorPoint,
    CompressedSegment,
    FidelityValidation,
    Level,
    Lost,
    Segment,
)
from reviewer.text.normalise import fold

KEY_POINTS = "**Key Points:**"
"""The heading under which what is missing is put back."""
MOST_LOST = 200
"""Lost pieces that are named, heaviest first."""
ANCHORS, FACTS, CONTEXT = 0.4, 0.3, 0.3
"""Shares of the three parts in the overall score."""
SHORTEST_TAG = 8
"""Characters that a tag needs at least to stand for an anchor that is longer."""
_BULLET = re.compile(r"^[-*](?: |$)")
_ANCHOR_WEIGHT = 100.0
"""Lost anchors come before everything else, by importance."""


def anchor_kept(anchor: AnchorPoint, folded: str, level: Level, tags: Sequence[str] = ()) -> bool:
    """Whether a summary (folded) holds the anchor verbatim.

    At Tags a detected anchor is kept, too, when one of the `tags` begins it.
    """
    content = fold(anchor.content)
    if content in folded:
        return True
    if level is not Level.TAGS or anchor.source != "detected":
        return False
    if any(SHORTEST_TAG <= len(tag) <= TAG_LENGTH and content.startswith(tag) for tag in tags):
        return True
    # A tag may hold a comma; then it is one of the list's pieces no more.
    return any(f", {tag_of(content, length)}, " in f", {folded}, " for length in TAG_LENGTHS)


def tags_in(content: str) -> tuple[str, ...]:
    """The tags of a comma-separated list, folded."""
    found = (_BULLET.sub("", fold(tag)) for line in content.split("\n") for tag in line.split(","))
    return tuple(tag for tag in found if tag)


def missing_anchors(
    content: str, anchors: Sequence[AnchorPoint], level: Level
) -> tuple[AnchorPoint, ...]:
    """The anchors that a summary does not hold."""
    folded = fold(content)
    tags = tags_in(content) if level is Level.TAGS else ()
    return tuple(each for each in anchors if not anchor_kept(each, folded, level, tags))


def validate_fidelity(
    segment: Segment, compressed: CompressedSegment, source: SourceTerms | None = None
) -> FidelityValidation:
    """The three parts and the overall score, 0 to 1, and the lost list.

    `source`: the segment's terms where they have been read before.
    """
    source = source or SourceTerms(segment.turns)
    if compressed.level is Level.FULL:
        return FidelityValidation(1.0, 1.0, 1.0, 1.0)
    content = without_markers(compressed.content)
    missing = missing_anchors(content, compressed.anchors, compressed.level)
    kept = len(compressed.anchors) - len(missing)
    anchors = kept / len(compressed.anchors) if compressed.anchors else 1.0
    facts = factual_accuracy(content, source)
    said = SummaryTerms(content)
    context = context_retention(said, source, compressed.token_count)
    overall = ANCHORS * anchors + FACTS * facts + CONTEXT * context
    return FidelityValidation(
        round(overall, 4),
        round(anchors, 4),
        round(facts, 4),
        round(context, 4),
        lost(said, source, missing),
    )


def factual_accuracy(content: str, source: SourceTerms) -> float:
    """The share of the numbers, identifiers, names and quotations that the source has; 1 for none.

    Labels of anchors under Key Points are ours and not counted.
    """
    units = {
        text for text, kind, _, _ in mentioned(content.replace(KEY_POINTS, "")) if kind != "term"
    }
    if not units:
        return 1.0
    return sum(source.says(unit) for unit in units) / len(units)


def context_retention(said: SummaryTerms, source: SourceTerms, tokens: int) -> float:
    """Weight of the salient terms that are said, against the most that so many tokens can say."""
    if not source.terms:
        return 1.0
    most = source.most_covered(tokens)
    if most <= 0:
        return 0.0
    covered = sum(term.weight for term in source.terms if said.covers(term))
    return min(covered / most, 1.0)


def lost(
    said: SummaryTerms,
    source: SourceTerms,
    missing: Sequence[AnchorPoint] = (),
    *,
    most: int = MOST_LOST,
) -> tuple[Lost, ...]:
    """What the summary does not say, heaviest first: missing anchors, then terms."""
    found = [
        Lost(
            each.content,
            "anchor",
            round(_ANCHOR_WEIGHT * each.importance, 2),
            1,
            each.turn,
            each.start,
            each.end,
        )
        for each in missing
    ]
    found += [
        Lost(term.text, term.kind, term.weight, term.times, term.turn, term.start, term.end)
        for term in source.terms
        if not said.covers(term)
    ]
    found.sort(key=lambda each: -each.weight)
    return tuple(found[:most])
