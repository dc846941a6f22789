"""Data from outside reaches terminals and scripts only as plain text."""

from __future__ import annotations

import json

from tests.cli.conftest import Reviewer


def test_json_stays_json_where_the_terminal_is_not_utf8(reviewer: Reviewer) -> None:
    note = reviewer.folder / "note.md"
    note.write_text("- [Decision] The kiosk in Überlingen shows prices in €.\n", encoding="utf-8")
    reviewer("ingest", note)
    done = reviewer("queue", "list", "--json", env={"PYTHONIOENCODING": "latin-1"})
    assert "Überlingen" in json.loads(done.stdout)["content"]
    reviewer.succeeds("queue", "list", env={"PYTHONIOENCODING": "ascii"})
