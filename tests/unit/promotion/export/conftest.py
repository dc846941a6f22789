"""Facts to export."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reviewer.promotion.export.items import ExportItem, Layer
from reviewer.promotion.views import SourceRef

Make = Callable[..., ExportItem]
NOTE = SourceRef("notes/pump.md", 9, 12, "sha256:1")


@pytest.fixture
def make() -> Make:
    """Make a fact that came from a note, unless something else is said."""

    def fact(layer: str = "memory", **fields: Any) -> ExportItem:
        given = {
            "id": 1,
            "created_at": "2026-02-19T14:30:00.000Z",
            "sources": () if layer == "state" else (NOTE,),
            **fields,
        }
        return ExportItem(layer=Layer(layer), **given)

    return fact
