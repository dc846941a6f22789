"""Secrets are masked again before anything leaves, and JSON Lines carry every field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from reviewer.promotion.export.context_folder import plan_context_folder
from reviewer.promotion.export.items import ExportItem, mask_items, render_ndjson
from reviewer.promotion.export.markdown import render_markdown
from reviewer.promotion.views import RelationView, SourceRef
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
        {"relations": (RelationView("part_of", TOKEN, 2),)},
        {"sources": (SourceRef(f"notes/{TOKEN}.md", 0, 1, "r"),)},
    ],
)
def test_no_secret_leaves_in_any_form(make: Make, fields: dict[str, Any]) -> None:
    masked = mask_items([make(**fields)])
    assert mask_items(masked) == masked
    planned = plan_context_folder(masked, Path("/nowhere/.context"))
    for text in (
        render_markdown(masked, marks=True),
        render_ndjson(masked),
        *(file.after.decode() for file in planned),
    ):
        assert BODY not in text


def test_what_holds_no_secret_is_not_touched(make: Make) -> None:
    items = (make(name="api_key", value="process.env.API_KEY"), make(content="rotate every 90 d"))
    assert mask_items(items) == items


def test_a_line_holds_every_field(make: Make) -> None:
    item = make(
        "entity", id=4, type="decision", name="Pump B", content="Use pump B\nof Acme",
        rule="heading", extractor_version="0.3.0", confidence=0.7,
        decided_at="2026-03-01T10:00:00.000Z",
    )  # fmt: skip
    line = render_ndjson([item])
    assert line.count("\n") == 1
    values = msgspec.json.decode(line)
    assert set(values) == set(ExportItem.__struct_fields__)
    assert values["content"] == "Use pump B\nof Acme"
    assert values["sources"] == [
        {"path": "notes/pump.md", "line_start": 9, "line_end": 12, "record_id": "sha256:1"}
    ]
    assert msgspec.json.decode(line, type=ExportItem) == item


def test_text_that_is_no_unicode_is_written_all_the_same(make: Make) -> None:
    assert msgspec.json.decode(render_ndjson([make(content="a\ud800b")]))["content"] == "a?b"
