"""A link that somebody makes between the difference that a person was shown and the writing leads
nothing into another place.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reviewer.agents.connections import Connections
from reviewer.agents.wiring import WiringPlace, WiringScope
from reviewer.errors import ReviewerError

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SETTINGS = '{\n  "model": "sonnet"\n}\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project that has settings of an agent."""
    made = tmp_path / "project"
    (made / ".claude").mkdir(parents=True)
    (made / ".claude" / "settings.json").write_text(SETTINGS)
    return made


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder outside the project in which everything looks the same."""
    made = tmp_path / "elsewhere"
    made.mkdir()
    (made / "settings.json").write_text(SETTINGS)
    return made


def place(root: Path, scope: WiringScope = WiringScope.PROJECT) -> WiringPlace:
    return WiringPlace(scope=scope, root=root, command=("reviewer",), environment={})


def connections(root: Path, then: Callable[[], None] = lambda: None) -> Connections:
    """`then` is carried out whenever the time is asked for, which is after all checks and before a
    file is replaced.
    """

    def clock() -> datetime:
        then()
        return NOON

    store = root.parent / "data" / "store.db"
    store.parent.mkdir(exist_ok=True)
    return Connections(store, clock=clock)


def swap(folder: Path, target: Path) -> None:
    """Put a link in the place of a folder, once."""
    if not folder.is_symlink():
        folder.rename(folder.with_name("moved-away"))
        folder.symlink_to(target)


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


@pytest.mark.parametrize("scope", [WiringScope.PROJECT, WiringScope.USER])
def test_a_folder_that_became_a_link_before_the_writing(
    root: Path, elsewhere: Path, scope: WiringScope
) -> None:
    made = connections(root)
    planned = made.plan_connect("claude-code", place(root, scope))
    before = contents(elsewhere)
    swap(root / ".claude", elsewhere)
    with pytest.raises(ReviewerError, match=r"now leads to .*, not to"):
        made.connect(planned)
    assert contents(elsewhere) == before
    assert made.all() == []
    assert not (root / ".mcp.json").exists()
    assert not (root / ".claude.json").exists()


def test_a_folder_that_became_a_link_during_the_writing(root: Path, elsewhere: Path) -> None:
    planned = connections(root).plan_connect("claude-code", place(root))
    before = contents(elsewhere)
    made = connections(root, lambda: swap(root / ".claude", elsewhere))
    with pytest.raises(ReviewerError, match="now leads to"):
        made.connect(planned)
    assert contents(elsewhere) == before
    assert contents(root / "moved-away") == {"settings.json": SETTINGS}
    assert made.all() == []


def test_a_file_that_became_a_link(root: Path, elsewhere: Path) -> None:
    made = connections(root)
    planned = made.plan_connect("claude-code", place(root, WiringScope.USER))
    path = root / ".claude" / "settings.json"
    path.unlink()
    path.symlink_to(elsewhere / "settings.json")
    with pytest.raises(ReviewerError, match="leads to"):
        made.connect(planned)
    assert contents(elsewhere) == {"settings.json": SETTINGS}


@pytest.mark.parametrize("when", ["before", "during"])
def test_disconnecting_removes_nothing_behind_a_link(
    root: Path, elsewhere: Path, when: str
) -> None:
    (root / ".claude" / "settings.json").unlink()
    made = connections(root)
    made.connect(made.plan_connect("claude-code", place(root)))
    ours = (root / ".claude" / "settings.json").read_text()
    (elsewhere / "settings.json").write_text(ours)
    (connection,) = made.all()
    planned = made.plan_disconnect(connection)
    if when == "before":
        swap(root / ".claude", elsewhere)
    else:
        made = connections(root, lambda: swap(root / ".claude", elsewhere))
    with pytest.raises(ReviewerError):
        made.disconnect(planned)
    assert contents(elsewhere) == {"settings.json": ours}
    assert made.all() == [connection]
