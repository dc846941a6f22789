"""Trusted state by key: values are typed, and never copied from a memory or an entity."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.tui.kit.keys import REDO, UNDO
from reviewer.tui.state.keys import STATE
from reviewer.tui.state.panes import FIELDS, StateForm
from tests.tui.conftest import opened
from tests.tui.state.driving import status_text
from tests.unit.promotion.graph import dump


async def test_a_value_is_typed_and_superseded_and_unset(known: Engine) -> None:
    async with opened(known, project="acme") as screen:
        await screen.press("f5", "n", *"region", "tab", *"eu-north", "tab", *"legal", "ctrl+s")
        (held,) = known.state.get("acme", "region")
        assert (held.value, held.note, held.evidence) == ("eu-north", "legal", "")
        assert status_text(screen) == "Set region - u to undo"
        assert "region" in screen.text
        await screen.press("e", "end", *"-1", "ctrl+s")
        assert [each.value for each in known.state.get("acme", "region")] == [
            "eu-north-1", "eu-north",
        ]  # fmt: skip
        assert "before" in screen.text
        await screen.press("x")
        assert [each.key for each in known.state.all("acme")] == ["db"]
        await screen.press("u")
        assert {each.key for each in known.state.all("acme")} == {"db", "region"}


@pytest.mark.parametrize("steps", ["", "j", "jj"], ids=["state", "entity", "memory"])
async def test_the_form_starts_empty_whatever_is_chosen(known: Engine, steps: str) -> None:
    async with opened(known, project="acme") as screen:
        await screen.press("f5", *steps, "n")
        values = screen.app.screen.query_one(StateForm).values
        assert {name: text for name, text in values.items() if name != "project"} == {
            "key": "", "value": "", "note": "", "evidence": "",
        }  # fmt: skip
        words = {"": "Tapes", "j": "We ship on Mondays only", "jj": "Deploys need two"}[steps]
        assert words in screen.text, "the chosen fact stands beside the form"


@pytest.mark.parametrize("steps", ["j", "jj"], ids=["entity", "memory"])
async def test_no_key_writes_a_memory_or_entity_into_state(
    known: Engine, steps: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = dump(known, "state")
    keys = [
        key
        for one in STATE.actions
        if one.group != "Move" and one not in (UNDO, REDO)
        for key in one.keys.split(",")
    ]
    async with opened(known, project="acme", size=(80, 24)) as screen:
        for key in keys:
            await screen.press("f5")
            await screen.pilot.press("g", *steps)
            await screen.press(key)
            await screen.pilot.press("enter", "ctrl+s", "escape", "escape", "f2")
    assert dump(known, "state") == before


async def test_a_missing_field_is_named_and_the_typed_text_stays(known: Engine) -> None:
    async with opened(known, project="acme") as screen:
        await screen.press("f5", "n", *"region", "ctrl+s")
        assert status_text(screen) == "The value is empty: type it, or leave with escape."
        await screen.press("escape", "n")
        assert screen.app.screen.query_one(StateForm).values["key"] == "region"


async def test_without_a_project_the_form_asks_for_it(engine: Engine) -> None:
    async with opened(engine) as screen:
        await screen.press("f5", "n", *"acme", "enter", *"db", "enter", *"Tapes", "ctrl+s")
        assert [(one.project, one.value) for one in engine.state.all()] == [("acme", "Tapes")]


def test_the_form_has_the_fields_of_a_value() -> None:
    assert [name for name, _ in FIELDS] == ["project", "key", "value", "note", "evidence"]
