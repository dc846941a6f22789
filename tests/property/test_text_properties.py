"""Properties of every text: display and masking are idempotent, and diffs lose no text."""

from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st

from reviewer.text.display import display_line, display_text
from reviewer.text.normalise import clean, duplicate_key, fold
from reviewer.text.secrets import mask
from reviewer.text.tokens import CHUNK, counter
from reviewer.text.word_diff import hunks, put_back

# Characters that a terminal would obey, or a reader cannot see.
OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff"
    "\U000e0000-\U000e007f]"
)
NASTY = (
    "❤1a [];é\x00\x07\x1b\x7f\x85\x9b\r\n\t"
    "\u200b\u200d\u2028\u202e\u2060\ufe0f\ufeff\U000e0041\udc80"
)
untimed = settings(deadline=None)  # the machine may be busy with other things
any_text = st.text(st.characters(exclude_categories=()))
nasty_text = st.text(st.sampled_from(NASTY)) | any_text

BODY = "q7Zk3Vn9Tb1Xw5Rm8Lc2Pd6Hs4Jf0Gy"
PIECES = [
    "password", "DB_PASSWORD", "token", "api_key", "secret", "Authorization", "Bearer ", "Basic ",
    "=", " = ", ": ", ":", '"', "'", "`", " ", "\n", "://", "@", "user", "/", "[masked ", "]", "--",
    ">", "gh" + "p_", "sk-", "ey" + "J", "AK" + "IA", BODY, BODY.upper()[:16], "hunter2", "s3cr3t!",
    ".", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "123456789:AA", "é", "\\n",
    "…", "-",
]  # fmt: skip
secret_text = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
phrases = st.lists(
    st.sampled_from(["a", "b", "word", "x1", " ", "  ", "\n", ".", ",", "é"]), max_size=30
)
phrase = phrases.map("".join) | any_text


@untimed
@given(nasty_text)
def test_displayed_text_has_no_control_characters(text: str) -> None:
    assert OBEYED.search(display_text(text)) is None
    assert "\t" not in display_text(text)
    assert "\n" not in display_line(text)


@untimed
@given(nasty_text)
def test_displaying_twice_changes_nothing(text: str) -> None:
    assert display_text(display_text(text)) == display_text(text)
    assert display_line(display_line(text)) == display_line(text)


@untimed
@given(secret_text | any_text)
def test_masking_twice_changes_nothing(text: str) -> None:
    once = mask(text)
    again = mask(once.text)
    assert again.text == once.text
    assert again.kinds == ()


@untimed
@given(any_text)
def test_text_without_credentials_is_kept(text: str) -> None:
    masked = mask(text)
    assert masked.text == text or masked.kinds


@untimed
@given(any_text | st.text(st.sampled_from("*_-#>. \"'“”1)[x]A!~`aΣİ\n")))
@example("**“- a.”**")
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)
    assert duplicate_key(duplicate_key(text)) == duplicate_key(text)
    assert duplicate_key(clean(text)) == duplicate_key(text)
    assert fold(fold(text)) == fold(text)


@untimed
@given(phrase, phrase)
def test_hunks_join_to_both_texts(original: str, edited: str) -> None:
    found = hunks(original, edited)
    assert "".join(hunk.original for hunk in found) == original
    assert "".join(hunk.edited for hunk in found) == edited
    for hunk in found:
        assert (hunk.op == "equal") == (hunk.original == hunk.edited)
        assert (hunk.op == "insert") == (not hunk.original)
        assert (hunk.op == "delete") == (not hunk.edited)
    for left, right in pairwise(found):
        assert (left.op == "equal") != (right.op == "equal")


@untimed
@given(phrase, phrase)
def test_putting_every_hunk_back_gives_the_original(original: str, edited: str) -> None:
    for _ in range(len(original) + len(edited) + 1):
        if edited == original:
            break
        edited = put_back(original, edited, 0)
    assert edited == original


@settings(max_examples=20, deadline=None)
@given(st.text(st.sampled_from("ab \n\t.é1"), max_size=60))
def test_chunked_counts_stay_close_to_the_whole(unit: str) -> None:
    repeats = CHUNK // max(len(unit), 1) + 2
    text = unit * repeats
    half = text[: len(text) // 2], text[len(text) // 2 :]
    assert abs(counter().count(text) - sum(map(counter().count, half))) <= 3
