"""Whatever is pressed, on whatever screen: the program lives, and the store is sound."""

from __future__ import annotations

import random
import shutil
import sys
from pathlib import Path
from string import ascii_letters, digits

from reviewer.engine import Engine
from reviewer.pipelines.options import RunOptions
from reviewer.promotion.views import QueueQuery
from reviewer.resources import sample_data_folder
from tests.terminal.conftest import Terminal

PROJECT, KEYS = "ledger-api", 300
SCREENS = ("\x1bOQ", "\x1bOR", "\x1bOS", "\x1b[15~", "\x1b[17~", "\x1b[18~", "\x1b[19~")
"""F2 to F8 as a terminal sends them."""
ARROWS = ("\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[5~", "\x1b[6~", "\x1b[H", "\x1b[F")
NAMED = ("\r", "\r", "\t", "\x1b[Z", "\x7f", " ", "\x13", "\x04", "\x15", "\x12", "\x1b", "?")
LETTERS = (*ascii_letters, *digits, *"/*:;.,<>[]{}+_-!^|@&é漢")
ALONE = 0.12
"""Seconds after which a terminal program takes an escape for a key of its own."""


def prepared(folder: Path) -> Path:
    """A working folder with pipelines and a store with data for every screen."""
    work = folder / "work"
    shutil.copytree(sample_data_folder(), work)
    store = work / "store.db"
    engine = Engine.open(store)
    engine.intake.ingest([work / "notes", work / "claude"], project=PROJECT)
    engine.intake.seed(500, project=PROJECT)
    for session in sorted((work / "claude").rglob("*.jsonl")):
        engine.contexts.import_file(session, project=PROJECT)
    waiting = engine.queue.ids(QueueQuery(project=PROJECT))
    engine.triage.promote(list(waiting[:4]))
    engine.triage.reject(list(waiting[4:6]))
    engine.history.undo()
    engine.state.set(PROJECT, "phase", "alpha")
    pipeline = work / "pipelines" / "release.dot"
    engine.pipelines.start_run(pipeline, PROJECT, RunOptions(ask=lambda _: "Y"))
    engine.close()
    return store


def test_random_keys_neither_end_the_program_nor_harm_the_store(tmp_path: Path) -> None:
    store = prepared(tmp_path)
    source = random.Random(1)
    argv = [sys.executable, "-m", "reviewer", "--db", str(store), "--project", PROJECT]
    terminal = Terminal(argv, store.parent, 118, 34, VISUAL="true", EDITOR="true")
    try:
        terminal.until("Queue")
        pressed = [
            source.choice(source.choices((SCREENS, NAMED, ARROWS, LETTERS), (6, 24, 15, 55))[0])
            for _ in range(KEYS)
        ]
        for key in (*SCREENS, *pressed):
            terminal.press(key)
            terminal.read(ALONE if key == "\x1b" else 0.02)
            assert terminal.running(), (repr(key), terminal.text)
        assert terminal.rests(1.5)
        assert b"Traceback" not in terminal.stream
    finally:
        terminal.kill()
    engine = Engine.open(store)
    assert engine.history.verify().ok
    engine.close()
