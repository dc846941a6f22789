"""What a face needs of compressions besides the capability: values, and small looks at previews.

Beside `engine.py`; imported only where contexts are compressed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from reviewer.commits.values import RetentionCriteria
from reviewer.compression.anchor_types import AnchorType
from reviewer.compression.fidelity import MOST_LOST
from reviewer.compression.fit import LAST_FULL
from reviewer.compression.plan import BY_HAND, Applied, Choice, Plan, SegmentPreview
from reviewer.compression.preview import PreviewProgress, Watch
from reviewer.compression.retention import (
    anchor_points,
    append_points,
    collect_criteria,
    missing_spans,
    validate_retention,
)
from reviewer.compression.span_marks import Span as MarkedSpan
from reviewer.compression.summarizer import target_tokens
from reviewer.compression.values import (
    RATIOS,
    AnchorPoint,
    ExpansionMarker,
    FidelityValidation,
    Level,
    Lost,
    Segment,
    Turn,
)
from reviewer.llm.retry import RetryExhaustedError

if TYPE_CHECKING:
    from reviewer.commits.values import Pattern
    from reviewer.compression.service import Compression

__all__ = [
    "BY_HAND",
    "LAST_FULL",
    "MOST_LOST",
    "RATIOS",
    "AnchorPoint",
    "AnchorType",
    "Applied",
    "Choice",
    "Criteria",
    "ExpansionMarker",
    "FidelityValidation",
    "Level",
    "Lost",
    "MarkedSpan",
    "Nearer",
    "Plan",
    "PreviewProgress",
    "RetryExhaustedError",
    "Segment",
    "SegmentPreview",
    "Turn",
    "Watch",
    "carried",
    "criteria",
    "filled",
    "mended",
    "nearer",
    "newly_lost",
    "one_segment",
    "target_tokens",
]


class Criteria(Struct, frozen=True):
    """What must survive of a segment: words for whoever writes, patterns that are checked."""

    instructions: tuple[str, ...] = ()
    patterns: tuple[Pattern, ...] = ()


class Nearer(Struct, frozen=True):
    """What a marker opens: the segment one level closer to Full, with the markers in it."""

    level: Level
    text: str
    markers: tuple[ExpansionMarker, ...] = ()


def criteria(segment: Segment) -> Criteria:
    """What was asked to be retained of a segment, each once."""
    asked = [each.criteria for each in collect_criteria(segment)]
    words = dict.fromkeys(each.instructions for each in asked if each.instructions)
    patterns = dict.fromkeys(pattern for each in asked for pattern in each.patterns)
    return Criteria(tuple(words), tuple(patterns))


def nearer(
    compression: Compression, segment: Segment, anchors: tuple[AnchorPoint, ...], level: Level
) -> Nearer:
    """What a marker in a summary of that level opens; the offline engine writes it."""
    offline = compression.engines.summarizer("offline")
    closer = Level(max(level - 1, Level.FULL))
    text = offline.expanded_text(segment, level, anchors)
    found = offline.from_text(segment, anchors, closer, text)
    return Nearer(closer, text, found.expansion_markers)


def newly_lost(here: FidelityValidation, above: FidelityValidation | None) -> frozenset[str]:
    """The texts that a level drops and the one closer to Full still has."""
    before = {each.text for each in above.lost_information} if above is not None else set()
    return frozenset(each.text for each in here.lost_information if each.text not in before)


def mended(preview: SegmentPreview, content: str) -> str:
    """A summary by hand with what it misses appended: criteria that can be met, then anchors.

    `preview` is that of the content.
    """
    points = anchor_points(preview.compressed.anchors_missing)
    held = append_points(content, points)
    failing = [each for each in preview.failures if validate_retention(held, [_only(each.pattern)])]
    spans, _ = missing_spans(preview.segment, failing, preview.level)
    return append_points(held, spans)


def _only(pattern: Pattern) -> RetentionCriteria:
    return RetentionCriteria(patterns=(pattern,))


def one_segment(plan: Plan, choice: Choice) -> Plan:
    """The part of a plan that is about one segment, with no target, so that it stays as chosen."""
    return structs.replace(plan, choices=(choice,), target=None)


def carried(plan: Plan, known: Mapping[tuple[int, ...], Choice]) -> Plan:
    """A plan with what was chosen before for the same commits; segments may have other names."""
    return structs.replace(
        plan,
        choices=tuple(
            structs.replace(known[each.sources], segment=each.segment)
            if each.sources in known
            else each
            for each in plan.choices
        ),
    )


def filled(plan: Plan, preview: Callable[[Choice], SegmentPreview | None]) -> Plan:
    """The plan with the summaries that were previewed, so that what was seen is what is written."""
    choices = []
    for choice in plan.choices:
        found = preview(choice)
        if found is not None and not found.kept and choice.level is not Level.FULL:
            choice = structs.replace(
                choice,
                content=choice.content or found.compressed.content,
                engine=choice.engine or found.compressed.engine,
            )
        choices.append(choice)
    return structs.replace(plan, choices=tuple(choices), target=None)
