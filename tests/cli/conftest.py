"""The real command line on stores of its own, in this process where nothing hinges on another."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from reviewer.cli.run import run
from reviewer.engine import Engine
from reviewer.main import check_keymap, open_screen
from tests.cli import warm
from tests.cli.capabilities import bound_by_permissions, impatient

NOTE = """# Decisions of the kiosk team

## Decision: receipts are printed in the customer's language

- [Decision] Receipts are printed in the language that the customer chose at the start.
- [Preference] We prefer thermal paper without BPA for all printers.
- [Constraint] A receipt has to be printed within two seconds of the payment.
- paper width = 80 mm

We decided to keep the drawer closed until the card terminal has answered. The root cause of the
double charges was that the terminal repeated its answer after a timeout of 20 seconds.
"""


LONGEST = 250
"""Seconds for one call; a test that may take less is ended by its own limit."""


STREAMS = ("stdin", "stdout", "stderr")

APART = {"demo", "fleet", "hook", "mcp", "serve", "watch"}
"""Verbs with alarms, signals or processes of their own, which this process cannot lend them."""


MAKING = {"dev-seed", "ingest", "remember"}
"""Verbs that make a store where there is none."""


@cache
def _empty_store() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        Engine.open(path).close()
        return path.read_bytes()


def in_this_process(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], typed: str | None
) -> subprocess.CompletedProcess[str]:
    """A finished call with a folder, an environment and streams of its own."""
    buffers = {name: io.BytesIO() for name in STREAMS}
    buffers["stdin"] = io.BytesIO((typed or "").encode("utf-8"))
    known = dict(os.environ)
    with pytest.MonkeyPatch.context() as here:
        for name, buffer in buffers.items():
            here.setattr(sys, name, io.TextIOWrapper(buffer, encoding="utf-8"))
        here.setattr(sys, "argv", ["reviewer", *words])
        here.chdir(folder)
        try:
            _set_environment(environment)
            code = run(words, open_screen, check_keymap)
        finally:
            _set_environment(known)
        sys.stdout.flush()
        sys.stderr.flush()
        out, err = (
            buffers[name].getvalue().decode("utf-8", "surrogateescape") for name in STREAMS[1:]
        )
    return subprocess.CompletedProcess(words, code, out, err)


def _set_environment(variables: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(variables)
    time.tzset()


def of_python(environment: dict[str, str]) -> bool:
    """Whether python itself reads one of these variables when it starts."""
    return any(name.startswith(warm.INTERPRETER) for name in environment)


class Reviewer:
    """Calls `reviewer` with a home and a store of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.db = folder / "store.db"
        self.home = folder / "home"
        self.home.mkdir(exist_ok=True)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("REVIEWER_", "XDG_"))}
        self.environment = {
            **kept,
            "HOME": str(self.home),
            "COLUMNS": "80",
            "REVIEWER_ACTOR": "you",
        }

    def start(self, *arguments: object, db: bool = True, **settings: Any) -> warm.Running:
        """A running call, forked where it can be; `db=False` leaves `--db` out."""
        words = self._words(arguments, db)
        more = settings.pop("env", {})
        environment = {**self.environment, **more}
        folder = settings.pop("cwd", self.folder)
        streams = {name: settings.pop(name, subprocess.PIPE) for name in STREAMS}
        gives_up = settings.get("preexec_fn")
        if gives_up in (bound_by_permissions, impatient):
            first: warm.First = (f"{gives_up.__module__}:{gives_up.__name__}", [])
            return warm.Started(words, folder, environment, streams, first)
        if not settings and not of_python(more):
            return warm.Started(words, folder, environment, streams)
        return subprocess.Popen(
            [sys.executable, "-m", "reviewer", *words],
            cwd=folder,
            env=environment,
            text=True,
            encoding="utf-8",
            errors="surrogateescape",
            **streams,
            **settings,
        )

    def __call__(
        self, *arguments: object, typed: str | None = None, db: bool = True, **settings: Any
    ) -> subprocess.CompletedProcess[str]:
        """A finished call, in this process where it can be."""
        words, more = self._words(arguments, db), settings.get("env", {})
        if settings.keys() <= {"env", "cwd"} and not of_python(more) and APART.isdisjoint(words):
            folder = settings.get("cwd", self.folder)
            return in_this_process(words, folder, {**self.environment, **more}, typed)
        with self.start(*arguments, db=db, **settings) as process:
            out, err = process.communicate(typed, timeout=LONGEST)
        return subprocess.CompletedProcess(process.args, process.returncode, out or "", err or "")

    def succeeds(self, *arguments: object, **settings: Any) -> subprocess.CompletedProcess[str]:
        """A call that has to end with exit code 0."""
        done = self(*arguments, **settings)
        assert done.returncode == 0, (arguments, done.stdout, done.stderr)
        return done

    def _words(self, arguments: Sequence[object], db: bool) -> list[str]:
        words = [*(["--db", str(self.db)] if db else []), *map(str, arguments)]
        if db and not MAKING.isdisjoint(words):
            self.make_store()
        return words

    def make_store(self) -> None:
        """A copy of an empty store, where there is none: making its tables takes longer."""
        if self.db.parent.exists() and not self.db.exists():
            self.db.write_bytes(_empty_store())
            self.db.chmod(0o600)

    def configured(self, text: str) -> dict[str, str]:
        """An environment with these settings."""
        path = self.folder / "config.toml"
        path.write_text(text, encoding="utf-8")
        return {"REVIEWER_CONFIG": str(path)}

    def rows(self, *arguments: object, **settings: Any) -> list[dict[str, Any]]:
        """The JSON objects that a call printed; the call has to succeed."""
        done = self.succeeds(*arguments, "--json", **settings)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def ids(self, *arguments: object) -> list[int]:
        """The ids of `queue list` with these options."""
        return [row["id"] for row in self.rows("queue", "list", *arguments)]

    def fails(self, *arguments: object, code: int = 1, **settings: Any) -> str:
        """The one line of a failing call, which prints no other output and no traceback."""
        done = self(*arguments, **settings)
        assert done.returncode == code, (done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        assert "defect" not in done.stderr
        assert done.stdout == ""
        lines = done.stderr.splitlines()
        assert len(lines) == 1, done.stderr
        return lines[0]

    def nothing_lost(self, *, candidates: int | None = None) -> None:
        """The ledger and the rows still agree, and no candidate went away."""
        assert self("verify").returncode == 0
        if candidates is not None:
            assert len(self.ids("--status", "all")) == candidates


@pytest.fixture
def reviewer(tmp_path: Path) -> Reviewer:
    """The program with an empty home and no store yet."""
    return Reviewer(tmp_path)


@pytest.fixture(scope="session")
def seeded_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    builder = Reviewer(tmp_path_factory.mktemp("seeded"))
    assert builder("dev-seed", 12).returncode == 0
    return builder.db


@pytest.fixture
def seeded(reviewer: Reviewer, seeded_store: Path) -> Reviewer:
    """The program with 12 made-up candidates."""
    shutil.copy(seeded_store, reviewer.db)
    return reviewer


@pytest.fixture(scope="session")
def ingested_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    builder = Reviewer(tmp_path_factory.mktemp("ingested"))
    note = builder.folder / "kiosk-decisions.md"
    note.write_text(NOTE, encoding="utf-8")
    done = builder("--project", "kiosk", "ingest", note)
    assert done.returncode == 0, done.stderr
    return builder.db


@pytest.fixture
def ingested(reviewer: Reviewer, ingested_store: Path) -> Reviewer:
    """The program with the candidates of a small note, in the project `kiosk`."""
    shutil.copy(ingested_store, reviewer.db)
    return reviewer
