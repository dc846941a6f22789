"""The command that opens an editor at a line: an argument list, never a shell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reviewer.errors import ReviewerError
from reviewer.tui.editor import editor_argv


@pytest.fixture
def programs(tmp_path: Path) -> dict[str, str]:
    """A folder of programs as the only PATH."""
    for name in ("vim", "code", "hx"):
        path = tmp_path / name
        path.write_text("#!/bin/sh\n", "utf-8")
        path.chmod(0o755)
    return {"PATH": str(tmp_path)}


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("vim", ["+7", "/notes/a b.md"]),
        ("vim -u NONE", ["-u", "NONE", "+7", "/notes/a b.md"]),
        ("code --wait", ["--wait", "-g", "/notes/a b.md:7"]),
        ("hx", ["/notes/a b.md:7"]),
        ("vim ';' rm", [";", "rm", "+7", "/notes/a b.md"]),
    ],
)
def test_each_editor_gets_the_line_in_its_own_way(
    programs: dict[str, str], command: str, arguments: list[str]
) -> None:
    argv = editor_argv("/notes/a b.md", 7, {**programs, "EDITOR": command})
    assert argv[0].startswith(programs["PATH"])
    assert argv[1:] == arguments


@pytest.mark.parametrize("name", ["+!touch owned", "-c", "--cmd", "+q"])
@pytest.mark.parametrize("command", ["vim", "code"])
def test_a_file_name_is_not_a_command_to_the_editor(
    programs: dict[str, str], command: str, name: str
) -> None:
    *_, last = editor_argv(name, 3, {**programs, "EDITOR": command})
    assert last.startswith("/")
    assert name in last


@pytest.mark.parametrize(
    ("environment", "says"),
    [
        ({}, "set $VISUAL or $EDITOR"),
        ({"EDITOR": "emacs"}, "is not a program on this machine"),
        ({"EDITOR": "vim 'half"}, "cannot be read"),
    ],
)
def test_without_an_editor_the_reason_is_a_sentence(
    programs: dict[str, str], environment: dict[str, Any], says: str
) -> None:
    with pytest.raises(ReviewerError) as caught:
        editor_argv("a", 1, {**programs, **environment})
    assert says in str(caught.value)
