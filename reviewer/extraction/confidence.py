"""Confidence of a candidate: rule prior * path signal * freshness."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from reviewer.clock import from_iso
from reviewer.extraction.candidates import Setting
from reviewer.files import modified_ns, unreadable
from reviewer.sources.ignore_files import repository_of
from reviewer.sources.records import Record, Shape

FRESH_BONUS = 1.05
FRESH_FOR = timedelta(days=30)
HIGH_SIGNAL_HINTS = (
    "status",
    "decision",
    "requirements",
    "requirement",
    "roadmap",
    "charter",
    "system-map",
    "system_map",
    "contracts",
    "schema",
    "architecture",
    "workflow",
    "error-budget",
    "comparison-matrix",
    "selection-decision",
)
LOW_SIGNAL_HINTS = (
    "_archive",
    "archive/",
    "_history",
    "history",
    "pre-cleanup",
    "pre-migration",
    "reviews/",
)
HIGH_SIGNAL, LOW_SIGNAL, NEUTRAL_SIGNAL = 1.1, 0.9, 1.0


def setting_of(path: Path, now: datetime, modified: float | None = None) -> Setting:
    """The setting of a file, `modified` then (seconds since 1970) or when the disk says. Raises
    SourceError if it cannot be read.
    """
    try:
        modified = modified_ns(path.stat()) / 1e9 if modified is None else modified
    except OSError as problem:
        raise unreadable(path, problem) from problem
    return Setting(now, datetime.fromtimestamp(modified, UTC), _signal_of(path.absolute()))


def _signal_of(path: Path) -> float:
    """The signal of the path within its repository, or of folder and name: where a project lies
    says nothing about its notes.
    """
    if structural_signal(str(path)) == NEUTRAL_SIGNAL:
        return NEUTRAL_SIGNAL  # nor has a part of it a hint
    root = repository_of(path) or path.parent.parent
    return structural_signal(str(path.relative_to(root)))


def path_signal(record: Record, setting: Setting) -> float:
    """The structural signal of a record; none of a turn: its agent chose where the session lies."""
    return NEUTRAL_SIGNAL if record.shape is Shape.TURN else setting.signal


def freshness(record: Record, setting: Setting) -> float:
    """1.05 if the record (or its source, if it has no time) was written in the last 30 days; else
    1.0.

    A time after `setting.now` (clock skew) counts as fresh.
    """
    updated = from_iso(record.at) if record.at else setting.updated
    if updated is not None and setting.now - updated <= FRESH_FOR:
        return FRESH_BONUS
    return 1.0


def confidence(prior: float, signal: float, fresh: float) -> float:
    """The final confidence, rounded to six decimals so that equal inputs stay equal as text."""
    return round(prior * signal * fresh, 6)


def structural_signal(path: str) -> float:
    """The multiplier for a path: 0.9 with a low-signal hint, else 1.1 with a high one, else 1.0.

    Ignores case and slash direction.
    """
    folded = path.replace("\\", "/").lower()
    if any(hint in folded for hint in LOW_SIGNAL_HINTS):
        return LOW_SIGNAL
    if any(hint in folded for hint in HIGH_SIGNAL_HINTS):
        return HIGH_SIGNAL
    return NEUTRAL_SIGNAL
