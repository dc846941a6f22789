"""What past compactions lost, for every agent whose sessions have compactions."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.compression.compaction_report import Compactions, report_compactions
from tests.unit.sources import families
from tests.unit.sources.builders import Session
from tests.unit.sources.families import OPENCODE_INFO, Family, lines, opencode_database

COMPACTED = [
    pytest.param(each, id=name.lower())
    for name, each in vars(families).items()
    if isinstance(each, Family) and "compaction summary" in (each.kept_out or {})
]
START = "This session is being continued from a previous conversation."


def found(path: Path) -> list[Compactions]:
    return list(report_compactions(path))


@pytest.mark.parametrize("family", COMPACTED)
def test_every_family_with_compactions_is_reported(family: Family, tmp_path: Path) -> None:
    reports = [report for each in found(family.write(tmp_path)) for report in each.reports]
    assert reports
    assert all(report.summary_tokens > 0 for report in reports)


def test_the_families_are_those_that_record_compactions() -> None:
    assert len(COMPACTED) >= 7


def test_sessions_of_a_database_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    opencode_database(path, OPENCODE_INFO)
    opencode_database(path, {**OPENCODE_INFO, "id": "o2"})
    sessions = found(path)
    assert [each.session for each in sessions] == [OPENCODE_INFO["id"], "o2"]
    first, second = (each.reports[0].before_tokens for each in sessions)
    assert first == second, "what one session has before it does not count for the other"


def test_a_summary_that_cannot_be_read_is_counted(tmp_path: Path) -> None:
    encrypted = {"type": "compaction", "encrypted_content": "gAAAA"}
    path = lines(
        "rollout.jsonl",
        {"type": "session_meta", "payload": {"id": "s", "cwd": "/work"}},
        {"type": "event_msg", "payload": {"type": "user_message", "message": "Oil the hinges."}},
        {"type": "compacted", "payload": {"message": "", "replacement_history": [encrypted]}},
    )(tmp_path)
    [session] = found(path)
    assert session.reports == ()
    assert session.unreadable == 1


def test_what_was_written_while_the_person_was_away_is_no_compaction(tmp_path: Path) -> None:
    told = Session()
    told.user("Oil the hinges of the gate.")
    told.add("system", subtype="away_summary", content="The hinges were oiled.")
    path = tmp_path / "gate.jsonl"
    path.write_bytes(told.bytes())
    assert found(path)[0].reports == ()


def test_names_that_nobody_has_to_remember_are_left_out(tmp_path: Path) -> None:
    told = Session()
    told.user(
        "Put `gate_hinges.py` and `rust_proof.py` in order; it goes to /dev/null, see example.com, "
        "and mail to smith@forge.net; run 6c0a282a-886f-458d-a426-93d95104b4a6."
    )
    told.user(f"{START} They spoke of `rust_proof.py`.", isCompactSummary=True)
    told.user(
        "go on with `gate_hinges.py`, /dev/null, example.com, smith@forge.net and "
        "6c0a282a-886f-458d-a426-93d95104b4a6"
    )
    path = tmp_path / "gate.jsonl"
    path.write_bytes(told.bytes())
    [report] = found(path)[0].reports
    assert [each.text for each in report.dropped] == ["gate_hinges.py"]
