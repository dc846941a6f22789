"""Habits are composed from what was run, and only from what succeeded."""

from __future__ import annotations

from pathlib import Path

from reviewer.proposing.offline import offline_proposals, project_proposals
from reviewer.proposing.values import Proposer, Quote
from tests.unit.proposing.sessions import SessionFile

STATEMENT = "Before a commit, run `make fmt` and `make test`."


def works(session: SessionFile, checks: str = "make fmt && make test 2>&1 | tail -5") -> int:
    session.runs("sed -n 1,20p shelf.py")
    line = session.runs(checks)
    session.runs("git add -A && git commit -m 'Read the index once'")
    return line


def test_checks_before_every_commit_are_a_convention(tmp_path: Path) -> None:
    session = SessionFile(tmp_path / "s1.jsonl")
    line = works(session)
    works(session)
    (found,) = offline_proposals(session.path)
    assert found.statement == STATEMENT
    assert found.quotes == (Quote(line=line, text="make fmt"), Quote(line=line, text="make test"))
    assert (found.proposer, found.kind) == (Proposer.EPISODE, "convention")


def test_one_commit_shows_nothing_by_itself_but_two_sessions_do(tmp_path: Path) -> None:
    first, second = SessionFile(tmp_path / "s1.jsonl"), SessionFile(tmp_path / "s2.jsonl")
    works(first)
    works(second)
    assert list(offline_proposals(first.path)) == []
    found = list(project_proposals({first.path: None, second.path: None}))
    assert [(path, each.statement) for (path, _), each in found] == [
        (first.path, STATEMENT),
        (second.path, STATEMENT),
    ]


def test_checks_before_few_of_the_commits_or_of_single_files_are_no_habit(tmp_path: Path) -> None:
    session = SessionFile(tmp_path / "s1.jsonl")
    works(session)
    works(session, "pytest tests/test_shelf.py")
    works(session, "pytest tests/test_shelf.py")
    works(session, "go test ./... -run TestShelf")
    assert list(offline_proposals(session.path)) == []


def test_a_check_that_failed_does_not_count(tmp_path: Path) -> None:
    session = SessionFile(tmp_path / "s1.jsonl")
    for _ in range(3):
        session.runs("make test", "Exit code 2", failed=True)
        session.runs("git commit -am 'Read the index once'")
    assert list(offline_proposals(session.path)) == []
