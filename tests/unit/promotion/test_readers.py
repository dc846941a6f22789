"""Reading in several processes gives exactly what reading in one gives, and never hangs."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from reviewer.engine import Engine
from reviewer.errors import SourceError
from reviewer.promotion import reader_process, readers, wire
from reviewer.promotion.reading import Closed, Job, read
from reviewer.promotion.wave_report import WaveReport
from tests.waiting import until

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)
SESSION = "5f0c0f0e-6a55-4b1e-9c1d-0d9a7a1f{:04d}"
SAID = (
    "The kiosk printer drops jobs because the spooler folder `/var/spool/kiosk` is full.",
    "We decided to keep the receipts of kiosk {n} for 90 days. The key is ghp_{secret}.",
    "Never restart the kiosk {n} while a receipt is printing, or the drawer stays open.",
    "Let me look at the logs of the kiosk.",
    "The timeout of the card reader = 30 s, and the retry counter lives in `reader.toml`.",
)
BOOT = "# AGENTS.md instructions for kiosk\n\n- Never push to the main branch of the kiosk.\n"


def line(number: int, at: int, **fields: Any) -> str:
    parent = f"{number:04d}-{at - 1:04d}" if at else None
    record = {
        "uuid": f"{number:04d}-{at:04d}", "parentUuid": parent,
        "sessionId": SESSION.format(number), "timestamp": "2026-05-19T08:00:00Z", **fields,
    }  # fmt: skip
    return msgspec.json.encode(record).decode()


def session(number: int, turns: int) -> str:
    """A session: boot text in every third file, then questions and answers."""
    lines = []
    if number % 3 == 0:
        message = {"role": "user", "content": BOOT}
        lines.append(line(number, 0, type="user", message=message))
    for turn in range(1, turns + 1):
        text = SAID[turn % len(SAID)].format(n=turn % 7 + number, secret="x7Kd9QwErTy" * 4)
        if turn % 5 == 0:
            text += "\n\n- Never push to the main branch of the kiosk.\n"
        role = "user" if turn % 4 == 0 else "assistant"
        content: object = text if role == "user" else [{"type": "text", "text": text}]
        message = {"role": role, "id": f"m{number}-{turn}", "content": content}
        lines.append(line(number, turn, type=role, message=message))
    return "\n".join([*lines, "not JSON", ""])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of several formats, one of them damaged and one of no known format."""
    folder = tmp_path / "sessions"
    folder.mkdir()
    for number in range(7):
        text = session(number, turns=150 if number == 2 else 20)
        (folder / f"{number}.jsonl").write_text(text, encoding="utf-8")
    (folder / "decisions.md").write_text(
        "# Kiosk\n\n## Decision: keep one queue a kiosk\n\nTwo queues would race for the drawer.\n"
    )
    (folder / "unknown.jsonl").write_text('{"session_meta": 1, "type": "session_meta"}\n' * 5)
    (folder / "empty.txt").write_text("")
    (folder / "flow.dot").write_text("digraph flow { start -> stop }\n" * 2)
    return folder


def ingested(store: Path, folder: Path, **options: Any) -> WaveReport:
    with closing(Engine.open(store, clock=lambda: NOW)) as engine:
        return engine.intake.ingest([folder], project="kiosk", **options)


def everything(store: Path) -> dict[str, list[Any]]:
    """All that a wave leaves, but for hashes and the time it took."""
    found: dict[str, list[Any]] = {}
    with closing(sqlite3.connect(store)) as connection:
        for table in ("source", "record", "memory", "entity", "evidence", "conflict"):
            rows = connection.execute(f"SELECT * FROM {table} ORDER BY id").fetchall()
            found[table] = rows
        found["act"] = connection.execute("SELECT title, rows FROM ledger").fetchall()
    for name in ("dropped.ndjson", "errors.log", "candidates.ndjson"):
        found[name] = (store.parent / f"{store.name}-waves" / "1" / name).read_text().splitlines()
    return found


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes read, however little there is to read."""
    monkeypatch.setattr(readers, "WORTH", 0)
    monkeypatch.setattr(readers, "WORTH_ANEW", 0)
    monkeypatch.setattr(readers, "_cores", lambda: 3)


@pytest.fixture(params=["copies", "begun anew"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How reading processes begin; a copy only where no other thread runs."""
    if request.param == "copies" and not reader_process.may_fork():
        pytest.skip("no copies here")
    forks = request.param == "copies"
    for module in (reader_process, readers):
        monkeypatch.setattr(module, "may_fork", lambda: forks)
    return str(request.param)


def test_what_comes_out_is_the_same_to_the_last_row(
    tmp_path: Path, folder: Path, request: pytest.FixtureRequest, kind: str
) -> None:
    one, many = tmp_path / "one" / "s.db", tmp_path / "many" / "s.db"
    alone = ingested(one, folder)
    request.getfixturevalue("at_once")
    together = ingested(many, folder)
    assert everything(one) == everything(many)
    without_time = {"seconds": 0, "report_folder": ""}
    assert msgspec.structs.replace(alone, **without_time) == msgspec.structs.replace(
        together, **without_time
    )
    assert alone.masked > 0
    assert alone.dropped["restates boot text"] > 0
    assert alone.new > 0


def test_few_or_small_files_are_read_here(folder: Path) -> None:
    jobs = [(Job(str(path), NOW, 0), path.stat().st_size) for path in folder.iterdir()]
    assert isinstance(readers.readers_for(jobs), readers.Here)
    assert isinstance(readers.readers_for([]), readers.Here)


