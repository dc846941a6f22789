"""A defect ends the screen with one sentence, which contains no user data."""

from __future__ import annotations

import sys
from pathlib import Path

from reviewer.engine import Engine
from tests.terminal.conftest import Launch, Terminal

WITH_A_DEFECT = """
import sys
from reviewer.main import main
from reviewer.tui.queue.screen import QueueScreen
async def broken(self):
    wording = "the customer's telephone number"
    raise RuntimeError("\x1b]0;no such thing\x07")
QueueScreen.action_promote = broken
sys.exit(main())
"""


def test_it_ends_with_one_line_and_keeps_decisions(store: Path, tmp_path: Path) -> None:
    program = tmp_path / "defect.py"
    program.write_text(WITH_A_DEFECT)
    terminal = Terminal(
        [sys.executable, str(program), "--db", str(store)], tmp_path, 100, 30, REVIEWER_DEBUG=""
    )
    try:
        terminal.until("Queue")
        terminal.press("x")
        terminal.until("Rejected")
        terminal.press("a")
        assert terminal.ended() == 1
        assert "This is a defect of reviewer (RuntimeError: " in terminal.text
        assert "Traceback" not in terminal.text
        assert "telephone" not in terminal.text
        assert b"\x1b]0;no such" not in terminal.stream
    finally:
        terminal.kill()
    engine = Engine.open(store)
    assert engine.queue.counts(None).rejected_today == 1
    assert engine.history.verify().ok
    engine.close()


def test_a_store_damaged_under_the_screen_is_not_a_defect(launch: Launch, store: Path) -> None:
    terminal = launch(columns=300, REVIEWER_DEBUG="")
    terminal.until("Queue")
    with store.open("r+b") as file:
        file.truncate(100_000)
    terminal.press("j")
    # A reading beside the screen says it in the status line, any other at the end.
    terminal.until("is damaged", "Restore it from a backup")
    assert "defect" not in terminal.text
