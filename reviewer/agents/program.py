"""The path of the program, for agents to start."""

from __future__ import annotations

import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

from reviewer.errors import ReviewerError
from reviewer.installation import extra_command


def missing_mcp() -> str:
    """A sentence if the MCP server's package is not installed, else empty."""
    if find_spec("mcp") is not None:
        return ""
    return (
        "The package mcp is not installed: the hooks work, the MCP server does not. "
        f"Install it: {extra_command('mcp')}"
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
