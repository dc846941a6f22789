"""A person who presses anything: random keys over all screens, with memory and pauses watched.

.venv/bin/python -m tests.terminal.random_keys --keys 10000 --seed 7
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from string import ascii_letters, digits
from typing import NamedTuple

import msgspec

from reviewer.cli.run import run
from reviewer.engine import Engine
from reviewer.main import check_keymap, open_screen
from reviewer.resources import sample_data_folder
from reviewer.tui.actions import ACTIONS
from tests.terminal.conftest import Terminal
from tests.terminal.watched import Report

PROJECT = "ledger-api"
SCREENS = ["\x1bOQ", "\x1bOR", "\x1bOS", "\x1b[15~", "\x1b[17~", "\x1b[18~", "\x1b[19~"]
"""F2 to F8 as a terminal sends them."""

ESCAPE = "\x1b"
NAMED: list[str] = ["\r", "\r", "\t", "\x1b[Z", "\x7f", " ", "\x13", "\x04", "\x15", "\x12"]
"""Enter, tab, back tab, backspace, space, and ctrl with s, d, u, r."""
DIALOGS = ["\x10", "\x1bOP", "?"]
"""The help, which takes all keys until it is left."""
ALONE = 0.12
"""Seconds after which a terminal program takes an escape for a key of its own."""
ARROWS = ["\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[5~", "\x1b[6~", "\x1b[H", "\x1b[F"]
LETTERS = [*ascii_letters, *digits, *"/*:;.,<>[]{}+_-!^|@&é漢"]
"""Everything on a keyboard, and two that are on few."""


class Walk(NamedTuple):
    """The results of a walk of random keys.

    Memory in MB, at each tenth of the way; pauses in seconds, longest first, as waited for;
    reports of the watch, one early and one at the end.
    """

    keys: int
    rss_early: float
    rss_late: float
    memory: list[float]
    pauses: list[tuple[float, str]]
    early: Report
    late: Report
    died: str


REST = 1.5
"""Seconds without output after which every key has been answered."""


def resident(pid: int) -> float:
    """Resident memory of a process in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def prepared(folder: Path, *, seeds: int = 500) -> Path:
    """A working folder with a context folder and pipelines, and a store with data for every
    screen: candidates, decisions, contexts, a compressed one, runs, a history.
    """
    work = folder / "work"
    shutil.copytree(sample_data_folder(), work)
    store = work / "store.db"
    engine = Engine.open(store)
    engine.intake.ingest([work / "notes", work / "claude"], project=PROJECT)
    engine.intake.seed(seeds, project=PROJECT)
    for session in sorted((work / "claude").rglob("*.jsonl")):
        engine.contexts.import_file(session, project=PROJECT)
    engine.close()
    pipeline = str(work / "pipelines" / "release.dot")
    for arguments in (
        ["promote", "1", "2", "3", "4"],
        ["reject", "5", "6"],
        ["undo"],
        ["state", "set", "phase", "alpha"],
        ["annotate", "2", "--priority", "important", "--retain", "keep numbers"],
        ["compress", "1", "--level", "brief", "--apply"],
        ["pipeline", "run", pipeline, "--answer", "approve=Y"],
    ):
        command(store, *arguments)
    return store


