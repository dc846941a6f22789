"""A summary as blocks: markers that expand in place, anchors and criteria marked in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events
from textual.message import Message

from reviewer.tui.kit.text import Block, Run, Span, figure
from reviewer.tui.kit.text_pane import HEADER_ROWS, TextPane
from reviewer.tui.theme import Glyphs
from reviewer.tui.widgets.compress_row import level_name

if TYPE_CHECKING:
    from reviewer.compressing import ExpansionMarker, Nearer, SegmentPreview

Path = tuple[str, ...]
"""A marker by the markers that had to be opened before it, and its own id."""
DEEPEST = 4
MARKER_STYLES = ("accent", "accent_here")


@dataclass(frozen=True)
class Fold:
    """A marker in sight: where it is in the tree of texts, and what it opens."""

    path: Path
    marker: ExpansionMarker


def folds(markers: Sequence[ExpansionMarker], opened: Mapping[Path, Nearer]) -> list[Fold]:
    """Every marker in sight, in order; those within an opened one come after it."""
    found: list[Fold] = []

    def walk(inner: Sequence[ExpansionMarker], above: Path) -> None:
        for marker in sorted(inner, key=lambda each: each.start):
            path = (*above, marker.id)
            found.append(Fold(path, marker))
            nearer = opened.get(path)
            if nearer is not None and len(path) < DEEPEST:
                walk(nearer.markers, path)

    walk(markers, ())
    return found


class SummaryPane(TextPane):
    """Shows a summary; a click on a marker expands it."""

    class Clicked(Message):
        """A marker was clicked."""

        def __init__(self, path: Path) -> None:
            super().__init__()
            self.path = path

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.marked: Mapping[int, Path] = {}
        """The markers by the blocks that end with them."""

    def on_click(self, event: events.Click) -> None:
        """Say which marker was clicked."""
        at = self.scroll_offset.y + event.y - HEADER_ROWS
        if event.y < HEADER_ROWS or at >= len(self._lines):
            return
        line = self._lines[at]
        path = self.marked.get(line.block)
        if path is not None and any(run.style in MARKER_STYLES for run in line.runs):
            event.stop()
            self.post_message(self.Clicked(path))


def summary_title(preview: SegmentPreview, signs: Glyphs) -> str:
    """`Brief 388 · 10.3:1 · fidelity .91 ✓`."""
    compressed, fidelity = preview.compressed, preview.fidelity
    name = level_name(preview.level)
    between = f" {signs.dot} "
    if preview.level == 0:
        return f"{name} {compressed.token_count:,}{between}the original"
    verdict = signs.promoted if fidelity.passes_threshold else signs.rejected
    score = f"fidelity {figure(fidelity.overall_score)} {verdict}"
    return between.join(
        (f"{name} {compressed.token_count:,}", f"{compressed.compression_ratio:.1f}:1", score)
    )


def summary_blocks(
    preview: SegmentPreview,
    opened: Mapping[Path, Nearer],
    chosen: Path | None,
    matches: Sequence[Span],
    signs: Glyphs,
) -> tuple[list[Block], dict[int, Path]]:
    """The summary with what was expanded, and the blocks that end with a marker."""
    blocks: list[Block] = []
    marked: dict[int, Path] = {}
    compressed = preview.compressed
    kept = [*matches, *_kept(preview)]

    def draw(
        text: str,
        markers: Sequence[ExpansionMarker],
        above: Path,
        spans: Sequence[Span],
    ) -> None:
        upright = "| " if signs.rule == "-" else "│ "
        margin = (Run(" " + upright * len(above), "faint"),)
        at = 0
        for marker in sorted(markers, key=lambda each: each.start):
            path = (*above, marker.id)
            here, nearer = path == chosen, opened.get(path)
            adds = f" {'-' if nearer else '+'}{marker.adds:,} tok"
            sign = (signs.bar if here else "") + text[marker.start : marker.end]
            piece = text[at : marker.start] + sign + adds
            style = "accent_here" if here else "accent"
            first = marker.start - at
            marks = (
                *_within(spans, at, marker.start),
                Span(first, first + len(sign), style, here=here),
                Span(first + len(sign), len(piece), "dim_here" if here else "dim", here=here),
            )
            marked[len(blocks)] = path
            blocks.append(Block(piece, "text", marks, first=margin, rest=margin))
            if nearer is not None and len(path) < DEEPEST:
                draw(nearer.text, nearer.markers, path, ())
            at = marker.end
        rest = text[at:]
        if rest.strip() or not markers:
            lead = len(rest) - len(rest.lstrip("\n")) if markers else 0
            spans_left = _within(spans, at + lead, len(text))
            blocks.append(Block(rest[lead:], "text", spans_left, first=margin, rest=margin))

    draw(compressed.content, compressed.expansion_markers, (), kept)
    return blocks, marked


def _kept(preview: SegmentPreview) -> list[Span]:
    """Where the anchors stand in the summary in the same characters."""
    content, found = preview.compressed.content, []
    for each in preview.compressed.anchors:
        at = content.find(each.content)
        if at >= 0:
            found.append(Span(at, at + len(each.content), "anchor", here=False))
    return found


def _within(spans: Sequence[Span], start: int, end: int) -> tuple[Span, ...]:
    """The spans of a stretch, by its own places."""
    return tuple(
        Span(max(each.start, start) - start, min(each.end, end) - start, each.style, here=False)
        for each in spans
        if each.start < end and each.end > start
    )
