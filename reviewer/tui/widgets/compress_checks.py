"""What is checked of a summary: criteria one by one, anchors, and fidelity taken apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from reviewer.tui.kit.contexts import priority_sign
from reviewer.tui.kit.text import Block, Run, Span, figure
from reviewer.tui.theme import Glyphs
from reviewer.tui.widgets.compress_original import LETTERS, WORDS, anchor_sign
from reviewer.tui.widgets.compress_row import arrow

if TYPE_CHECKING:
    from reviewer.compressing import Criteria, SegmentPreview
    from reviewer.engine import PatternCheck

MISSING_SHOWN = 6
PASSES = "pass: .85, all anchors"


def check_blocks(
    preview: SegmentPreview,
    aim: int,
    asked: Criteria,
    checks: Sequence[PatternCheck],
    signs: Glyphs,
) -> list[Block]:
    """Criteria, anchors, fidelity, ratio against its aim, and what else a person must know."""
    if preview.level == 0:
        return [
            *_criteria(asked, checks, signs),
            _row("", f"Full loses nothing. {legend(preview)}".strip(), "dim"),
        ]
    return [
        *_criteria(asked, checks, signs),
        *_anchors(preview, signs),
        _fidelity(preview, signs),
        *_ratio(preview, aim, signs),
        *([_row("", legend(preview), "dim")] if preview.compressed.anchors else []),
    ]


def legend(preview: SegmentPreview) -> str:
    """What the letters at the anchors of a segment mean: `2 D decision, 1 F fact`."""
    types = Counter(each.type for each in preview.compressed.anchors)
    return ", ".join(f"{number} {LETTERS[of]} {WORDS[of]}" for of, number in types.items())


def _row(sign: str, text: str, style: str, spans: tuple[Span, ...] = ()) -> Block:
    how = {"✓": "accent", "+": "accent"}.get(sign, "warm")
    return Block(text, style, spans, first=(Run(f" {sign or ' '} ", how),))


def _criteria(asked: Criteria, checks: Sequence[PatternCheck], signs: Glyphs) -> list[Block]:
    blocks = []
    for check in checks:
        pattern = check.pattern
        quoted = f'"{pattern.text}"' if pattern.mode == "substring" else f"regex {pattern.text}"
        if check.state == "matches":
            blocks.append(_row(signs.promoted, quoted, "text"))
        else:
            why = {"missing": "missing", "slow": "too slow to tell"}.get(check.state, "bad regex")
            blocks.append(_row(signs.rejected, f"{quoted} {why}", "warm"))
    for words in asked.instructions:
        blocks.append(
            Block(words, "dim", first=(Run(f" {priority_sign('important', signs)} ", "warm"),))
        )
    return blocks


def _anchors(preview: SegmentPreview, signs: Glyphs) -> list[Block]:
    compressed = preview.compressed
    total, missing = len(compressed.anchors), compressed.anchors_missing
    if not total:
        return [_row("", "no anchors", "dim")]
    sign = signs.rejected if missing else signs.promoted
    blocks = [_row(sign, f"{total - len(missing)} of {total} anchors", "text")]
    for each in missing[:MISSING_SHOWN]:
        words = " ".join(each.content.split())
        line = f"{anchor_sign(each, signs)}[{words}]"
        blocks.append(Block(line, "warm", first=(Run("   "),), most=2))
    if len(missing) > MISSING_SHOWN:
        blocks.append(_row("", f"and {len(missing) - MISSING_SHOWN:,} more", "dim"))
    return blocks


def _fidelity(preview: SegmentPreview, signs: Glyphs) -> Block:
    found = preview.fidelity
    sign = signs.promoted if found.passes_threshold else signs.rejected
    parts = f" {signs.dot} ".join(
        (
            f"anchors {figure(found.anchor_preservation)}",
            f"facts {figure(found.factual_accuracy)}",
            f"context {figure(found.context_retention)}",
        )
    )
    text = f"{parts} {arrow(signs)} {figure(found.overall_score)}"
    more = f"  ({PASSES})"
    return _row(
        sign, text + more, "text", (Span(len(text), len(text + more), "faint", here=False),)
    )


def _ratio(preview: SegmentPreview, aim: int, signs: Glyphs) -> list[Block]:
    compressed = preview.compressed
    note = f" ({compressed.note})" if compressed.note else ""
    blocks = [
        _row("", f"{compressed.compression_ratio:.1f}:1{note}, aim {aim}:1", "dim"),
        _row("", f"by {compressed.engine}" if compressed.engine != "by hand" else "by hand", "dim"),
    ]
    if preview.kept:
        blocks.insert(0, _row(signs.stale, f"stays as it is: {preview.kept}", "warm"))
    return blocks
