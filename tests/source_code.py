"""The program's own source as syntax trees, each file parsed once in a process."""

from __future__ import annotations

import ast
import gc
from functools import cache
from pathlib import Path

import pytest

import reviewer

ROOT = Path(reviewer.__file__).parent

in_one_process = pytest.mark.xdist_group("source code")
"""Tests of the source share its trees where they run in one process."""


@cache
def trees() -> dict[str, ast.Module]:
    """File, relative to the package, -> its tree."""
    found = {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_bytes())
        for path in sorted(ROOT.rglob("*.py"))
    }
    gc.freeze()  # millions of nodes, which would slow every later collection down
    return found
