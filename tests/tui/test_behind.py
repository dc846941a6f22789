"""Background work blocks nobody."""

from __future__ import annotations

import importlib
from threading import get_ident
from types import ModuleType

import pytest

from reviewer.engine import Engine
from tests.tui.conftest import opened


async def test_a_screen_is_imported_in_a_thread_and_keys_go_on(
    stocked: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []
    real = importlib.import_module

    def note(name: str) -> ModuleType:
        threads.append(get_ident())
        return real(name)

    monkeypatch.setattr("reviewer.tui.app.import_module", note)
    async with opened(stocked) as screen:
        await screen.press("f8")
        assert type(screen.app.screen).__name__ == "HistoryScreen"
    assert threads
    assert get_ident() not in threads
