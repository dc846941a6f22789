"""Imports what a call may need, also the tokenizer and what new stores need and keep: the process
that forks the calls of `tests.cli.warm` imports this module.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import pkgutil
import sqlite3

import reviewer
from reviewer.store.migrations import migrate
from reviewer.text.tokens import counter

LEFT_OUT = (
    "reviewer.tui",
    "reviewer.__main__",
    "reviewer.fleet.",
    "reviewer.serving",
    "reviewer.agents.mcp_server",
)
"""Modules that a call imports itself."""

for module in pkgutil.walk_packages(reviewer.__path__, "reviewer."):
    if not module.name.startswith(LEFT_OUT):
        importlib.import_module(module.name)
with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as store:
    migrate(store, is_new=True)
counter()
gc.collect()
gc.freeze()  # collecting in a child would copy all of these objects
