"""The program that agents start."""

from __future__ import annotations

import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

from reviewer.errors import ReviewerError
from reviewer.installation import extra_command


def missing_mcp() -> str:
    """A sentence if the package that the MCP server needs is not installed, else empty."""
    if find_spec("mcp") is not None:
        return ""
    return (
        "The package mcp is not installed, so the hooks work and the MCP server does not yet. "
        f"Install it: {extra_command('mcp')}"
    )


def program(*, shared: bool) -> str:
    """Its path. In files that others may share it is found on the PATH, if it is there.

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
