"""Markdown: in order, traceable, and nothing in a fact becomes structure."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from reviewer.promotion.export.items import ExportItem, Layer
from reviewer.promotion.export.markdown import markdown_line, markdown_text, render_markdown
from reviewer.promotion.views import RelationView, SourceRef
from tests.unit.promotion.export.conftest import Make

untimed = settings(deadline=None)
PIECES = [
    "`", "``", "```", "````", "~~~", "\n", "\n\n", " ", "    ", "\\", "<b>", "</p>", "<!--", "-->",
    "<?x", "<https://a.b>", "![", "[", "]", "](u)", "]: /u", "[ ] ", "[^1]:", "# ", "- ", "* ",
    "+ ",
    "1. ", "12) ", "> ", "---", "===", "***", "___", "|", "a", "b|c", ":--", "@x/y", "\t", "&lt;",
    "\r\n", "\x1b[31m", "\u200b", "<script>", "_", "*",
]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES), max_size=16).map("".join) | st.text(max_size=30)
ALLOWED = {
    "bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close",
    "paragraph_open", "paragraph_close", "inline", "text", "softbreak", "code_inline", "em_open",
    "em_close", "strong_open", "strong_close", "link_open", "link_close", "hardbreak",
}  # fmt: skip


def tokens(markdown: str) -> Iterator[Token]:
    for token in MarkdownIt("commonmark").enable("table").parse(markdown):
        yield token
        yield from token.children or ()


@settings(deadline=None, max_examples=80)
@given(texts, texts, texts)
@example("", "a ``` b\n``` c", "")
@example("", "\\<script>", "")
@example("", "`a\n# b` <b>", "")
@example("na`me", "`<b>`", "")
@example("", "[a\nb]: /u", "")
@example("**", "", "")
@example("", "`\n</p>`", "")
@example("", "[", "]: /u")
@example("", "[a\\]", "]: /u")
@example("[a*]", "/u", "")
def test_whatever_a_fact_says_is_one_bullet_of_plain_text(
    name: str, content: str, note: str
) -> None:
    item = ExportItem(
        layer=Layer.MEMORY, id=1, name=name, content=content, note=note, created_at="",
        sources=(SourceRef("a`b.md", 0, 1, "r"),),
    )  # fmt: skip
    bullets = render_markdown([item], marks=True).split("\n\n", 1)[1]
    if bullets.startswith("#"):
        bullets = bullets.split("\n\n", 1)[1]
    types = [token.type for token in tokens(bullets)]
    assert set(types) <= ALLOWED
    assert types.count("bullet_list_open") == types.count("list_item_open") == 1
    assert "(memory 1," in "".join(token.content for token in tokens(bullets))


@untimed
@given(texts)
def test_a_paragraph_outside_of_a_list_is_plain_text_too(content: str) -> None:
    found = {token.type for token in tokens(f"**Lesson**: {markdown_text(content)}\n")}
    assert found <= ALLOWED - {"bullet_list_open", "list_item_open"}
    assert {token.type for token in tokens(markdown_text(content))} <= found | ALLOWED - {
        "bullet_list_open"
    }


@pytest.mark.parametrize(
    "text",
    [
        "set max_open_files = 4096 in *both* places",
        "call `Vec<String>` and `list[int]`",
        "[Decision] use C:\\new_dir",
        "mail ops@example.org, issue #42, -5 kg, 3.5 mm, a -- b",
    ],
)
def test_what_is_harmless_stays_as_it_was_written(text: str) -> None:
    assert markdown_text(text) == text


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("# x", "\\# x"),
        ("- x", "\\- x"),
        ("3. x", "3\\. x"),
        ("> x", "\\> x"),
        ("[x] x", "\\[x] x"),
        ("read @~/.ssh/config", "read \\@~/.ssh/config"),
        ("a <!-- b", "a \\<!-- b"),
        ("![x](http://a.b/c)", "\\![x](http://a.b/c)"),
        ("a `b", "a \\`b"),
        ("```\nmake\n```", "\\`\\`\\`\nmake\n\\`\\`\\`"),
        ("hid\u200bden", "hid⟨U+200B⟩den"),
    ],
)
def test_what_could_begin_structure_or_load_something_is_escaped(text: str, escaped: str) -> None:
    assert markdown_text(text) == escaped


def test_a_line_stays_one_line() -> None:
    assert markdown_line(" a\n\n# b\tc ") == "a # b c"


@pytest.mark.parametrize("text", ["\\" * 200_000, "`" * 200_000, "` `` " * 40_000, "<a" * 100_000])
def test_long_texts_are_read_once(text: str) -> None:
    assert markdown_text(text)


def test_state_comes_first_then_entities_then_memories_each_by_type(make: Make) -> None:
    text = render_markdown(
        [
            make("memory", type="knowledge", content="The seal leaks above 60 C"),
            make("entity", type="vendor", name="Acme"),
            make("memory", type="identity", content="I am the pump engineer"),
            make("entity", type="decision", name="Pump B"),
            make("entity", type="zz_new", name="Odd"),
            make("state", name="flow", value="4.8", unit="l/s"),
        ],
        marks=False,
    )
    assert text == (
        "## Trusted state\n\n- **flow**: 4.8 l/s\n\n"
        "## Entities\n\n### Decisions\n\n- **Pump B**\n\n### Vendors\n\n- **Acme**\n\n"
        "### Zz new\n\n- **Odd**\n\n"
        "## Memories\n\n### Identity\n\n- I am the pump engineer\n\n"
        "### Knowledge\n\n- The seal leaks above 60 C\n"
    )


def test_every_line_of_a_fact_is_indented_under_its_bullet(make: Make) -> None:
    item = make(content="One.\nTwo.\n\n\n    Three.", note="why", type="knowledge")
    text = render_markdown([item], marks=False)
    assert text.endswith("\n- One.\n  Two.\n\n  Three.\n  note: why\n")


def test_marks_name_decision_and_lines_counted_from_one(make: Make) -> None:
    item = make("entity", type="decision", name="B", id=7, decided_at="2026-03-01T10:00:00.000Z")
    text = render_markdown([item], marks=True)
    assert "\n  (entity 7, decided 2026-03-01, notes/pump.md:10-12)\n" in text
    assert "(entity 7" not in render_markdown([item], marks=False)


@pytest.mark.parametrize("marks", [True, False])
def test_what_was_written_by_hand_always_says_so(make: Make, marks: bool) -> None:
    assert "Beta (written by hand)" in render_markdown(
        [make(content="Beta", sources=())], marks=marks
    )
    assert "written by hand" not in render_markdown([make(content="Beta")], marks=marks)


def test_relations_attributes_and_a_status_are_told(make: Make) -> None:
    item = make(
        "entity", name="Seal", status="superseded", attributes=(("rated_to", "60 C"),),
        relations=(RelationView("part_of", "Pump", 2), RelationView("satisfies", "R-7", 3)),
    )  # fmt: skip
    text = render_markdown([item], marks=False)
    assert "- **Seal** (superseded)\n  rated to: 60 C\n  part of: Pump; satisfies: R-7\n" in text
