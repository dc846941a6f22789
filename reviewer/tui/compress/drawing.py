"""The panes of the Compress screen as blocks of text: original, summary, checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from reviewer.tui.compress import keys
from reviewer.tui.compress.model import (
    DEEPEST,
    Checked,
    CompressModel,
    Markers,
    Path,
    answer_key,
    level_name,
)
from reviewer.tui.kit.contexts import priority_sign
from reviewer.tui.kit.text import Block, Run, Span, count, figure
from reviewer.tui.kit.tool_calls import call_text
from reviewer.tui.theme import Glyphs

if TYPE_CHECKING:
    from reviewer.compression.guided_extraction import Guidance
    from reviewer.compression.plan import Choice, SegmentPreview
    from reviewer.compression.values import AnchorPoint, ExpansionMarker, Segment, Turn

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
"""The meaning of the letters."""

MISSING_SHOWN = 6
PASSES = "pass: .85, all anchors"


# the original


def speaker(turn: Turn, recorded: Mapping[int, str] | None = None) -> str:
    """The author of a turn, or the activity of a tool.

    `recorded` is the type of commits that have the role of the user but were written by a program.
    """
    role = (recorded or {}).get(turn.commit or 0, turn.role)
    if turn.kind == "tool_use":
        return f"{role} calls {turn.name}".rstrip()
    if turn.kind == "thinking":
        return f"{role} thinks"
    return turn.name or role


def anchor_sign(anchor: AnchorPoint, signs: Glyphs) -> str:
    """The type of an anchor as a letter, after `●` or `◆` if a person asked for it."""
    letter = LETTERS[anchor.type]
    if anchor.source in ("pinned", "confirmed"):
        return f"{signs.pinned}{letter}"
    return f"{signs.important}{letter}" if anchor.source == "retained" else letter


def original_blocks(
    segment: Segment,
    anchors: Sequence[AnchorPoint],
    signs: Glyphs,
    place: tuple[int, int, int] | None = None,
    recorded: Mapping[int, str] | None = None,
) -> tuple[list[Block], int | None]:
    """Two blocks for each turn, and the index of the block with `place`: (turn, start, end)."""
    blocks: list[Block] = []
    reveal = None
    for number, turn in enumerate(segment.turns):
        sign = priority_sign(turn.priority, signs)
        size = f"{turn.tokens:,} tok" if turn.priority != "skip" else "skipped: left out"
        head = f"{speaker(turn, recorded)} {signs.dot} {size}"
        mark = f" {sign}" if turn.priority != "normal" else ""
        how = "warm" if turn.priority == "important" else "faint"
        blocks.append(
            Block(head + mark, "faint", (Span(len(head), len(head + mark), how, here=False),))
        )
        if not turn.text.strip():
            continue
        here = None if place is None or place[0] != number else (place[1], place[2])
        text, spans = _readable(turn, [a for a in anchors if a.turn == number], signs, here)
        if here is not None:
            reveal = len(blocks)
        blocks.append(Block(text, "text", spans, first=(Run(" "),)))
    return blocks, reveal


def _readable(
    turn: Turn, anchors: Sequence[AnchorPoint], signs: Glyphs, here: tuple[int, int] | None
) -> tuple[str, tuple[Span, ...]]:
    """The text of a turn with its anchors marked; the arguments of a call as lines."""
    call = call_text(turn.text) if turn.kind == "tool_use" else None
    if call is None:
        return marked(turn.text, anchors, signs, here)
    moved = [
        replace(anchor, start=call.place(anchor.start), end=call.place(anchor.end))
        for anchor in anchors
    ]
    at = None if here is None else (call.place(here[0]), call.place(here[1]))
    return marked(call.text, [each for each in moved if each.start < each.end], signs, at)


def marked(
    text: str,
    anchors: Sequence[AnchorPoint],
    signs: Glyphs,
    here: tuple[int, int] | None = None,
) -> tuple[str, tuple[Span, ...]]:
    """A text with brackets around its anchors, never nested, and `here` highlighted."""
    parts: list[str] = []
    spans: list[Span] = []
    length = at = 0

    def add(piece: str, style: str = "", *, shown: bool = False) -> None:
        nonlocal length
        if style and piece:
            spans.append(Span(length, length + len(piece), style, here=shown))
        parts.append(piece)
        length += len(piece)

    def add_range(start: int, end: int, style: str) -> None:
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
        add_range(at, anchor.start, "")
        asked = anchor.source != "detected"
        add(f"{anchor_sign(anchor, signs)}[", "warm" if asked else "accent")
        add_range(anchor.start, anchor.end, "kept" if asked else "anchor")
        add("]", "warm" if asked else "accent")
        at = anchor.end
    add_range(at, len(text), "")
    return "".join(parts), tuple(spans)


# the summary


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
    preview: SegmentPreview, markers: Markers, matches: Sequence[Span], signs: Glyphs
) -> tuple[list[Block], dict[int, Path]]:
    """The summary with its expanded markers, and the blocks that end with a marker."""
    blocks: list[Block] = []
    marked_blocks: dict[int, Path] = {}
    compressed = preview.compressed

    def draw(
        text: str, inner: Sequence[ExpansionMarker], above: Path, spans: Sequence[Span]
    ) -> None:
        upright = "| " if signs.ascii else "│ "
        margin = (Run(" " + upright * len(above), "faint"),)
        at = 0
        for marker in sorted(inner, key=lambda each: each.start):
            path = (*above, marker.id)
            here, nearer = path == markers.chosen, markers.opened.get(path)
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
            marked_blocks[len(blocks)] = path
            blocks.append(Block(piece, "text", marks, first=margin, rest=margin))
            if nearer is not None and len(path) < DEEPEST:
                draw(nearer.text, nearer.markers, path, ())
            at = marker.end
        rest = text[at:]
        if rest.strip() or not inner:
            lead = len(rest) - len(rest.lstrip("\n")) if inner else 0
            spans_left = _within(spans, at + lead, len(text))
            blocks.append(Block(rest[lead:], "text", spans_left, first=margin, rest=margin))

    spans = [*matches, *_anchors_in(preview)]
    draw(compressed.content, compressed.expansion_markers, (), spans)
    return blocks, marked_blocks


def _anchors_in(preview: SegmentPreview) -> list[Span]:
    """The places of verbatim anchors in the summary."""
    content, found = preview.compressed.content, []
    for each in preview.compressed.anchors:
        at = content.find(each.content)
        if at >= 0:
            found.append(Span(at, at + len(each.content), "anchor", here=False))
    return found


def _within(spans: Sequence[Span], start: int, end: int) -> tuple[Span, ...]:
    """The spans of a stretch, with offsets from its start."""
    return tuple(
        Span(max(each.start, start) - start, min(each.end, end) - start, each.style, here=False)
        for each in spans
        if each.start < end and each.end > start
    )


def writer_note(data: CompressModel, choice: Choice, signs: Glyphs) -> Block | None:
    """The note above a summary: that the model did not write it, and why."""
    trouble = data.trouble(choice)
    if trouble:
        below = "This is the offline result"
        if answer_key(choice) in data.answers:
            below = "This is the model's earlier text"
        words = (
            f"{trouble} {below}: {keys.TAKE_OFFLINE.key} uses the offline "
            f"result, {keys.ASK_MODEL.key} asks the model again."
        )
        return Block(words, "warm", first=(Run(f" {signs.attention} ", "warm"),))
    if data.awaits_model(choice):
        words = (
            f"The offline result; the model has not written this yet: {keys.ASK_MODEL.key} asks it."
        )
        return Block(words, "faint", first=(Run(" "),))
    return None


# the checks


def check_blocks(preview: SegmentPreview, aim: int, checked: Checked, signs: Glyphs) -> list[Block]:
    """Criteria, anchors, fidelity, ratio against its aim, and other remarks."""
    if preview.level == 0:
        return [
            *_criteria(checked, (), signs),
            _row("", f"Full loses nothing. {legend(preview)}".strip(), "dim"),
        ]
    return [
        *_criteria(checked, preview.guidance, signs),
        *_anchors(preview, signs),
        _fidelity(preview, signs),
        *_ratio(preview, aim, signs),
        *([_row("", legend(preview), "dim")] if preview.compressed.anchors else []),
    ]


def legend(preview: SegmentPreview) -> str:
    """The meaning of the letters at the anchors of a segment: `2 D decision, 1 F fact`."""
    types = Counter(each.type for each in preview.compressed.anchors)
    return ", ".join(f"{number} {LETTERS[of]} {WORDS[of]}" for of, number in types.items())


def _row(sign: str, text: str, style: str, spans: tuple[Span, ...] = ()) -> Block:
    how = {"✓": "accent", "+": "accent"}.get(sign, "warm")
    return Block(text, style, spans, first=(Run(f" {sign or ' '} ", how),))


def _criteria(checked: Checked, guidance: Sequence[Guidance], signs: Glyphs) -> list[Block]:
    blocks = []
    for check in checked.checks:
        pattern = check.pattern
        quoted = f'"{pattern.text}"' if pattern.mode == "substring" else f"regex {pattern.text}"
        if check.state == "matches":
            blocks.append(_row(signs.promoted, quoted, "text"))
        else:
            why = {"missing": "missing", "slow": "too slow to tell"}.get(check.state, "bad regex")
            blocks.append(_row(signs.rejected, f"{quoted} {why}", "warm"))
    important = (Run(f" {priority_sign('important', signs)} ", "warm"),)
    known = {each.words: each for each in guidance}
    for words in checked.asked.instructions:
        found = known.get(words)
        said = words if found is None else str(found)
        style = "warm" if found is not None and found.is_lost else "dim"
        blocks.append(Block(said, style, first=important))
    return blocks


def _anchors(preview: SegmentPreview, signs: Glyphs) -> list[Block]:
    compressed = preview.compressed
    total, missing = len(compressed.anchors), compressed.anchors_missing
    if not total:
        return [_row("", "no anchors", "dim")]
    sign = signs.rejected if missing else signs.promoted
    blocks = [_row(sign, f"{total - len(missing)} of {count(total, 'anchor')}", "text")]
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
    text = f"{parts} {signs.arrow} {figure(found.overall_score)}"
    more = f"  ({PASSES})"
    spans = (Span(len(text), len(text + more), "faint", here=False),)
    return _row(sign, text + more, "text", spans)


def _writer(engine: str) -> str:
    if engine == "by hand":
        return engine
    return "by the offline engine" if engine == "offline" else f"by {engine}"


def _ratio(preview: SegmentPreview, aim: int, signs: Glyphs) -> list[Block]:
    compressed = preview.compressed
    note = f" ({compressed.note})" if compressed.note else ""
    blocks = [
        _row("", f"{compressed.compression_ratio:.1f}:1{note}, aim {aim}:1", "dim"),
        _row("", f"written {_writer(compressed.engine)}", "dim"),
    ]
    if preview.kept:
        blocks.insert(0, _row(signs.attention, f"stays as it is: {preview.kept}", "warm"))
    return blocks
