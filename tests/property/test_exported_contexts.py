"""A context that is exported and imported again is the same context."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewer.cli.context import export_json
from reviewer.commits.values import COMMIT_TYPES, CommitQuery
from reviewer.engine import Engine
from reviewer.errors import SourceError

OF_THE_STORE = {"id", "context", "source_line", "hash", "parent", "edited", "original"}
"""Fields of a commit that depend on its position, not on its content."""
words = st.sampled_from(
    [
        "The kiosk prints slowly.",
        "It costs $50k by 2026-03-31.",
        "çafé \u202e\n日本語 🙂",
        "a\x1bb",
        "{}",
    ]
) | st.text(min_size=1, max_size=40).filter(str.strip)
names = st.sampled_from(["", "Ada", "shell"])


@st.composite
def commits(draw: st.DrawFn) -> dict[str, Any]:
    made: dict[str, Any] = {
        "role": draw(st.sampled_from(["user", "assistant", "system", "tool", "note"])),
        "text": draw(words),
        "type": draw(st.none() | st.sampled_from(COMMIT_TYPES) | st.just("plan-b")),
        "name": draw(names),
        "said": draw(st.lists(remarks(), max_size=3)),
        "edit": draw(st.none() | words),
    }
    return made


@st.composite
def remarks(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "priority": draw(st.sampled_from(["skip", "normal", "important", "pinned"])),
        "retain": draw(st.none() | st.just("keep all figures")),
        "retain_match": draw(st.lists(st.sampled_from(["$50k", "kiosk", "\u202e"]), max_size=2)),
        "retain_regex": draw(st.lists(st.sampled_from([r"\d{4}-\d\d", "(?i)KIOSK"]), max_size=2)),
        "reason": draw(st.sampled_from(["", "said so", "a\nb"])),
    }


def exported(engine: Engine, context: int) -> list[dict[str, Any]]:
    """The lines of an export."""
    ids = engine.contexts.ids(CommitQuery(context))
    return [export_json(engine.contexts.commit(number)) for number in ids]


def what_it_is(line: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in line.items() if key not in OF_THE_STORE}


def save(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(msgspec.json.encode(line).decode() + "\n" for line in lines), "utf-8")
    return path


@given(st.lists(commits(), min_size=1, max_size=6))
@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_export_and_import_are_a_round_trip(empty_store: Path, made: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine.open(Path(shutil.copy(empty_store, folder)))
        try:
            context = engine.contexts.create("acme", "talk").id
            for each in made:
                said, edit = each["said"], each["edit"]
                given = {key: each[key] for key in ("role", "text", "type", "name")}
                number = engine.contexts.add(context, **given).row.id
                for one in said:
                    engine.contexts.annotate(number, **one)
                if edit is not None:
                    engine.contexts.edit(number, edit)
            before = exported(engine, context)
            file = save(Path(folder) / "again.jsonl", before)
            done = engine.contexts.import_file(file, project="acme")
            after = exported(engine, done.context.id)
            assert list(map(what_it_is, after)) == list(map(what_it_is, before))
            if not any(line["edited"] for line in before):
                assert [line["hash"] for line in after] == [line["hash"] for line in before]
            assert (done.commits, done.skipped) == (len(made), {})
            again = engine.contexts.import_file(file, project="acme")
            assert (again.commits, again.existed) == (0, True)
            assert exported(engine, done.context.id) == after
            assert engine.history.verify().problems == ()
            engine.history.undo_act(done.act)
            assert [each.name for each in engine.contexts.all()] == ["talk"]
        finally:
            engine.close()


LINE = {
    "role": "user", "content": "Hello there.", "type": "dialogue", "priority": "normal",
    "hash": "0" * 64, "position": 0, "annotations": [],
}  # fmt: skip
SAID = {"priority": "important", "at": "2026-03-01T12:00:00Z", "actor": "you"}


@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        ({"role": "king"}, 'no role "king"'),
        ({"type": "A B"}, "is not a type"),
        ({"priority": "huge"}, "priority"),
        ({"content": 3}, "content"),
        ({"content": " "}, "needs a text"),
        ({"at": "a\nb"}, "time of the commit is not a moment"),
        ({"annotations": [{**SAID, "at": "soon"}]}, "time of the annotation is not a moment"),
        ({"annotations": [{**SAID, "actor": ""}]}, "actor"),
        ({"annotations": [{**SAID, "retention": {"patterns": [{"text": "(", "mode": "regex"}]}}]},
         "regular expression"),
    ],
)  # fmt: skip
def test_a_line_that_is_not_a_commit_is_named_and_the_store_is_unchanged(
    empty_store: Path, tmp_path: Path, fault: dict[str, Any], complaint: str
) -> None:
    file = save(tmp_path / "talk.jsonl", [LINE, {**LINE, **fault}])
    with closing(Engine.open(Path(shutil.copy(empty_store, tmp_path)))) as engine:
        with pytest.raises(SourceError, match=complaint) as refused:
            engine.contexts.import_file(file, project="acme")
        assert "line 2" in str(refused.value)
        assert engine.contexts.all() == []


def test_secrets_of_an_export_are_masked_everywhere(empty_store: Path, tmp_path: Path) -> None:
    secret = "DB_PASSWORD='hunter2-Xk93vQ9z'"
    said = {**SAID, "reason": secret, "retention": {"instructions": secret}}
    file = save(tmp_path / "talk.jsonl", [{**LINE, "content": secret, "annotations": [said]}])
    with closing(Engine.open(Path(shutil.copy(empty_store, tmp_path)))) as engine:
        done = engine.contexts.import_file(file, project="acme")
        assert done.masked
        assert "hunter2" not in msgspec.json.encode(exported(engine, done.context.id)).decode()


def test_only_the_lines_that_were_asked_for(empty_store: Path, tmp_path: Path) -> None:
    lines = [{**LINE, "content": f"Number {number}."} for number in range(5)]
    file = save(tmp_path / "talk.jsonl", lines)
    with closing(Engine.open(Path(shutil.copy(empty_store, tmp_path)))) as engine:
        done = engine.contexts.import_file(file, project="acme", line_start=1, line_end=3)
        found = exported(engine, done.context.id)
        assert [line["content"] for line in found] == ["Number 1.", "Number 2."]
