"""How much memory some work takes."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def peak_of(work: Callable[[], Result]) -> tuple[int, Result]:
    """The most bytes that some work has at a time, and what it gives."""
    tracemalloc.start()
    try:
        result = work()
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()
