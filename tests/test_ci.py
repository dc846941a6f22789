"""The clean-room check sees an empty screen for what it is, and is never held up by real agents."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reviewer.engine import Engine

CI = Path(__file__).resolve().parent.parent / ".ci"
IN_TERMINAL = CI / "in_terminal.py"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store without any candidate."""
    path = tmp_path / "store.db"
    Engine.open(path).close()
    return path


def in_terminal(store: Path, seconds: int = 120) -> subprocess.CompletedProcess[str]:
    """What the check says of the screen on a store."""
    command = shlex.join(
        [sys.executable, "-m", "reviewer", "--db", str(store), "--project", "kiosk"]
    )
    return subprocess.run(
        [sys.executable, IN_TERMINAL, command, str(seconds)],
        capture_output=True,
        text=True,
        check=False,
        timeout=250,
    )


def test_an_empty_queue_does_not_pass(store: Path) -> None:
    done = in_terminal(store, seconds=2)
    assert done.returncode == 1, done.stdout
    assert done.stdout.startswith("The screen did not come up with candidates.")


def test_a_queue_with_candidates_passes(store: Path) -> None:
    engine = Engine.open(store)
    engine.intake.seed(3, project="kiosk")
    engine.close()
    done = in_terminal(store)
    assert done.returncode == 0, done.stdout


def clients(folder: Path, programs: dict[str, str], **variables: str) -> str:
    """What the part with real agents says where these programs are installed."""
    folder.mkdir()
    for name in ("bash", "cp", "dirname", "env", "mkdir", "mktemp", "rm", "sleep", "timeout"):
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    for name, text in programs.items():
        (folder / name).write_text(f"#!/usr/bin/env bash\n{text}\n")
        (folder / name).chmod(0o755)
    done = subprocess.run(
        [CI / "clients"],
        env={"PATH": str(folder), **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done.stdout


OFFLINE = "echo ENOTFOUND >&2; exit 1"
HANGS = "trap '' TERM; while true; do sleep 1; done"


@pytest.mark.parametrize(
    ("programs", "line"),
    [
        ({}, "npm is not installed"),
        ({"npm": "exit 0", "node": "exit 1"}, "node is older than 20"),
        ({"npm": OFFLINE, "node": "exit 0"}, "npm could not install the agents in time"),
        ({"npm": HANGS, "node": "exit 0"}, "npm could not install the agents in time"),
    ],
    ids=["no npm", "old node", "no network", "npm hangs"],
)
def test_agents_that_cannot_be_had_are_left_out_with_one_line(
    tmp_path: Path, programs: dict[str, str], line: str
) -> None:
    said = clients(tmp_path / "bin", programs, REVIEWER_CI_CLIENTS_SECONDS="2")
    assert said == f"{line}: the tests with real agents are left out\n"
