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


class NoTerminalError(click.ClickException):
    """There is nothing to draw the screen on."""

    exit_code = 2


def require_terminal(instead: str) -> None:
    """Raise NoTerminalError when stdin, stdout or stderr is none; `instead` says what works."""
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        raise NoTerminalError(f"The screen needs a terminal. Without one: {instead}")


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
