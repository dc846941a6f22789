"""Wordings of one fact, and facts that only look alike."""

import pytest

from reviewer.extraction.similarity import NEAR, similarity
from reviewer.text.wording import same_wording, wording_key

SAME = [
    ("Run `make lint` before every commit", "Run make lint before every commit."),
    ("Never push to main", "Do not push to main"),
    ("Don't push to main", "Do not push to main."),
    ("The cache expires after five minutes", "The cache expires after 5 minutes"),
    ("The cache expires after 5 min", "the cache expires after 5 minutes"),
    ("The timeout is 30s", "The timeout is 30 seconds"),
    ("The limit is 1,000 rows", "The limit is 1000 rows"),
    ("The importer uses Redis", "The importers use redis"),
    ("`load_all()` reads the index", "load_all reads the index"),
    ("We deploy from main", "Deploy from main"),
    ("The tests don't need a network", "The tests do not need a network"),
    ("**Pin** the actions by hash", "Pin the actions by hash"),
    ("- Pin the actions by hash", "Pin the actions by hash"),
    ("The queue “orders” is durable", 'The queue "orders" is durable'),
    ("The tests do not run on Windows.", "Tests don't run on Windows"),
    ("Pass the session id down", "Pass the session ID down"),
    ("We always use the fake clock in our tests", "Use the fake clock in tests"),
]
DIFFERENT = [
    ("Write the option as `{name}`", "Write the option as `[name]`"),
    (
        "The production cluster is always deployed from the main branch",
        "The staging cluster is always deployed from the main branch",
    ),
    ("Prefer tabs over spaces", "Prefer spaces over tabs"),
    ("tabs over spaces", "spaces over tabs"),
    ("No network access", "No disk access"),
    ("Long commit messages", "Short commit messages"),
    ("Run tests before the merge", "Run tests after the merge"),
    ("Run tests before the merge", "Merge before the tests run"),
    ("Push to main", "Do not push to main"),
    ("The parser calls the lexer", "The lexer calls the parser"),
    ("The timeout is 30 seconds", "The timeout is 30 minutes"),
    ("The timeout is 30 seconds", "The timeout is 60 seconds"),
    ("Copy from A to B", "Copy from B to A"),
    ("Use X for Y; use Z for W", "Use Z for Y; use X for W"),
    (
        "Restart the server in staging after the deploy in production",
        "Restart the server in production after the deploy in staging",
    ),
    ("Enable the cache in tests", "Disable the cache in tests"),
    ("Use the sync client", "Use the async client"),
    ("The lock is required", "The lock is not required"),
    ("Reads need a lock", "Writes need a lock"),
    ("The job may run in parallel", "The job must run in parallel"),
    ("You need not restart the server", "You must not restart the server"),
    ("Only the owner can write", "The owner can write"),
    ("Use A and B", "Use A or B"),
    ("The API returns 404 for deleted rows", "The API returns 410 for deleted rows"),
    ("All tests use the fake clock", "Some tests use the fake clock"),
    ("config.yaml overrides config.local.yaml", "config.local.yaml overrides config.yaml"),
    ("`read_all()` locks the index", "`write_all()` locks the index"),
    ("Python 3.11 is the minimum", "Python 3.12 is the minimum"),
    ("The client retries with backoff", "The client retries without backoff"),
    ("Errors are warnings in strict mode", "Warnings are errors in strict mode"),
    ("The service used to run on Heroku", "The service runs on Heroku"),
    ("Take notes in the log", "Not in the log"),
    ("Users get an email", "Users get no email"),
    ("Use the public endpoint over HTTPS", "Use the public endpoint over HTTP"),
    ("Sort by name then date", "Sort by date then name"),
    ("The writer locks the reader", "The reader locks the writer"),
    ("If the cache is cold, the server waits", "If the server waits, the cache is cold"),
    (
        "Deploy with the old key after the new key fails",
        "Deploy with the new key after the old key fails",
    ),
    ("Log to stdout", "Log to stderr"),
    ("The token expires in one day", "The token expires in two days"),
    ("More than 5 workers are slow", "Fewer than 5 workers are slow"),
    ("The first retry is immediate", "The last retry is immediate"),
    ("Mount the volume read-only", "Mount the volume read-write"),
    ("The parser is called by the lexer", "The lexer is called by the parser"),
    ("Some caches are stores", "Some stores are caches"),
    ("Admins are users", "Users are admins"),
    ("Never skip tests", "Skip tests"),
    ("Do not fail", "Fail"),
    ("Only tests use fakes", "Tests use only fakes"),
    ("Not all tests are fast", "All tests are not fast"),
    ("Redis was the cache", "Redis is the cache"),
    ("Keep the old schema, not the new one", "Keep the new schema, not the old one"),
    ("Use main instead of master", "Use master instead of main"),
    ("The cache was removed from the worker", "The cache is in the worker"),
    ("Read the config before the env", "Read the env before the config"),
    ("The hook runs on commit and not on push", "The hook runs on push and not on commit"),
    ("Merge from origin/main", "Merge from main"),
    ("Merge from origin/main, not the local main", "Merge from the local main, not origin/main"),
    ("Store dates in UTC", "Store dates in local time"),
    ("The CLI exits with 0 on failure", "The CLI exits with 1 on failure"),
    ("Alice reviews Bob", "Bob reviews Alice"),
    ("The flag `--force` skips the check", "The flag `--yes` skips the check"),
    ("Use pytest -x for CI", "Use pytest for CI"),
    ("The index is built at start-up", "The index is built at shut-down"),
    ("Increase the pool size", "Decrease the pool size"),
    ("Run migrations manually", "Run migrations automatically"),
    ("The endpoint is idempotent", "The endpoint is not idempotent"),
    ("Nothing is cached", "Everything is cached"),
    ("Neither host is trusted", "Both hosts are trusted"),
    ("The test can fail", "The test cannot fail"),
    ("Tests should run offline", "Tests could run offline"),
    ("Backups are taken twice a day", "Backups are taken once a day"),
    ("In tests, the client mocks the server", "In tests, the server mocks the client"),
    ("When the queue is full, drop the oldest", "When the queue is full, drop the newest"),
    ("The old API calls the new API", "The new API calls the old API"),
    ("Use mise run test:integration", "Use mise run test:unit"),
    ("PR 12 is merged", "PR 13 is merged"),
    ("The user is an admin", "The admin is a user"),
    ("Do not use X unless Y", "Use X unless Y"),
    ("The lock is released, not held", "The lock is held, not released"),
    ("Ask before you deploy", "Deploy before you ask"),
    ("A reader sees the writer's lock", "A writer sees the reader's lock"),
    ("A missing key is an error", "An error is a missing key"),
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
