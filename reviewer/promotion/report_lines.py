"""Reading the lines of a wave's report that keep the candidates beyond the cap."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from reviewer.errors import StoreError
from reviewer.files import open_own

DROPPED = "dropped.ndjson"
"""The file of a report that lists what was not queued, one JSON object per line."""

OVER_CAP = "over the cap"
"""The reason in the lines about candidates that can still be queued."""

_MARKER = f'"reason":"{OVER_CAP}"'.encode()

Decoded = TypeVar("Decoded")


def lines_over_cap(folder: Path, decode: Callable[[bytes], Decoded]) -> Iterator[Decoded]:
    """The decoded lines about candidates beyond the cap, in the order of the report.

    Raises StoreError when the report is gone or damaged.
    """
    try:
        with open(open_own(folder / DROPPED, os.O_RDONLY), "rb") as file:
            for line in file:
                if _MARKER in line:
                    yield decode(line)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as problem:
        what = problem.strerror if isinstance(problem, OSError) else str(problem)
        raise unreadable_report(folder, what) from problem


def unreadable_report(folder: Path, reason: str | None) -> StoreError:
    """The error for a report that cannot be read, with what to do."""
    return StoreError(
        f"The candidates beyond the cap cannot be read from {folder}: {reason}. Reading their "
        "sources again proposes them again: reviewer extract --store --wave N"
    )
