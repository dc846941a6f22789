"""Trusted state by key: values are typed, and never copied from a memory or an entity."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.tui.kit.keys import REDO, UNDO
from reviewer.tui.memory.keys import MEMORY
from reviewer.tui.memory.model import TrustedRow
from tests.tui.conftest import SET_A_VALUE, Screen, opened
from tests.tui.memory.driving import memory_screen
from tests.unit.promotion.graph import dump


async def test_a_value_is_typed_and_superseded_and_unset(known: Engine, screen: Screen) -> None:
    await screen.press("f5", *SET_A_VALUE, *"region", "enter", *"eu-north", "ctrl+s")
    (held,) = known.state.get("acme", "region")
    assert (held.value, held.note, held.evidence) == ("eu-north", "", "")
    assert screen.status == "Set region - u to undo"
    assert "region" in screen.text
    await screen.press("e", *"-1", "ctrl+s")
    assert [each.value for each in known.state.get("acme", "region")] == [
        "eu-north-1", "eu-north",
    ]  # fmt: skip
    assert "before" in screen.text
    await screen.press("x")
    assert [each.key for each in known.state.all("acme")] == ["db"]
    await screen.press("u")
    assert {each.key for each in known.state.all("acme")} == {"db", "region"}
    assert isinstance(back := memory_screen(screen).facts.current, TrustedRow)
    assert back.state.key == "region"


async def test_no_key_writes_a_memory_or_entity_into_state(
    known: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = dump(known, "state")
    keys = [key for one in MEMORY.actions if one not in (UNDO, REDO) for key in one.keys.split(",")]
    async with opened(known, project="acme", size=(80, 24)) as screen:
        for key in keys:
            await screen.press("f5")
            await screen.pilot.press("g", "j", "j")
            await screen.press(key)
            await screen.pilot.press("enter", "ctrl+s", "escape", "escape", "f2")
    assert dump(known, "state") == before


async def test_an_empty_value_is_not_written(known: Engine, screen: Screen) -> None:
    await screen.press("f5", *SET_A_VALUE, *"region", "enter", "ctrl+s")
    assert screen.status == "A value cannot be empty."
    assert len(known.state.all("acme")) == 1


async def test_with_several_projects_the_project_is_chosen_first(known: Engine) -> None:
    known.state.set("other", "db", "Discs")
    async with opened(known) as screen:
        await screen.press("f5", *SET_A_VALUE)
        assert screen.status == "Choose the project of the value first: p."


@pytest.mark.parametrize(
    "steps",
    [["e"], ["j", "e", "enter"], ["j", "j", "e", "enter"]],
    ids=["state", "entity", "memory"],
)
async def test_the_title_says_that_a_draft_is_kept(known: Engine, steps: list[str]) -> None:
    async with opened(known, project="acme", size=(80, 24)) as screen:
        await screen.press("f5", *steps, *"xyz", "escape")
        assert "· draft kept " in screen.text
        await screen.press(*(key for key in steps if key != "j"), "ctrl+s")
        assert "draft kept" not in screen.text
