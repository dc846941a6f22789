"""The rule for the wording of a memory and the name of an entity is the same for every verb."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Reviewer
from tests.unit.promotion.session import session

SHORT = (
    "A memory has at least 8 characters, this has 1. Write a sentence that makes sense on its own."
)
LONG = "A memory has at most 4,000 characters, this has 5,000."


@pytest.fixture
def talk(reviewer: Reviewer) -> Path:
    path = session(reviewer.folder / "talk.jsonl")
    done = reviewer("--project", "kiosk", "ingest", path)
    assert done.returncode == 0, done.stderr
    return path


@pytest.mark.parametrize(("wording", "says"), [("x", SHORT), ("x" * 5_000, LONG)])
def test_every_verb_refuses_a_wording_with_the_same_sentence(
    reviewer: Reviewer, talk: Path, wording: str, says: str
) -> None:
    file = reviewer.folder / "words.txt"
    file.write_text(wording, "utf-8")
    (number, *_) = reviewer.ids()
    for verb in (
        ("remember", wording, "--at", f"{talk}:1"),
        ("remember", wording, "--type", "decision"),
        ("edit", number, "--content-file", file, "--promote"),
    ):
        assert says in reviewer.fails(*verb)


def test_the_name_of_an_entity_is_as_short_as_one_that_was_read(reviewer: Reviewer) -> None:
    words = "Receipts are printed in black only."
    says = "The name of an entity has at most 80 characters, this has 5,000."
    name = "n" * 5_000
    assert says in reviewer.fails("remember", words, "--type", "decision", "--name", name)
    reviewer("remember", words, "--type", "decision", "--name", "n" * 80)
    (number,) = reviewer.ids()
    assert says in reviewer.fails("edit", number, "--name", name)
    assert reviewer("edit", number, "--name", "Ink").returncode == 0
