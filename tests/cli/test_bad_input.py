"""Whatever is wrong with the input: one clear line, the right exit code, nothing lost."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import NOTE, Reviewer

DROP_FROM_BOUNDING_SET = 24
OVERRIDE_PERMISSIONS, SEARCH_ANYWHERE = 1, 2


def bound_by_permissions() -> None:
    """Give up, before the program starts, what lets the superuser open any file (Linux)."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in (OVERRIDE_PERMISSIONS, SEARCH_ANYWHERE):
            libc.prctl(DROP_FROM_BOUNDING_SET, capability, 0, 0, 0)


@pytest.fixture
def bound(tmp_path: Path) -> Callable[[], None]:
    """Passed as `preexec_fn`, it makes file permissions count; skips where that cannot be had."""
    closed = tmp_path / "closed"
    closed.write_text("closed")
    closed.chmod(0)
    tried = subprocess.run(
        ["cat", closed], preexec_fn=bound_by_permissions, capture_output=True, check=False
    )
    if tried.returncode == 0:
        pytest.skip("permissions do not bind this user")
    return bound_by_permissions


def wave(program: Reviewer, *paths: object) -> dict[str, object]:
    """The counts of an ingestion that succeeds."""
    (counts,) = program.rows("ingest", *paths)
    return counts


def records_in(db: Path) -> int:
    """How many records a store holds by now; 0 while it is being made."""
    try:
        with closing(sqlite3.connect(f"{db.as_uri()}?mode=ro", uri=True)) as connection:
            return int(connection.execute("SELECT count(*) FROM record").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


class TestWhatIsRead:
    def test_a_missing_path(self, reviewer: Reviewer) -> None:
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

    def test_a_folder_without_anything_readable(self, reviewer: Reviewer) -> None:
        folder = reviewer.folder / "pictures"
        folder.mkdir()
        (folder / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
        done = reviewer("ingest", folder)
        assert (done.returncode, done.stderr) == (1, "Nothing could be read: 1 x binary.\n")
        (folder / "a.png").unlink()
        done = reviewer("ingest", folder)
        assert (done.returncode, done.stderr) == (1, "There is nothing to read there.\n")
        (folder / ".gitignore").write_text("*.md\n")
        (folder / "a.md").write_text(NOTE)
        done = reviewer("ingest", folder)
        assert done.returncode == 1
        assert "1 x ignored by .gitignore" in done.stderr
        reviewer.nothing_lost(candidates=0)

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("binary.md", bytes(range(256)) * 40),
            ("empty.md", b""),
            ("blank.jsonl", b"\n\n\n"),
            ("cut.jsonl", b'{"type":"user","uuid":"a","message":{"role":"user","content":"Hel'),
            ("wrong.json", b"{]"),
            ("deep.json", b"[" * 100_000),
            (
                "latin.md",
                "# Größe\n\n- [Decision] Über die Tür wird entschieden.\n".encode("latin-1"),
            ),
            ("nul.txt", b"We decided to keep\x00 the drawer closed until the terminal answers.\n"),
        ],
    )
    def test_damaged_files_are_counted(self, reviewer: Reviewer, name: str, content: bytes) -> None:
        path = reviewer.folder / name
        path.write_bytes(content)
        done = reviewer("ingest", path)
        assert "Traceback" not in done.stderr
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert done.returncode == (1 if done.stderr.startswith("Nothing could be read") else 0)
        if reviewer.db.exists():
            reviewer.nothing_lost()

    def test_invalid_utf8_keeps_what_can_be_read(self, reviewer: Reviewer) -> None:
        note = reviewer.folder / "note.md"
        note.write_bytes(
            NOTE.encode() + b"\n- [Decision] The \xff\xfe drawer has two keys and a lock.\n"
        )
        assert wave(reviewer, note)["new"]
        assert reviewer("queue", "list").returncode == 0

    def test_a_name_that_is_no_text_is_said(self, reviewer: Reviewer) -> None:
        name = os.fsdecode(b"note-\xff.md")
        Path(reviewer.folder / name).write_text(NOTE)
        done = reviewer("ingest", name)
        assert done.returncode == 1
        assert done.stderr == "Nothing could be read: 1 x a name that is no text.\n"

    def test_a_name_that_is_no_text_does_not_stop_its_folder(self, reviewer: Reviewer) -> None:
        folder = reviewer.folder / "notes"
        folder.mkdir()
        (folder / "good.md").write_text(NOTE)
        (folder / os.fsdecode(b"note-\xff.md")).write_text(NOTE)
        assert wave(reviewer, folder)["new"]

    def test_ingesting_again_adds_nothing(self, ingested: Reviewer) -> None:
        note = ingested.folder / "kiosk-decisions.md"
        note.write_text(NOTE, encoding="utf-8")
        before = len(ingested.ids("--status", "all"))
        (counts,) = ingested.rows("--project", "kiosk", "ingest", note)
        assert counts["new"] == 0
        ingested.nothing_lost(candidates=before)

    def test_a_folder_in_which_nothing_changed_is_no_failure(self, reviewer: Reviewer) -> None:
        folder = reviewer.folder / "notes"
        folder.mkdir()
        (folder / "note.md").write_text(NOTE)
        wave(reviewer, folder)
        again = wave(reviewer, folder)
        assert (again["files"], again["unchanged"]) == (0, 1)


