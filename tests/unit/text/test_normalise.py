"""Comparable texts: which characters are dropped, and which are part of the meaning."""

from __future__ import annotations

import pytest

from reviewer.text.normalise import clean, fold

CLEANED = {
    "  We   use\n\tPostgres. ": "We use Postgres",
    "- We use Postgres;": "We use Postgres",
    "- [ ] We use Postgres": "We use Postgres",
    "2) We use Postgres": "We use Postgres",
    "### Decision: use Postgres": "Decision: use Postgres",
    "> quoted line": "quoted line",
    "- **“We use Postgres”**.": "We use Postgres",
    "_We use Postgres_": "We use Postgres",
    "cafe\u0301": "café",
    "Shall we?": "Shall we?",
    "": "",
}


@pytest.mark.parametrize(("text", "cleaned"), CLEANED.items())
def test_markup_of_the_source_is_dropped(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@pytest.mark.parametrize(
    "text",
    [
        "**Decision:** use `x`",
        "`- item.`",
        "*args and *more",
        "-5 kg of load",
        "#42 is closed",
        "Say 'yes' or 'no'",
        "Run git add .",
        "__init__ and __main__",
    ],
)
def test_characters_that_carry_meaning_stay(text: str) -> None:
    assert clean(text) == text


def test_folding_keeps_case_and_punctuation() -> None:
    assert fold(" The\u00a0Cafe\u0301 \n is  Open. ") == "The Café is Open."
