"""No code takes the id of a candidate, a memory or an entity and writes trusted state.

This is a hard rule (`docs/design.md`, Promotion): every method of every capability is called with
ids of every kind, and sources are searched for writers of `state`; the ledger must show that only
`state set` and `state unset`, and their undo and redo, ever changed a row.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from reviewer.cli.inputs import Id
from reviewer.cli.root import root
from reviewer.engine import Engine
from reviewer.promotion.decisions.triage import Triage
from reviewer.promotion.views import Done
from tests.clocks import TickingClock
from tests.property.walking import (
    MAY_CHANGE_STATE,
    methods,
    trespasses,
    writers_of_state,
)
from tests.source_code import ROOT, in_one_process, trees
from tests.unit.promotion.graph import two_rivals

pytestmark = pytest.mark.xdist_group("trusted_state")
"""The template is made once."""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[int]]:
    """A store with rows of every kind and standing, and trusted state; with one id of each."""
    folder = tmp_path_factory.mktemp("template")
    return make_store(folder)


def make_store(folder: Path) -> tuple[Path, list[int]]:
    engine = Engine.open(folder / "store.db", clock=TickingClock())
    left, right, conflict = two_rivals(engine, folder / "adr")
    numbers = [left, right, conflict]
    for place, text in enumerate(("waits", "holds", "is gone", "moved on", "was replaced")):
        numbers += engine.entities.author("acme", "knowledge", f"A fact that {text}").ids
        if place:
            engine.triage.promote(numbers[-1:])
    engine.triage.restore(numbers[-3:-2])
    engine.triage.reject(numbers[-3:-2])
    numbers.append(engine.entities.graduate(numbers[-2], "component").ids[0])
    engine.triage.supersede(numbers[-2], numbers[-5])
    context = engine.contexts.create("acme", "talk").id
    for number in range(max(numbers)):
        engine.contexts.add(context, role="user", text=f"Turn {number} of the talk", retain="it")
    engine.state.set("acme", "region", "eu-west-1")
    engine.state.set("acme", "region", "eu-west-2")
    engine.close()
    return folder / "store.db", numbers


def test_the_template_has_every_kind_and_standing(template: tuple[Path, list[int]]) -> None:
    path, numbers = template
    engine = Engine.open(path)
    rows = engine.queue.rows(numbers)
    assert {row.kind for row in rows} == {"memory", "entity", "conflict"}
    assert {row.status for row in rows} == {
        "candidate", "active", "invalid", "superseded", "graduated"
    }  # fmt: skip
    engine.close()


def test_no_method_of_the_engine_leads_from_a_row_to_trusted_state(
    template: tuple[Path, list[int]], tmp_path: Path
) -> None:
    path, numbers = template
    engine = Engine.open(path)
    rows = engine.queue.rows(numbers)
    engine.close()
    one_of_each = {(row.kind, row.status): row.id for row in rows}
    assert trespasses(path, tmp_path, list(one_of_each.values())) == []


def test_the_walk_reaches_every_capability(template: tuple[Path, list[int]]) -> None:
    engine = Engine.open(template[0])
    names = set(methods(engine))
    engine.close()
    assert names > {
        *MAY_CHANGE_STATE, "triage.promote", "entities.graduate", "conflicts.supersede",
        "intake.ingest", "intake.extract_stored", "insight.hints", "exports.items", "queue.ids",
        "provenance.of", "sources.state",
    }  # fmt: skip


def planted_by_ledger(self: Triage, number: int) -> Done:
    """What must never be: a row's words become trusted state."""
    with self._ledger.act("promote") as act:
        ((content, project),) = act.query(
            "SELECT content, project_id FROM memory WHERE id = ?", (number,)
        )
        act.insert("state", project_id=project, key="k", value=content, set_at="now")
    return Done(act.id, act.title, (number,))


def planted_behind_the_ledger(self: Triage, number: int) -> None:
    """The same, bypassing the ledger."""
    writer = self._ledger._database.writer
    writer.execute("UPDATE state SET value = (SELECT content FROM memory WHERE id = ?)", (number,))


@pytest.mark.parametrize("planted", [planted_by_ledger, planted_behind_the_ledger])
def test_a_function_that_does_it_is_found(
    template: tuple[Path, list[int]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    planted: Callable[..., object],
) -> None:
    monkeypatch.setattr(Triage, "trust", planted, raising=False)
    path, numbers = template
    assert trespasses(path, tmp_path, numbers[:1], "triage.") == ["triage.trust"]


def test_functions_that_may_write_it_take_text_and_no_id(template: tuple[Path, list[int]]) -> None:
    engine = Engine.open(template[0])
    found = methods(engine)
    engine.close()
    for name in ("state.set", "state.unset"):
        for parameter in inspect.signature(found[name]).parameters.values():
            assert parameter.annotation == "str", (name, parameter)


@in_one_process
def test_just_one_module_writes_the_table() -> None:
    found = [file for file, tree in trees().items() if writers_of_state(tree)]
    assert found == ["promotion/decisions/trusted_state.py"]


def commands(
    command: click.Command, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command of the command line, by its words."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from commands(found, (*path, name))
    else:
        yield path, command


def test_no_command_takes_an_id_and_writes_it() -> None:
    found = dict(commands(root))
    assert {path[0] for path in found} == set(root.entries)
    writing = {path: command for path, command in found.items() if path[0] == "state"}
    assert set(writing) == {("state", verb) for verb in ("list", "show", "set", "unset")}
    for path, command in writing.items():
        assert not [p for p in command.params if isinstance(p.type, Id)], path
    for module in ROOT.joinpath("cli").glob("*.py"):
        text = module.read_text(encoding="utf-8")
        assert module.name == "state.py" or ".state.set(" not in text, module