class TestTheStore:
    def test_none_there(self, reviewer: Reviewer) -> None:
        line = reviewer.fails("queue", "list")
        assert "reviewer ingest PATH" in line
        assert not reviewer.db.exists()

    def test_no_sqlite_file(self, reviewer: Reviewer) -> None:
        reviewer.db.write_text("Dear diary, today I was mistaken for a store.\n" * 50)
        before = reviewer.db.read_bytes()
        for arguments in (["queue", "list"], ["dev-seed", "1"], ["verify"]):
            assert "not a reviewer store" in reviewer.fails(*arguments)
        assert reviewer.db.read_bytes() == before

    def test_a_folder_in_its_place(self, reviewer: Reviewer) -> None:
        reviewer.db.mkdir()
        assert f"{reviewer.db} is a folder: name a file" in reviewer.fails("queue", "list")

    def test_no_name_at_all(self, reviewer: Reviewer) -> None:
        assert "name the file" in reviewer.fails("--db", "", "stats", db=False, code=2)

    def test_of_a_newer_version(self, seeded: Reviewer) -> None:
        with sqlite3.connect(seeded.db) as connection:
            connection.execute("PRAGMA user_version = 99")
        connection.close()
        assert "newer reviewer" in seeded.fails("queue", "list")
        assert "newer reviewer" in seeded.fails("promote", "1")

    def test_read_only(self, seeded: Reviewer, bound: Callable[[], None]) -> None:
        before = len(seeded.ids("--status", "all"))
        seeded.db.chmod(0o400)
        assert "read-only" in seeded.fails("promote", "1", preexec_fn=bound)
        seeded.nothing_lost(candidates=before)

    def test_a_place_where_nothing_may_be_written(
        self, reviewer: Reviewer, bound: Callable[[], None]
    ) -> None:
        folder = reviewer.folder / "closed-folder"
        folder.mkdir()
        folder.chmod(0o500)
        line = reviewer.fails("--db", folder / "s.db", "dev-seed", "1", db=False, preexec_fn=bound)
        assert "--db" in line

    def test_locked_by_another_program(self, seeded: Reviewer) -> None:
        before = len(seeded.ids("--status", "all"))
        with sqlite3.connect(seeded.db, isolation_level=None) as holder:
            holder.execute("BEGIN IMMEDIATE")
            assert "busy" in seeded.fails("promote", "1")
            assert seeded("queue", "list").returncode == 0
            holder.execute("ROLLBACK")
        holder.close()
        assert seeded("promote", "1").returncode == 0
        seeded.nothing_lost(candidates=before)

    def test_a_full_disk(self, seeded: Reviewer, tmp_path: Path) -> None:
        """SQLite reports a file that may not grow (RLIMIT_FSIZE) as it does a full disk."""
        before = len(seeded.ids("--status", "all"))
        limit = seeded.db.stat().st_size + 8192
        import resource

        def cap() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        done = seeded("dev-seed", 20_000, preexec_fn=cap)
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        assert len(done.stderr.splitlines()) == 1, done.stderr
        seeded.nothing_lost(candidates=before)

    def test_two_programs_at_once(self, seeded: Reviewer) -> None:
        ids = seeded.ids()
        running = [seeded.start("promote", memory, "--alone") for memory in ids]
        for process in running:
            _, said = process.communicate(timeout=50)
            assert process.returncode == 0, said
        assert sorted(seeded.ids("--status", "active")) == sorted(ids)
        seeded.nothing_lost(candidates=len(ids))

    def test_the_same_decision_twice_at_once(self, seeded: Reviewer) -> None:
        memory = seeded.ids()[0]
        running = [seeded.start(verb, memory, "--alone") for verb in ("promote", "reject")]
        codes = []
        for process in running:
            process.communicate(timeout=50)
            codes.append(process.returncode)
        assert sorted(codes) == [0, 1]
        seeded.nothing_lost()


