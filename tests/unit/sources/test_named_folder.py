"""A folder that a person names is read, whatever ignore files above say of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.sources.walk import Found, walk


@pytest.mark.parametrize("pattern", [".venv/", "deep", "*"])
def test_a_named_folder_inside_an_ignored_one(tmp_path: Path, pattern: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text(f"{pattern}\n")
    folder = tmp_path / ".venv" / "deep"
    folder.mkdir(parents=True)
    (folder / "note.md").write_text("# A note\n\nWith a sentence in it.\n")
    found = [item.path.name for item in walk([folder]) if isinstance(item, Found)]
    assert found == ["note.md"]


def test_rules_from_above_still_apply_inside_folders_they_exclude_in_part(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("*.log.md\n")
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("a.md", "b.log.md"):
        (folder / name).write_text("# A note\n\nWith a sentence in it.\n")
    assert [item.path.name for item in walk([folder]) if isinstance(item, Found)] == ["a.md"]
