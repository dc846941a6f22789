"""Secrets are masked again before anything leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reviewer.promotion.export.context_folder import plan_context_folder
from reviewer.promotion.export.items import mask_items
from reviewer.promotion.export.markdown import render_markdown
from reviewer.promotion.views import SourceRef
from tests.unit.promotion.export.conftest import Make

BODY = "q7Zk3Vn9Tb1Xw5Rm8Lc2Pd6Hs4Jf0Gy1Kq"
TOKEN = f"ghp_{BODY}"


@pytest.mark.parametrize(
    "fields",
    [
        {"content": f"use {TOKEN} here"},
        {"name": TOKEN},
        {"value": TOKEN},
        {"name": "api_key", "value": BODY},
        {"note": TOKEN},
        {"evidence": TOKEN},
        {"attributes": (("rationale", TOKEN),)},
        {"attributes": (("api_key", BODY),)},
        {"sources": (SourceRef(f"notes/{TOKEN}.md", 0, 1, "r"),)},
    ],
)
def test_no_secret_leaves_in_any_form(make: Make, fields: dict[str, Any]) -> None:
    masked = mask_items([make(**fields)])
    assert mask_items(masked) == masked
    planned = plan_context_folder(masked, Path("/nowhere/.context"))
    for text in (
        render_markdown(masked, marks=True),
        *(file.after.decode() for file in planned),
    ):
        assert BODY not in text


def test_what_holds_no_secret_is_not_touched(make: Make) -> None:
    items = (make(name="api_key", value="process.env.API_KEY"), make(content="rotate every 90 d"))
    assert mask_items(items) == items
