"""The tab key in a real shell."""

from __future__ import annotations

import os
import shlex
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


OFFERED = {
    ("reviewer", "comp"): {"compile", "compress"},
    ("reviewer", "compress", "talk", "--level", "d"): {"detailed"},
}
"""Words typed, and what may follow instead of the last one."""


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes(path: str) -> None:
    script = ["source <(_REVIEWER_COMPLETE=bash_source reviewer)", "complete -p reviewer || exit 3"]
    for words in OFFERED:
        script += [
            f"COMPREPLY=(); COMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}",
            '_reviewer_completion reviewer; echo "${COMPREPLY[@]}"',
        ]
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=200,
        check=True,
    )
    assert done.stderr == ""
    assert [set(line.split()) for line in done.stdout.splitlines()[1:]] == [*OFFERED.values()]
