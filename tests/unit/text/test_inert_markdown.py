"""Markdown from outside that is given to an agent loads nothing and names no file to be read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from reviewer.text.inert_markdown import inert

pieces = st.sampled_from(
    [
        *("`", "``", "```\n", "~~~\n", "\n", "\n\n", "    ", "  ", "- ", "> ", "1. ", "\\", "#"),
        *("@a/b", " @~/c", "![x](y)", "![x][r]", "<b>", "</b>", "<!--", "-->", "<div>\n"),
        *("<https://a.b>", "[r]: y", "word"),
    ]
)


def tokens(text: str) -> Iterator[Token]:
    for token in MarkdownIt("commonmark").parse(text):
        yield token
        yield from token.children or ()


@settings(max_examples=150, deadline=None)
@given(st.lists(pieces, max_size=14).map("".join))
@example("- a\n  ```\n@/etc/passwd\n```\n![x](y)\n```")
@example("<div>\n```\n@x\n```\n</div>")
@example("`a\n\n@x `")
@example("\\`![x](y)`")
def test_it_has_no_html_no_image_and_no_path_outside_of_code(text: str) -> None:
    done = inert(text)
    assert inert(done) == done
    followed = f"{done}\n\n- @next"
    kinds = {token.type for token in tokens(followed)}
    assert not kinds & {"html_block", "html_inline", "image"}
    lines = done.split("\n")
    code = {
        line
        for token in tokens(done)
        if token.map and token.type in ("fence", "code_block")
        for line in range(*token.map)
    }
    for number, line in enumerate(lines):
        if number not in code and "`" not in done:
            for place in (at for at, sign in enumerate(line) if sign == "@"):
                before = line[:place]
                assert (len(before) - len(before.rstrip("\\"))) % 2 or before[-1:].isalnum(), line
    last = [token for token in tokens(followed) if token.type == "list_item_open"]
    assert last, "what comes next is not swallowed"


@pytest.mark.parametrize(
    "text",
    [
        "Write to ann@example.org, or use `@types/node` and `<T>`.",
        "```ts\nimport x from '@types/node';\nconst a: Vec<T> = [];\n```",
        "5 < 6, and 7 > 6!",
        "## Title\n\n- a\n- b\n\n> quoted",
    ],
)
def test_code_and_plain_words_stay_as_they_are(text: str) -> None:
    assert inert(text) == text


def test_an_open_fence_ends_with_its_text() -> None:
    assert inert("see:\n\n````py\nx = 1") == "see:\n\n````py\nx = 1\n````"
    assert inert("~~~\n@x") == "~~~\n@x\n~~~"
