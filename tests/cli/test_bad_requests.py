"""Wrong requests of any kind: one clear line, the right exit code, no data lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Reviewer


class TestWhatIsAsked:
    @pytest.mark.parametrize("verb", ["promote", "reject", "defer", "restore"])
    def test_an_unknown_id_is_refused(self, seeded: Reviewer, verb: str) -> None:
        known = seeded.ids()[0]
        acts = len(seeded.rows("history"))
        assert "4711" in seeded.fails(verb, known, 4711)
        assert len(seeded.rows("history")) == acts

    def test_an_unknown_id_elsewhere(self, seeded: Reviewer) -> None:
        assert "4711" in seeded.fails("queue", "show", 4711)
        assert "4711" in seeded.fails("merge", 4711, "--into", 1)
        assert "4711" in seeded.fails("history", "show", 4711)
        assert "4711" in seeded.fails("undo", 4711)
        assert "4711" in seeded.fails("edit", 4711, "--content-file", "-", typed="Some other words")

    def test_a_row_that_is_already_decided(self, seeded: Reviewer) -> None:
        first, second = seeded.ids("--limit", 2)
        seeded("promote", first, "--alone")
        line = seeded.fails("reject", second, first)
        assert f"#{first}" in line
        assert "already active" in line
        assert second in seeded.ids()

    @pytest.mark.parametrize(
        "arguments",
        [
            ["promote"],
            ["promote", "abc"],
            ["promote", "0"],
            ["promote", "9" * 30],
            ["queue", "list", "--status", "new"],
            ["queue", "list", "--limit", "0"],
            ["extract", "a.md", "--from-line", "5", "--to-line", "2"],
            ["extract", "a.md", "--to-line", "2", "--from-line", "5"],
            ["no-such-verb"],
            ["--project", "", "stats"],
        ],
        ids=lambda arguments: " ".join(arguments)[:40],
    )
    def test_wrong_usage(self, seeded: Reviewer, arguments: list[str]) -> None:
        assert "--help" in seeded.fails(*arguments, code=2)

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (b"", "empty"),
            (b"  \n", "empty"),
            (b"\xff\xfe\x00", "UTF-8"),
            (b"x" * (1 << 21), "larger"),
            (b"x", "at least 8 characters, this has 1. Write a sentence that makes sense on"),
            (b"x" * 5_000, "at most 4,000 characters, this has 5,000."),
        ],
        ids=["nothing", "spaces", "no text", "a large file", "a letter", "a long text"],
    )
    def test_a_bad_wording(self, seeded: Reviewer, content: bytes, said: str) -> None:
        wording = seeded.folder / "wording"
        wording.write_bytes(content)
        memory = seeded.ids()[0]
        assert said in seeded.fails("edit", memory, "--content-file", wording)
        assert "nowhere" in seeded.fails("edit", memory, "--content-file", "nowhere")
        seeded.nothing_lost()

    def test_the_screen_without_a_terminal(self, seeded: Reviewer) -> None:
        assert "reviewer queue list" in seeded.fails(code=2)
        assert "needs a terminal" in seeded.fails("demo", code=2)


def test_a_misspelt_command_names_the_nearest_ones(reviewer: Reviewer) -> None:
    said = reviewer.fails("promot", "1", code=2)
    assert "There is no command 'promot'. Did you mean promote" in said
    assert said.endswith("? See: reviewer --help")
    assert reviewer.fails("frobnicate", code=2) == (
        "There is no command 'frobnicate'. See: reviewer --help"
    )


def test_a_working_folder_that_is_gone_is_named_as_the_cause(
    reviewer: Reviewer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    done = subprocess.run(
        [sys.executable, "-m", "reviewer", "ingest", "notes"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == ("The current folder no longer exists: change to another one with cd.\n")
