"""A store with a small context."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reviewer.commits.contexts import Contexts
from reviewer.commits.values import CommitQuery, CommitRow
from reviewer.engine import Engine
from tests.unit.sources.builders import Session

Chain = Callable[[], list[CommitRow]]

Say = Callable[..., int]

SPECIFICATION = (
    "The kiosk budget is $50k and the pilot ends on 2026-03-31. Receipts are printed in two "
    "seconds, and the drawer stays closed until the terminal has answered."
)


@pytest.fixture
def contexts(engine: Engine) -> Iterator[Contexts]:
    yield engine.contexts
    assert engine.history.verify().problems == ()


@pytest.fixture
def context(contexts: Contexts) -> int:
    """A context without commits."""
    return contexts.create("kiosk", "pilot").id


@pytest.fixture
def say(contexts: Contexts, context: int) -> Say:
    """Commits a text to the context and gives its id."""

    def write(text: str, role: str = "user", **more: object) -> int:
        return contexts.add(context, role=role, text=text, **more).row.id  # type: ignore[arg-type]

    return write


@pytest.fixture
def chain(contexts: Contexts, context: int) -> Chain:
    """The rows of the context as they stand."""
    return lambda: contexts.rows(contexts.ids(CommitQuery(context)))


def session(name: str = "fix") -> Session:
    """A conversation with a boot text, a thought, a call, its result and an answer."""
    made = Session(name)
    made.user("The printer prints every receipt twice.")
    made.block({"type": "thinking", "thinking": "Perhaps the spooler retries."}, "m1")
    made.reply("I look at the spooler.", "m1")
    made.tool("m1")
    made.result("spooler.log: retry=1")
    made.reply("The spooler retried after a timeout; I turned retries off.")
    return made


def written(made: Session, folder: Path) -> Path:
    """The session as a file."""
    return made.write(folder / f"{made.name}.jsonl")
