"""Whether something that is known says what a statement says."""

from __future__ import annotations

import pytest

from reviewer.proposing.alike import PreparedTexts, says

STATEMENT = "Never amend a commit that was pushed"


@pytest.mark.parametrize(
    "text",
    [
        "never amend a commit that was pushed.",
        "- Never amend a commit that was pushed; add a new one on top, because others have it.",
        "Commits that were pushed are never amended",
    ],
)
def test_other_and_longer_wordings_say_the_same(text: str) -> None:
    assert says(text, STATEMENT)


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("Amend a commit that was pushed", STATEMENT),
        ("The server listens on port 8080 in tests", "The server listens on port 8081 in tests"),
        ("Use rows.Close in every handler of the store", "Use file.Close in every handler"),
        ("Never amend", STATEMENT),
    ],
)
def test_another_name_number_or_negation_is_something_else(text: str, statement: str) -> None:
    assert not says(text, statement)


def test_a_place_is_the_line_where_it_begins_also_if_it_goes_on() -> None:
    texts = {"CLAUDE.md": "# Rules\n\n- Never amend a commit\n  that was pushed\n- Use tabs\n"}

    assert PreparedTexts(texts).places(STATEMENT) == ("CLAUDE.md:3",)
