"""Looking for garbage in cycles less often while many objects come and go."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

OBJECTS = 50_000
"""New objects between two looks. Records and candidates form no cycles, so hardly any is found."""


@contextmanager
def collected_seldom() -> Iterator[None]:
    """Inside, the collector looks every OBJECTS objects; afterwards as often as before."""
    before = gc.get_threshold()
    gc.set_threshold(max(OBJECTS, before[0]), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
