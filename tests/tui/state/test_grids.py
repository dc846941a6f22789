"""How the State screen looks, at three sizes, in ASCII, with hostile text."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len

from reviewer.engine import Engine
from tests.tui.conftest import opened
from tests.tui.state.driving import SIZES
from tests.tui.views import HOSTILE


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_state_screen(
    engine: Engine, memory: int, entity: int, snapshot: object, size: tuple[int, int]
) -> None:
    engine.state.set("acme", "db", "Tapes", note="for now", evidence="the minutes of March")
    engine.state.set("acme", "db", "Disks", note="for now", evidence="the minutes of April")
    async with opened(engine, project="acme", size=size) as screen:
        await screen.press("f5")
        assert screen.text == snapshot


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_form(
    engine: Engine, memory: int, snapshot: object, size: tuple[int, int]
) -> None:
    async with opened(engine, project="acme", size=size) as screen:
        await screen.press("f5", "n", *"approvals")
        assert screen.text == snapshot


async def test_the_state_screen_in_ascii(engine: Engine, memory: int, snapshot: object) -> None:
    async with opened(engine, project="acme", size=(100, 24), ascii=True) as screen:
        await screen.press("f5")
        await screen.choose("graduate")
        assert screen.text == snapshot


async def test_hostile_text_stays_text_in_every_pane(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    project = f"ac{HOSTILE}"
    for type_ in ("preference", "decision", "system"):
        (number,) = engine.entities.author(project, type_, f"{type_} {HOSTILE}", name=HOSTILE).ids
        engine.triage.promote([number], alone=True)
    engine.state.set(project, f"k {HOSTILE}", HOSTILE, note=HOSTILE, evidence=HOSTILE)
    engine.state.set(project, f"k {HOSTILE}", HOSTILE + " 2", note=HOSTILE, evidence=HOSTILE)
    walk = (
        "f5", "e", "tab", "escape", "n", "escape", "j", "enter", "full_stop", "enter", "enter",
        "escape", "j", "e", "escape", "G", "full_stop", "escape", "o", "escape", "x", "u", "tab",
        "tab", "tab", "W", "enter", "escape", "escape",
    )  # fmt: skip
    width, height = SIZES[-1]
    async with opened(engine, size=(width, height)) as screen:
        for key in walk:
            await screen.press(key)
            strips = screen.strips
            assert {cell_len(strip.text) for strip in strips} == {width}
            shown = "".join(strip.text for strip in strips)
            assert not set(shown) & set("\x1b\x07\x9b\u202e\u2066"), key
        assert screen.app.return_code is None
