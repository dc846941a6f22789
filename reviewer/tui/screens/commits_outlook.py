"""What compressing would leave: the one place where the Commits screen asks for it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reviewer.tui.kit.choice_pane import Option
from reviewer.tui.kit.text import Span
from reviewer.tui.theme import Glyphs
from reviewer.tui.widgets.commit_balance import short_count
from reviewer.tui.widgets.commit_row import SHORT

if TYPE_CHECKING:
    from reviewer.engine import CommitView, Engine, Outlook, Reach

UNASKED_TOKENS = 400_000
"""A context of more tokens is measured only when a person asks: it takes seconds of work."""
_TARGET = re.compile(r"(\d[\d_,.]{0,14})\s*([kKmM]?)")
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000}


def anchor_spans(engine: Engine, view: CommitView) -> tuple[Span, ...]:
    """What rules find in a commit that must survive its compression, to be marked lightly."""
    if view.row.priority in ("pinned", "skip"):
        return ()  # the one survives whole, the other not at all
    found = engine.compression.anchor_spans(view.text, view.row.role)
    spans: list[Span] = []
    for each in sorted(found, key=lambda each: each.start):
        if not spans or each.start >= spans[-1].end:
            spans.append(Span(each.start, each.end, "anchor", here=False))
    return tuple(spans)


def measure(engine: Engine, context: int, target: int | None) -> tuple[Outlook, Reach | None]:
    """What would be left of a context at each level, and whether a target can be reached.

    Raises ReviewerError.
    """
    outlook = engine.compression.outlook(context)
    return outlook, None if target is None else engine.compression.reach(context, target)


def wordings(outlook: Outlook, reach: Reach | None, signs: Glyphs) -> tuple[str, ...]:
    """An outlook as one line: ways to say it, the longest first."""
    between = f" {signs.dot} "
    levels = between.join(
        f"{level.name.title()} {short_count(tokens)}"
        for level, tokens in sorted(outlook.at_level.items())
        if level > 0
    )
    floor = f"pins and anchors need {short_count(outlook.floor)}"
    if reach is None:
        whole = f"now {short_count(outlook.total)}, all of it at {levels}"
        return (f"{whole}{between}{floor}{between}w: a target", f"{whole}{between}{floor}", levels)
    verdict = target_words(reach, signs)
    return (
        f"all of it at {levels}{between}{verdict}: {floor}",
        f"{levels}{between}{verdict}",
        verdict,
    )


def target_words(reach: Reach, signs: Glyphs) -> str:
    """`✗ 8.0k is not reachable`."""
    if reach.reachable:
        return f"{signs.promoted} {reach.target:,} is reachable"
    return f"{signs.rejected} {reach.target:,} is not reachable"


def too_large(tokens: int) -> tuple[str, ...]:
    """What the line says of a context that is measured only when asked for."""
    return (
        f"What would be left of {short_count(tokens)} tokens takes a while to find out: w asks.",
        "w asks what would be left.",
    )


def read_target(text: str) -> int | None:
    """A number of tokens as people write it: `8000`, `8,000`, `8k`, `1.2M`; None for no number."""
    match = _TARGET.fullmatch(text.strip())
    if match is None:
        return None
    digits, unit = match[1].replace("_", ""), match[2].lower()
    digits = re.sub(r"[,.](?=\d{3}(\D|$))", "", digits) if not unit else digits.replace(",", ".")
    try:
        return round(float(digits) * _UNITS[unit])
    except ValueError:
        return None


def cost_options(reach: Reach, first_lines: dict[int, str], signs: Glyphs) -> list[Option]:
    """What a person may let go: the verdict, then what costs most, heaviest first."""
    if reach.reachable:
        verdict = (signs.promoted, f"yes: it can get to about {reach.needs:,}")
    else:
        verdict = (signs.rejected, f"no: it needs about {reach.needs:,}")
    found = [Option("", f"{verdict[0]} {reach.target:,}", verdict[1])]
    for cost in reach.costly:
        line = first_lines.get(cost.commit, "")
        found.append(
            Option(
                str(cost.commit),
                f"{cost.hash[:SHORT]} {short_count(cost.tokens)}",
                f"{cost.why}: {line}",
            )
        )
    return found
