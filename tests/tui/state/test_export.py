"""Writing active memories to files: the difference first, other people's text kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reviewer.engine import Engine
from tests.tui.conftest import opened


async def test_the_difference_comes_before_the_writing(
    known: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "AGENTS.md"
    file.write_text("# Mine\n\nKeep this.\n", "utf-8")
    async with opened(known, project="acme") as screen:
        await screen.press("f5", "W", *"agents", "enter")
        assert "+- **db**: Tapes" in screen.text
        assert file.read_text("utf-8") == "# Mine\n\nKeep this.\n"
        await screen.press("escape")
        assert file.read_text("utf-8") == "# Mine\n\nKeep this.\n"
        await screen.press("W", *"agents", "enter", "enter")
        text = file.read_text("utf-8")
        assert text.startswith("# Mine\n\nKeep this.\n")
        assert "Tapes" in text
        (backup,) = Path(f"{known.path}-backups").iterdir()
        assert backup.read_text("utf-8") == "# Mine\n\nKeep this.\n"
        assert screen.status.startswith(f"Wrote {file}")
        assert backup.name in screen.status
        await screen.press("W", *"agents", "enter")
        assert "The export is already up to date" in screen.status
        assert file.read_text("utf-8") == text


@pytest.mark.parametrize(
    ("words", "name"),
    [("mark", "reviewer-export.md"), ("lines", "reviewer-export.ndjson"), ("context", ".context")],
)
async def test_the_other_forms_are_written_too(
    known: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(known, project="acme") as screen:
        await screen.press("f5", "W", *words)
        if words == "mark":
            await screen.press("backspace", "backspace", "backspace", "backspace")
        await screen.press("enter")
        assert not (tmp_path / name).exists()
        await screen.press("enter")
        assert (tmp_path / name).exists()
    if name.endswith(".ndjson"):
        lines = (tmp_path / name).read_text("utf-8").splitlines()
        assert {json.loads(line)["layer"] for line in lines} == {"state", "entity", "memory"}


async def test_a_file_that_changed_meanwhile_is_left_alone(
    known: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "AGENTS.md"
    file.write_text("# Mine\n", "utf-8")
    async with opened(known, project="acme") as screen:
        await screen.press("f5", "W", *"agents", "enter")
        file.write_text("# Yours\n", "utf-8")
        await screen.press("enter")
        assert file.read_text("utf-8") == "# Yours\n"
        assert "was changed meanwhile" in screen.status


async def test_a_broken_block_is_named_and_cannot_be_written(
    known: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "CLAUDE.md"
    broken = "<!-- reviewer:end -->\nmine\n"
    file.write_text(broken, "utf-8")
    async with opened(known, project="acme") as screen:
        await screen.press("f5", "W", *"claude", "enter")
        assert file.read_text("utf-8") == broken
        assert "Fix line 1." in screen.status
