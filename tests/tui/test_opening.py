"""Going from screen to screen faster than they open and close."""

from __future__ import annotations

import threading
from importlib import import_module

import pytest
from textual import events
from textual.widgets import Input

from reviewer.engine import Engine
from reviewer.tui import app as app_module
from reviewer.tui.commits.screen import CommitsScreen
from reviewer.tui.help import HelpScreen
from reviewer.tui.palette import Palette
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
        await screen.until(lambda: isinstance(screen.app.screen, Palette))
        kinds = [type(one) for one in screen.app.screen_stack]
        assert kinds == [QueueScreen, CommitsScreen, Palette]
        await screen.until(lambda: [each.value for each in screen.app.screen.query(Input)] == ["z"])


async def test_a_screen_is_left_once_however_often_the_key_comes(engine: Engine) -> None:
    async with opened(engine) as screen:
        await screen.press("f3", "question_mark")
        help_screen = screen.app.screen
        assert isinstance(help_screen, HelpScreen)
        help_screen.leave()
        help_screen.leave()
        await screen.until(lambda: isinstance(screen.app.screen, CommitsScreen))
        commits = screen.app.screen
        commits.dismiss()
        commits.dismiss()
        await screen.until(lambda: isinstance(screen.app.screen, QueueScreen))
