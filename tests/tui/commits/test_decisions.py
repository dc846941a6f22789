"""Priorities by key: marks and ranges, where the cursor goes, undo."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.engine import Engine
from tests.present import present
from tests.tui.commits.driving import at, chain, commits, priorities, status_text, written
from tests.tui.conftest import opened

DECISIONS = [
    # keys, priorities afterwards, cursor afterwards, message
    ("one key, the cursor stays", ["j", "p"], "ppnnnn", 1, "Pinned"),
    ("important", ["j", "i"], "pinnnn", 1, "important"),
    ("skip", ["j", "j", "S"], "pnsnnn", 2, "Skipped"),
    ("back to normal", ["n"], "nnnnnn", 0, "normal"),
    ("the same again changes nothing", ["j", "p", "p"], "ppnnnn", 1, "is pinned already."),
    ("space goes down, a key takes all", ["j", "space", "space", "p"], "pppnnn", 3,
     "Pinned 2 commits - u to undo"),
    ("a range upwards", ["G", "v", "k", "k", "i"], "pnniii", 3, "Marked 3 commits important"),
    ("a kept range and a mark", ["v", "j", "v", "j", "j", "space", "S"], "ssnsnn", 4,
     "Skipped 3 commits - u to undo"),
    ("all", ["*", "n"], "nnnnnn", 0, "Made 6 commits normal - u to undo"),
    ("marks are cleared by a decision", ["*", "i", "j", "p"], "ipiiii", 1, "Pinned"),
    ("escape clears the marks", ["*", "escape", "j", "p"], "ppnnnn", 1, "Pinned"),
    ("undo puts the cursor back", ["j", "p", "G", "u"], "pnnnnn", 1, "Undone: Pinned"),
    ("undo takes a bulk back at once", ["*", "S", "G", "u"], "pnnnnn", 0,
     "Undone: Skipped 6 commits - Z to redo"),
    ("redo", ["j", "p", "u", "G", "Z"], "ppnnnn", 1, "Redone: Pinned"),
    ("two undos", ["j", "p", "j", "i", "u", "u"], "pnnnnn", 1, "Undone: Pinned"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("keys", "letters", "position", "words"),
    [each[1:] for each in DECISIONS],
    ids=[each[0] for each in DECISIONS],
)
async def test_a_decision(
    fair: Engine, keys: list[str], letters: str, position: int, words: str
) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", *keys)
        assert priorities(fair) == letters
        assert at(screen) == position
        assert words in status_text(screen)
        assert not present(commits(screen).model).count_marked()


async def test_a_bulk_is_one_act(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        before = fair.history.acts_total()
        await screen.press("f3", "*", "p")
        assert fair.history.acts_total() == before + 1
        assert fair.history.undo_title() == "Pinned 6 commits"


async def test_the_footer_says_how_many_a_key_takes(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "*")
        assert "p pin 6 marked  i important 6 marked  n normal 6 marked" in screen.text
        await screen.press("escape")
        assert "p pin  i important" in screen.text


async def test_undo_of_an_act_of_another_session_finds_its_commit(fair: Engine) -> None:
    fair.contexts.annotate(chain(fair)[4], priority="pinned")
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "u")
        assert status_text(screen).startswith("u again undoes: Pinned")
        assert priorities(fair) == "pnnnpn"
        await screen.press("u")
        assert at(screen) == 4
        assert priorities(fair) == "pnnnnn"


async def test_undo_goes_to_the_context_of_its_commit(fair: Engine, tmp_path: Path) -> None:
    other = written(tmp_path / "other.jsonl", (("user", "Another thing."), ("user", "And more.")))
    fair.contexts.import_file(other, project="acme")
    fair.contexts.annotate(chain(fair)[3], priority="pinned")
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "C", *"other", "enter")
        assert "─ other ─" in screen.text
        await screen.press("u", "u")
        assert "─ fair ─" in screen.text
        assert at(screen) == 3
        assert status_text(screen).startswith("Undone: Pinned")


async def test_undo_under_a_filter_says_where_the_commit_is(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "p", "/", *"deposit", "enter", "u")
        assert "(not in this list)" in status_text(screen)
        assert priorities(fair) == "pnnnnn"


async def test_u_names_a_decision_of_another_screen_before_it_undoes_it(
    fair: Engine, notes: Path
) -> None:
    fair.intake.ingest([notes], project="acme")
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "p", "f2", "x", "f3")
        rejected = fair.history.undo_title()
        await screen.press("u")
        assert status_text(screen).startswith(f"u again undoes: {rejected} (made ")
        assert fair.history.undo_title() == rejected
        await screen.press("u", "u")
        assert priorities(fair) == "pnnnnn"


async def test_u_names_what_another_process_decided(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3")
        other = Engine.open(fair.path)
        other.contexts.annotate(chain(other)[2], priority="skip")
        other.close()
        await screen.press("u")
        assert "(made before or elsewhere)" in status_text(screen)
        assert priorities(fair) == "pnsnnn"


async def test_an_edit_made_here_is_undone_without_a_question(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "e", *" x", "ctrl+s", "u")
        assert status_text(screen).startswith("Undone: Edited")
