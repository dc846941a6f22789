"""Finding files: which ones are skipped, and why."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reviewer.sources.walk import walk

from .builders import put


def found(*paths: Path) -> list[str]:
    """Names of the files found, relative to the first path."""
    base = paths[0] if paths[0].is_dir() else paths[0].parent
    return [os.path.relpath(e.path, base) for e in walk(paths) if not e.reason]


def passed(*paths: Path) -> dict[str, str]:
    return {e.path.name: e.reason for e in walk(paths) if e.reason}


def test_folders_are_expanded_in_order(tmp_path: Path) -> None:
    for name in ("b/two.md", "a/one.md", "zero.md", "b/.context/DECISIONS.md", ".claude/x.md"):
        put(tmp_path, name)
    assert found(tmp_path) == [
        "zero.md",
        ".claude/x.md",
        "a/one.md",
        "b/two.md",
        "b/.context/DECISIONS.md",
    ]


@pytest.mark.parametrize(
    "folder",
    ["node_modules", ".git", ".venv", "venv", "__pycache__", "site-packages", "vendor", "target"],
)
def test_dependencies_and_caches_are_not_read(tmp_path: Path, folder: str) -> None:
    put(tmp_path, f"sub/{folder}/deep/notes.md")
    put(tmp_path, "kept.md")
    assert found(tmp_path) == ["kept.md"]
    assert "dependencies" in passed(tmp_path)[folder]


def test_the_parts_of_stored_sessions_are_read_with_them(tmp_path: Path) -> None:
    for name in ("session/p/s.json", "message/s/m.json", "part/m/a.json"):
        put(tmp_path, f"storage/{name}")
    put(tmp_path, "part/of/a/book.md")
    assert found(tmp_path) == ["part/of/a/book.md", "storage/session/p/s.json"]
    assert passed(tmp_path)["message"] == "folder of parts of sessions, read with them"


def test_what_is_named_is_read_whatever_its_name(tmp_path: Path) -> None:
    put(tmp_path, "vendor/notes.md")
    assert found(tmp_path / "vendor") == ["notes.md"]
    put(tmp_path, ".gitignore", b"*.md\n")
    path = put(tmp_path, "node_modules/a.md")
    assert [entry.path for entry in walk([path])] == [path]


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("photo.png", b"text", "binary"),
        ("blob", b"\x00\x01\x02" * 50, "binary"),
        ("random", bytes(range(128, 256)) * 20, "binary"),
    ],
)
def test_files_without_prose_are_skipped(
    tmp_path: Path, name: str, data: bytes, reason: str
) -> None:
    put(tmp_path, name, data)
    assert passed(tmp_path) == {name: reason}


def test_utf16_text_and_damaged_records_are_text(tmp_path: Path) -> None:
    put(tmp_path, "a.txt", "Worte".encode("utf-16"))
    put(tmp_path, "b.jsonl", b'{"type":"user"}\n{"type":"user"}\n' + b"\0" * 700 + b"\n")
    assert found(tmp_path) == ["a.txt", "b.jsonl"]


def test_each_real_file_is_read_once(tmp_path: Path) -> None:
    path = put(tmp_path, "a.md")
    (tmp_path / "b.md").symlink_to(path)
    os.link(path, tmp_path / "c.md")
    assert found(tmp_path, path, tmp_path) == ["a.md"]
    assert passed(tmp_path)["c.md"] == "the same file again"


def test_links_to_folders_and_loops_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    put(outside, "x.md")
    inside = tmp_path / "inside"
    put(inside, "sub/y.md")
    (inside / "sub" / "loop").symlink_to(inside)
    (inside / "away").symlink_to(outside)
    (inside / "dead.md").symlink_to(tmp_path / "nothing")
    assert found(inside) == ["sub/y.md"]
    assert passed(inside) == {
        "away": "link to a folder",
        "loop": "link to a folder",
        "dead.md": "file cannot be read: no such file or directory",
    }


def test_a_folder_that_cannot_be_read_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "shut/x.md")
    put(tmp_path, "open/y.md")
    real = os.scandir

    def scandir(path: str) -> object:
        if str(path).endswith("shut"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert found(tmp_path) == ["open/y.md"]
    assert passed(tmp_path)["shut"] == "folder cannot be read: permission denied"
