"""A segment as it was said, its anchors in brackets behind a letter for their type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reviewer.tui.kit.contexts import priority_sign
from reviewer.tui.kit.text import Block, Run, Span
from reviewer.tui.theme import Glyphs

if TYPE_CHECKING:
    from reviewer.compressing import AnchorPoint, Segment, Turn

LETTERS = {
    "Correction": "X",
    "Decision": "D",
    "Commitment": "P",
    "CriticalFact": "F",
    "UnresolvedQuestion": "Q",
    "UserPreference": "W",
    "ErrorContext": "E",
    "CodeArtifact": "C",
}
WORDS = {
    "Correction": "correction",
    "Decision": "decision",
    "Commitment": "promise",
    "CriticalFact": "fact",
    "UnresolvedQuestion": "question",
    "UserPreference": "wish",
    "ErrorContext": "error",
    "CodeArtifact": "code",
}
"""What the letters stand for."""


def who(turn: Turn) -> str:
    """Who speaks, or what a tool did."""
    if turn.said == "tool_use":
        return f"{turn.role} calls {turn.name}".rstrip()
    if turn.said == "thinking":
        return f"{turn.role} thinks"
    return turn.name or turn.role


def anchor_sign(anchor: AnchorPoint, signs: Glyphs) -> str:
    """Its type as a letter, behind `●` or `◆` where a person asked for it."""
    letter = LETTERS[anchor.type]
    if anchor.source in ("pinned", "confirmed"):
        return f"{signs.pinned}{letter}"
    return f"{signs.important}{letter}" if anchor.source == "retained" else letter


def original_blocks(
    segment: Segment,
    anchors: Sequence[AnchorPoint],
    signs: Glyphs,
    place: tuple[int, int, int] | None = None,
) -> tuple[list[Block], int | None]:
    """Two blocks a turn, and the block that holds `place`: (turn, start, end) to be shown."""
    blocks: list[Block] = []
    reveal = None
    for number, turn in enumerate(segment.turns):
        sign = priority_sign(turn.priority, signs)
        size = f"{turn.tokens:,} tok" if turn.priority != "skip" else "skipped: left out"
        head = f"{who(turn)} {signs.dot} {size}"
        mark = f" {sign}" if turn.priority != "normal" else ""
        how = "warm" if turn.priority == "important" else "faint"
        blocks.append(
            Block(head + mark, "faint", (Span(len(head), len(head + mark), how, here=False),))
        )
        if not turn.text.strip():
            continue
        here = None if place is None or place[0] != number else (place[1], place[2])
        text, spans = marked(turn.text, [a for a in anchors if a.turn == number], signs, here)
        if here is not None:
            reveal = len(blocks)
        blocks.append(Block(text, "text", spans, first=(Run(" "),)))
    return blocks, reveal


def marked(
    text: str,
    anchors: Sequence[AnchorPoint],
    signs: Glyphs,
    here: tuple[int, int] | None = None,
) -> tuple[str, tuple[Span, ...]]:
    """A text with brackets about its anchors, none within another, and a span that stands out."""
    parts: list[str] = []
    spans: list[Span] = []
    length = at = 0

    def add(piece: str, style: str = "", *, shown: bool = False) -> None:
        nonlocal length
        if style and piece:
            spans.append(Span(length, length + len(piece), style, here=shown))
        parts.append(piece)
        length += len(piece)

    def inside(start: int, end: int, style: str) -> None:
        """A stretch of the text, the place to be shown in its own style."""
        if here is None or here[1] <= start or here[0] >= end:
            add(text[start:end], style)
            return
        first, last = max(start, here[0]), min(end, here[1])
        add(text[start:first], style)
        add(text[first:last], "span", shown=True)
        add(text[last:end], style)

    for anchor in sorted(anchors, key=lambda each: (each.start, -each.end)):
        if anchor.start < at:
            continue
        inside(at, anchor.start, "")
        asked = anchor.source != "detected"
        add(f"{anchor_sign(anchor, signs)}[", "warm" if asked else "accent")
        inside(anchor.start, anchor.end, "kept" if asked else "anchor")
        add("]", "warm" if asked else "accent")
        at = anchor.end
    inside(at, len(text), "")
    return "".join(parts), tuple(spans)
