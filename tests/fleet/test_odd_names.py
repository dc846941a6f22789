"""Folders whose names mean something to a shell, to a pattern, to SQL or to DuckDB."""

from __future__ import annotations

import pytest

from tests.fleet.conftest import FACTS, Fleet

ODD = ("a[b]c st*r qu?st", "br{a,b}ce path=1", "quo'te dou\"ble", "back\\slash per%41cent\nend")


@pytest.mark.parametrize("name", ODD)
def test_every_step_takes_the_folder_as_it_is_named(fleet: Fleet, name: str) -> None:
    place = fleet.folder / name
    place.mkdir()
    fleet.sessions = place
    fleet.session("one.jsonl", FACTS[0])
    out = place / "parts"
    assert fleet.run(out=out)["files"] == 1
    assert [FACTS[0] in row["content"] for row in fleet.candidates(out)] == [True]
    counts = fleet.ok("import", out / "candidates.parquet", "--project", "kiosk")
    assert counts["new"] == 1
    assert fleet("files", out).returncode == 0


@pytest.mark.parametrize(("name", "other"), [("st*r", "star"), ("a[b]c", "abc")])
def test_a_name_is_not_taken_for_a_pattern(fleet: Fleet, name: str, other: str) -> None:
    for number, folder in enumerate((name, other)):
        fleet.sessions = fleet.folder / folder
        fleet.sessions.mkdir()
        fleet.session("one.jsonl", FACTS[number])
        fleet.run(out=fleet.sessions / "parts")
    found = fleet.candidates(fleet.folder / name / "parts")
    assert [FACTS[0] in row["content"] for row in found] == [True]
