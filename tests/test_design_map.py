"""The map of the code in docs/design.md names every module that is there, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DESIGN = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("package", ["promotion", "compression"])
def test_the_table_of_a_package_names_its_files(package: str) -> None:
    table = DESIGN.split(f"### The files of `{package}/`")[1].split("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")]
    named = re.findall(r"`(\w+)/?`", "\n".join(rows))
    folder = ROOT / "reviewer" / package
    there = [path.stem for path in folder.glob("*.py") if path.stem != "__init__"]
    there += [path.parent.name for path in folder.glob("*/__init__.py")]
    assert sorted(named) == sorted(there)


def test_the_layout_names_every_package_and_root_module() -> None:
    layout = DESIGN.split("```text\n")[1].split("```")[0]
    for path in (ROOT / "reviewer").iterdir():
        if (path / "__init__.py").exists():
            assert f"  {path.name}/ " in layout
        elif path.suffix == ".py" and not path.name.startswith("__"):
            assert path.name in layout.split()
