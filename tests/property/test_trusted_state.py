"""No code takes the id of a candidate, a memory or an entity and writes trusted state.

This is a hard rule (`docs/design.md`, Promotion). Sources are searched for writers of the table and
for callers of those; `tests/unit/promotion/test_reversibility.py` shows of every act that only
`state set` and `state unset` change a row of it.
"""

from __future__ import annotations

import ast
import inspect

import click

from reviewer.cli.inputs import Id
from reviewer.cli.root import root
from reviewer.promotion.decisions.trusted_state import TrustedState
from tests.source_code import in_one_process, trees


def writers_of_state(source: ast.AST) -> list[int]:
    """Lines of a module that write the table `state`: acts on it, or SQL that changes it."""
    lines = []
    for node in ast.walk(source):
        if isinstance(node, ast.Call) and node.args:
            first = node.args[0]
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            writes = (
                name.startswith(("insert", "update", "delete", "upsert")) or name == "RowChange"
            )
            named = isinstance(node.func, ast.Name) and node.func.id == "RowChange"
            if (writes or named) and isinstance(first, ast.Constant) and first.value == "state":
                lines.append(node.lineno)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = " ".join(node.value.lower().split())
            if any(
                f"{verb} state{end}" in f"{words} "
                for verb in ("insert into", "replace into", "update", "delete from")
                for end in (" ", "(")
            ):
                lines.append(node.lineno)
    return lines


def callers_of_set(source: ast.AST) -> list[int]:
    """Lines of a module that call `set` or `unset` of trusted state."""
    return [
        node.lineno
        for node in ast.walk(source)
        if isinstance(node, ast.Attribute)
        and node.attr in ("set", "unset")
        and getattr(node.value, "attr", getattr(node.value, "id", "")).strip("_") == "state"
    ]


@in_one_process
def test_just_one_module_writes_the_table_and_only_faces_call_it() -> None:
    found = [file for file, tree in trees().items() if writers_of_state(tree)]
    assert found == ["promotion/decisions/trusted_state.py"]
    calling = {file for file, tree in trees().items() if callers_of_set(tree)}
    assert calling == {"cli/state.py", "tui/packet/screen.py", "tui/memory/screen.py"}


def test_functions_that_write_it_take_text_and_no_id() -> None:
    for method in (TrustedState.set, TrustedState.unset):
        _, *parameters = inspect.signature(method).parameters.values()
        assert {parameter.annotation for parameter in parameters} == {"str"}


def test_no_command_that_writes_it_takes_an_id() -> None:
    group = root.get_command(click.Context(root), "state")
    assert isinstance(group, click.Group)
    assert set(group.commands) == {"list", "show", "set", "unset"}
    for verb in group.commands.values():
        assert not [each for each in verb.params if isinstance(each.type, Id)], verb.name
