"""The command by which agents start the program."""

from __future__ import annotations

import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

from reviewer.agents.wiring import WiringPlace, WiringScope
from reviewer.errors import ReviewerError
from reviewer.installation import extra_command
from reviewer.system import default_store


def missing_mcp() -> str:
    """A sentence if the MCP server's package is not installed, else empty."""
    if find_spec("mcp") is not None:
        return ""
    return (
        "The package mcp is not installed, so the hooks are connected without the MCP server. "
        f"Install it and connect again: {extra_command('mcp')}"
    )


def place_for(
    scope: WiringScope,
    root: Path,
    store: Path,
    project: str | None = None,
    triggers: tuple[str, ...] = (),
) -> WiringPlace:
    """Where to connect an agent, and the command by which it starts the program on a store.
    `triggers`: see `Recall.call_triggers`.

    Raises ReviewerError.
    """
    command: list[str] = []
    if scope is not WiringScope.MEMORY:
        command = [program(shared=scope is WiringScope.PROJECT)]
        command += ["--db", str(store)] if store != default_store() else []
        command += ["--project", project] if project is not None else []
    return WiringPlace(
        scope=scope,
        root=root,
        command=tuple(command),
        environment=dict(os.environ),
        triggers=triggers,
        server=not missing_mcp(),
    )


def program(*, shared: bool) -> str:
    """The path of `reviewer`; in shared files just its name, if it is on the PATH.

    Raises ReviewerError.
    """
    on_path = shutil.which("reviewer")
    called = Path(sys.argv[0]) if sys.argv else Path()
    beside = Path(sys.executable).with_name("reviewer")
    if called.name == "reviewer" and called.is_file():
        own = str(called.absolute())
    elif beside.is_file():
        own = str(beside)
    elif on_path:
        own = on_path
    else:
        raise ReviewerError(
            "The program reviewer was not found, so no agent could start it: see the README."
        )
    if shared and on_path and os.path.realpath(on_path) == os.path.realpath(own):
        return "reviewer"
    return own
