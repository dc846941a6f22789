"""A commit as blocks: its text with what must survive marked, and who said what about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reviewer.tui.evidence.structure import labelled
from reviewer.tui.kit.text import Block, Run, Span, count, moment
from reviewer.tui.theme import Glyphs
from reviewer.tui.widgets.commit_row import SHORT, priority_sign, speaker

if TYPE_CHECKING:
    from reviewer.engine import Annotation, CommitView, PatternCheck

PATTERNS_SHOWN = 50
EARLIER_SHOWN = 5
LEAVES_CRITERIA = {
    "pinned": "pinned: kept whole, so these need no check",
    "normal": "normal: not asked for until the commit is important (i)",
    "skip": "skip: left out, these hold again when it is important (i)",
}
"""What criteria mean on a commit that is not IMPORTANT."""


def commit_title(view: CommitView, signs: Glyphs) -> str:
    """`c3f9e21  user · 412 tok · ◆ important`."""
    row = view.row
    who = speaker(row.role, row.type)
    if view.name and view.name != who:
        who += f" {view.name}"
    said = "" if row.priority == "normal" else f"{priority_sign(row.priority, signs)} "
    parts = (who, f"{row.tokens:,} tok", f"{said}{row.priority}")
    return f"{row.hash[:SHORT]}  {f' {signs.dot} '.join(parts)}"


def text_blocks(
    view: CommitView, anchors: Sequence[Span] = (), matches: Sequence[Span] = ()
) -> list[Block]:
    """The text. What criteria match is marked strongly, what must survive anyway lightly."""
    more = ", o opens the source" if view.source_line is not None else ""
    if not view.text.strip():
        return [Block("This commit has no text.", "faint", first=(Run(" "),))]
    spans = (*matches, *_beside(anchors, matches))
    style = "dim" if view.row.priority == "skip" else "text"
    return [Block(view.text, style, spans, first=(Run(" "),), more=more)]


def _beside(anchors: Sequence[Span], matches: Sequence[Span]) -> list[Span]:
    """The parts of anchors that no match covers."""
    found = []
    for anchor in anchors:
        start = anchor.start
        for match in matches:
            if match.end <= start or match.start >= anchor.end:
                continue
            if match.start > start:
                found.append(Span(start, match.start, anchor.style, here=False))
            start = max(start, match.end)
        if start < anchor.end:
            found.append(Span(start, anchor.end, anchor.style, here=False))
    return found


def survival_blocks(
    view: CommitView,
    checks: Sequence[PatternCheck],
    signs: Glyphs,
    *,
    draft: bool = False,
) -> list[Block]:
    """What must survive of a commit, whether that can be checked, who said so, when and why."""
    retention, row = view.retention, view.row
    blocks = []
    if retention.instructions:
        blocks.append(labelled("retain", retention.instructions, "text"))
    shown = {check.pattern: check for check in checks}
    for pattern in retention.patterns[:PATTERNS_SHOWN]:
        check = shown.get(pattern)
        quoted = f'"{pattern.text}"' if pattern.mode == "substring" else pattern.text
        said, style = verdict(check, signs) if check else ("", "faint")
        text = f"{quoted}   {said}"
        span = Span(len(text) - len(said), len(text), style)
        blocks.append(
            labelled("match" if pattern.mode == "substring" else "regex", text, "text", (span,))
        )
    beyond = len(retention.patterns) - PATTERNS_SHOWN
    if beyond > 0:
        blocks.append(labelled("", f"and {beyond:,} more: r shows all", "faint"))
    if retention and row.priority in LEAVES_CRITERIA:
        blocks.append(labelled("", LEAVES_CRITERIA[row.priority], "warm"))
    if draft:
        blocks.append(labelled("", f"{signs.edited} draft kept: r goes on", "warm"))
    if not retention:
        bare = row.priority == "important"
        nothing = "nothing in particular: compressed with care" if bare else "nothing was asked for"
        blocks.append(labelled("retain", f"{nothing}, r says what must survive", "faint"))
    blocks += _who(view, signs)
    if view.original is not None:
        blocks.append(
            labelled("edited", f"{signs.edited} the original stays: e shows what changed")
        )
    if view.summary_of:
        hashes = " ".join(each[:SHORT] for each in view.summary_of[:8])
        more = f" {signs.ellipsis}" if len(view.summary_of) > 8 else ""
        blocks.append(
            labelled("summary of", f"{count(len(view.summary_of), 'commit')}: {hashes}{more}")
        )
    if view.at:
        blocks.append(labelled("said", moment(view.at)))
    return blocks


def _who(view: CommitView, signs: Glyphs) -> list[Block]:
    if not view.annotations:
        row = view.row
        sign = priority_sign(row.priority, signs)
        return [labelled("priority", f"{sign} {row.priority}, the default of {row.type}")]
    blocks = [labelled("priority", _said(view.annotations[0], signs))]
    earlier = view.annotations[1:]
    for place, each in enumerate(earlier[:EARLIER_SHOWN]):
        blocks.append(labelled("before" if not place else "", _said(each, signs), "faint"))
    if len(earlier) > EARLIER_SHOWN:
        blocks.append(labelled("", f"and {len(earlier) - EARLIER_SHOWN:,} earlier", "faint"))
    return blocks


def _said(annotation: Annotation, signs: Glyphs) -> str:
    """`◆ important by you, 2026-02-14 10:22, "finance asked"`."""
    sign = priority_sign(annotation.priority, signs)
    who = f"{sign} {annotation.priority} by {annotation.actor}, {moment(annotation.at)}"
    return f'{who}, "{annotation.reason}"' if annotation.reason else who


def verdict(check: PatternCheck, signs: Glyphs) -> tuple[str, str]:
    """(`✓ matches here (2)`, its style); what a bad or slow one needs is said in words."""
    match check.state:
        case "matches":
            return f"{signs.promoted} matches here ({check.matches:,})", "accent"
        case "missing":
            return f"{signs.rejected} not in this commit", "warm"
        case "bad":
            at = f" at column {check.column + 1}" if check.column is not None else ""
            return f"{signs.stale} bad regex{at}", "warm"
        case "slow":
            return f"{signs.stale} too slow", "warm"
