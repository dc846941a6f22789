"""Walks everything that the engine can do, with ids of every kind, and watches trusted state."""

from __future__ import annotations

import ast
import inspect
import shutil
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, cast

from reviewer.commits.values import CommitQuery, Pattern, RetentionCriteria
from reviewer.compression.preview import Watch
from reviewer.compression.values import Level, SummarizationOptions
from reviewer.engine import Engine
from reviewer.errors import ReviewerError
from reviewer.extraction.candidates import MemoryType
from reviewer.pipelines.service import RunOptions
from reviewer.promotion.exchange.decision_lines import DecisionFile, Header
from reviewer.promotion.lists.readings import ReadingNote
from reviewer.promotion.views import QueueQuery
from reviewer.proposing.values import (
    Proof,
    Proposal,
    Proposer,
    Proved,
    Quote,
    QuoteProof,
    Relations,
)
from reviewer.recall.search import Cue
from reviewer.sources.events import Speaker
from tests.present import present
from tests.stored import rows_of

STATE_KINDS = {"state set", "state unset"}
"""The kinds of act that may change rows of `state`."""

BACK_AND_FORTH = {"undo", "redo"}
"""Those that may change them when they reverse one of the former."""

MAY_CHANGE_STATE = {"state.set", "state.unset", "history.undo", "history.undo_act", "history.redo"}


class UntaughtError(AssertionError):
    """The walk met a parameter that it has no value for: teach `_value` about it."""


def capabilities(engine: Engine) -> dict[str, Any]:
    """All that the engine hands out, by name."""
    names = {name for name, value in vars(Engine).items() if isinstance(value, cached_property)}
    names |= {name for name in vars(engine) if not name.startswith("_")}
    found = {name: getattr(engine, name) for name in sorted(names)}
    return {
        name: each
        for name, each in found.items()
        if type(each).__module__.startswith("reviewer.") and not inspect.isfunction(each)
    }


def methods(engine: Engine) -> dict[str, Callable[..., Any]]:
    """Every public method of every capability, and of the engine itself, by dotted name."""
    found: dict[str, Callable[..., Any]] = {"ids": engine.ids}
    for name, capability in capabilities(engine).items():
        for member, _ in inspect.getmembers(type(capability), inspect.isroutine):
            if not member.startswith("_"):
                found[f"{name}.{member}"] = getattr(capability, member)
    return found


def arguments(
    method: Callable[..., Any], number: int, folder: Path, *, text: str
) -> Iterator[dict[str, Any]]:
    """Ways to call a method with an id: required parameters only, then optional ones as well."""
    parameters = inspect.signature(method, eval_str=False).parameters.values()
    required, everything = {}, {}
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        value = _value(parameter, number, folder, text)
        everything[parameter.name] = value
        if parameter.default is parameter.empty:
            required[parameter.name] = value
    yield required
    if everything != required:
        yield everything


class _Late(NamedTuple):
    """A value that is read from the store that the method is called on."""

    make: Callable[[Engine], Any]


def _value(parameter: inspect.Parameter, number: int, folder: Path, text: str) -> Any:
    kind, name = str(parameter.annotation), parameter.name
    plain = kind.split(" | ")[0]  # of several kinds the first
    by_name = {
        "type_": "decision", "kind": "uses", "project": "acme", "name": "a name",
        "limit": 5, "around": 1, "count": 2, "target": number + 1, "into": number + 1,
        "by": number + 1, "winner": number, "before": None, "record": None, "wave": None,
        "progress": None, "cancelled": None, "breakable": None, "seen": None, "ask": None,
        "watch": Watch(), "view_of": None, "view": None, "session": None, "sessions": None,
        "now": None, "counting": "estimate",
    }  # fmt: skip
    if name in by_name:
        return by_name[name]
    by_kind: dict[str, Any] = {
        "int": number, "bool": True, "str": text, "AgentText": text, "float": 1.0,
        "Sequence[int]": [number], "Iterable[int]": [number],
        "QueueQuery": QueueQuery(status="all"),
        "Path": folder / "out.md", "Sequence[Path]": [folder],
        "Sequence[PlannedFile]": [], "Sequence[Proved]": [_proved(folder)],
        "CommitQuery": CommitQuery(number), "Priority": "pinned",
        "RejectReason": "known", "Sequence[str]": [text],
        "Sequence[Pattern]": [Pattern(text)],
        "Iterable[CompiledMessage]": [], "Sequence[Moment]": [], "Sequence[LevelChoice]": [],
        "RunOptions": RunOptions(), "Level": Level.BRIEF,
        "SummarizationOptions": SummarizationOptions(), "Sequence[AnchorPoint]": [],
        "DecisionFile": DecisionFile(Path("x"), Header.of("acme", "anna", ""), b""),
        "ReadingNote": ReadingNote(project="acme", path=text, bytes=1, reader=text, at=text),
        "Sequence[Reader]": [],
        "Relations": Relations(untrue=((number, number + 1),), contradict=((number, number + 2),)),
        "RetentionCriteria": RetentionCriteria(patterns=(Pattern(text),)),
    }  # fmt: skip
    if plain in by_kind:
        return by_kind[plain]
    of_the_engine: dict[str, Callable[[Engine], Any]] = {
        "CompressionPlan": lambda engine: engine.compression.plan(_context(engine), "brief"),
        "Segment": lambda engine: engine.compression.segments(_context(engine))[0],
        "Cue": lambda engine: Cue("prompt", "the drawer"),
        "Erasure": lambda engine: engine.forgetting.memories([number]),
        "StateView": lambda engine: engine.state.all()[0],
        "Material": lambda engine: engine.packets.material("acme"),
        "PlannedFile": lambda engine: engine.exports.plan_into("acme", folder / "AGENTS.md"),
    }
    if plain in of_the_engine:
        return _Late(of_the_engine[plain])
    raise UntaughtError(f"{name}: {kind}")


