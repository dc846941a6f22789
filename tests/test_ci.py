"""The clean-room check sees an empty screen for what it is."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from reviewer.engine import Engine

IN_TERMINAL = Path(__file__).resolve().parent.parent / ".ci" / "in_terminal.py"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store without any candidate."""
    path = tmp_path / "store.db"
    Engine.open(path).close()
    return path


def in_terminal(store: Path) -> subprocess.CompletedProcess[str]:
    """What the check says of the screen on a store."""
    command = shlex.join(
        [sys.executable, "-m", "reviewer", "--db", str(store), "--project", "kiosk"]
    )
    return subprocess.run(
        [sys.executable, IN_TERMINAL, command, "120"],
        capture_output=True,
        text=True,
        check=False,
        timeout=250,
    )


def test_an_empty_queue_does_not_pass(store: Path) -> None:
    done = in_terminal(store)
    assert done.returncode == 1
    assert done.stdout.startswith("The screen did not come up with candidates.")


def test_a_queue_with_candidates_passes(store: Path) -> None:
    engine = Engine.open(store)
    engine.intake.seed(3, project="kiosk")
    engine.close()
    done = in_terminal(store)
    assert done.returncode == 0, done.stdout
