"""Help and evidence show whole texts; marks and colours suit the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.text.display import use_ascii_marks
from reviewer.tui.actions import PANES
from reviewer.tui.kit.action import Pane
from tests.tui.conftest import opened


@pytest.fixture(autouse=True)
def _all_characters() -> Iterator[None]:
    yield
    use_ascii_marks(False)


@pytest.mark.parametrize("pane", PANES, ids=lambda pane: pane.id)
def test_what_an_action_does_can_be_read_at_80_columns(pane: Pane) -> None:
    assert not [each.help for each in pane.actions if each.keys and len(each.short) > 48]


async def test_square_brackets_turn_the_evidence(engine: Engine, tmp_path: Path) -> None:
    said = "Always run `make check` before you open a pull request."
    for name in ("one", "two"):
        (tmp_path / f"{name}.md").write_text(f"# Of {name}\n\nHello {name}.\n\n- {said}\n", "utf-8")
        engine.intake.ingest([tmp_path / f"{name}.md"], project="acme")
    async with opened(engine) as screen:
        assert "Evidence 1 of 2: ] next" in screen.text
        await screen.press("right_square_bracket")
        assert "Evidence 2 of 2: [ previous" in screen.text
        await screen.press("right_square_bracket")
        assert screen.status == "This is the last evidence of this row."
        await screen.press("left_square_bracket", "left_square_bracket")
        assert "1 of 2" in screen.text
        assert screen.status == "This is the first evidence of this row."
        await screen.press("question_mark")
        assert "next place" in screen.text


async def test_ascii_mode_marks_hidden_characters_with_ascii(
    engine: Engine, tmp_path: Path
) -> None:
    note = tmp_path / "n.md"
    note.write_text(
        "We decided to use \x1b[31mred\x07 ink \u202e for the ledger because.\n", "utf-8"
    )
    engine.intake.ingest([note], project="acme")
    async with opened(engine, ascii=True) as screen:
        assert "^[[31mred^G" in screen.text
        assert "<U+202E>" in screen.text
        await screen.press("e")
        assert screen.text.isascii()


async def test_no_color_sends_no_colour(stocked: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(stocked) as screen:
        for keys in ((), ("e",), ("escape", "ctrl+p"), ("escape", "f8"), ("f5",)):
            await screen.press(*keys)
            strips = screen.strips
            styles = [part.style for strip in strips for part in strip if part.style]
            assert styles
            assert not [one for one in styles if one.color or one.bgcolor]
        assert any(one.bold for one in styles)
