"""A store that may only be read can be looked at, stays as it is, and says why it takes no act."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.errors import StoreError
from tests.cli.conftest import Reviewer
from tests.cli.permissions import bound as bound

READING = (
    ["queue", "list"],
    ["queue", "show", "1"],
    ["history"],
    ["verify"],
    ["stats"],
    ["state", "list"],
    ["context", "list"],
    ["packet"],
    ["export"],
)
DECIDING = (["promote", "1"], ["undo"], ["state", "set", "phase", "beta"], ["dev-seed", "1"])


@contextmanager
def protected(*paths: Path) -> Iterator[None]:
    """Makes the paths read-only for a while."""
    modes = [(path, path.stat().st_mode) for path in paths]
    for path, mode in modes:
        path.chmod(mode & ~0o222)
    try:
        yield
    finally:
        for path, mode in modes:
            path.chmod(mode)


@pytest.fixture(params=["file", "folder", "both"])
def protection(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def closed(protection: str, seeded: Reviewer, bound: Callable[[], None]) -> Iterator[Reviewer]:
    """A store of which the file, the folder, or both are protected."""
    seeded.succeeds("promote", "2")
    folder = seeded.folder / "kept"
    folder.mkdir()
    seeded.db = seeded.db.rename(folder / "store.db")
    paths = {"file": [seeded.db], "folder": [folder], "both": [seeded.db, folder]}
    with protected(*paths[protection]):
        yield seeded


def test_every_reading_verb_works_and_every_decision_is_refused(
    closed: Reviewer, protection: str, bound: Callable[[], None]
) -> None:
    before = sorted(os.listdir(closed.db.parent)), closed.db.read_bytes()
    every = None if protection == "both" else 2  # all of them open the store in one way
    for verb in READING[:every]:
        closed.succeeds(*verb, preexec_fn=bound)
    for verb in DECIDING[:every]:
        assert "is read-only" in closed.fails(*verb, preexec_fn=bound)
    assert (sorted(os.listdir(closed.db.parent)), closed.db.read_bytes()) == before


def allowed_to_read(path: Path, mode: int) -> bool:
    """The answer of `os.access` for another user."""
    return mode == os.R_OK and path.exists()


def test_acts_written_in_the_meantime_are_read(
    seeded: Reviewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their write-ahead log is read, too, and the file after they close it."""
    owner = Engine.open(seeded.db)
    with monkeypatch.context() as closed_to_us:
        closed_to_us.setattr(os, "access", allowed_to_read)
        reader = Engine.open(seeded.db)
    assert reader.read_only
    assert not owner.read_only
    version = reader.version()
    for number in (1, 2):
        owner.triage.promote([number])
        assert reader.version() != version
        assert reader.queue.candidate(number).status == "active"
        version = reader.version()
    owner.triage.promote([3])
    owner.close()
    assert reader.queue.candidate(3).status == "active"
    with pytest.raises(StoreError, match="is read-only"):
        reader.triage.promote([4])
    reader.close()


def test_changes_that_lie_in_a_log_that_cannot_be_read_are_not_left_out(
    seeded: Reviewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program was killed, and its file was copied without what belongs to it."""
    monkeypatch.setattr(os, "access", allowed_to_read)
    seeded.db.with_name("store.db-wal").write_bytes(b"something")
    with pytest.raises(StoreError, match="latest changes are still in"):
        Engine.open(seeded.db)


def test_an_older_store_is_not_brought_up_to_date(
    seeded: Reviewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reviewer.store.migrations.SCHEMA_VERSION", 99)
    monkeypatch.setattr(os, "access", allowed_to_read)
    with pytest.raises(StoreError, match="read-only and was written by an older reviewer"):
        Engine.open(seeded.db)
