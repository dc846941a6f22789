"""Jobs over many files, in processes of their own, with real clusters and buckets."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Reviewer
from tests.cli.warm import Running
from tests.stored import rows_of
from tests.waiting import until

NEEDED = ("boto3", "distributed", "duckdb", "moto", "pyarrow", "s3fs")
HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without what these tests need they are skipped, with one line."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        skip = pytest.mark.skip(reason="the extra `fleet-test` is not installed")
        for item in items:
            if HERE in item.path.parents:
                item.add_marker(skip)


KILLER = "killer.jsonl"
"""A file that ends every process that reads it: see `sitecustomize.py` of `killing`."""

FACTS = (
    "We decided to keep the drawer closed until the card terminal has answered",
    "We always wait 20 seconds for the terminal, because it repeats its answer",
    "Never restart the printer while a receipt is in it, because the paper tears",
    "Always print receipts in the language that the customer chose at the start",
    "We always set `PRINT_TIMEOUT=20` on the kiosk because the cutter of the printer is slow",
)


class Fleet:
    """`reviewer` with a folder for parts."""

    def __init__(self, reviewer: Reviewer) -> None:
        self.reviewer = reviewer
        self.folder = reviewer.folder
        self.sessions = reviewer.folder / "sessions"
        self.sessions.mkdir()
        self.parts = reviewer.folder / "parts"
        self.environment: dict[str, str] = {}

    def __call__(self, *arguments: object, **settings: Any) -> subprocess.CompletedProcess[str]:
        return self.reviewer("fleet", *arguments, env=self.environment, **settings)

    def start(self, *arguments: object) -> Running:
        """A call that runs on."""
        return self.reviewer.start("fleet", *arguments, env=self.environment)

    def ok(self, *arguments: object) -> dict[str, Any]:
        """The counts of a call that succeeds."""
        done = self(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        counts: dict[str, Any] = json.loads(done.stdout)
        return counts

    def run(self, *options: object, out: Path | str | None = None) -> dict[str, Any]:
        """Read the sessions."""
        return self.ok("run", self.sessions, "--out", out or self.parts, "--workers", 2, *options)

    def fails(self, *arguments: object) -> str:
        """The sentence of a call that fails."""
        return self.reviewer.fails("fleet", *arguments, env=self.environment)

    def session(self, name: str, *words: str, **settings: Any) -> Path:
        """Write a session; see `session_lines`."""
        path = self.sessions / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(session_lines(name, *words, **settings))
        return path

    def imports(self, *options: object) -> dict[str, Any]:
        """Queue the best of the parts in the project kiosk."""
        return self.ok("import", self.parts, "--project", "kiosk", *options)

    def queue(self, *options: object) -> list[dict[str, Any]]:
        """What waits in that project, the best first."""
        return self.reviewer.rows("--project", "kiosk", "queue", "list", *options)

    def candidates(self, *options: object) -> list[dict[str, Any]]:
        """The rows of an import, those behind another included."""
        self.imports(*options)
        numbers = [row["id"] for row in self.queue()]
        behind = "SELECT id FROM memory WHERE leader_id IS NOT NULL ORDER BY id"
        numbers += [number for (number,) in rows_of(self.reviewer.db, behind)]
        shown = (self.reviewer.rows("--project", "kiosk", "queue", "show", n) for n in numbers)
        return [row for (row,) in shown]


def session_lines(
    name: str, *words: str, session: str = "", author: str = "mo", ids: str = ""
) -> str:
    """A session in which the person says each of the words. `ids`: what its messages are told apart
    by, which a resumed session has from the one before.
    """
    session = session or hashlib.sha256(name.encode()).hexdigest()[:32]
    told = [("user", "Please look at the kiosk.")]
    told += [("user", f"{each}.") for each in words]
    told.append(("assistant", "Done."))
    return "".join(
        json.dumps(
            {
                "type": role,
                "uuid": f"{ids or session}-{number}",
                "sessionId": session,
                "cwd": f"/home/{author}/kiosk",
                "timestamp": f"2026-03-01T10:{number:02}:00.000Z",
                "message": {"role": role, "content": [{"type": "text", "text": text}]},
            }
        )
        + "\n"
        for number, (role, text) in enumerate(told)
    )


def rows(path: Path | str) -> list[dict[str, Any]]:
    """The rows of a Parquet file."""
    import pyarrow.parquet as pq

    found: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return found


def evidence(parts: Path) -> str:
    """A hash over everything that whole parts found, in whichever part it is."""
    whole = [str(path).removesuffix(".files.parquet") for path in parts.glob("*.files.parquet")]
    found = [row for name in whole for row in rows(f"{name}.evidence.parquet")]
    lines = sorted(
        json.dumps({name: value for name, value in row.items() if name != "part"}, sort_keys=True)
        for row in found
    )
    assert lines
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def same_moment(first: Path, second: Path) -> None:
    """Let a job count ages from the moment of another, of which it has one part."""
    second.mkdir()
    name = min(first.glob("part-*")).name.split(".")[0]
    for path in first.glob(f"{name}.*"):
        shutil.copy(path, second)


def whole_parts(parts: Path) -> int:
    """How many parts are whole."""
    return len(list(parts.glob("*.files.parquet")))


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    """The program with an empty home and no sessions yet."""
    return Fleet(Reviewer(tmp_path))


@pytest.fixture
def twelve(fleet: Fleet) -> Fleet:
    """The same with twelve sessions that say facts of the kiosk."""
    write_twelve(fleet)
    return fleet


def write_twelve(fleet: Fleet) -> None:
    """Write twelve sessions, of four people."""
    for number in range(12):
        said = [FACTS[(number + step) % len(FACTS)] for step in range(3)]
        fleet.session(f"s{number:02}.jsonl", *said, author=f"person{number % 4}")


@pytest.fixture(scope="session")
def read_once(tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    """The same, read; nobody changes it."""
    fleet = Fleet(Reviewer(tmp_path_factory.mktemp("read")))
    write_twelve(fleet)
    fleet.run()
    return fleet


@pytest.fixture
def read(fleet: Fleet, read_once: Fleet) -> Fleet:
    """The program with a copy of the parts of the twelve sessions."""
    fleet.sessions = read_once.sessions
    shutil.copytree(read_once.parts, fleet.parts)
    return fleet


@pytest.fixture
def killing(fleet: Fleet) -> Fleet:
    """The same, where reading KILLER ends the process, as memory that runs out would."""
    folder = fleet.folder / "site"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        "import multiprocessing, os, signal\n"
        "opened = os.open\n"
        "def deadly(path, *more, **named):\n"
        f"    if str(path).endswith({KILLER!r}) and multiprocessing.parent_process():\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return opened(path, *more, **named)\n"
        "os.open = deadly\n"
    )
    fleet.environment["PYTHONPATH"] = str(folder)
    return fleet


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A Dask scheduler and two workers, each with a nanny, in processes of their own."""
    running = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        running.start(2)
        yield running
    finally:
        running.stop()


class Cluster:
    """A Dask scheduler with workers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = ""
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self, workers: int = 2) -> None:
        note = self.folder / "scheduler.json"
        self._run("scheduler", "--host", "127.0.0.1", "--port", 0, "--no-dashboard",
                  "--scheduler-file", note)  # fmt: skip
        until(lambda: note.exists() and note.stat().st_size > 0, seconds=60)
        self.address = json.loads(note.read_text())["address"]
        for number in range(workers):
            scratch = self.folder / f"worker-{number}"
            self._run("worker", self.address, "--nthreads", 1, "--no-dashboard",
                      "--memory-limit", 0, "--local-directory", scratch)  # fmt: skip
        until(lambda: len(self.worker_pids()) == workers, seconds=60)

    def _run(self, kind: str, *options: object) -> None:
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *map(str, options)]
        log = (self.folder / f"{kind}-{len(self.processes)}.log").open("wb")
        self.processes.append(subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder))
        log.close()

    def worker_pids(self) -> list[int]:
        """The processes that read files."""
        import os

        import distributed

        connect: Any = distributed.Client  # untyped
        with connect(self.address, timeout=30) as client:
            return list(client.run(os.getpid).values())

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            process.wait(timeout=60)
