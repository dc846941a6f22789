"""Texts inside a session that were written to be read later become statements that stand alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.proposing.offline import offline_proposals
from reviewer.proposing.session_notes import commit_messages, lasting
from reviewer.proposing.values import Proposal, Proposer, Speaker
from tests.unit.proposing.sessions import SessionFile

SUMMARY = """This session is being continued from a previous conversation.

Analysis:
1. **Request**: the user wanted `export` faster, so `Shelf.load()` is called only once, always.

Summary:
1. Primary Request and Intent:
   - Make `export` faster without a change of its output

2. Key Technical Concepts:
   - Python and Click
   - **Shelf**: Holds the parsed books of one folder; cleared when the folder's time stamp changes
   - **`Shelf.load()`**: Reads every shard before it returns, because later shards override earlier
   - `--dry` — *reports* what it is about to delete, and deletes nothing
   - **Shard rename**: Changed from `.book` to `.shard`

3. Files and Code Sections:
   - **shelf.py**: Added `load_all()`
     ```python
     - **Fake**: Reads nothing when it is only code
     ```

4. Errors and fixes:
   - **Slow import**: The import failed because `zipfile` opens the archive again for every member.
   - **`fatal: 'main' is already used by worktree at '/srv/shop'`**: Only one worktree can hold a
     branch. Fixed by creating the branch with `git switch -c fix origin/main`.
   - **Discovered mismatch**: `Shelf.load()` counts from one while `Shelf.find()` counts from zero
   - **Missing argument**: Added `strict` to `load()`.

5. All user messages:
   - "never call `Shelf.load()` twice, because it is slow"

6. Pending Tasks:
   - `Shelf.load()` must be made lazy before the release
"""


def proposals(path: Path) -> list[Proposal]:
    return list(offline_proposals(path))


@pytest.fixture
def session(tmp_path: Path) -> SessionFile:
    return SessionFile(tmp_path / "s1.jsonl")


def test_a_summary_gives_its_terms_causes_and_remedies_and_nothing_else(
    session: SessionFile,
) -> None:
    session.says("make export faster")
    line = session.summary(SUMMARY)
    found = proposals(session.path)
    assert [(each.rule, each.statement) for each in found] == [
        ("notes.cause", "`zipfile` opens the archive again for every member."),
        (
            "notes.remedy",
            "`fatal: 'main' is already used by worktree at '/srv/shop'`: Only one worktree can "
            "hold a branch. Fixed by creating the branch with `git switch -c fix origin/main`.",
        ),
        (
            "notes.term",
            "Shelf holds the parsed books of one folder; cleared when the folder's time stamp "
            "changes",
        ),
        (
            "notes.term",
            "`Shelf.load()` reads every shard before it returns, because later shards override "
            "earlier",
        ),
        ("notes.term", "`--dry` reports what it is about to delete, and deletes nothing"),
    ]
    assert {each.speaker for each in found} == {Speaker.HARNESS}
    assert {each.proposer for each in found} == {Proposer.NOTES}
    assert {quote.line for each in found for quote in each.quotes} == {line}
    assert all(quote.text in SUMMARY for each in found for quote in each.quotes)


def test_a_later_summary_replaces_what_an_earlier_one_says_of_a_term(session: SessionFile) -> None:
    text = "Summary:\n2. Key Technical Concepts:\n   - **Shelf**: Holds the books {}\n"
    session.summary(text.format("of one folder until the program ends"))
    line = session.summary(text.format("of one folder until its time stamp changes"))
    (found,) = proposals(session.path)
    assert found.statement == "Shelf holds the books of one folder until its time stamp changes"
    assert found.quotes[0].line == line


BODY = (
    "Read the index once\n\nUpdate the reader and its tests.\n\n"
    "`Index.open()` keeps a lock on the file until the process ends,\n"
    "so a second reader must use `Index.peek()`.\n\nCo-Authored-By: A B <a@example.com>"
)
STATEMENT = (
    "`Index.open()` keeps a lock on the file until the process ends, so a second reader must use "
    "`Index.peek()`."
)


@pytest.mark.parametrize(
    "command",
    [
        f"git add -A && git commit -m \"$(cat <<'EOF'\n{BODY}\nEOF\n)\" && git push",
        f"git commit -q -F - <<'EOF'\n{BODY}\nEOF\ngit log -1",
        f"git commit -m 'Read the index once' -m '{BODY}'",
    ],
)
def test_a_commit_that_succeeded_gives_sentences_that_say_how_things_work(
    session: SessionFile, command: str
) -> None:
    line = session.runs(command, "[main 1a2b3c4] Read the index once")
    (found,) = proposals(session.path)
    assert found.statement == STATEMENT
    assert found.rule == "notes.commit"
    assert [quote.line for quote in found.quotes] == [line, line]
    assert all(quote.text in BODY for quote in found.quotes)


def test_a_commit_that_failed_gives_nothing(session: SessionFile) -> None:
    session.runs(f"git commit -F - <<'EOF'\n{BODY}\nEOF", "nothing to commit", failed=True)
    assert proposals(session.path) == []


def test_several_commits_of_one_command_are_told_apart() -> None:
    command = "git commit -F - <<'EOF'\nOne\nEOF\ngit commit -F - <<'EOF'\nTwo\nEOF\n"
    assert list(commit_messages(command)) == ["One", "Two"]
    assert list(commit_messages("git commit --no-edit")) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "Added `load_all()` because the reader needs every shard before it returns.",
        "This is why `load_all()` only runs when the index is missing from the folder.",
        "`load_all()` was called twice because the cache never kept the result of it.",
        "The user wants `load_all()` to run only once, because it is slow in every test.",
        "Now `load_all()` runs only when the index is missing from the given folder.",
        "The reader returns every shard in order, but only when it has been told to.",
        "`load_all()` reads",
        "Does `load_all()` always read every shard of the index before it returns?",
    ],
)
def test_narration_changes_and_dangling_sentences_are_not_lasting(sentence: str) -> None:
    assert lasting(sentence) == ""


def test_identifiers_keep_their_stars() -> None:
    text = "The site is not built on pull requests: `ci.yml` ignores website/** on every push."
    assert lasting(text) == text


def test_a_damaged_line_loses_nothing_else(session: SessionFile) -> None:
    with session.path.open("a") as file:
        file.write('{"type":"user","isCompactSummary":true,"message":{"content":"Summ\n')
    session.line += 1
    session.summary(SUMMARY)
    assert len(proposals(session.path)) == 5
