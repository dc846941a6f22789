"""Going from screen to screen faster than they open and close."""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from textual import events
from textual.widgets import Input

from reviewer.engine import Engine
from reviewer.tui import app as app_module
from reviewer.tui.context.screen import ContextScreen
from reviewer.tui.kit.choice import ChoiceScreen
from reviewer.tui.kit.list_screen import ListScreen
from reviewer.tui.packet.screen import PacketScreen
from reviewer.tui.pipelines.screen import PipelinesScreen
from reviewer.tui.queue.screen import QueueScreen
from tests.tui.conftest import Screen, opened


class Disk:
    """The requests to a slow disk, and when it answers."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.answers = threading.Event()


def type_without_waiting(screen: Screen, *keys: str) -> None:
    """Keys that arrive before any of them has been handled."""
    for key in keys:
        screen.app.post_message(events.Key(key, key if len(key) == 1 else None))


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    """Screens are imported for the first time, from a disk that takes as long as a test likes."""
    disk = Disk()

    def imported(name: str) -> object:
        disk.asked.set()
        assert disk.answers.wait(30)
        return import_module(name)

    monkeypatch.setattr(app_module, "import_module", imported)
    return disk


async def test_keys_typed_while_a_screen_opens_go_to_that_screen(
    engine: Engine, disk: Disk
) -> None:
    async with opened(engine) as screen:
        type_without_waiting(screen, "f3", "ctrl+p", "z")
        await screen.until(disk.asked.is_set)
        disk.answers.set()
        await screen.until(lambda: isinstance(screen.app.screen, ChoiceScreen))
        kinds = [type(one) for one in screen.app.screen_stack]
        assert kinds == [QueueScreen, ContextScreen, ChoiceScreen]
        await screen.until(lambda: [each.value for each in screen.app.screen.query(Input)] == ["z"])


@pytest.mark.parametrize("key", ["f3", "f4", "f6"])
async def test_a_screen_reads_once(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """Textual calls `on_mount` of every base class, so a handler must not call `super()`."""
    called: list[str] = []
    async with opened(engine) as screen:
        for kind in (ContextScreen, PacketScreen, PipelinesScreen):
            monkeypatch.setattr(kind, "reload", _counting(called, kind.reload))
        await screen.press(key)
        assert called == ["reload"]


def _counting(called: list[str], reload: Callable[[Any], None]) -> Callable[[Any], None]:
    def counted(self: ListScreen) -> None:
        called.append("reload")
        reload(self)

    return counted