class TestWhatIsAsked:
    @pytest.mark.parametrize("verb", ["promote", "reject", "defer", "restore"])
    def test_an_unknown_id_decides_nothing(self, seeded: Reviewer, verb: str) -> None:
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

    def test_what_is_already_decided(self, seeded: Reviewer) -> None:
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
            ["no-such-verb"],
            ["ingest"],
            ["--project", "", "stats"],
        ],
        ids=lambda arguments: " ".join(arguments)[:40],
    )
    def test_wrong_usage(self, seeded: Reviewer, arguments: list[str]) -> None:
        assert "--help" in seeded.fails(*arguments, code=2)

    def test_a_bad_filter(self, seeded: Reviewer) -> None:
        assert "conf" in seeded.fails("queue", "list", "--filter", "conf>high")

    def test_a_misspelt_project(self, ingested: Reviewer) -> None:
        assert "kiosk" in ingested.fails("--project", "kisok", "queue", "list")

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (b"", "empty"),
            (b"  \n", "empty"),
            (b"\xff\xfe\x00", "UTF-8"),
            (b"x" * (1 << 21), "larger"),
        ],
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
        assert "--no-screen" in seeded.fails("demo", code=2)


class TestClosedStreams:
    """`reviewer ... >&-` and the like, as shells and services start programs."""

    def call(self, program: Reviewer, line: str) -> subprocess.CompletedProcess[str]:
        command = f'exec "$0" -m reviewer --db "$1" {line}'
        return subprocess.run(
            ["bash", "-c", command, sys.executable, program.db],
            env=program.environment, cwd=program.folder, capture_output=True, text=True,
            check=False, timeout=50,
        )  # fmt: skip

    @pytest.mark.parametrize(
        "command", ["queue list", "queue list --json", "stats", "history", "--help", "--version"]
    )
    def test_nowhere_to_write_to(self, seeded: Reviewer, command: str) -> None:
        done = self.call(seeded, f"{command} >&-")
        assert done.returncode == 1
        assert done.stderr == "Standard output is closed: there is nowhere to write to.\n"
        done = self.call(seeded, f"{command} >&- 2>&-")
        assert (done.returncode, done.stderr) == (1, "")

    def test_what_prints_nothing_needs_no_output(self, seeded: Reviewer) -> None:
        memory = seeded.ids()[0]
        done = self.call(seeded, f"promote {memory} >&-")
        assert done.returncode == 0, done.stderr
        assert "Promoted" in done.stderr

    def test_nothing_to_read_from(self, seeded: Reviewer) -> None:
        done = self.call(seeded, "edit 1 --content-file - <&-")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("Standard input is closed.")
        assert len(done.stderr.splitlines()) == 1
        assert self.call(seeded, "queue list <&-").returncode == 0
        assert self.call(seeded, "<&-").returncode == 2

    def test_what_would_be_said_is_lost_and_the_code_stays(self, seeded: Reviewer) -> None:
        (seeded.folder / "note.md").write_text(NOTE)
        done = self.call(seeded, "ingest note.md 2>&-")
        assert done.returncode == 0
        assert "report" in done.stdout
        assert self.call(seeded, "promote 4711 2>&-").returncode == 1
        assert self.call(seeded, "promote 2>&-").returncode == 2
        seeded.nothing_lost()


class TestTheWayOut:
    def test_a_reader_that_goes_away(self, seeded: Reviewer) -> None:
        seeded("dev-seed", 3000)
        process = seeded.start("queue", "list", "--json")
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(timeout=50) == 0
        process.stderr.close()

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
    @pytest.mark.parametrize(
        "arguments", [["queue", "list"], ["queue", "list", "--json"], ["stats"]]
    )
    def test_output_onto_a_full_disk(self, seeded: Reviewer, arguments: list[str]) -> None:
        with Path("/dev/full").open("w") as full:
            done = seeded(*arguments, stdout=full)
        assert done.returncode == 1
        assert "No space left" in done.stderr
        assert len(done.stderr.splitlines()) == 1, done.stderr

    def test_ctrl_c_keeps_what_was_read(self, reviewer: Reviewer) -> None:
        folder = reviewer.folder / "notes"
        folder.mkdir()
        for number in range(3000):
            (folder / f"note-{number}.md").write_text(NOTE.replace("kiosk", f"kiosk {number}"))
        process = reviewer.start("ingest", folder, "--json")
        end = time.monotonic() + 30
        while time.monotonic() < end and not records_in(reviewer.db):
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=50)
        assert process.returncode == 130, err
        assert "Interrupted" in err
        counts = json.loads(out)
        assert counts["state"] == "interrupted"
        assert 0 < counts["files"] < 3000
        reviewer.nothing_lost()
        done = reviewer.rows("ingest", folder)[0]
        assert done["state"] == "done"
        assert done["files"] + done["unchanged"] >= 3000


