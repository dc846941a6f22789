"""A context of six turns about a fair, and panes that follow immediately."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.tui.commits import retention_form
from reviewer.tui.commits import screen as commits_screen
from tests.tui.commits.driving import TURNS, written


@pytest.fixture(autouse=True)
def panes_follow_immediately(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commits_screen, "TOTALS_SECONDS", 0.001)
    monkeypatch.setattr(retention_form, "CHECK_AFTER", 0.001)
    monkeypatch.setattr(retention_form, "DRAFT_AFTER", 0.001)


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    """Six turns about a fair."""
    return written(tmp_path / "fair.jsonl", TURNS)


@pytest.fixture
def fair(engine: Engine, transcript: Path) -> Engine:
    """A store with the context `fair`."""
    engine.contexts.import_file(transcript, project="acme")
    return engine
