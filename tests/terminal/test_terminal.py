"""The screen in a terminal: the visible text, and the sequences sent to the terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from reviewer.engine import Engine
from reviewer.promotion.views import QueueQuery, QueueRow
from tests.present import present
from tests.terminal.conftest import Launch


def rows_of(store: Path, status: str = "all") -> Sequence[QueueRow]:
    engine = Engine.open(store)
    found = engine.queue.rows(engine.queue.ids(QueueQuery(status=status)))
    engine.close()
    return found


def drafts(store: Path) -> list[str | None]:
    engine = Engine.open(store)
    found = [engine.drafts.load(number) for number in engine.drafts.ids()]
    engine.close()
    return found


def test_a_queue_is_cleared_with_the_keyboard(launch: Launch, store: Path) -> None:
    terminal = launch()
    terminal.until("F2 Queue 3", "Evidence")
    terminal.press("a")
    terminal.until("Promoted #", "F2 Queue 2")
    terminal.press("x")
    terminal.until("Rejected #", "F2 Queue 1")
    terminal.press("u")
    terminal.until("Undone: Rejected", "F2 Queue 2")
    terminal.press("\x11")
    assert terminal.ended() == 0
    statuses = sorted(row.status.value for row in rows_of(store))
    assert statuses == ["active", "candidate", "candidate"]


def test_leaving_gives_the_terminal_back(launch: Launch) -> None:
    terminal = launch()
    terminal.until("F2 Queue 3")
    terminal.press("\x11")
    assert terminal.ended() == 0
    for mode in (b"1049", b"1000", b"1003", b"1006"):
        assert terminal.stream.rindex(b"\x1b[?" + mode + b"l") > terminal.stream.rindex(
            b"\x1b[?" + mode + b"h"
        )
    assert b"\x1b[?25h" in terminal.stream
    assert b"Traceback" not in terminal.stream


def test_an_idle_screen_does_not_draw(launch: Launch) -> None:
    terminal = launch()
    terminal.until("F2 Queue 3", "Evidence")
    assert terminal.rests(4.5)  # two looks at the store for other writers


def test_the_editor_opens_at_the_line_and_the_screen_comes_back(
    launch: Launch, store: Path, tmp_path: Path
) -> None:
    seen = tmp_path / "seen"
    editor = tmp_path / "my editor"
    editor.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{seen}"\n', "utf-8")
    editor.chmod(0o755)
    terminal = launch(EDITOR=f"'{editor}' --wait", VISUAL="")
    terminal.until("F2 Queue 3", "Evidence")
    terminal.press("o")
    terminal.until("in editor")
    terminal.press("E")
    terminal.until("Back from my editor.")
    wait, line, path = seen.read_text("utf-8").splitlines()
    assert wait == "--wait"
    text = (store.parent / "notes.md").read_text("utf-8").splitlines()
    content = rows_of(store)[0].content
    assert content[:20] in text[int(present(re.fullmatch(r"\+(\d+)", line)).group(1)) - 1]
    assert path.endswith("notes.md")


def test_keys_typed_ahead_reach_the_right_screen(launch: Launch, store: Path) -> None:
    terminal = launch()
    terminal.until("F2 Queue 3", "Evidence")
    terminal.press("/smoke")
    terminal.until("/ smoke", "1 of 1")
    terminal.press("\x1b")
    terminal.until("of 3")
    terminal.press("jea quick addition")
    terminal.until("Edit #", "a quick addition")
    terminal.press("\x13")
    terminal.until("Edited and promoted")
    assert [row.content[-16:] for row in rows_of(store, "active")] == ["a quick addition"]


def test_copying_sends_the_text_to_the_terminal(launch: Launch) -> None:
    terminal = launch()
    terminal.until("F2 Queue 3")
    terminal.press("y")
    terminal.until("Copied #")
    assert b"\x1b]52;c;" in terminal.stream
