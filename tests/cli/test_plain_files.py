"""Files that the user names are opened without waiting for a writer that may never come."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from reviewer.files import open_plain
from tests.cli.conftest import Reviewer


@pytest.mark.timeout(60)
def test_a_named_pipe_is_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="named pipe"):
        open_plain(pipe)


def test_a_pipe_of_the_shell_is_read(reviewer: Reviewer) -> None:
    command = f"{sys.executable} -m reviewer pipeline check <(echo 'digraph d {{ start -> exit }}')"
    done = subprocess.run(
        ["bash", "-c", command], env=reviewer.environment, cwd=reviewer.folder, timeout=250,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "d: 2 nodes, 1 edge")
