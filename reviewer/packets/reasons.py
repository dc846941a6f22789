"""Why an item is shown as it is, in one sentence (`--explain`; settled.md, "Packets")."""

from __future__ import annotations

from reviewer.packets.filling import Fate
from reviewer.packets.values import Rule, Score

_MATCHES = 4


def reason(fate: Fate, score: Score | None) -> str:
    """The rule that decided, and how the score came about where there is one."""
    said = {
        Rule.TIER_1: "tier 1 is always whole",
        Rule.ALL_FIT: "everything in this section fits",
        Rule.PINNED: "pinned, and there was room",
        Rule.IN_ORDER: "there was room when its turn came",
        Rule.TOO_BIG: f"in full it needs {fate.needed:,} tokens and {fate.left:,} were left",
        Rule.BEHIND: "one before it did not fit in full, and nothing jumps the queue",
        Rule.NO_ROOM: "no room was left, not even for a title",
        Rule.SUPERSEDED: "superseded: only shown where everything fits",
        Rule.MUTED: "muted for this packet",
    }[fate.rule]
    return said if score is None else f"{said}; {score_text(score)}"


def score_text(score: Score) -> str:
    """`recency 0.7 (12 days) + relevance 1.0 (ledger, pool, +3) = 1.70`."""
    names = ", ".join(score.matched[:_MATCHES])
    more = len(score.matched) - _MATCHES
    matched = f"{names}, +{more}" if more > 0 else names or "no keyword"
    parts = (
        f"recency {score.recency:.1f} ({age_text(score.days)})"
        f" + relevance {score.relevance:.2g} ({matched})"
    )
    whole = score.recency + score.relevance
    if score.total < whole:
        return f"{parts}, but superseded: 0"
    return f"{parts} = {whole:.2f}, rarity {score.rarity:.2f}"


def age_text(days: int | None) -> str:
    """`today`, `1 day`, `12 days`, `in the future`, `no date`."""
    if days is None:
        return "no date"
    if days < 0:
        return "in the future"
    return "today" if days == 0 else "1 day" if days == 1 else f"{days:,} days"
