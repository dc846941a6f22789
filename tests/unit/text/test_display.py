"""Text from outside is shown in full and cannot control the terminal."""

from __future__ import annotations

import json

import pytest

from reviewer.text.display import display_line, display_text, escaped_json

MARKED = {
    "\x1b]52;c;AAAA\x07": "␛]52;c;AAAA␇",
    "\x1b[31mred": "␛[31mred",
    "\x1bPq#0\x1b\\": "␛Pq#0␛\\",
    "\x00\x08\x0b\x0c\x0e\x7f": "␀␈␋␌␎␡",
    "\x9b31m\x85\x90\x9d": "⟨U+009B⟩31m⟨U+0085⟩⟨U+0090⟩⟨U+009D⟩",
    "abc\u202edcba": "abc⟨U+202E⟩dcba",
    "\u2067\u200f\u061c": "⟨U+2067⟩⟨U+200F⟩⟨U+061C⟩",
    "zero\u200bwidth\u200d\u2060\ufeff": "zero⟨U+200B⟩width⟨U+200D⟩⟨U+2060⟩⟨U+FEFF⟩",
    "line\u2028para\u2029": "line⟨U+2028⟩para⟨U+2029⟩",
    "tag\U000e0041": "tag⟨U+E0041⟩",
    "lone\udc80": "lone⟨U+DC80⟩",
    "soft\u00adhyphen": "soft⟨U+00AD⟩hyphen",
    "filler\u3164": "filler⟨U+3164⟩",
    "a\ufe0fb\ufe01\U000e0100": "a⟨U+FE0F⟩b⟨U+FE01⟩⟨U+E0100⟩",
    "❤\ufe0f\ufe0f": "❤\ufe0f⟨U+FE0F⟩",
    "over\rwritten": "over␍written",
    "a\r\nb\n\rc": "a\nb\n␍c",
    "\ta\tbcd\te\n\tf": "    a   bcd e\n    f",
}


@pytest.mark.parametrize(("text", "shown"), MARKED.items())
def test_characters_that_steer_or_hide_become_visible(text: str, shown: str) -> None:
    assert display_text(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "plain\ntext",
        "naïve — “quoted” …",
        "日本語 한국어 العربية",
        "❤\ufe0f 1\ufe0f ☎\ufe0e 👍🏽",
        "[red]\\[/]",
    ],
)
def test_visible_characters_stay(text: str) -> None:
    assert display_text(text) == text


def test_a_line_shows_its_newlines() -> None:
    assert display_line("one\r\ntwo\x1b\nthree") == "one ⏎ two␛ ⏎ three"


@pytest.mark.parametrize(
    "text",
    [
        "\x7f\x9b2J",
        "\u202e\u200b\ufeff",
        "\U000e0041x",
        "\u3164a\ufe0f",
        "plain",
        "é 👍🏽 ❤\ufe0f 1\ufe0f",
    ],
)
def test_escaped_json_is_equal_and_shows_hidden_characters(text: str) -> None:
    escaped = escaped_json(json.dumps({"a": text}, ensure_ascii=False))
    assert json.loads(escaped) == {"a": text}
    assert display_text(escaped) == escaped
