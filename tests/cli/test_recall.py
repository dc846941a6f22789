"""`reviewer recall`, `edit --when`, and what `stats` says of the uses."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Reviewer

FAILURE = "till/coin.go:41:3: error is not nil (line 50) but it returns nil (nilerr)"


@pytest.fixture
def kiosk(reviewer: Reviewer) -> Reviewer:
    """A store with memories."""
    for number, text in enumerate(
        (
            "A swallowed error needs a nolint directive for nilerr.",
            "Others push too: fetch and rebase first.",
            "Coins are weighed in the evening.",
        ),
        1,
    ):
        reviewer.succeeds("remember", text, "--type", "knowledge")
        reviewer.succeeds("promote", number)
    return reviewer


def test_a_failure_finds_its_memory_and_the_use_is_counted(kiosk: Reviewer) -> None:
    done = kiosk("recall", "--error", FAILURE, "--session", "s1", "--json")
    (row,) = map(json.loads, done.stdout.splitlines())
    assert row["id"] == 1
    assert row.keys() == {"id", "content", "why", "score"}
    assert "#1 given once: A swallowed error" in kiosk("stats").stdout
    assert "given       once" in kiosk("queue", "show", 1).stdout
    kiosk.succeeds("verify")


def test_a_person_says_when(kiosk: Reviewer) -> None:
    silent = kiosk("recall", "--command", "git push origin main")
    assert (silent.returncode, silent.stdout) == (0, "")
    assert "Nothing belongs" in silent.stderr
    kiosk.succeeds("edit", 2, "--when", "command git push")
    assert "#2 Others push too" in kiosk("recall", "--command", "cd web; git push").stdout
    assert "when        command git push" in kiosk("queue", "show", 2).stdout
    kiosk.succeeds("undo")
    assert kiosk("recall", "--command", "git push").stdout == ""


def test_a_branch_is_no_path_but_a_folder_of_the_project_is(reviewer: Reviewer) -> None:
    (reviewer.folder / ".git").mkdir()
    (reviewer.folder / "till" / "coins").mkdir(parents=True)
    reviewer.succeeds("remember", "In till/coins, rebase onto origin/main.")
    reviewer.succeeds("promote", 1)
    assert "when        path till/coins/\n" in reviewer("queue", "show", 1).stdout
    assert "#1" in reviewer("recall", "--file", "till/coins/gold.go").stdout
    assert reviewer("recall", "--file", "origin/main").stdout == ""


def test_chosen_moments_take_the_place_of_the_derived_ones_or_stand_beside_them(
    reviewer: Reviewer,
) -> None:
    reviewer.succeeds("remember", "Weigh before src/pay/ is run.")
    for chosen, when in (
        (["guard git push"], "guard git push"),
        (["guard git push", "derived"], "path src/pay/; guard git push"),
        (["guard git push", "derived", "path src/pay/"], "path src/pay/; guard git push"),
        (["derived"], "path src/pay/"),
        (["edit src/pay/; words night shift; "], "edit src/pay/; words night shift"),
    ):
        reviewer.succeeds("edit", 1, *(word for each in chosen for word in ("--when", each)))
        assert f"when        {when}\n" in reviewer("queue", "show", 1).stdout


DENIED = "git@example.org: Permission denied (publickey).\nfatal: Could not read from remote."


@pytest.mark.parametrize(
    ("words", "output"),
    [
        ("Permission denied (publickey)", DENIED),
        ("fatal: could not read from remote.", DENIED),
        ("till.py:7:1: E501 Line too long (99 > 80)", "a.py:8:1: E501 Line too long (90 > 80)"),
        ("ERESOLVE", "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve the tree"),
        ("ECONNREFUSED", "Error: connect ECONNREFUSED 127.0.0.1:5432"),
        ("AssertionError", "FAILED tests/test_till.py::test_coin - AssertionError: assert 1 == 2"),
        ("締まっていない", "GL-7: 勘定が締まっていない。"),
    ],
)
def test_a_failure_is_known_by_words_of_it(words: str, output: str, kiosk: Reviewer) -> None:
    kiosk.succeeds("edit", 2, "--when", f"error {words}")
    assert "#2" in kiosk("recall", "--error", output).stdout
    for other in ("cp: till: Permission denied", "Error: a NestedAssertionErrorPage"):
        assert kiosk("recall", "--error", other).stdout == ""


def test_a_person_chooses_words(kiosk: Reviewer) -> None:
    kiosk.succeeds("edit", 3, "--when", "words Night-shift")
    assert "#3" in kiosk("recall", "--prompt", "Who counts in the night shift?").stdout
    assert "#3" in kiosk("recall", "--error", "fatal: no shift at night").stdout
    assert kiosk("recall", "--prompt", "Print nightshift tickets.").stdout == ""
    assert "such as: words night shift" in kiosk.fails("edit", 3, "--when", "words")


def test_a_person_says_what_is_wrong_with_a_memory(kiosk: Reviewer) -> None:
    done = kiosk("restore", 1, "--because", "The linter is gone.")
    assert "Called #1 wrong: The linter is gone." in done.stdout + done.stderr
    assert kiosk("recall", "--error", FAILURE).stdout == ""
    assert "disputed    The linter is gone." in kiosk("queue", "show", 1).stdout
    kiosk.succeeds("undo")
    assert "#1" in kiosk("recall", "--error", FAILURE).stdout


def test_wrong_words_are_refused(kiosk: Reviewer) -> None:
    for moment in ("guard &", "command *", "path /"):
        assert "could be recognised" in kiosk.fails("edit", 2, "--when", moment)
    assert "a pattern" in kiosk.fails("edit", 2, "--when", "edit till/*.go")
    separate = "Separate moments with a semicolon: guard git push; guard make."
    assert separate in kiosk.fails("edit", 2, "--when", "guard git push, make")
    assert "at most 500" in kiosk.fails("edit", 2, "--when", f"error {'x' * 500}")
    assert (
        "no program coinpress on the PATH." in kiosk("edit", 2, "--when", "guard coinpress").stderr
    )
    assert "#2: guard git push -" in kiosk("edit", 2, "--when", "guard git push -f").stderr
    for words, meant in (
        ("git push", "command git push"),
        ("when `till push` is called", "command till push"),
        ("when git push is called", "command git push"),
        ("file till/coin.go", "path till/coin.go"),
    ):
        assert f"Perhaps you mean: {meant}. Examples: command" in kiosk.fails(
            "edit", 2, "--when", words
        )
    assert kiosk("recall").returncode == 2
    assert kiosk("recall", "--file", "ls", "--error", "x").returncode == 2
