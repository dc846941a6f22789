"""Nobody is told to install somebody else's package, whatever text they read."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from reviewer.installation import DISTRIBUTION
from tests.source_code import in_one_process

ROOT = Path(__file__).resolve().parent.parent
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
