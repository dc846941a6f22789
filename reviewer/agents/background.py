"""A hidden command started in its own process, without waiting for it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from reviewer.system import own_command

CHILD = "REVIEWER_CHILD"
"""Set for agents that `reviewer` itself calls: their hooks do nothing."""

READ_SESSIONS = "read-sessions"
"""The hidden command that ingests noted sessions."""


def start_in_background(store: Path, *verb: str, project: str | None = None) -> None:
    """Start a hidden command without waiting for it. Raises OSError."""
    command = own_command("--db", str(store.absolute()))
    if project is not None:
        command += ["--project", project]
    subprocess.Popen(  # noqa: S603
        [*command, *verb],
        cwd=Path.home().anchor or "/",
        env={**os.environ, CHILD: "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
