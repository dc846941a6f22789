"""A summary as scripts read it (DESIGN.md, "The command line")."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from reviewer.compression.plan import Preview, SegmentPreview
from reviewer.compression.values import (
    AnchorPoint,
    CompressedSegment,
    FidelityValidation,
    Locked,
    Segment,
)


def summary_json(
    segment: Segment, compressed: CompressedSegment, fidelity: FidelityValidation
) -> dict[str, Any]:
    """One segment at one level."""
    return {
        "segment": segment.id,
        "topic": segment.topic,
        "commits": [turn.commit for turn in segment.turns],
        "level": compressed.level.name.lower(),
        "content": compressed.content,
        "tokens": compressed.token_count,
        "original_tokens": compressed.original_token_count,
        "ratio": round(compressed.compression_ratio, 3),
        "anchors": [_anchor(each) for each in compressed.anchors],
        "anchors_missing": [_anchor(each) for each in compressed.anchors_missing],
        "markers": [
            {**structs.asdict(each), "target": each.target.name.lower()}
            for each in compressed.expansion_markers
        ],
        "fidelity": {
            "overall": fidelity.overall_score,
            "anchor_preservation": fidelity.anchor_preservation,
            "factual_accuracy": fidelity.factual_accuracy,
            "context_retention": fidelity.context_retention,
            "passes": fidelity.passes_threshold,
            "lost": [
                {
                    "text": each.text,
                    "kind": each.kind,
                    "weight": each.weight,
                    "times": each.times,
                    "commit": segment.turns[each.turn].commit,
                    "start": each.start,
                    "end": each.end,
                }
                for each in fidelity.lost_information
            ],
        },
        "engine": compressed.engine,
        "note": compressed.note,
    }


def preview_json(each: SegmentPreview) -> dict[str, Any]:
    """One segment of a preview: the summary, and what its criteria say."""
    return {
        **summary_json(each.segment, each.compressed, each.fidelity),
        "kept_full": each.kept,
        "retention_missing": [failure.message for failure in each.failures],
    }


def locked_json(segment: Segment, held_back: Locked) -> dict[str, Any]:
    """A level that the licence holds back."""
    return {
        "segment": segment.id,
        "level": held_back.level.name.lower(),
        "locked": held_back.message,
        "feature": held_back.feature,
        "tier": held_back.tier,
    }


def total_json(found: Preview) -> dict[str, Any]:
    """The whole context, after its segments."""
    after = found.tokens_after
    return {
        "total": True,
        "context": found.plan.context,
        "segments": len(found.segments),
        "original_tokens": found.tokens_before,
        "tokens": after,
        "ratio": round(found.tokens_before / after, 3) if after else 0.0,
        "target": found.plan.target,
        "head": found.plan.head,
    }


def _anchor(each: AnchorPoint) -> dict[str, Any]:
    return {
        "type": str(each.type),
        "content": each.content,
        "importance": each.importance,
        "source": each.source,
    }
