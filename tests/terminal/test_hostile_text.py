"""Every screen over text that would steer the terminal: none of it reaches the terminal raw."""

from __future__ import annotations

import json
import re
import sys
from functools import partial
from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.promotion.views import QueueQuery
from tests.terminal.conftest import Terminal

PAYLOADS = {
    "clipboard": "\x1b]52;c;c3RvbGVu\x07",
    "title": "\x1b]0;stolen title\x07",
    "link": "\x1b]8;;http://evil.example\x1b\\",
    "clear": "\x1b[2J\x1b[3J",
    "report": "\x1b[6n",
    "screen": "\x1b[?47l",
    "sixel": "\x1bPq#0;2;0;0;0\x1b\\",
    "reset": "\x1bc",
    "c1": "\x9b31;43m",
    "c1 string": "\x9d52;c;c3RvbGVu\x9c",
    "bell": "\x07",
    "back": "\b\b\b",
    "bidi": "\u202egnp.exe",
    "isolate": "\u2067",
    "zero width": "\u200b\u200d\u2060\ufeff",
    "tags": "\U000e0041\U000e0042",
    "markup": "[red]loud[/red] [/nope] [@click=app.quit]go[/] [link=http://x]y[/link]",
}
HOSTILE = "".join(PAYLOADS.values())
STEERS = re.compile(
    rb"\x1b\][^\x1b\x07]*(?:stolen|c3RvbGVu|evil)|\x1b\[2J\x1b\[3J|\x1b\[6n|\x1b\[\?47l|\x1bPq|\x1bc"
    rb"|\x1b\[31;43m|[\x00\x0b\x0e]|\xc2[\x80-\x9f]|\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa0-\xaf]"
    rb"|\xef\xbb\xbf|\xf3\xa0[\x80-\x81]"
)
NAME = "odd\x1b]0;stolen title\x07\u202e\n[red]name"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A store, a context, a context folder, pipelines: all with payloads in text and in names."""
    store = tmp_path / "store.db"
    engine = Engine.open(store)
    note = tmp_path / f"{NAME}.md"
    lines = [
        f"- [Decision] We decided to keep the {name} {payload} of the kiosk because of dust."
        for name, payload in PAYLOADS.items()
    ]
    note.write_text(f"# Kiosk {HOSTILE}\n\n" + "\n".join(lines))
    engine.intake.ingest([note], project="acme")
    talk = tmp_path / f"{NAME}.json"
    talk.write_text(
        json.dumps(
            [
                {"role": "user" if n % 2 else "assistant", "name": f"n{HOSTILE}",
                 "content": f"{n}. Kiosk {n} printed {HOSTILE} for `file{n}.py`. We decided so."}
                for n in range(24)
            ]
        )
    )  # fmt: skip
    engine.contexts.import_file(talk, project="acme", name="talk [red]loud")
    for number in list(engine.queue.ids(QueueQuery(project="acme")))[:3]:
        engine.triage.promote([number])
    engine.state.set("acme", f"paper{HOSTILE[:150]}", f"80 mm{HOSTILE}", note=HOSTILE)
    engine.close()
    (tmp_path / ".context").mkdir()
    (tmp_path / ".context" / "TASKS.md").write_text(f"# Tasks\n\n- [ ] Repair {HOSTILE}\n")
    (tmp_path / ".context" / "DECISIONS.md").write_text(
        f"# Decisions\n\n## [2026-01-02] Paper {HOSTILE}\n\n**Decision**: {HOSTILE}\n"
    )
    said = HOSTILE.replace("\\", "\\\\").replace('"', "'")
    (tmp_path / f"{NAME}.dot").write_text(
        f'digraph "d{said}" {{ goal="{said}"; start -> "n{said}" -> exit;'
        f' "n{said}" [label="{said}", prompt="{said}"] }}'
    )
    return store


SCREENS = {
    "queue": [*"jjkxuaue", "\x1b", *"o", "\x1b"],
    "context": ["\x1bOR", "\r", *"jj1234Pi", "f", "\x1b"],
    "packet": ["\x1bOS", *"jj", "\x1b", "\x1bOS", *"o", "\x1b", "\t", *"jj"],
    "pipelines": ["\x1b[17~", *"jj", "\r", "\t", *"jj", "\x1b"],
    "memory": ["\x1b[15~", *"jj", "\r", "\x1b", *"X", "\x1b"],
    "history": ["\x1b[19~", *"jjj", "\t", *"jj", "\x1b"],
    "help": ["?", *"jj", "\x1b", "\x10", *"the", "\x1b"],
}
OF_ASCII = ("queue", "context")
"""Screens that are enough to see that all marks are ASCII there."""
HOLD_HOSTILE_TEXT = SCREENS.keys() - {"history", "help"}


@pytest.mark.parametrize("plain", [False, True], ids=["unicode", "ascii"])
def test_no_screen_hands_a_payload_to_the_terminal(hostile: Path, plain: bool) -> None:
    argv = [sys.executable, "-m", "reviewer", "--db", str(hostile), "--project", "acme"]
    terminal = Terminal(
        [*argv, *(["--ascii"] if plain else [])], hostile.parent, 118, 34, VISUAL="true"
    )
    mark, reached = ("^[" if plain else "␛"), set[str]()
    try:
        terminal.until("Queue", "Evidence")
        for name in OF_ASCII if plain else SCREENS:
            keys, before = SCREENS[name], terminal.text
            terminal.press(keys[0])
            terminal.until_it(partial(terminal.differs_from, before))
            for key in keys[1:]:
                terminal.press(key)
                # An escape that another key follows at once would be the beginning of that key.
                terminal.read(0.15 if key == "\x1b" else 0.03)
                if mark in terminal.text:
                    reached.add(name)
            if name in HOLD_HOSTILE_TEXT and name not in reached:
                terminal.until(mark)
            assert terminal.running(), (name, terminal.stream[-800:])
            found = STEERS.search(terminal.stream)
            assert found is None, (
                name,
                terminal.stream[max(0, found.start() - 80) : found.end() + 20],
            )
            assert "stolen title" not in terminal.screen.title
    finally:
        terminal.kill()
