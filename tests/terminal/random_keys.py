"""A person who presses anything: random keys over all screens, with memory and pauses watched.

.venv/bin/python -m tests.terminal.random_keys --keys 10000 --seed 7
"""

from __future__ import annotations

import argparse
import os
import random
import select
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from reviewer.engine import Engine
from reviewer.resources import sample_data_folder
from tests.terminal.conftest import Terminal

SCREENS = ["\x1bOQ", "\x1bOR", "\x1bOS", "\x1b[15~", "\x1b[17~", "\x1b[18~", "\x1b[19~"]
"""F2 to F8 as a terminal sends them."""

NAMED = ["\x1b", "\r", "\t", "\x1b[Z", "\x7f", " ", "\x13", "\x04", "\x15", "\x12", "\x10"]
ALONE = 0.2
"""Seconds after which a terminal program takes an escape for a key of its own."""
NOTABLE = 0.1
"""Seconds of work from which on the walk says where it was."""
PALETTE, ESCAPE = "\x10", "\x1b"
ARROWS = ["\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[5~", "\x1b[6~", "\x1b[H", "\x1b[F"]
LETTERS = list("abcdefghijklmnoprstuvwxyzABCDFGHIJKLMNOPRSTUVWYZ0123456789/?*:;.,<>[]{}+_-!")
"""No q, which leaves; no E, X and W+enter outside a folder of our own."""


class Walk(NamedTuple):
    """What a walk of random keys showed. Memory in MB, at each tenth of the way; pauses in seconds,
    longest first, once as waited for and once in the time that the screen's thread worked."""

    keys: int
    rss_early: float
    rss_late: float
    memory: list[float]
    pauses: list[tuple[float, str]]
    worked: list[tuple[float, str]]
    died: str


def resident(pid: int) -> float:
    """Resident memory of a process in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def busy(pid: int) -> float:
    """Seconds that a process's first thread has worked: other programs do not count."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def prepared(folder: Path) -> Path:
    """A store with candidates, decisions and a context, and a folder to stand in."""
    samples = sample_data_folder()
    store = folder / "store.db"
    engine = Engine.open(store)
    engine.intake.ingest([samples], project="ledger-api")
    engine.intake.seed(500, project="ledger-api")
    for session in sorted(samples.rglob("*.jsonl")):
        engine.contexts.import_file(session, project="ledger-api")
    engine.close()
    return store


def next_key(source: random.Random) -> str:
    """Mostly letters, often moves, now and then another screen."""
    kind = source.random()
    if kind < 0.05:
        return source.choice(SCREENS)
    if kind < 0.30:
        return source.choice(ARROWS)
    if kind < 0.45:
        return source.choice(NAMED)
    return source.choice(LETTERS)


def walk(store: Path, count: int, seed: int, *, early: int = 1_000) -> Walk:
    """Press so many keys, each after the answer to the one before has come to rest."""
    source = random.Random(seed)
    argv = [sys.executable, "-m", "reviewer", "--db", str(store), "--project", "ledger-api"]
    terminal = Terminal(argv, store.parent, 118, 34, VISUAL="true", EDITOR="true")
    terminal.until("wait", seconds=30)
    pauses: list[tuple[float, str]] = []
    worked: list[tuple[float, str]] = []
    memory: list[float] = []
    in_palette = False
    rss_early = 0.0
    pressed = 0
    for pressed in range(1, count + 1):
        key = next_key(source)
        in_palette = in_palette or key == PALETTE
        if in_palette and key == "\r":  # enter could choose to leave
            key, in_palette = ESCAPE, False
            terminal.press(key)
            terminal.read(ALONE)
        began, before = time.perf_counter(), busy(terminal._pid)
        try:
            terminal.press(key)
        except OSError:
            break
        if select.select([terminal._terminal], [], [], 0.05)[0]:
            terminal.read(0.004)
        pauses.append((time.perf_counter() - began, f"{pressed}:{key!r}"))
        if not terminal.running():
            break
        spent = busy(terminal._pid) - before
        shown = terminal.screen.display[2][:30].strip("─ ") if spent > NOTABLE else ""
        worked.append((spent, f"{pressed}:{key!r} {shown}".rstrip()))
        if pressed % max(count // 10, 1) == 0:
            memory.append(resident(terminal._pid))
        if pressed == early:
            rss_early = resident(terminal._pid)
    alive = terminal.running()
    rss_late = resident(terminal._pid) if alive else 0.0
    last = " ".join(label for _, label in worked[-12:])
    died = (
        ""
        if alive
        else f"after key {pressed} with {terminal.code}: {last} {terminal.stream[-2000:]!r}"
    )
    terminal.kill()
    pauses.sort(reverse=True)
    worked.sort(reverse=True)
    return Walk(pressed, rss_early, rss_late, memory, pauses[:10], worked[:20], died)


def main() -> None:
    """Walk, say what was seen; exit 1 when the program ended or grew in the second half.

    The first half opens every screen, and each loads what it needs when it is first opened.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = prepared(Path(folder))
        found = walk(store, given.keys, given.seed)
        with_engine = Engine.open(store)
        verdict = with_engine.history.verify()
        with_engine.close()
    print(f"{found.keys} keys, memory {found.rss_early:.0f} MB then {found.rss_late:.0f} MB")
    print("on the way:", *(f"{each:.0f}" for each in found.memory))
    print("longest answers:", ", ".join(f"{s * 1000:.0f} ms {key}" for s, key in found.pauses))
    print("longest work:", ", ".join(f"{s * 1000:.0f} ms {key}" for s, key in found.worked))
    print(f"verify: {'ok' if verdict.ok else verdict.problems}")
    if found.died:
        print(found.died)
    half = found.memory[len(found.memory) // 2 - 1] if len(found.memory) > 1 else found.rss_late
    sys.exit(bool(found.died) or found.rss_late > 1.1 * half or not verdict.ok)


if __name__ == "__main__":
    main()
