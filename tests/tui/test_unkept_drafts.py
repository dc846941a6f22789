"""The screen on a disk that accepts no more writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import TextArea

from reviewer.engine import Engine
from reviewer.errors import StoreError
from reviewer.promotion.decisions.drafts import Drafts
from reviewer.tui.kit import edit_pane
from tests.tui.conftest import opened


def full(*_: object) -> None:
    raise StoreError("The draft could not be kept: No space left on device.")


@pytest.mark.parametrize("keys", [("e", "x"), ("f3", "3", "3", "e", "x")])
async def test_typed_text_stays_visible_when_its_draft_cannot_be_kept(
    stocked: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: tuple[str, ...]
) -> None:
    """Wordings of a memory and of a summary."""
    talk = tmp_path / "talk.json"
    talk.write_text('[{"role": "user", "content": "Print receipts within 2 seconds."}]')
    stocked.contexts.import_file(talk, project="acme")
    monkeypatch.setattr(Drafts, "save", full)
    async with opened(stocked) as screen:
        await screen.press(*keys)
        writing = screen.focused(TextArea)
        await screen.press("escape")
        assert "No space left" in screen.text
        assert screen.app.focused is writing
        assert "x" in writing.text


async def test_the_program_can_be_left_when_a_draft_cannot_be_kept(
    stocked: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says so first; the same key again leaves."""
    monkeypatch.setattr(edit_pane, "DRAFT_AFTER", 60)  # only leaving asks for it
    async with opened(stocked) as screen:
        await screen.press("e", "x")
        monkeypatch.setattr(Drafts, "save", full)
        await screen.press("ctrl+q")
        assert "No space left" in screen.status
        assert "again quits without it" in screen.status
        assert screen.app.is_running
        await screen.pilot.press("ctrl+q")
        await screen.until(lambda: screen.app.return_code == 0)
