"""The real command line in processes of its own, on stores of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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


def of_python(environment: dict[str, str]) -> bool:
    """Whether python itself reads one of these variables when it starts."""
    return any(name.startswith(warm.INTERPRETER) for name in environment)


class Reviewer:
    """Calls `reviewer` with a home and a store of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.db = folder / "store.db"
        home = folder / "home"
        home.mkdir(exist_ok=True)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("REVIEWER_", "XDG_"))}
        self.environment = {**kept, "HOME": str(home), "COLUMNS": "80", "REVIEWER_ACTOR": "you"}

    def start(self, *arguments: object, db: bool = True, **settings: Any) -> warm.Running:
        """A running call, forked where it can be; `db=False` leaves `--db` out."""
        words = [*(["--db", str(self.db)] if db else []), *map(str, arguments)]
        more = settings.pop("env", {})
        environment = {**self.environment, **more}
        folder = settings.pop("cwd", self.folder)
        streams = {name: settings.pop(name, subprocess.PIPE) for name in STREAMS}
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
        """A finished call; forked from a warm process where it can be."""
        more = settings.get("env", {})
        gives_up = settings.get("preexec_fn")
        first: warm.First | None = None
        if gives_up in (bound_by_permissions, impatient):
            first = (f"{gives_up.__module__}:{gives_up.__name__}", [])
        known = {"env", "cwd", *(["preexec_fn"] if first else [])}
        if not settings.keys() - known and not of_python(more):
            words = [*(["--db", str(self.db)] if db else []), *map(str, arguments)]
            environment = {**self.environment, **more}
            folder = settings.get("cwd", self.folder)
            return warm.call(words, folder, environment, typed, LONGEST, first)
        with self.start(*arguments, db=db, **settings) as process:
            out, err = process.communicate(typed, timeout=LONGEST)
        return subprocess.CompletedProcess(process.args, process.returncode, out or "", err or "")

    def rows(self, *arguments: object) -> list[dict[str, Any]]:
        """The JSON objects that a call printed; the call has to succeed."""
        done = self(*arguments, "--json")
        assert done.returncode == 0, done.stderr
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
def stores(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Reviewer, str], None]:
    """Gives a program a copy of a store that is made once: `seeded` or `ingested`."""
    made: dict[str, Path] = {}

    def give(program: Reviewer, kind: str) -> None:
        if kind not in made:
            builder = Reviewer(tmp_path_factory.mktemp(kind))
            if kind == "seeded":
                assert builder("dev-seed", 12).returncode == 0
            else:
                note = builder.folder / "kiosk-decisions.md"
                note.write_text(NOTE, encoding="utf-8")
                done = builder("--project", "kiosk", "ingest", note)
                assert done.returncode == 0, done.stderr
            made[kind] = builder.db
        shutil.copy(made[kind], program.db)

    return give


@pytest.fixture
def seeded(reviewer: Reviewer, stores: Callable[[Reviewer, str], None]) -> Reviewer:
    """The program with 12 made-up candidates."""
    stores(reviewer, "seeded")
    return reviewer


@pytest.fixture
def ingested(reviewer: Reviewer, stores: Callable[[Reviewer, str], None]) -> Reviewer:
    """The program with the candidates of a small note, in the project `kiosk`."""
    stores(reviewer, "ingested")
    return reviewer
