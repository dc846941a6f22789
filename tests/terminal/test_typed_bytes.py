"""Bytes that are no UTF-8 come out of terminals: old encodings, noise on a line."""

from __future__ import annotations

import os


def test_what_is_no_text_ends_nothing_and_what_comes_after_it_is_typed(launch):
    terminal = launch()
    terminal.until("wait")
    terminal.press("/")
    os.write(terminal._terminal, b"\x1b[200~Stra\xdfe \xff\x1b[201~ kept")
    terminal.until("/ Stra\ufffde \ufffd kept")
    assert terminal.running()


def test_a_character_that_arrives_in_two_parts_is_one(launch):
    terminal = launch()
    terminal.until("wait")
    terminal.press("/")
    os.write(terminal._terminal, b"caf\xc3")
    terminal.until("/ caf")
    os.write(terminal._terminal, b"\xa9!")
    terminal.until("/ caf\u00e9!")
