"""The `.context/` folder: every fact has its file, and what people wrote there stays."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from reviewer.promotion.export.context_folder import plan_context_folder
from reviewer.promotion.export.file_writer import PlannedFile, write_plan
from reviewer.sources.note_kinds import entry_title
from tests.unit.promotion.export.conftest import Make


def write(planned: Iterable[PlannedFile], tmp_path: Path) -> None:
    for file in planned:
        write_plan(file, backup_folder=tmp_path / "backups")


@pytest.mark.parametrize(
    ("layer", "type_", "name"),
    [
        ("state", "", "CONSTITUTION.md"),
        ("entity", "decision", "DECISIONS.md"),
        ("memory", "project", "DECISIONS.md"),
        ("entity", "project", "LEARNINGS.md"),
        ("memory", "preference", "CONVENTIONS.md"),
        ("memory", "knowledge", "LEARNINGS.md"),
        ("entity", "unheard_of", "LEARNINGS.md"),
    ],
)
def test_every_fact_has_a_file(
    make: Make, tmp_path: Path, layer: str, type_: str, name: str
) -> None:
    item = make(layer, type=type_, name="Named", content="Said")
    (planned,) = plan_context_folder([item], tmp_path / ".context")
    assert planned.path == tmp_path / ".context" / name
    assert b"Named" in planned.after
    assert b"Said" in planned.after


def test_an_entry_reads_as_one_for_whoever_reads_such_folders(make: Make, tmp_path: Path) -> None:
    item = make("entity", id=4, type="decision", name="Pump B " * 30, content="It is quieter.")
    (planned,) = plan_context_folder([item], tmp_path)
    text = planned.after.decode()
    assert text.startswith("# Decisions\n\n<!-- reviewer:begin")
    head = next(line for line in text.splitlines() if line.startswith("## "))
    title, at = entry_title(head.removeprefix("## "))
    assert (title[:6], at) == ("Pump B", "2026-02-19T14:30:00")
    assert len(head) < 110
    assert ": It is quieter.\n  (entity 4, notes/pump.md:10-12)\n" in text


def test_the_newest_entry_comes_first_and_a_bad_moment_is_left_out(
    make: Make, tmp_path: Path
) -> None:
    items = [
        make(id=1, type="knowledge", content="Old", created_at="2025-01-01T00:00:00Z"),
        make(id=2, type="knowledge", content="New", created_at="2026-01-01T00:00:00Z"),
        make(id=3, type="knowledge", content="Undated", created_at=""),
    ]
    (planned,) = plan_context_folder(items, tmp_path)
    heads = [line for line in planned.after.decode().splitlines() if line.startswith("## ")]
    assert heads == ["## [2026-01-01-000000] New", "## [2025-01-01-000000] Old", "## Undated"]


def test_what_people_wrote_stays_to_the_byte(make: Make, tmp_path: Path) -> None:
    folder = tmp_path / ".context"
    folder.mkdir()
    mine = b"\xef\xbb\xbf# My decisions\r\n\r\n## [2025-01-01] Mine\r\n\xff no final newline"
    (folder / "DECISIONS.md").write_bytes(mine)
    (folder / "TASKS.md").write_bytes(b"- [ ] mine")
    items = [make("entity", type="decision", name="Pump B"), make("state", name="flow", value="5")]
    write(plan_context_folder(items, folder), tmp_path)
    assert (folder / "DECISIONS.md").read_bytes().startswith(mine)
    assert (folder / "TASKS.md").read_bytes() == b"- [ ] mine"
    assert sorted(path.name for path in folder.iterdir()) == [
        "CONSTITUTION.md", "DECISIONS.md", "TASKS.md",
    ]  # fmt: skip
    assert not any(file.changed for file in plan_context_folder(items, folder))


def test_a_file_that_loses_its_last_fact_loses_the_block_only(make: Make, tmp_path: Path) -> None:
    mine = b"# Learnings\n\nMine"
    (tmp_path / "LEARNINGS.md").write_bytes(mine)
    write(plan_context_folder([make(type="knowledge", content="Said")], tmp_path), tmp_path)
    (planned,) = plan_context_folder([], tmp_path)
    assert planned.after == mine
    write([planned], tmp_path)
    assert plan_context_folder([], tmp_path) == ()