def command(store: Path, *arguments: str) -> None:
    """A command of the program in this process; it has to succeed."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = run(
            ["--db", str(store), "--project", PROJECT, *arguments], open_screen, check_keymap
        )
    if code:
        raise RuntimeError(f"{arguments}: {said.getvalue()}")


def next_key(source: random.Random) -> str:
    """Mostly letters, often moves, now and then out of something or to another screen."""
    kind = source.random()
    if kind < 0.06:
        return source.choice(SCREENS)
    if kind < 0.12:
        return ESCAPE
    if kind < 0.125:
        return source.choice(DIALOGS)
    if kind < 0.30:
        return source.choice(ARROWS)
    if kind < 0.45:
        return source.choice(NAMED)
    return str(source.choice(LETTERS))


def walk(store: Path, count: int, seed: int, *, early: int = 1_000) -> Walk:
    """Press so many keys, each after the answer to the one before has come to rest; first those
    that open the screens.
    """
    source = random.Random(seed)
    target = store.with_name("watch.json")
    program = [sys.executable, "-m", "tests.terminal.watched", str(target)]
    terminal = Terminal(
        [*program, "--db", str(store), "--project", PROJECT],
        store.parent,
        118,
        34,
        VISUAL="true",
        EDITOR="true",
        PYTHONPATH=str(Path(__file__).parents[2]),
    )
    terminal.until("Queue")
    pauses: list[tuple[float, str]] = []
    memory: list[float] = []
    pressed_last: list[str] = []
    rss_early, first = 0.0, Report()
    pressed = 0
    for pressed in range(1, count + 1):
        key = SCREENS[pressed - 1] if pressed <= len(SCREENS) else next_key(source)
        pressed_last = [*pressed_last[-11:], repr(key)]
        began = time.perf_counter()
        try:
            terminal.press(key)
        except OSError:
            break
        if terminal.waits(0.05):
            drain(terminal, 0.004)
        pauses.append((time.perf_counter() - began, f"{pressed}:{key!r}"))
        if key == ESCAPE:  # or it would begin what the next key sends
            drain(terminal, ALONE)
        if not terminal.running():
            break
        if pressed % max(count // 10, 1) == 0:
            memory.append(resident(terminal.pid))
        if pressed == early:
            rss_early, first = resident(terminal.pid), report_of(terminal, target)
    drain(terminal, REST)  # a busy machine has not answered the last keys yet
    alive = terminal.running()
    rss_late = resident(terminal.pid) if alive else 0.0
    late = report_of(terminal, target) if alive else first
    died = ""
    if not alive:
        last = re.sub(
            r"\x1b\[[0-9;?]*[A-Za-z]|[│─╭╮╰╯]", "", terminal.stream[-6000:].decode(errors="replace")
        )
        died = f"after key {pressed} with {terminal.code}: {' '.join(pressed_last)}\n" + "\n".join(
            line.strip() for line in last.splitlines() if line.strip()
        )
    terminal.kill()
    pauses.sort(reverse=True)
    return Walk(pressed, rss_early, rss_late, memory, pauses[:10], first, late, died)


def drain(terminal: Terminal, seconds: float) -> None:
    """Read output for a while; it is used only if the program dies."""
    while terminal.waits(seconds):
        data = terminal.take()
        if not data:
            return
        terminal.stream = terminal.stream[-20_000:] + data


def report_of(terminal: Terminal, target: Path) -> Report:
    """The current report of the watch."""
    target.unlink(missing_ok=True)
    os.kill(terminal.pid, signal.SIGUSR1)
    end = time.monotonic() + 20
    while not target.exists() and time.monotonic() < end and terminal.running():
        drain(terminal, 0.05)
    return msgspec.json.decode(target.read_bytes(), type=Report)


def main() -> None:
    """Walk and print a report; exit 1 when the program ended, grew, or hung.

    The first tenth opens every screen, and each loads what it needs when it is first opened.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--early", type=int, default=1_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = prepared(Path(folder))
        found = walk(store, given.keys, given.seed, early=given.early)
        with_engine = Engine.open(store)
        verdict = with_engine.history.verify()
        with_engine.close()
    tell(found, print)
    print(f"verify: {'ok' if verdict.ok else verdict.problems}")
    sys.exit(bool(found.died) or found.rss_late > 1.2 * found.rss_early or not verdict.ok)


def tell(found: Walk, say: Callable[[str], None]) -> None:
    """The walk as lines."""
    late = found.late
    say(f"{found.keys} keys, memory {found.rss_early:.0f} MB then {found.rss_late:.0f} MB")
    say("on the way: " + " ".join(f"{each:.0f}" for each in found.memory))
    say("waited: " + ", ".join(f"{s * 1000:.0f} ms {key}" for s, key in found.pauses))
    say("slow work:")
    for slow in sorted(late.slow, key=lambda each: -each.seconds)[:25]:
        say(
            f"  {slow.seconds * 1000:.0f} ms key {slow.key} {slow.screen} after {slow.action}: "
            f"{slow.what[:160]}"
        )
    say(f"screens: {late.screens}")
    say(f"panes: {late.panes}")
    say(f"actions: {len(late.actions)} of {len(ACTIONS)}")
    say("never: " + " ".join(sorted(set(ACTIONS) - set(late.actions))))
    grown = {kind: n - found.early.objects.get(kind, 0) for kind, n in late.objects.items()}
    most = sorted(grown.items(), key=lambda each: -each[1])[:25]
    say("more objects: " + ", ".join(f"{kind} +{n}" for kind, n in most))
    if found.died:
        say(found.died)


if __name__ == "__main__":
    main()
