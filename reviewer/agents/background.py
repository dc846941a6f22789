"""Hidden commands that are started in a process of their own, so that nobody waits for them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from reviewer.sharing import personal
from reviewer.system import own_command

CHILD = "REVIEWER_CHILD"
"""Set in the environment of the agents that `reviewer` itself asks: hooks then do nothing."""

READ_SESSIONS = "read-sessions"
"""The hidden command that reads the noted sessions."""
UPDATE_CALL_HOOKS = "update-call-hooks"
"""The hidden command that makes memories ready for hooks at calls."""


def inside_own_call(environment: Mapping[str, str]) -> bool:
    """Whether the agent was started by `reviewer` itself, to answer a question."""
    return bool(environment.get(CHILD))


def start_in_background(store: Path, *verb: str, project: str | None = None) -> None:
    """Start a hidden command, and do not wait for it. Raises OSError."""
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


def update_call_hooks(store: Path) -> None:
    """Have hooks at calls follow a decision, where an agent is connected. Raises OSError."""
    if (personal(store, "-agents") / "connections.json").exists():
        start_in_background(store, UPDATE_CALL_HOOKS)
