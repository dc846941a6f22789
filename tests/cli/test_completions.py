"""The tab key in a real shell."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A PATH with a `reviewer` of this work tree."""
    place = tmp_path / "bin"
    place.mkdir()
    script = place / "reviewer"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m reviewer "$@"\n')
    script.chmod(0o755)
    return f"{place}:{os.environ['PATH']}"


def completed(path: str, *words: str) -> list[str]:
    """What bash offers for the last of these words."""
    listed = " ".join(f"'{word}'" for word in words)
    script = f"""
        source <(_REVIEWER_COMPLETE=bash_source reviewer)
        complete -p reviewer >/dev/null || exit 3
        COMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}
        _reviewer_completion reviewer
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        ["bash", "-c", script],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=200,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["reviewer", "comp"], {"compile", "compress"}),
        (["reviewer", "reject", "--reason", "n"], {"narration", "narrow"}),
    ],
)
def test_bash_completes(path: str, words: list[str], offered: set[str]) -> None:
    assert set(completed(path, *words)) == offered