def test_a_file_that_cannot_be_read_says_so_as_it_does_here(tmp_path: Path, folder: Path) -> None:
    jobs = [
        Job(str(folder / "unknown.jsonl"), NOW, 0),
        Job(str(folder / "gone.jsonl"), NOW, 0),
        Job(str(folder / "1.jsonl"), NOW, 0),
    ]
    reading = readers.Readers(jobs, 2)
    try:
        for job in jobs[:2]:
            with pytest.raises(SourceError) as here:
                list(read(job))
            with pytest.raises(SourceError) as there:
                list(reading.pieces(job))
            assert str(there.value) == str(here.value)
        assert isinstance(list(reading.pieces(jobs[2]))[-1], Closed)
    finally:
        reading.close()


def test_files_of_readers_that_ended_at_once_are_read_here(
    folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "serve", lambda stdin, stdout: None)  # what a copy does
    jobs = [Job(str(folder / f"{number}.jsonl"), NOW, 0) for number in range(7)]
    reading = readers.Readers(jobs, 2)
    for process in reading._processes:
        process.kill()
    try:
        assert [list(reading.pieces(job)) for job in jobs] == [list(read(job)) for job in jobs]
    finally:
        reading.close()


def test_where_the_system_lets_none_begin_files_are_read_here(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(serve: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(readers, "start", refused)
    job = Job(str(folder / "1.jsonl"), NOW, 0)
    reading = readers.Readers([job], 2)
    try:
        assert list(reading.pieces(job)) == list(read(job))
    finally:
        reading.close()


def test_a_file_whose_reader_ends_in_the_middle_is_told_to_be_read_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = wire.read_bytes
    left = iter([True, True])

    def breaking_off(stream: Any) -> tuple[bool, bytes] | None:
        return whole(stream) if next(left, False) else None

    monkeypatch.setattr(wire, "read_bytes", breaking_off)
    job = Job(str(folder / "2.jsonl"), NOW, 0)
    reading = readers.Readers([job], 1)
    try:
        pieces = reading.pieces(job)
        next(pieces)
        with pytest.raises(SourceError, match=r"has ended\. The same command reads it again"):
            list(pieces)
    finally:
        reading.close()


@pytest.mark.usefixtures("kind")
def test_closing_early_leaves_no_process_behind(folder: Path) -> None:
    jobs = [Job(str(folder / f"{number}.jsonl"), NOW, 0) for number in range(7)]
    reading = readers.Readers(jobs, 2)
    next(reading.pieces(jobs[0]))
    reading.close()
    assert all(process.poll() is not None for process in reading._processes)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_copy_holds_nothing_open_but_its_streams(tmp_path: Path, folder: Path) -> None:
    if not reader_process.may_fork():
        pytest.skip("other threads run")
    with (tmp_path / "held.txt").open("w"):
        process = reader_process.start(readers.serve)
        try:
            until(lambda: len(_open_files(process.pid)) == 3)
        finally:
            process.kill()
            process.wait()


def _open_files(number: int) -> list[str]:
    return os.listdir(f"/proc/{number}/fd")


def test_no_copy_is_made_of_a_process_whose_other_threads_would_stand_still() -> None:
    over = threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    try:
        assert not reader_process.may_fork()
    finally:
        over.set()
        thread.join()


@pytest.mark.parametrize("anew", [False, True])
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_readers_end_when_the_one_who_asked_is_killed(
    tmp_path: Path, folder: Path, anew: bool
) -> None:
    program = (
        "import sys; from datetime import *; from reviewer.promotion import readers, reading;"
        f"from reviewer.promotion import reader_process as r; r.may_fork = lambda: {not anew};"
        "jobs = [reading.Job(p, datetime.now(UTC), 0) for p in sys.argv[1:]];"
        "r = readers.Readers(jobs, 2); print(*[p.pid for p in r._processes], flush=True);"
        "sys.stdin.read()"
    )
    paths = [str(folder / f"{number}.jsonl") for number in range(7)]
    asking = subprocess.Popen(
        [sys.executable, "-c", program, *paths],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert asking.stdin is not None
    assert asking.stdout is not None
    numbers = [int(number) for number in asking.stdout.readline().split()]
    assert len(numbers) == 2
    asking.send_signal(signal.SIGKILL)
    asking.wait()
    asking.stdin.close()
    asking.stdout.close()
    until(lambda: not any(_runs(number) for number in numbers))


def _runs(number: int) -> bool:
    try:
        os.kill(number, 0)
        return "(zombie)" not in Path(f"/proc/{number}/status").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return False


@pytest.mark.parametrize("processes", [False, True])
def test_an_interrupted_wave_loses_no_statement_of_what_it_kept(
    tmp_path: Path, folder: Path, request: pytest.FixtureRequest, processes: bool
) -> None:
    if processes:
        request.getfixturevalue("at_once")
    only = tmp_path / "only"
    only.mkdir()
    for number in range(4):
        (only / f"{number}.jsonl").write_text(session(2 + 3 * number, turns=150))
    store = tmp_path / "s.db"
    asked = iter([False, False, True])
    report = ingested(store, only, cancelled=lambda: next(asked, True))
    assert (report.state, report.records) == ("interrupted", 128)
    with closing(sqlite3.connect(store)) as connection:
        (last,) = connection.execute("SELECT max(id) FROM record WHERE use = 'said'").fetchone()
        (key,) = connection.execute("SELECT key FROM record WHERE id = ?", (last,)).fetchone()
        seen = connection.execute(
            "SELECT count(*) FROM evidence WHERE record_id = ?", (last,)
        ).fetchone()[0]
    dropped = (tmp_path / "s.db-waves" / "1" / "dropped.ndjson").read_text()
    assert seen or key in dropped
    again = ingested(store, only)
    assert again.state == "done"
    assert again.records == 600