class TestThePromotionGraph:
    """Unknown types, empty and huge words, twice the same, what another process did meanwhile."""

    def test_unknown_types_and_ids(self, ingested: Reviewer) -> None:
        memory = ingested.ids("--kind", "memory")[0]
        assert ingested("promote", memory, "--alone").returncode == 0
        assert "validation_claim" in ingested.fails("graduate", memory, "--as", "foo")
        assert "identity" in ingested.fails("add", "foo", "Some words of a fact")
        assert "#999" in ingested.fails("graduate", 999, "--as", "decision")
        assert "#999" in ingested.fails("supersede", memory, "--by", 999)
        assert "#999" in ingested.fails("conflict", "show", 999)
        assert "is no id" in ingested.fails("relate", "x", "uses", 1, code=2)
        ingested.nothing_lost()

    def test_graduating_twice_a_candidate_or_an_entity(self, ingested: Reviewer) -> None:
        memory, waiting = ingested.ids("--kind", "memory")[:2]
        assert ingested("promote", memory, "--alone").returncode == 0
        assert ingested("graduate", memory, "--as", "decision").returncode == 0
        assert "graduated already" in ingested.fails("graduate", memory, "--as", "system")
        assert "promote it first" in ingested.fails("graduate", waiting, "--as", "decision")
        entity = ingested.rows("queue", "show", memory)[0]["graduated_to"]
        assert "an entity" in ingested.fails("graduate", entity, "--as", "decision")
        ingested.nothing_lost()

    def test_empty_words(self, reviewer: Reviewer) -> None:
        blank = reviewer.folder / "blank.txt"
        blank.write_text(" \n\n")
        assert "empty" in reviewer.fails("add", "decision", "  ")
        assert "empty" in reviewer.fails("add", "decision", "--content-file", blank)
        assert "give the text" in reviewer.fails("add", "decision", code=2)
        assert "gone.txt" in reviewer.fails("add", "decision", "--content-file", "gone.txt")

    def test_a_megabyte(self, reviewer: Reviewer) -> None:
        words = reviewer.folder / "words.txt"
        words.write_text("A word \x1b[31m and another one. " * 34_000)
        assert 1_000_000 < words.stat().st_size < 1 << 20
        assert "at most 4,000" in reviewer.fails("add", "decision", "--content-file", words)
        words.write_text("x" * ((1 << 20) + 1))
        assert "1 MiB" in reviewer.fails("add", "decision", "--content-file", words)
        reviewer.nothing_lost(candidates=0)

    def test_editing_what_another_process_just_decided(self, ingested: Reviewer) -> None:
        number = ingested.ids("--kind", "memory")[0]
        words = ingested.folder / "words.txt"
        words.write_text("Other words for the same fact\n")
        assert ingested("reject", number, "--alone").returncode == 0
        line = ingested.fails("edit", number, "--content-file", words, "--promote")
        assert f"#{number} is already rejected" in line
        assert ingested("restore", number).returncode == 0
        assert ingested("promote", number, "--alone").returncode == 0
        assert ingested("edit", number, "--content-file", words, "--promote").returncode == 0
        shown = ingested.rows("queue", "show", number)[0]
        assert (shown["status"], len(shown["wordings"])) == ("active", 1)
        ingested.nothing_lost()

    def test_two_processes_that_decide_the_same_row_at_once(self, ingested: Reviewer) -> None:
        number = ingested.ids("--kind", "memory")[0]
        running = [ingested.start("promote", number, "--alone") for _ in range(3)]
        ended = [(process.communicate(timeout=50)[1], process.returncode) for process in running]
        assert sorted(code for _, code in ended) == [0, 1, 1]
        assert all("already active" in text for text, code in ended if code)
        ingested.nothing_lost()
