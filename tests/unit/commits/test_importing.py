"""A transcript becomes a chain of commits: a commit for each turn, thought, call and result."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from reviewer.commits.contexts import Contexts
from reviewer.commits.values import CommitQuery, CommitRow, ImportResult
from reviewer.errors import ConflictError
from tests.unit.commits.conftest import session, written
from tests.unit.sources.builders import Session

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"


def rows(contexts: Contexts, number: int) -> Sequence[CommitRow]:
    return contexts.rows(contexts.ids(CommitQuery(number)))


def imported(contexts: Contexts, made: Session, folder: Path, **more: Any) -> ImportResult:
    return contexts.import_file(written(made, folder), project="kiosk", **more)


def test_each_piece_becomes_a_commit_of_its_type(contexts: Contexts, tmp_path: Path) -> None:
    done = imported(contexts, session(), tmp_path)
    assert (done.commits, done.existed, done.context.name) == (6, False, "fix")
    assert [(row.role, row.type, row.priority) for row in rows(contexts, done.context.id)] == [
        ("user", "dialogue", "normal"),
        ("assistant", "reasoning", "skip"),
        ("assistant", "dialogue", "normal"),
        ("assistant", "tool_call", "normal"),
        ("tool", "tool_result", "normal"),
        ("assistant", "dialogue", "normal"),
    ]


def test_boot_text_is_an_instruction_and_a_summary_is_one(
    contexts: Contexts, tmp_path: Path
) -> None:
    made = session()
    made.user("<system-reminder>Answer briefly.</system-reminder>")
    made.user("This session is being continued from a previous conversation that ran out of"
              " context. The printer was mended.", isCompactSummary=True)  # fmt: skip
    found = rows(contexts, imported(contexts, made, tmp_path).context.id)
    assert [(row.type, row.priority) for row in found[-2:]] == [
        ("instruction", "pinned"), ("summary", "normal"),
    ]  # fmt: skip


def test_a_file_that_has_grown_adds_its_end_and_keeps_what_was_said(
    contexts: Contexts, tmp_path: Path
) -> None:
    made = session()
    first = imported(contexts, made, tmp_path)
    before = rows(contexts, first.context.id)
    contexts.annotate(before[0].id, priority="pinned")
    contexts.edit(before[2].id, "I look at the log of the spooler.")
    contexts.add(first.context.id, role="user", text="A remark of mine.")
    made.user("Thanks, it works.")
    again = imported(contexts, made, tmp_path)
    after = rows(contexts, again.context.id)
    assert again.commits == 1
    assert [row.first_line for row in after[-2:]] == ["A remark of mine.", "Thanks, it works."]
    assert (after[0].priority, after[2].edited) == ("pinned", True)


def test_words_that_come_twice_are_two_commits_also_the_second_time(
    contexts: Contexts, tmp_path: Path
) -> None:
    path = tmp_path / "talk.json"
    talk = [{"role": "user", "content": "Next."}, {"role": "assistant", "content": "Done."}] * 3
    path.write_text(json.dumps(talk))
    assert contexts.import_file(path, project="kiosk").commits == 6
    path.write_text(json.dumps([*talk, {"role": "user", "content": "Next."}]))
    assert contexts.import_file(path, project="kiosk").commits == 1


def test_what_was_passed_over_is_counted(contexts: Contexts, tmp_path: Path) -> None:
    made = session()
    made.user("Look into the drawer too.", isSidechain=True)
    made.user([{"type": "tool_result", "tool_use_id": "t9", "content": ""}])
    made.bare("file-history-snapshot")
    done = imported(contexts, made, tmp_path)
    assert done.commits == 6
    assert done.skipped == {
        "sub-agent's turn": 1, "empty tool result": 1, "file-history-snapshot": 1,
    }  # fmt: skip


def test_a_name_may_be_given_and_is_not_shared_by_files(contexts: Contexts, tmp_path: Path) -> None:
    assert imported(contexts, session(), tmp_path, name="printer").context.name == "printer"
    with pytest.raises(ConflictError, match="came from"):
        imported(contexts, session("other"), tmp_path, name="printer")
    contexts.create("kiosk", "by hand")
    taken = imported(contexts, session("third"), tmp_path, name="by hand")
    assert (taken.existed, taken.commits) == (False, 6)
