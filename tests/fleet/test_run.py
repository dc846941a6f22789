"""`reviewer fleet run` on one machine: parts, going on, files that end their process."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fleet.conftest import (
    FACTS,
    KILLER,
    Fleet,
    evidence,
    rows,
    same_moment,
    session_lines,
    whole_parts,
)
from tests.unit.sources.builders import Scanned
from tests.waiting import until


def test_each_place_has_its_words_and_where_they_are(twelve: Fleet) -> None:
    counts = twelve.run()
    assert (counts["state"], counts["files"], counts["failed"]) == ("done", 12, 0)
    found = [row for path in twelve.parts.glob("*.evidence.parquet") for row in rows(path)]
    assert len(found) == counts["found"] >= 24
    for row in found:
        path = Path(row["path"])
        data = path.read_bytes()[row["byte_start"] : row["byte_end"]]
        text = row["excerpt"][row["span_start"] - row["excerpt_start"] :]
        assert text[: row["span_end"] - row["span_start"]].encode() in data
        record = {record.key: record for record in Scanned(path)}[row["record"]]
        assert record.sha256 == row["sha256"]
        assert (row["author"], row["project"]) == (record.meta["cwd"].split("/")[2], "kiosk")


def test_no_process_imports_a_module_from_the_current_folder(twelve: Fleet) -> None:
    planted = twelve.folder / "planted"
    planted.mkdir()
    executed = planted / "executed"
    for name in ("json", "struct", "socket"):
        (planted / f"{name}.py").write_text(f"open({str(executed)!r}, 'w')\n")
    installed = Path(sys.executable).with_name("reviewer")  # `python -m` would look there itself
    words = ["fleet", "run", str(twelve.sessions), "--out", str(twelve.parts), "--workers", "2"]
    done = subprocess.run(
        [installed, *words], cwd=planted, env=twelve.reviewer.environment, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    assert not executed.exists()


def test_what_is_whole_is_kept_and_what_is_new_is_added(twelve: Fleet) -> None:
    first = twelve.run()
    before = {path: path.stat().st_mtime_ns for path in twelve.parts.glob("part-*")}
    counts = twelve.run()
    assert (counts["parts"], counts["parts_before"]) == (first["parts"], first["parts"])
    assert {path: path.stat().st_mtime_ns for path in twelve.parts.glob("part-*")} == before
    twelve.session("later.jsonl", "The cutter of the printer has to be oiled every month")
    counts = twelve.run()
    assert (counts["parts"] - first["parts"], counts["files"]) == (1, 13)


def test_a_run_that_was_cut_off_goes_on(twelve: Fleet) -> None:
    for number in range(20):
        twelve.session(f"more{number}.jsonl", *FACTS)
    whole = twelve.folder / "whole"
    twelve.run(out=whole)
    same_moment(whole, twelve.parts)
    running = twelve.start("run", twelve.sessions, "--out", twelve.parts, "--workers", 2)
    until(lambda: whole_parts(twelve.parts) > 2, seconds=60)
    running.kill()
    running.communicate(timeout=60)  # its processes end, too
    there = whole_parts(twelve.parts)
    counts = twelve.run()
    assert counts["files"] == 32
    assert counts["parts_before"] >= there
    assert evidence(twelve.parts) == evidence(whole)


@pytest.fixture
def endless(fleet: Fleet) -> Fleet:
    """A session that says much the same again and again, for minutes of reading."""
    fleet.session("short.jsonl", *FACTS)
    said = " ".join(f"{fact}." for fact in FACTS) * 20
    with gzip.open(fleet.sessions / "endless.jsonl.gz", "wb", compresslevel=1) as packed:
        for number in range(200):
            each = [f"{number}, {again}: {said}" for again in range(40)]
            lines = session_lines("endless", *each, ids=f"message-{number}")
            packed.write(lines.encode())
    return fleet


def test_ctrl_c_waits_only_a_moment_for_a_file_that_takes_long(
    endless: Fleet,
) -> None:
    running = endless.start("run", endless.sessions, "--out", endless.parts, "--workers", 2)
    until(lambda: whole_parts(endless.parts) == 1, seconds=60)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130, said
    assert "What was read so far is kept; run the same command to continue." in said
    assert "Traceback" not in said
    assert whole_parts(endless.parts) == 1


def test_a_file_that_ends_its_process_is_named_and_the_rest_is_read(killing: Fleet) -> None:
    for number in range(39):
        killing.session(f"s{number}.jsonl", *FACTS[:2])
    killer = killing.session(KILLER, *FACTS)
    counts = killing.run()
    (problem,) = counts["problems"]
    assert problem == f"{killer} ended the process that read it (out of memory, or a crash)."
    assert (counts["files"], counts["failed"], counts["found"]) == (40, 1, 78)
    assert counts["killers"] == [str(killer)]
    assert problem in killing("run", killing.sessions, "--out", killing.parts).stderr


def test_files_that_cannot_be_read_are_named_and_the_rest_is_read(twelve: Fleet) -> None:
    whole = twelve.session("whole.jsonl", *FACTS).read_bytes()
    (twelve.sessions / "whole.jsonl").unlink()
    (twelve.sessions / "cut.jsonl").write_bytes(whole[: len(whole) * 2 // 3])
    (twelve.sessions / "cut.jsonl.gz").write_bytes(gzip.compress(whole * 90)[:400])
    (twelve.sessions / "empty.jsonl").write_bytes(b"")
    (twelve.sessions / "config.json").write_text('{"name": "not a session"}')
    (twelve.sessions / "damaged.json").write_text('{"name": ')
    (twelve.sessions / "packed.jsonl.gz").write_bytes(gzip.compress(whole))
    counts = twelve.run()
    assert counts["files"] == 18
    assert (counts["failed"], counts["other_kind"]) == (2, 1)
    found = {
        Path(row["path"]).name: row
        for path in twelve.parts.glob("*.files.parquet")
        for row in rows(path)
    }
    assert "damaged JSON" in found["damaged.json"]["problem"]
    assert found["packed.jsonl.gz"]["found"] >= 4
    assert found["cut.jsonl"]["found"] >= 1
    assert found["empty.jsonl"]["format"] == "empty"
    assert (
        f"{twelve.sessions}/cut.jsonl.gz cannot be read: the compressed file ends too early."
        in counts["problems"]
    )
    assert not counts["passed_over"]


def test_a_file_that_goes_away_before_it_is_read(killing: Fleet) -> None:
    gone = killing.session("gone.jsonl", *FACTS)
    killing.session("stays.jsonl", *FACTS)
    site = killing.folder / "site" / "sitecustomize.py"
    site.write_text(
        "import multiprocessing.process, os\n"
        "start = multiprocessing.process.BaseProcess.start\n"
        "def renaming(self):\n"
        f"    os.path.exists({str(gone)!r}) and os.rename({str(gone)!r}, {str(gone)!r} + '.new')\n"
        "    return start(self)\n"
        "multiprocessing.process.BaseProcess.start = renaming\n"
    )
    counts = killing.run()
    assert (counts["files"], counts["failed"]) == (2, 1)
    assert counts["problems"] == [f"{gone} does not exist: check the path."]


def test_a_folder_of_another_version_or_with_a_damaged_part(read: Fleet) -> None:
    import pyarrow.parquet as pq

    first = min(read.parts.glob("*.files.parquet"))
    table = pq.read_table(first)
    settings = json.loads(table.schema.metadata[b"reviewer"])
    other = {b"reviewer": json.dumps({**settings, "layout": 1}).encode()}
    pq.write_table(table.replace_schema_metadata(other), first)
    verbs = (("run", read.sessions, "--out", read.parts), ("import", read.parts))
    for verb in verbs:
        assert "has another version of reviewer (layout 1" in read.fails(*verb)
    first.write_bytes(b"PAR1 and nothing else")
    for verb in verbs:
        assert str(first) in read.fails(*verb)


def test_sources_that_are_not_there(fleet: Fleet) -> None:
    assert "does not exist" in fleet.fails("run", fleet.folder / "no", "--out", fleet.parts)
    assert "matches no file" in fleet.fails("run", fleet.folder / "*.jsonl", "--out", fleet.parts)


def test_the_name_of_every_file_that_cannot_be_read_is_listed(twelve: Fleet) -> None:
    whole = twelve.session("whole.jsonl", *FACTS).read_bytes()
    (twelve.sessions / "check.jsonl.gz").write_bytes(gzip.compress(whole)[:-8] + b"abcdefgh")
    (twelve.sessions / "loop.jsonl").symlink_to("loop.jsonl")
    (twelve.sessions / "gone.jsonl").symlink_to("nowhere")
    Path(os.fsdecode(os.fsencode(twelve.sessions) + b"/odd\xff.jsonl")).write_bytes(whole)
    counts = twelve.run()
    assert (counts["files"], counts["failed"]) == (16, 3)
    assert counts["passed_over"] == {"a link to nothing, or removed just now": 1}
    said = [each.replace(f"{twelve.sessions}/", "") for each in counts["problems"]]
    assert said == [
        "check.jsonl.gz cannot be read: the compressed file is damaged.",
        "loop.jsonl cannot be read: too many levels of symbolic links.",
        "odd\\xff.jsonl cannot be read: its name is not text in UTF-8. Rename it.",
    ]


@pytest.mark.parametrize("source", ["", "**"])
def test_what_the_job_writes_is_not_read(fleet: Fleet, source: str) -> None:
    fleet.session("one.jsonl", *FACTS)
    parts = fleet.sessions / "parts"
    for _ in range(2):
        counts = fleet.ok("run", fleet.sessions / source, "--out", parts)
        assert (counts["parts"], counts["files"], counts["other_kind"]) == (1, 1, 0)


TOKEN = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"


def test_a_file_with_a_secret_in_its_name_is_not_read_and_the_secret_not_written(
    fleet: Fleet,
) -> None:
    fleet.session(f"{TOKEN}.jsonl", *FACTS)
    fleet.session("plain.jsonl", FACTS[0])
    counts = fleet.run()
    assert (counts["files"], counts["failed"], counts["found"]) == (2, 1, 1)
    (said,) = counts["problems"]
    assert "its name has a secret in it, and every row cites it. Rename it." in said
    kept = [path for path in fleet.parts.rglob("*") if path.is_file()]
    assert not [path for path in kept if TOKEN[4:].encode() in path.read_bytes()]
    assert TOKEN not in said


def test_a_password_in_an_address_is_refused_and_never_shown(fleet: Fleet) -> None:
    address = "http://mo:hunter2hunter2@127.0.0.1:1/x.jsonl"
    for arguments in (
        ("run", address, "--out", fleet.parts),
        ("run", fleet.sessions, "--out", address),
        ("import", address),
    ):
        said = fleet.fails(*arguments)
        assert "has a password in it" in said
        assert "hunter2" not in said
    assert not fleet.parts.exists()


def test_addresses_that_cannot_be_opened(fleet: Fleet) -> None:
    said = fleet.fails("run", "http://127.0.0.1:1/x.jsonl", "--out", fleet.parts)
    assert "http://127.0.0.1:1/x.jsonl cannot be read: Cannot connect to host" in said
    said = fleet.fails("run", "http://127.0.0.1:1/x?X-Sig-Token=abc123", "--out", fleet.parts)
    assert "Cannot connect" in said
    assert "abc123" not in said
    said = fleet.fails("run", "ftp://x/y", "--out", fleet.parts)
    assert "ftp://x/y cannot be opened" in said
    assert "REVIEWER_FSSPEC has its options" in said


def test_an_empty_source_is_refused(fleet: Fleet) -> None:
    said = fleet.reviewer.fails("fleet", "run", "", "--out", fleet.parts, code=2)
    assert "one SOURCE is empty" in said
    assert not fleet.parts.exists()


def test_a_run_that_read_nothing_fails(fleet: Fleet) -> None:
    (fleet.sessions / "damaged.json").write_text('{"name": ')
    done = fleet("run", fleet.sessions, "--out", fleet.parts)
    assert done.returncode == 1
    assert "None of the files could be read" in done.stderr
    assert "Next:" not in done.stderr


def test_the_output_is_a_folder(twelve: Fleet) -> None:
    note = twelve.folder / "notes.md"
    note.write_text("# Notes\n")
    for out, why in (("", "name the folder for the parts"), (note, f"{note} is a file")):
        said = twelve.reviewer.fails("fleet", "run", twelve.sessions, "--out", out, code=2)
        assert why in said
    assert not list(twelve.folder.glob("*.parquet"))
