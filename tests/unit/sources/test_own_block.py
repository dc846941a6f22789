"""What reviewer exported is never read as news."""

from __future__ import annotations

from pathlib import Path

from reviewer.sources.open import open_source


def test_the_block_is_blank_and_what_stands_around_it_keeps_its_lines(tmp_path: Path):
    path = tmp_path / "DECISIONS.md"
    path.write_text(
        "# Decisions\n\nWe keep one writer.\n\n<!-- reviewer:begin join=1 -->\n"
        "## Memories\n\n- We decided to use PostgreSQL.\n<!-- reviewer:end -->\n\nLast words.\n"
    )
    scan = open_source(path)
    (record,) = scan
    assert "PostgreSQL" not in record.text
    assert record.text.splitlines()[record.line_start + 2] == "We keep one writer."
    assert record.text.splitlines()[10] == "Last words."
    assert scan.tally["block of reviewer's own"] == 5
