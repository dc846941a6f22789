"""Running the user's editor in the terminal; never through a shell."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from shutil import which

from textual.app import App, SuspendNotSupported

from reviewer.errors import ReviewerError, SourceError

WINDOWS = os.name == "nt"
"""On Windows a backslash is part of a path."""
_GOTO = {"code", "code-insiders", "codium", "cursor", "windsurf"}
_COLON = {"subl", "zed", "hx", "helix", "micro"}


def editor_argv(path: str, line: int, environment: Mapping[str, str]) -> list[str]:
    """The command that opens `path` at a 1-based line in `$VISUAL`, else `$EDITOR`.

    Raises ReviewerError if neither names an existing program.
    """
    name, command = next(
        ((name, environment[name]) for name in ("VISUAL", "EDITOR") if environment.get(name)),
        ("", ""),
    )
    if not command:
        raise ReviewerError("No editor is set: set $VISUAL or $EDITOR, for example EDITOR=vim.")
    try:
        argv = (
            [part.strip('"') for part in shlex.split(command, posix=False)]
            if WINDOWS
            else (shlex.split(command))
        )
    except ValueError as error:
        raise ReviewerError(f"${name} cannot be read: {error}.") from error
    program = which(argv[0], path=environment.get("PATH")) if argv else None
    if program is None:
        raise ReviewerError(f"${name} is {command!r}, which is not a program on this machine.")
    # An editor would take a name such as `+!command` or `-c` as a command.
    path = os.path.abspath(path)
    kind = Path(argv[0]).name.removesuffix(".exe")
    if kind in _GOTO:
        place = ["-g", f"{path}:{line}"]
    elif kind in _COLON:
        place = [f"{path}:{line}"]
    else:
        place = [f"+{line}", path]
    return [program, *argv[1:], *place]


def open_in_editor(app: App[int], path: str, line: int) -> str:
    """Run the editor in the terminal; returns a sentence about the result.

    Raises SourceError if the file no longer exists, ReviewerError without an editor.
    """
    if not Path(path).is_file():
        raise SourceError(f"{path} is gone; the evidence pane shows the stored text.")
    argv = editor_argv(path, line, os.environ)
    name = Path(argv[0]).name
    if app.is_web:
        raise ReviewerError(f"A browser has no terminal. In a shell: {shlex.join(argv)}")
    try:
        with app.suspend():
            code = subprocess.run(argv, check=False).returncode  # noqa: S603
    except SuspendNotSupported as error:
        raise ReviewerError("This terminal cannot run another program.") from error
    except OSError as error:
        raise ReviewerError(f"{argv[0]} cannot be started: {error.strerror}.") from error
    app.refresh(repaint=True, layout=True)
    return f"Back from {name}." if not code else f"{name} ended with exit code {code}."
