"""Acts are atomic, whatever happens to the disk or the program in the middle of a verb.

`tests.cli.moments` defines the moments of a command. This tests some moments of each command, and
all moments of one decision.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.moments import Fault, Outcome, call, copied, ledger

pytestmark = pytest.mark.xdist_group("at_any_moment")
"""The folder is made once."""

NOTES = """# Decisions of the kiosk team

- [Decision] Receipts are printed in the language that the customer chose at the start.
- [Preference] We prefer thermal paper without BPA for all printers.
- [Constraint] A receipt has to be printed within two seconds of the payment.
- [Parameter] The roll of paper is 80 mm wide.

We decided to keep the drawer closed until the card terminal has answered. The root cause of the
double charges was that the terminal repeated its answer after a timeout of 20 seconds.
"""
MORE_NOTES = """# More

- [Decision] The drawer is counted twice a day by two people.
- [Constraint] A screen has to be readable in full sunlight.
"""
TALK = [
    {"role": "user", "content": "Print receipts within 2 seconds."},
    {
        "role": "assistant",
        "content": "The printer is slow at 80 mm paper. " + "Its motor stalls. " * 20,
    },
    {"role": "user", "content": "Then use the 58 mm roll."},
    {"role": "assistant", "content": "Done: printer.toml has width = 58."},
]
TEA = """digraph tea {
  start [shape=Mdiamond]; done [shape=Msquare]
  boil [prompt="Boil water."]
  serve [shape=hexagon, label="Serve it?"]
  start -> boil -> serve
  serve -> done [label="[Y] Yes"]
  serve -> boil [label="[N] No"]
}
"""

ONE_ACT = [
    ["edit", "3", "--content-file", "new.txt", "--promote"],
    ["context", "import", "talk2.json"],
    ["compress", "talk", "--level", "brief", "--apply", "--anyway"],
    ["undo"],
]
"""Verbs that are one step of undo."""
SEVERAL = [
    ["ingest", "more.md"],
    ["pipeline", "run", "tea.dot", "--answer", "serve=Y"],
]
"""Verbs that write on their way, and go on where they were when they are called again."""
FILES = [
    ("AGENTS.md", ["export", "--into", "AGENTS.md", "--write"]),
    (".context/DECISIONS.md", ["export", "--context-dir", ".context", "--write"]),
    ("packet.md", ["packet", "--out", "packet.md"]),
]
"""Verbs that write files but not the store."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with notes, a conversation, a pipeline, and a store with a bit of everything."""
    folder = tmp_path_factory.mktemp("moments") / "made"
    folder.mkdir()
    (folder / "notes.md").write_text(NOTES)
    (folder / "more.md").write_text(MORE_NOTES)
    (folder / "talk.json").write_text(json.dumps(TALK))
    (folder / "talk2.json").write_text(json.dumps(TALK[:2]))
    (folder / "tea.dot").write_text(TEA)
    (folder / "new.txt").write_text("Receipts are printed in the customer's language.")
    (folder / "AGENTS.md").write_text("# Agents\n\nWhat we wrote ourselves.\n")
    for arguments in (
        ["ingest", "notes.md"],
        ["dev-seed", "4"],
        ["context", "import", "talk.json"],
        ["promote", "1", "2"],
        ["reject", "8"],
        ["state", "set", "phase", "alpha"],
        ["reject", "9"],
        ["undo"],
    ):
        done = call(folder, *arguments)
        assert done.code == 0, (arguments, done)
    return folder


def named(verb: list[str]) -> str:
    return " ".join(verb)[:40]


def some(moments: int | None) -> Iterator[tuple[Fault, int]]:
    """A kill at the last moment, and one of the faults of a disk on the way there."""
    assert moments
    yield Fault.KILLED, moments
    yield (Fault.FULL if moments % 2 else Fault.BROKEN), 1 + moments // 2


def says_so(done: Outcome) -> bool:
    """It failed with one line, and no defect."""
    return done.code == 1 and len(done.err.splitlines()) >= 1 and "defect" not in done.err


@pytest.mark.parametrize("verb", ONE_ACT, ids=named)
def test_a_decision_is_there_as_a_whole_or_not_at_all(made: Path, verb: list[str]) -> None:
    was = ledger(made)
    whole = call(copied(made, "whole"), *verb)
    assert whole.code == 0, whole
    for fault, at in some(whole.moments):
        folder = copied(made, "tried")
        done = call(folder, *verb, fault=fault, at=at)
        now = ledger(folder)  # verifies chain and rows
        assert now[: len(was)] == was
        assert len(now) - len(was) in (0, 1)
        if fault is Fault.KILLED:
            assert done.code == -9
        else:
            assert says_so(done) or (done.code == 0 and len(now) > len(was)), (fault, at, done)
        if "not written" in done.err:
            assert now == was
        again = call(folder, *verb)
        assert again.code == 0 or len(now) > len(was), again
        assert "defect" not in again.err
        back = call(folder, "undo") if verb != ["undo"] else call(folder, "redo")
        assert back.code == 0, back
        ledger(folder)


@pytest.mark.parametrize("verb", SEVERAL, ids=named)
def test_longer_work_goes_on_where_it_was(made: Path, verb: list[str]) -> None:
    was = ledger(made)
    whole = call(copied(made, "whole"), *verb)
    assert whole.code == 0, whole
    for fault, at in some(whole.moments):
        folder = copied(made, "tried")
        done = call(folder, *verb, fault=fault, at=at)
        assert says_so(done) or done.code == (-9 if fault is Fault.KILLED else 0), (fault, at, done)
        assert ledger(folder)[: len(was)] == was
        again = call(folder, *verb)
        assert again.code == 0, (fault, at, again)
        ledger(folder)


@pytest.mark.parametrize(("name", "verb"), FILES)
def test_a_file_is_the_old_one_or_the_new_one(made: Path, name: str, verb: list[str]) -> None:
    before = (made / name).read_bytes() if (made / name).exists() else None
    finished = copied(made, "whole")
    whole = call(finished, *verb)
    assert whole.code == 0, whole
    was, after = ledger(made), (finished / name).read_bytes()
    for fault, at in some(whole.moments):
        folder = copied(made, "tried")
        done = call(folder, *verb, fault=fault, at=at)
        assert done.code in (0, 1, -9), (fault, at, done)
        assert "defect" not in done.err
        now = (folder / name).read_bytes() if (folder / name).exists() else None
        assert now in (before, after)
        assert ledger(folder) == was
        again = call(folder, *verb)
        assert again.code == 0, (fault, at, again)
        assert (folder / name).read_bytes() == after
