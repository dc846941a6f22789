"""Panes wait while a cursor runs, and screens wait while another one is above them."""

from __future__ import annotations

import pytest

from reviewer.engine import Engine
from reviewer.promotion.views import QueueQuery
from reviewer.tui.history.screen import HistoryScreen
from reviewer.tui.kit import list_screen
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.memory.screen import MemoryScreen
from reviewer.tui.packet.screen import PacketScreen
from tests.tui.conftest import Screen, opened

LONG = 3600.0


@pytest.fixture
def filled(seeded: Engine) -> Engine:
    """Twenty active memories, each promoted by an act of its own."""
    for number in list(seeded.queue.ids(QueueQuery()))[:20]:
        seeded.triage.promote([number])
    return seeded


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the panes that were given something to show, in order."""
    ids: list[str] = []
    show = TextPane.show

    def noted(pane: TextPane, *args: object, **options: object) -> None:
        ids.append(pane.id or "")
        show(pane, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(TextPane, "show", noted)
    return ids


async def run(screen: Screen, monkeypatch: pytest.MonkeyPatch, drawn: list[str]) -> None:
    """Move once, so that the panes follow, then on and on, so that they wait."""
    await screen.press("j")
    monkeypatch.setattr(list_screen, "SKIM_SECONDS", LONG)
    monkeypatch.setattr(list_screen, "REST_SECONDS", LONG)
    drawn.clear()
    for key in "jjjk":
        await screen.pilot.press(key)


@pytest.mark.parametrize(("key", "kind"), [("f4", PacketScreen), ("f8", HistoryScreen)])
async def test_panes_wait_while_the_cursor_runs(
    filled: Engine,
    monkeypatch: pytest.MonkeyPatch,
    drawn: list[str],
    key: str,
    kind: type[PacketScreen] | type[HistoryScreen],
) -> None:
    async with opened(filled, project="acme") as screen:
        await screen.press(key)
        await run(screen, monkeypatch, drawn)
        shown = screen.app.screen
        assert isinstance(shown, kind)
        assert drawn == []
        shown.follow()
        await screen.settle()
        assert drawn


@pytest.mark.parametrize(
    ("key", "kind"), [("f4", PacketScreen), ("f5", MemoryScreen), ("f8", HistoryScreen)]
)
async def test_a_screen_below_another_one_reads_when_it_is_shown_again(
    filled: Engine, key: str, kind: type[PacketScreen] | type[MemoryScreen] | type[HistoryScreen]
) -> None:
    other = Engine.open(filled.path, actor="somebody")
    async with opened(filled, project="acme") as screen:
        await screen.press(key)
        below = screen.app.screen
        assert isinstance(below, kind)
        await screen.press("ctrl+p")
        other.state.set("acme", "region", "eu-west-1")
        read: list[str] = []
        begun = below.read
        below.read = lambda *a, **o: (read.append("read"), begun(*a, **o))[1]  # type: ignore[method-assign, func-returns-value]
        below.watch_store()
        assert read == []
        await screen.press("escape")
        assert read
    other.close()
