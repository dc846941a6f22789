"""Tests see nothing of the person who runs them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from reviewer.settings import Settings, load_settings
from tests.surroundings import ALIKE, NEEDED, UMASK

ROOT = Path(__file__).resolve().parent.parent


def test_only_what_is_the_same_everywhere_is_in_the_environment() -> None:
    strange = {name for name in os.environ if not name.startswith("PYTEST_")}
    assert strange <= NEEDED | ALIKE.keys() | {"HOME"}


def test_nobodys_settings_are_read() -> None:
    assert load_settings() == Settings()


def test_new_files_have_the_usual_mode(tmp_path: Path) -> None:
    path = tmp_path / "new"
    path.touch()
    assert path.stat().st_mode & 0o777 == 0o666 & ~UMASK


@pytest.mark.skipif("PYTEST_ODD_SURROUNDINGS" in os.environ, reason="this is the inner run")
def test_that_is_so_whatever_a_person_has_set(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('theme = "light"\n')
    odd = {
        "PATH": os.environ["PATH"],
        "PYTEST_ODD_SURROUNDINGS": "yes",
        "HOME": str(tmp_path),
        "REVIEWER_CONFIG": str(config),
        "REVIEWER_DB": str(tmp_path / "mine.db"),
        "NO_COLOR": "1",
        "TERM": "dumb",
        "COLUMNS": "20",
        "TZ": "Asia/Kathmandu",
        "LC_ALL": "C",
        "EDITOR": "/bin/false",
        "OPENAI_API_KEY": "sk-mine",
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "PYTHONUNBUFFERED": "1",
    }
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", "-p", "no:cacheprovider", __file__]
    done = subprocess.run(
        command,
        env=odd,
        cwd=ROOT,
        umask=0o077,
        capture_output=True,
        text=True,
        check=False,
        timeout=250,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "...s" in done.stdout
