"""The cells at the start of a row for the state of a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from reviewer.text.signs import DOUBTFUL, OUTDATED, SUSPICIOUS
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
    """Two cells, and whether they are a warning."""
    if row.status in ("active", "graduated"):
        return f"{sign.promoted} ", False
    if row.status in ("invalid", "superseded"):
        return f"{sign.rejected} ", False
    if row.deferred:
        return f"{sign.deferred} ", False
    doubtful = (SUSPICIOUS | OUTDATED | DOUBTFUL).intersection(row.flags)
    if row.kind == "conflict" or doubtful or (badges.stale and not decided):
        return f"{sign.attention} ", True
    return "  ", False
