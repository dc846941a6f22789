"""Wordings of one fact, and facts that only look alike."""

import pytest

from reviewer.extraction.similarity import NEAR, similarity
from reviewer.text.wording import same_wording, wording_key

SAME = [
    ("Run `make lint` before every commit", "Run make lint before every commit."),
    ("Never push to main", "Do not push to main"),
    ("Don't push to main", "Do not push to main."),
    ("The cache expires after five minutes", "The cache expires after 5 minutes"),
    ("The timeout is 30s", "The timeout is 30 seconds"),
    ("The limit is 1,000 rows", "The limit is 1000 rows"),
    ("The importer uses Redis", "The importers use redis"),
    ("**Pin** the actions by hash", "Pin the actions by hash"),
    ("We always use the fake clock in our tests", "Use the fake clock in tests"),
]
DIFFERENT = [
    ("Write the option as `{name}`", "Write the option as `[name]`"),
    ("Prefer tabs over spaces", "Prefer spaces over tabs"),
    ("No network access", "No disk access"),
    ("Push to main", "Do not push to main"),
    ("The parser calls the lexer", "The lexer calls the parser"),
    ("The timeout is 30 seconds", "The timeout is 30 minutes"),
    ("The timeout is 30 seconds", "The timeout is 60 seconds"),
    ("Copy from A to B", "Copy from B to A"),
    ("You need not restart the server", "You must not restart the server"),
    ("Use A and B", "Use A or B"),
    ("Python 3.11 is the minimum", "Python 3.12 is the minimum"),
    ("The client retries with backoff", "The client retries without backoff"),
    ("Use the public endpoint over HTTPS", "Use the public endpoint over HTTP"),
    ("The first retry is immediate", "The last retry is immediate"),
    ("Never skip tests", "Skip tests"),
    ("The cache was removed from the worker", "The cache is in the worker"),
    ("Alice reviews Bob", "Bob reviews Alice"),
    ("Increase the pool size", "Decrease the pool size"),
]


def test_other_wordings_of_a_fact_are_the_same() -> None:
    for one, other in SAME:
        assert same_wording(one, other), (one, other)
        assert same_wording(other, one), (one, other)
        assert wording_key(one) == wording_key(other), (one, other)


def test_facts_that_differ_in_a_content_word_or_a_role_are_two() -> None:
    for one, other in DIFFERENT:
        assert not same_wording(one, other), (one, other)
        assert not same_wording(other, one), (one, other)
        assert similarity(one, other) < NEAR, (one, other)


def test_flags_keep_their_case() -> None:
    assert not same_wording("Use -v for verbose output", "Use -V for verbose output")


@pytest.mark.parametrize("text", ["", "`", "...", "- ", "the", "(", "()", "a's", "= = ="])
def test_texts_without_words_do_no_harm(text: str) -> None:
    assert same_wording(text, text)
    assert not same_wording(text, "Use fakes in tests")
