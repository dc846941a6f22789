"""Terminals send bytes that are not UTF-8: old encodings, noise on a line."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from tests.terminal.conftest import Launch, Terminal
from tests.waiting import until


def test_bytes_that_are_not_text_are_dropped_and_later_ones_are_typed(launch: Launch) -> None:
    terminal = launch()
    terminal.until("Queue")
    terminal.press("/")
    terminal.until("-word")
    terminal.send(b"\x1b[200~Stra\xdfe \xff\x1b[201~ kept")
    terminal.until("/ Stra\ufffde \ufffd kept")
    assert terminal.running()


def test_a_character_that_arrives_in_two_parts_is_one(launch: Launch) -> None:
    terminal = launch()
    terminal.until("Queue")
    terminal.press("/")
    terminal.until("-word")
    terminal.send(b"caf\xc3")
    terminal.until("/ caf")
    terminal.send(b"\xa9!")
    terminal.until("/ caf\u00e9!")


def test_a_key_code_beyond_unicode_is_ignored(launch: Launch) -> None:
    terminal = launch()
    terminal.until("Queue")
    terminal.press("/")
    terminal.until("-word")
    terminal.press("\x1b[1114112;1u\x1b[<35;9999999999;1Mkept")
    terminal.until("/ kept")


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
