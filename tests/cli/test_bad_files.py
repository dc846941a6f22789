"""Damaged input files of any kind: one clear line, the right exit code, no data lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import NOTE, Reviewer
from tests.cli.permissions import bound as bound
from tests.unit.sources.families import GOOSE
from tests.unit.sources.test_hostile_databases import MEGABYTES, make_computed


class TestWhatIsRead:
    def test_a_missing_path(self, reviewer: Reviewer) -> None:
        reviewer.db = reviewer.folder / "new" / "store.db"
        line = reviewer.fails("ingest", "nowhere/at/all.md")
        assert "nowhere/at/all.md" in line
        assert not reviewer.db.exists()
        line = reviewer.fails("extract", "nowhere.md")
        assert "nowhere.md" in line

    def test_an_unreadable_file(self, reviewer: Reviewer, bound: Callable[[], None]) -> None:
        note = reviewer.folder / "secret.md"
        note.write_text(NOTE)
        note.chmod(0)
        done = reviewer("ingest", note, preexec_fn=bound)
        assert done.returncode == 1
        assert done.stderr.startswith("Nothing could be read: 1 x ")
        assert "permission denied" in done.stderr
        assert "secret.md" in reviewer.fails("extract", note, preexec_fn=bound)

    def test_an_unreadable_file_does_not_stop_its_folder(
        self, reviewer: Reviewer, bound: Callable[[], None]
    ) -> None:
        folder = reviewer.folder / "notes"
        folder.mkdir()
        (folder / "good.md").write_text(NOTE)
        (folder / "bad.md").write_text(NOTE)
        (folder / "bad.md").chmod(0)
        done = reviewer("ingest", folder, "--json", preexec_fn=bound)
        counts = json.loads(done.stdout)
        assert counts["files"] == 1
        assert counts["new"] > 0
        assert "permission denied" in str(counts["passed_over"])
        log = Path(counts["report_folder"], "errors.log")
        assert done.stderr.splitlines()[0] == f"1 file could not be read: see {log}"
        assert "bad.md" in log.read_text()

    def test_a_file_that_fails_while_it_is_read_is_named(self, reviewer: Reviewer) -> None:
        folder = reviewer.folder / "notes"
        path = GOOSE.write(folder)
        make_computed(path, "messages", "content_json", MEGABYTES)
        (folder / "good.md").write_text(NOTE)
        count, named, *_ = reviewer.succeeds("ingest", folder).stderr.splitlines()
        assert count.startswith("1 file could not be read: see ")
        assert named == f"{path} cannot be read: the database is damaged (string or blob too big)."
        assert reviewer.ids()

    def test_a_named_file_that_is_not_read_is_an_error_and_one_of_a_folder_is_none(
        self, reviewer: Reviewer
    ) -> None:
        folder = reviewer.folder / "notes"
        folder.mkdir()
        good, cut = folder / "good.md", folder / "cut.json"
        good.write_text(NOTE)
        cut.write_text("{]")
        done = reviewer("ingest", cut, good)
        assert done.returncode == 1
        assert f"{cut} is not text that reviewer reads" in done.stderr
        assert reviewer.ids()
        assert "cut.json" not in reviewer.succeeds("ingest", folder, "--again").stderr

    def test_the_counts_of_unread_files_agree(self, reviewer: Reviewer) -> None:
        folder = reviewer.folder / "notes"
        folder.mkdir()
        (folder / "good.md").write_text(NOTE)
        (folder / "cut.jsonl").write_text('{"type":"user","message":{"content":"Hel')
        (folder / "dangling.md").symlink_to(folder / "nowhere.md")
        done = reviewer.succeeds("ingest", folder, "--json")
        counts = json.loads(done.stdout)
        assert counts["errors"] == counts["unread"] == len(counts["problems"]) == 2
        assert done.stderr.startswith("2 files could not be read: ")
        assert "dangling.md" in done.stderr

    @pytest.mark.parametrize(
        ("name", "content", "why"),
        [
            ("binary.md", bytes(range(256)) * 40, "binary"),
            ("cut.jsonl", b'{"type":"user","uuid":"a","message":{"role":"user","content":"Hel',
             "damaged JSON"),
            ("wrong.json", b"{]", "its name is not that of a note"),
            ("deep.json", b"[" * 100_000, "cannot be read: its JSON is nested too deep"),
            ("nul.txt", b"We decided to keep\x00 the drawer closed until the terminal answers.\n",
             "binary"),
        ],
    )  # fmt: skip
    def test_damaged_files_are_counted(
        self, reviewer: Reviewer, name: str, content: bytes, why: str
    ) -> None:
        path = reviewer.folder / name
        path.write_bytes(content)
        done = reviewer("ingest", path, "--json")
        assert done.returncode == 1
        assert done.stderr == f"Nothing could be read: 1 x {why}.\n"
        assert json.loads(done.stdout)["passed_over"] == {why: 1}
        reviewer.nothing_lost(candidates=0)


class TestWhatIsWritten:
    @pytest.mark.parametrize(
        ("words", "advice"),
        [
            (["edit", "1"], " To reject a candidate: reviewer reject ID"),
            (["remember"], ""),
        ],
    )
    def test_an_empty_text(self, seeded: Reviewer, words: list[str], advice: str) -> None:
        (seeded.folder / "words.txt").touch()
        line = seeded.fails(*words, "--content-file", "words.txt")
        assert line == f"words.txt is empty.{advice}"
