"""The `reviewer` command: connects the command line and the screen, which are independent."""

from __future__ import annotations

import gc
import os
import sys

from reviewer.agents import call_hook

TYPE_CHECKING = False  # recognised by type checkers; importing `typing` costs a fifth of the time
if TYPE_CHECKING:
    from pathlib import Path
    from typing import NoReturn

    from reviewer.engine import Engine
    from reviewer.start import Start

COLLECT_AFTER = 50_000
"""Objects until the garbage collector looks for cycles; a short command makes fewer."""
SWITCH_SECONDS = 0.0005
"""Thread switch interval; keeps keys responsive while a thread computes."""
FRAMES = "120"
"""Frames a second: the effects of a key, such as new text in the panes, wait for the next frame."""


def open_screen(
    engine: Engine,
    project: str | None,
    *,
    ascii: bool,  # noqa: A002
    light: bool,
    keymap: Path | None,
    start: Start | None = None,
) -> int:
    """Show the screen until the user leaves it; returns its exit code."""
    gc.disable()  # until the first paint: a collection in between takes as long as a frame
    os.environ.setdefault("TEXTUAL_FPS", FRAMES)
    from reviewer.tui.app import ReviewerApp

    sys.setswitchinterval(SWITCH_SECONDS)
    app = ReviewerApp(engine, project, ascii=ascii, light=light, keymap=keymap, start=start)
    return app.run() or app.return_code or 0


def check_keymap(path: Path) -> None:
    """Check the `[keys]` of a TOML file as the screen does. Raises KeymapError."""
    from reviewer.tui.keymap import load_keymap

    load_keymap(path)


def program() -> NoReturn:
    """The whole process: runs `main` and the exit functions, then ends at once.

    Shutting the interpreter down costs a short command a fifth of its time, and the system frees
    everything anyway. A hook at an agent's call ends before anything else is loaded.
    """
    gc.set_threshold(COLLECT_AFTER)
    if call_hook.is_call(sys.argv[1:]):
        call_hook.run(sys.argv[1:])
        os._exit(0)
    import atexit
    import threading

    from reviewer.cli.run import flush_streams

    code = main()
    flush_streams()
    if threading.active_count() > 1:
        sys.exit(code)
    atexit._run_exitfuncs()
    flush_streams()
    os._exit(code)


def main() -> int:
    """Run the command line in `sys.argv`; returns the exit code (0, 1, 2, 3 or 130)."""
    from reviewer.cli.run import run

    return run(sys.argv[1:], open_screen, check_keymap)
