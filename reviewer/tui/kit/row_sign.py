"""The four cells at the start of a row for the state of a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from reviewer.text.signs import DOUBTFUL, HAND_AUTHORED, OUTDATED, SUSPICIOUS
from reviewer.tui.theme import Glyphs

if TYPE_CHECKING:
    from reviewer.promotion.views import QueueRow


class Badges(Struct, frozen=True):
    """Facts about a visible row that take longer to compute than reading the row."""

    hinted: bool = False
    stale: bool = False
    draft: bool = False


NO_BADGES = Badges()


def sign_of(
    row: QueueRow, decided: bool, sign: Glyphs, badges: Badges = NO_BADGES
) -> tuple[str, bool]:
    """Four cells, and whether they are a warning."""
    statuses = {
        "active": sign.promoted,
        "invalid": sign.rejected,
        "superseded": sign.merged,
        "graduated": sign.graduated,
    }
    state = statuses.get(row.status, "")
    if not state and row.deferred:
        state = sign.deferred
    elif not state and row.members and not decided:
        state = sign.cluster + (str(row.members + 1) if row.members < 9 else "+")
    extra, warning = _extra(row, sign, NO_BADGES if decided else badges)
    return f"{state:<2}{extra}".ljust(4), warning


def _extra(row: QueueRow, sign: Glyphs, badges: Badges) -> tuple[str, bool]:
    """The most important sign beside the status, and whether it is a warning."""
    if row.kind == "conflict":
        return sign.attention, True
    if SUSPICIOUS.intersection(row.flags):
        return sign.flagged, True
    if badges.stale or OUTDATED.intersection(row.flags):
        return sign.attention, True
    if DOUBTFUL.intersection(row.flags):
        return sign.doubted, True
    if badges.hinted:
        return sign.hint, False
    if badges.draft or row.edited:
        return sign.edited, False
    if HAND_AUTHORED in row.flags:
        return sign.by_hand, False
    return (sign.excerpt, False) if row.is_excerpt else ("", False)
