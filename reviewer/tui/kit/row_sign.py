"""The sign for the state of a memory at the start of a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviewer.text.signs import DOUBTFUL, OUTDATED, SUSPICIOUS
from reviewer.tui.theme import Glyphs

if TYPE_CHECKING:
    from reviewer.promotion.views import QueueRow


def sign_of(row: QueueRow, sign: Glyphs) -> tuple[str, bool]:
    """The sign, two cells wide, and whether it is a warning."""
    if row.status in ("active", "graduated"):
        return f"{sign.promoted} ", False
    if row.status == "invalid":
        return f"{sign.rejected} ", False
    if row.status == "superseded":
        return f"{sign.merged} ", False
    if row.deferred:
        return f"{sign.deferred} ", False
    if (
        row.kind == "conflict"
        or row.reason
        or (SUSPICIOUS | OUTDATED | DOUBTFUL).intersection(row.flags)
    ):
        return f"{sign.attention} ", True
    return "  ", False
