"""Help, evidence and the palette show whole texts; marks and colours suit the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.text.display import use_ascii_marks
from reviewer.tui.evidence.evidence_pane import evidence_blocks
from reviewer.tui.help import HelpScreen
from reviewer.tui.theme import GLYPHS
from tests.tui.conftest import opened
from tests.tui.views import evidence, record


@pytest.fixture(autouse=True)
def _all_characters() -> Iterator[None]:
    yield
    use_ascii_marks(False)


@pytest.mark.parametrize("size", [(118, 34), (60, 20)])
async def test_the_row_of_the_cursor_is_always_visible_in_help(
    stocked: Engine, size: tuple[int, int]
) -> None:
    async with opened(stocked, size=size) as screen:
        await screen.press("question_mark")
        shown = screen.top(HelpScreen)
        assert isinstance(shown, HelpScreen)
        for key in ("G", "k", "k", "g", "pagedown", "ctrl+d", "pageup", "G"):
            await screen.press(key)
            row = shown.list.current
            lines = screen.text.splitlines()
            here = [line for line in lines if line.startswith("▌")]
            assert len(here) == 1, key
            assert row.action is None or row.action.title[:14] in here[0]
        assert shown.list.total <= shown.list.height or shown.list.scroll_offset.y > 0


async def test_help_shows_the_whole_sentence_of_the_row(stocked: Engine) -> None:
    async with opened(stocked, size=(60, 20)) as screen:
        await screen.press("question_mark")
        shown = screen.top(HelpScreen)
        for row in shown.list.rows:
            if row.action is None:
                continue
            shown.list.move_to(shown.list.rows.index(row))
            await screen.settle()
            flat = " ".join(screen.text.split())
            assert " ".join(row.explanation.split()) in flat


async def test_square_brackets_turn_the_evidence(engine: Engine, tmp_path: Path) -> None:
    said = "Always run `make check` before you open a pull request."
    for name in ("one", "two"):
        (tmp_path / f"{name}.md").write_text(f"# Of {name}\n\nHello {name}.\n\n- {said}\n", "utf-8")
        engine.intake.ingest([tmp_path / f"{name}.md"], project="acme")
    async with opened(engine) as screen:
        assert "1 of 2" in screen.text
        assert "[ ] turn" in screen.text
        await screen.press("right_square_bracket")
        assert "2 of 2" in screen.text
        await screen.press("right_square_bracket")
        assert screen.status == "This is the last evidence of this row."
        await screen.press("left_square_bracket", "left_square_bracket")
        assert "1 of 2" in screen.text
        assert screen.status == "This is the first evidence of this row."
        await screen.press("question_mark")
        shown = screen.top(HelpScreen)
        assert isinstance(shown, HelpScreen)
        assert "next evidence" in [row.action.title for row in shown.list.rows if row.action]


def test_a_heading_shown_before_the_record_is_not_repeated() -> None:
    before = record(id=4, shape="section", text="# ADR 1\n\nAccepted.", headings=("ADR 1",))
    found = evidence(
        text="## Decision\n\nWe use WAL.", shape="section", headings=("ADR 1", "Decision"),
        before=(before,), span=(13, 24),
    )  # fmt: skip
    shown = [block.text for block in evidence_blocks(found, GLYPHS)]
    assert sum("ADR 1" in text for text in shown) == 1


def test_a_heading_cut_off_before_the_record_is_shown() -> None:
    before = record(id=4, shape="section", text="# ADR 1\n\n" + "word " * 200, headings=("ADR 1",))
    found = evidence(
        text="## Decision\n\nWe use WAL.", shape="section", headings=("ADR 1", "Decision"),
        before=(before,), span=(13, 24),
    )  # fmt: skip
    assert "ADR 1" in [block.text for block in evidence_blocks(found, GLYPHS)]


async def test_the_palette_finds_an_action_by_its_description(stocked: Engine) -> None:
    async with opened(stocked) as screen:
        await screen.press("ctrl+p", *"theme")
        await screen.until(lambda: "dark or light" in screen.text)


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
