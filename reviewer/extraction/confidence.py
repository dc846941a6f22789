"""`final = prior * signal * freshness` (`promotion-rules.md`, Confidence and ranking)."""

from __future__ import annotations

from datetime import timedelta
from functools import lru_cache

from reviewer.clock import from_iso
from reviewer.extraction.candidates import Setting
from reviewer.sources.records import Record

FRESH_BONUS = 1.05
FRESH_FOR = timedelta(days=30)


def freshness(record: Record, setting: Setting) -> float:
    """1.05 when the record, or else its source, was written in the last 30 days; otherwise 1.0.

    A time after `setting.now` (another machine's clock) counts as fresh.
    """
    updated = from_iso(record.at) if record.at else setting.updated
    if updated is not None and setting.now - updated <= FRESH_FOR:
        return FRESH_BONUS
    return 1.0


@lru_cache(maxsize=256)
def confidence(prior: float, signal: float, fresh: float) -> float:
    """The final confidence, rounded to six places so that equal inputs stay equal as text."""
    return round(prior * signal * fresh, 6)
