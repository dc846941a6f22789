"""Imports what a call of the program may need, for the processes of tests/cli/warm.py."""

from __future__ import annotations

import importlib
import pkgutil
import sqlite3
from contextlib import closing

import reviewer
from reviewer.store.schema import schema_problems
from reviewer.text.tokens import counter

LEFT_OUT = (
    "reviewer.tui",
    "reviewer.__main__",
    "reviewer.fleet.",
    "reviewer.serving",
    "reviewer.agents.mcp_server",
)
OF_MODELS = ("reviewer.llm.openai_chat",)


def modules(*, heavy: bool) -> None:
    """With `heavy` also the client of models and the tokenizer."""
    left_out = LEFT_OUT if heavy else (*LEFT_OUT, *OF_MODELS)
    for module in pkgutil.walk_packages(reviewer.__path__, "reviewer."):
        if not module.name.startswith(left_out):
            importlib.import_module(module.name)
    with closing(sqlite3.connect(":memory:")) as store:
        schema_problems(store)  # `verify` and every new store need what it imports and keeps
    if heavy:
        counter()
