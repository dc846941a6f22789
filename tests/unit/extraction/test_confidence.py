from datetime import timedelta
from pathlib import Path

import pytest

from reviewer.clock import iso
from reviewer.extraction.candidates import Setting
from reviewer.extraction.confidence import (
    confidence,
    freshness,
    path_signal,
    setting_of,
    structural_signal,
)
from reviewer.sources.records import Shape

from .making import NOW, record


@pytest.mark.parametrize(
    ("path", "signal"),
    [
        ("notes/ideas.md", 1.0),
        ("docs/decisions/0001.md", 1.1),
        (r"docs\architecture\disk.md", 1.1),
        ("_archive/ideas.md", 0.9),
        ("work/reviews/june.md", 0.9),
        ("_archive/decisions.md", 0.9),
    ],
)
def test_the_path_gives_the_structural_signal_and_low_wins(path: str, signal: float) -> None:
    assert structural_signal(path) == signal


@pytest.mark.parametrize(
    ("age", "bonus"),
    [(timedelta(0), 1.05), (timedelta(days=30), 1.05), (timedelta(days=30, seconds=1), 1.0)],
)
def test_a_record_of_the_last_thirty_days_is_fresh(age: timedelta, bonus: float) -> None:
    told = record("x", at=iso(NOW - age))
    assert freshness(told, Setting(NOW)) == bonus


def test_a_record_without_a_time_uses_the_time_of_its_source() -> None:
    assert freshness(record("x"), Setting(NOW, updated=NOW)) == 1.05
    assert freshness(record("x"), Setting(NOW)) == 1.0


def test_a_records_own_time_overrides_the_time_of_its_source() -> None:
    old = record("x", at="2020-01-01T00:00:00Z")
    assert freshness(old, Setting(NOW, updated=NOW)) == 1.0


def test_the_formula_and_its_highest_value() -> None:
    assert confidence(0.7, 1.1, 1.05) == pytest.approx(0.8085)
    assert confidence(0.5, 0.9, 1.0) == pytest.approx(0.45)


def test_a_path_counts_from_its_repository_wherever_that_lies(tmp_path: Path) -> None:
    note = tmp_path / "history-app" / "decisions" / "notes" / "disk.md"
    note.parent.mkdir(parents=True)
    note.touch()
    assert setting_of(note, NOW).signal == 1.0
    (tmp_path / "history-app" / ".git").mkdir()
    assert setting_of(note, NOW).signal == 1.1


def test_a_session_lies_where_its_agent_puts_it() -> None:
    setting = Setting(NOW, signal=0.9)
    assert path_signal(record("x"), setting) == 1.0
    assert path_signal(record("x", shape=Shape.SECTION), setting) == 0.9
