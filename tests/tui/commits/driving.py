"""Driving the Commits screen in tests: a small context, and helpers to read the screen."""

from __future__ import annotations

import json
from pathlib import Path

from textual.widgets import TextArea

from reviewer.commits.values import CommitQuery
from reviewer.engine import Engine
from reviewer.tui.commits.screen import CommitsScreen
from reviewer.tui.theme import palette
from tests.present import present
from tests.tui.conftest import Screen

TURNS = (
    ("system", "You plan the spring fair of a small town."),
    ("user", "The budget is $50k and the hard stop is 2026-03-31."),
    ("assistant", "Then the stage comes first; I ask three vendors for a price."),
    ("user", "The vendor list stays as it is until the council signs."),
    ("assistant", "Noted. Two vendors answered, the third one wants a deposit."),
    ("user", "No deposits before the council has signed."),
)


def written(path: Path, turns: tuple[tuple[str, str], ...]) -> Path:
    """A transcript with a turn a line."""
    lines = [json.dumps({"role": role, "content": text}) for role, text in turns]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def chain(engine: Engine, context: int = 1) -> list[int]:
    """The ids of a context, in order."""
    return list(engine.contexts.ids(CommitQuery(context)))


def priorities(engine: Engine, context: int = 1) -> str:
    """The priorities of a context, a letter each."""
    return "".join(row.priority[0] for row in engine.contexts.rows(chain(engine, context)))


def commits(screen: Screen) -> CommitsScreen:
    found = screen.app.screen
    assert isinstance(found, CommitsScreen)
    return found


def typed(screen: Screen, field: str, text: str) -> None:
    """Put a text into a field, as a paste does."""
    area = screen.app.screen.query_one(field, TextArea)
    area.load_text(text)


def status_text(screen: Screen) -> str:
    return commits(screen).status.text


def at(screen: Screen) -> int:
    """The position of the commit under the cursor."""
    row = present(commits(screen).model).current
    assert row is not None
    return int(row.position)


def styled(screen: Screen, name: str) -> list[str]:
    """The texts of the commit pane that are drawn in this style of the theme."""
    pane = commits(screen).text
    style = getattr(palette(screen.app), name)
    rows = range(pane.size.height)
    return [run.text for y in rows for run in pane.render_line(y) if run.style == style]
