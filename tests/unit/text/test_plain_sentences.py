"""Texts that need no look for secrets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer.text.plain_sentences import has_only_plain_words
from reviewer.text.secrets import mask
from tests.unit.text.planted_secrets import PLANTED


@pytest.mark.parametrize(
    "text",
    [
        "Fix the hook configuration of the packet store.",
        "Don't copy `config/app.toml` into the demo (yet), please!",
        "keep 20 rows",
    ],
)
def test_an_ordinary_sentence_is_plain(text: str) -> None:
    assert has_only_plain_words(text)


@pytest.mark.parametrize(
    "text",
    [
        "the password is swordfish",
        "sshpass -p swordfish",
        "https://ann:swordfish@host",
        "AKIA" + "QWERTYUIOPASDFGH",
        "ключ от склада",
        "word " * 1_000,
    ],
)
def test_what_may_hold_a_secret_is_not_plain(text: str) -> None:
    assert not has_only_plain_words(text)


WORDS = st.one_of(
    st.from_regex(r"[A-Za-z'./(`-][A-Za-z0-9'./`-]{0,24}[.,;!?)]?", fullmatch=True),
    st.sampled_from([
        "password", "login", "-p", "is", "the", "secret", "ghp_", "AKIA", "sk-live", "xoxb",
        "token:", "with", "bearer", "curl", "-u", "DB_PASSWORD=", "-pswordfish", "key", "export",
        "npm_", "Basic", "private",
    ]),
)  # fmt: skip


@given(st.lists(WORDS, max_size=12).map(" ".join))
def test_masking_changes_nothing_in_a_plain_text(text: str) -> None:
    if has_only_plain_words(text):
        assert mask(text).text == text


def test_no_text_with_a_planted_secret_is_plain() -> None:
    assert not [each.text for each in PLANTED if has_only_plain_words(each.text)]
