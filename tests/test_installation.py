"""Nobody is told to install somebody else's package, and every hint fits the installation."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from reviewer.installation import DISTRIBUTION, adding, folder_of, packages_of, to_add
from tests.source_code import in_one_process

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = (
    "textual>=8.2.8",
    'mcp<3,>=2.3; extra == "mcp"',
    "anyio >=4.10 ; extra == 'mcp'",
    'distributed>=2026.1; extra == "fleet"',
)
MCP = ("mcp<3,>=2.3", "anyio>=4.10")

INSTALL = re.compile(
    r"\b(?:pipx?(?:3)? install|pipx (?:inject|run)|uv tool (?:install|run)|uvx)\b([^\n`)]*)"
)
"""What follows a command that installs something."""


def texts() -> dict[str, str]:
    """Every file in which a person may read how to install something."""
    found = [ROOT / "README.md", ROOT / "pyproject.toml", *ROOT.glob("docs/**/*.md")]
    found += ROOT.glob("reviewer/**/*.py")
    return {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in found}


@in_one_process
def test_no_text_installs_the_package_of_another() -> None:
    wrong = [
        (name, found[0])
        for name, text in texts().items()
        for found in INSTALL.finditer(text)
        if re.search(r"(?<![\w./-])reviewer\b(?!\s+demo)", found[1])
    ]
    assert wrong == []


def test_the_distribution_has_a_name_of_its_own() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["name"] == DISTRIBUTION != "reviewer"
    assert list(project["scripts"]) == ["reviewer"]


def test_the_packages_of_an_extra_are_those_it_declares() -> None:
    assert packages_of("mcp", REQUIREMENTS) == MCP
    assert packages_of("nothing", REQUIREMENTS) == ()


@pytest.mark.parametrize(
    ("marker", "folder", "command"),
    [
        ("pipx_metadata.json", "", "pipx inject memory-reviewer 'mcp<3,>=2.3' 'anyio>=4.10'"),
        (
            "uv-receipt.toml",
            "/src/reviewer",
            "uv tool install --force --with 'mcp<3,>=2.3' --with 'anyio>=4.10' /src/reviewer",
        ),
        ("", "/src/reviewer", "{python} -m pip install -e '/src/reviewer[mcp]'"),
        ("", "", "{python} -m pip install 'mcp<3,>=2.3' 'anyio>=4.10'"),
    ],
    ids=["pipx", "uv tool", "from the folder", "a venv"],
)
def test_the_hint_fits_the_installation(
    tmp_path: Path, marker: str, folder: str, command: str
) -> None:
    if marker:
        (tmp_path / marker).touch()
    expected = command.format(python=tmp_path / "bin" / "python")
    assert adding(MCP, tmp_path, folder, "mcp") == expected


@pytest.mark.parametrize(
    ("direct_url", "folder"),
    [
        ('{"url": "file:///src/a%20b", "dir_info": {"editable": true}}', "/src/a b"),
        ('{"url": "https://example.org/x.whl", "archive_info": {}}', ""),
        ("{}", ""),
        ("not JSON", ""),
    ],
)
def test_the_folder_of_the_installation(direct_url: str, folder: str) -> None:
    assert folder_of(direct_url) == folder


def test_the_hint_of_this_installation_names_what_is_missing() -> None:
    assert "mcp" in to_add("mcp")