def _proved(folder: Path) -> Proved:
    statement = "The drawer is kept closed while the lathe runs."
    quote = Quote(2, "We decided to keep the drawer closed.")
    proposal = Proposal(
        statement=statement, type=MemoryType.PROJECT, quotes=(quote,), speaker=Speaker.AGENT,
        proposer=Proposer.MODEL, rule="model.test",
    )  # fmt: skip
    proof = Proof(quotes=(QuoteProof(quote.line, quote.text, found=True),))
    return Proved(folder / "note.md", proposal, proof)


def _context(engine: Engine) -> int:
    return engine.contexts.all()[0].id


def state_rows(engine: Engine) -> list[tuple[Any, ...]]:
    """Rows of `state`, as they are."""
    return rows_of(engine.path, "SELECT * FROM state ORDER BY id")


def method_of(engine: Engine, name: str) -> Callable[..., Any]:
    """The method of that dotted name (see `methods`)."""
    found: Any = engine
    for part in name.split("."):
        found = getattr(found, part)
    return cast("Callable[..., Any]", found)


def acts_on_state(engine: Engine, after: int = 0) -> Iterator[tuple[str, str]]:
    """Of each act that touched `state`: its kind, and the kind that it was about.

    Only acts with an id above `after` are looked at.
    """
    kinds = {act.id: act for act in engine.history.acts(limit=100_000)}
    for act in kinds.values():
        if act.id <= after:
            continue
        changes = engine.history.changes(act.id, limit=100_000)
        if any(change.table == "state" for change in changes):
            origin = act
            while origin.kind in BACK_AND_FORTH:
                origin = kinds[present(origin.target)]
            yield act.kind, origin.kind


def trespasses(template: Path, folder: Path, numbers: list[int], capability: str = "") -> list[str]:
    """Methods that changed `state` although only `state.set` and `unset` may.

    Each method, or each of one capability, is called in a fresh copy of the store with each id,
    also as a text.
    """
    found: list[str] = []
    for number in numbers:
        work = folder / str(number)
        work.mkdir()
        (work / "note.md").write_text("# Notes\n\nWe decided to keep the drawer closed.\n")
        with_engine = _Copies(template, work)
        for name in methods(with_engine.engine):
            if not name.startswith(capability):
                continue
            if number != numbers[0]:
                found += with_engine.try_out(name, number, str(number), ways=1)
                continue
            for text in (str(number), "a word"):
                found += with_engine.try_out(name, number, text)
        with_engine.close()
    return sorted(set(found))


class _Copies:
    """A copy of a store, replaced by a fresh one whenever a method has written."""

    def __init__(self, template: Path, folder: Path) -> None:
        self.template, self.folder = template, folder
        self.made = 0
        self._open()
        self.acts_before = self.engine.history.acts_total()

    def _open(self) -> None:
        self.made += 1
        path = self.folder / f"{self.made}.db"
        shutil.copy(self.template, path)
        self.engine = Engine.open(path)
        self.state = state_rows(self.engine)

    def close(self) -> None:
        self.engine.close()

    def try_out(self, name: str, number: int, text: str, *, ways: int = 2) -> list[str]:
        """The method's name when it changed `state` and may not; called in the last `ways`."""
        found = []
        method = method_of(self.engine, name)
        for values in list(arguments(method, number, self.folder, text=text))[-ways:]:
            method = method_of(self.engine, name)
            ready = {
                key: value.make(self.engine) if isinstance(value, _Late) else value
                for key, value in values.items()
            }
            try:
                result = method(**ready)
                if inspect.isgenerator(result):
                    list(result)
            except ReviewerError:
                pass
            changed = state_rows(self.engine) != self.state
            if changed and name not in MAY_CHANGE_STATE:
                found.append(name)
            if changed or self.engine.history.acts_total() > self.acts_before:
                for kind, origin in acts_on_state(self.engine, after=self.acts_before):
                    if kind not in STATE_KINDS | BACK_AND_FORTH or origin not in STATE_KINDS:
                        found.append(name)
                self.close()
                self._open()
        return found


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
