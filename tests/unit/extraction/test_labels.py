"""A label that only names the type is no part of the fact."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from reviewer.extraction.candidates import Setting
from reviewer.extraction.extract import extract
from reviewer.sources.open import open_source

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("line", "type_", "content"),
    [
        ("- [Decision] The ledger keeps one writer", "project", "The ledger keeps one writer"),
        ("- [Preference] Short branches, always", "preference", "Short branches, always"),
        ("- **Decision**: one queue a tenant", "project", "one queue a tenant"),
        ("- Root cause: a stale lock in `x()`", "knowledge", "Root cause: a stale lock in `x()`"),
    ],
)
def test_label(tmp_path: Path, line: str, type_: str, content: str):
    path = tmp_path / "notes.md"
    path.write_text(f"# Notes\n\n## Decision\n\nText first.\n\n## Points\n\n{line}\n")
    found = {
        candidate.content: candidate
        for candidate in extract(open_source(path), Setting(path=str(path), now=NOW))
    }
    candidate = found[content]
    assert candidate.type == type_
    span = candidate.record.text[candidate.span_start : candidate.span_end]
    assert span.replace("**", "").endswith(content)
