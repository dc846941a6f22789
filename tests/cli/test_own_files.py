"""The program never reads what it has written itself."""

from __future__ import annotations

import pytest

from tests.cli.conftest import NOTE, Reviewer

OWN = "a file of reviewer itself"


@pytest.fixture
def at_home(reviewer: Reviewer) -> Reviewer:
    """A folder with notes, in which the store is, too."""
    folder = reviewer.folder / "kiosk"
    folder.mkdir()
    (folder / "decisions.md").write_text(NOTE, encoding="utf-8")
    reviewer.folder, reviewer.db = folder, folder / "notes"
    return reviewer


def test_the_second_wave_finds_no_file_of_the_first(at_home: Reviewer) -> None:
    (first,) = at_home.rows("ingest", ".")
    (at_home.folder / "broken.jsonl").write_text('{"type":"user","uuid":"a","message":{"rol')
    assert first["files"] == 1
    for _ in range(2):
        (again,) = at_home.rows("ingest", ".")
        assert (again["files"], again["unchanged"], again["new"], again["repeated"]) == (0, 1, 0, 0)
        assert again["passed_over"][OWN] >= 2


@pytest.mark.parametrize("own", ["", "-waves", "-waves/1", "-waves/1/candidates.ndjson"])
def test_its_files_are_not_read_when_they_are_named(at_home: Reviewer, own: str) -> None:
    at_home("ingest", ".")
    done = at_home("ingest", f"notes{own}")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"Nothing could be read: 1 x {OWN}."


def test_files_of_a_person_with_similar_names_are_read(at_home: Reviewer) -> None:
    at_home("ingest", ".")
    for number, name in enumerate(("notes.md", "notes-2024.md", "notes-waves.md", "waves.md")):
        text = f"- [Decision] We decided to keep the drawer of till {number} closed at night.\n"
        (at_home.folder / name).write_text(text)
    alone = at_home.folder / "paper-waves"
    alone.mkdir()
    (alone / "log.md").write_text("- [Decision] We decided to buy thermal paper in bulk.\n")
    (wave,) = at_home.rows("ingest", ".")
    assert wave["files"] == 5


def test_a_packet_that_was_written_to_a_file_is_not_read(at_home: Reviewer) -> None:
    at_home("ingest", ".")
    at_home.succeeds("promote", at_home.ids()[0])
    (at_home.folder / "packet.md").write_text(at_home.succeeds("packet").stdout)
    (wave,) = at_home.rows("ingest", ".")
    assert wave["files"] == 0
    assert "a packet of its own" in wave["passed_over"]


def test_a_block_in_a_file_of_agents_is_not_read(at_home: Reviewer) -> None:
    at_home("ingest", ".")
    number = at_home.ids()[0]
    at_home.succeeds("promote", number)
    (at_home.folder / "AGENTS.md").write_text("# For agents\n\nThe kiosk has three tills.\n")
    at_home.succeeds("export", "--into", "AGENTS.md", "--write")
    assert "reviewer:begin" in (at_home.folder / "AGENTS.md").read_text()
    before = at_home.rows("queue", "show", number)
    (wave,) = at_home.rows("ingest", ".")
    assert wave["repeated"] == 0
    assert at_home.rows("queue", "show", number) == before
