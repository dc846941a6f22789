"""Folders whose names mean something to a shell, to a pattern, to SQL or to DuckDB."""

from __future__ import annotations

from tests.fleet.conftest import FACTS, Fleet

ODD = "a[b]c st*r qu?st br{a,b}ce path=1 quo'te dou\"ble back\\slash per%41cent\nend"


def test_every_step_takes_the_folder_as_it_is_named(fleet: Fleet) -> None:
    place = fleet.folder / ODD
    place.mkdir()
    fleet.sessions = place
    fleet.session("one.jsonl", FACTS[0])
    out = place / "parts"
    assert fleet.run(out=out)["files"] == 1
    assert [FACTS[0] in row["content"] for row in fleet.candidates(out)] == [True]
    counts = fleet.ok("import", out / "candidates.parquet", "--project", "kiosk")
    assert counts["new"] == 1
    assert fleet("files", out).returncode == 0
