"""Terminals send bytes that are not UTF-8: old encodings, noise on a line."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from tests.terminal.conftest import Launch, Terminal
from tests.waiting import until


@pytest.mark.parametrize(
    ("parts", "typed"),
    [
        ([b"\x1b[200~Stra\xdfe \xff\x1b[201~ kept"], "Stra\ufffde \ufffd kept"),
        ([b"caf\xc3", b"\xa9!"], "caf\u00e9!"),
        ([b"\x1b[1114112;1u\x1b[<35;9999999999;1Mkept"], "kept"),
        ([b"\x1b[200~one \x1b[31mtwo\x1b[0m \x1b\x1b[201~three"], "one two three"),
    ],
    ids=[
        "no text",
        "a character in two parts",
        "a key code beyond Unicode",
        "escape sequences in a paste",
    ],
)
def test_what_is_text_among_bytes_is_typed(launch: Launch, parts: list[bytes], typed: str) -> None:
    terminal = launch()
    terminal.until("Queue")
    terminal.press("/")
    terminal.until("-word")
    for part in parts:
        terminal.send(part)
        terminal.until(f"/ {typed[:3]}")
    terminal.until(f"/ {typed}")


def test_a_terminal_that_goes_away_ends_the_program_even_where_that_signal_is_ignored(
    store: Path,
) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        program = [sys.executable, "-m", "reviewer", "--db", str(store)]
        terminal = Terminal(program, store.parent, 100, 30)
    finally:
        signal.signal(signal.SIGHUP, before)
    terminal.until("Queue")
    terminal.hang_up()
    until(lambda: not terminal.running())
    assert terminal.code == 129
