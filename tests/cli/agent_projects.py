"""A project with a git work tree, promoted memories and a session, for the tests of agents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reviewer.engine import Engine
from reviewer.promotion.views import QueueQuery
from tests.cli.conftest import Reviewer
from tests.unit.sources.builders import Session

NOTE = """# Decisions of the ticket office

- [Decision] Tickets are printed on thermal paper, because ink dries out over the winter.
- [Constraint] The gate controller accepts at most 40 tickets a minute.
- [Preference] Always run `make gate-check` before a push.
"""

TALK = [
    ("user", "Print the tickets in two languages. Never call the gate controller from tests."),
    ("assistant", "I will stub the gate controller in tests/gate_stub.py and leave the real one."),
    ("user", "Right. And the spooler needs port 9417 free, otherwise it hangs without a message."),
]


def tree(program: Reviewer, name: str = "ticket-office") -> Path:
    """A git work tree beside the store, with one note."""
    folder = program.folder / name
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "notes.md").write_text(NOTE, encoding="utf-8")
    return folder


def filled(program: Reviewer) -> Path:
    """A work tree whose note is ingested and promoted."""
    folder = tree(program)
    program.make_store()
    engine = Engine.open(program.db)
    engine.work_in(engine.choose_project(None, folder))
    engine.intake.ingest([folder / "notes.md"], project=folder.name)
    engine.triage.promote(engine.queue.ids(QueueQuery(project=folder.name)))
    engine.close()
    return folder


def session(folder: Path, lines: Sequence[tuple[str, str]] = TALK, name: str = "talk") -> Path:
    """A transcript as Claude Code keeps it, outside the work tree."""
    place = folder.parent / "home" / ".claude" / "projects" / "office"
    place.mkdir(parents=True, exist_ok=True)
    told = Session(name)
    told.cwd = str(folder)
    for role, text in lines:
        (told.user if role == "user" else told.reply)(text)
    path = place / f"{name}.jsonl"
    path.write_bytes(told.bytes())
    return path


def hook(program: Reviewer, agent: str, event: str, told: object, **settings: Any) -> str:
    """What a hook printed; it succeeded and said nothing on stderr."""
    typed = told if isinstance(told, str) else json.dumps(told)
    done = program("hook", agent, event, typed=typed, **settings)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout
