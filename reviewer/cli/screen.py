"""Opening the screen from the command line."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from reviewer.cli.session import Session
from reviewer.settings import load_settings, settings_path

if TYPE_CHECKING:
    from reviewer.engine import Engine


CANNOT_DRAW = ("", "dumb", "unknown")
"""Values of TERM that promise no cursor movement."""


class NoTerminalError(click.ClickException):
    """There is nothing to draw the screen on."""

    exit_code = 2


def require_terminal(instead: str) -> None:
    """Raise NoTerminalError when stdin, stdout or stderr is none, or one that cannot move its
    cursor; `instead` says what works.
    """
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        raise NoTerminalError(f"The screen needs a terminal. Without one: {instead}")
    kind = os.environ.get("TERM", "")
    if os.name == "posix" and kind in CANNOT_DRAW:
        named = f"TERM={kind}" if kind else "TERM is not set"
        raise NoTerminalError(
            f"The screen cannot be drawn on this terminal ({named}). Without it: {instead}"
        )


def show_screen(
    session: Session, engine: Engine, project: str | None, *, plain: bool = False
) -> int:
    """The screen on an opened store; its exit code."""
    settings = load_settings()
    path = settings_path()
    if settings.editor:
        os.environ["VISUAL"] = settings.editor
    return session.open_screen(
        engine,
        project,
        ascii=plain or settings.ascii,
        light=settings.theme == "light",
        keymap=path if settings.keys else None,
    )
