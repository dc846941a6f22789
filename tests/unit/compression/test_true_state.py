"""What an offline summary says of runs, edits, requests and commits is what the session shows."""

from __future__ import annotations

import pytest

from reviewer.compression.anchor_types import Section
from tests.unit.compression.making import turn
from tests.unit.compression.test_shape import agent, call, edit, run, section, written

ASKED = turn("Fix the parser of the tide tables and run its tests.")


@pytest.mark.parametrize(
    ("output", "how"),
    [
        ("", "no result"),
        ("(Bash completed with no output)", "no result"),
        ("Killed", "killed"),
        ("Exit code 137\nKilled", "killed"),
        ("Command timed out after 2m 0.0s", "timed out"),
        ("Exit code 124\nCommand timed out after 2m 0.0s\ncollecting", "timed out"),
        ("Command running in background with ID: bash_1", "in background"),
        ("3 passed in 0.1s", "passed"),
        ("test result: ok. 4 passed; 0 failed", "passed"),
        ("2 failed, 3 passed\nFAILED test_tide.py::test_ebb", "failed"),
    ],
)
def test_a_run_is_told_by_what_it_printed(output: str, how: str) -> None:
    text = written([ASKED, agent("Now I run them."), *run("pytest -q", output), agent("Done.")])
    assert f"`pytest -q`: {how}" in text or f"`pytest -q` ({how}" in text
    assert ("passed" in text) is (how == "passed")


def test_output_that_shows_no_success_is_only_ran() -> None:
    text = written([ASKED, *run("make build", "cc -o tide tide.c"), agent("Built the tide tool.")])
    assert "`make build` (ran)" in text
    assert "passed" not in text


def test_a_run_without_a_result_is_no_success() -> None:
    text = written([ASKED, *edit("tide.py"), call("Bash", "cargo test")])
    assert "Edited and not verified (`cargo test`: no result), not yet committed: tide.py" in text
    assert "Edited and checked" not in text


def test_an_edit_is_checked_only_by_a_later_run_that_passed() -> None:
    text = written([ASKED, *edit("tide.py"), *run("pytest -q", "3 passed")])
    assert "Edited and checked, not yet committed: tide.py" in text
    text = written([ASKED, *run("pytest -q", "3 passed"), *edit("tide.py")])
    assert "Edited and checked" not in text
    assert "not yet checked" in text


def test_an_edit_whose_check_fails_stands_with_what_failed() -> None:
    failing = run("pytest -q", "1 failed, 3 passed\nFAILED test_tide.py::test_ebb - assert")
    text = written([ASKED, *edit("tide.py"), *failing])
    now = section(text, Section.NOW)
    assert "Failing at the last run: `pytest -q`: test_tide.py::test_ebb" in now
    assert "not yet committed: tide.py" in now
    assert "Edited and checked" not in text
    text = written([ASKED, *edit("tide.py"), *failing, *run("pytest -q", "4 passed")])
    assert "Edited and checked, not yet committed: tide.py" in text
    assert "Failing" not in text
