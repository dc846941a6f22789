"""Imports whatever a call of the program may need; the processes of tests/cli/warm.py share it."""

from __future__ import annotations

import importlib
import pkgutil

import reviewer
from reviewer.text.tokens import counter

for module in pkgutil.walk_packages(reviewer.__path__, "reviewer."):
    if not module.name.startswith(("reviewer.tui", "reviewer.__main__")):
        importlib.import_module(module.name)
importlib.import_module("tests.cli.warm")
counter()
