"""Markdown: in order, traceable, and no fact gets out of its bullet."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from reviewer.promotion.export.items import ExportItem, Layer
from reviewer.promotion.export.markdown import render_markdown
from reviewer.promotion.views import SourceRef
from tests.unit.promotion.export.conftest import Make

PIECES = [
    "`", "``", "```", "````", "~~~", "\n", "\n\n", " ", "    ", "\\", "<b>", "</p>", "<!--", "-->",
    "<?x", "<https://a.b>", "![", "[", "]", "](u)", "]: /u", "[ ] ", "[^1]:", "# ", "- ", "* ",
    "+ ",
    "1. ", "12) ", "> ", "---", "===", "***", "___", "|", "a", "b|c", ":--", "@x/y", "\t", "&lt;",
    "\r\n", "\x1b[31m", "\u200b", "<script>", "_", "*",
]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES), max_size=16).map("".join) | st.text(max_size=30)
untimed = settings(deadline=None, max_examples=80)


@untimed
@given(texts, texts, texts)
@example("", "a ``` b\n``` c", "")
@example("", "```\nopen", "x")
@example("", "# Trusted state\n\n- **port**: 1", "")
@example("", "\\<script>", "")
@example("", "`\n</p>`", "")
def test_whatever_a_fact_says_stays_in_its_bullet(name: str, content: str, note: str) -> None:
    item = ExportItem(
        layer=Layer.MEMORY, id=1, type="knowledge", name=name, content=content, note=note,
        created_at="", sources=(SourceRef("a`b.md", 0, 1, "r"),),
    )  # fmt: skip
    text = render_markdown([item, item], marks=True)
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    assert [(each.type, each.tag) for each in tokens if each.level == 0 and each.nesting > 0] == [
        ("heading_open", "h2"), ("heading_open", "h3"), ("bullet_list_open", "ul"),
    ]  # fmt: skip
    assert [each.type for each in tokens if each.level == 1 and each.nesting > 0] == [
        "list_item_open"
    ] * 2
    inline = [child.type for each in tokens for child in each.children or ()]
    assert not {"html_block", "html_inline", "image"} & {*inline, *(each.type for each in tokens)}


@pytest.mark.parametrize("text", ["\\" * 200_000, "`" * 200_000, "` `` " * 40_000, "<a" * 100_000])
def test_long_texts_are_read_once(make: Make, text: str) -> None:
    assert render_markdown([make(content=text)], marks=False)


def test_state_comes_first_then_entities_then_memories_each_by_type(make: Make) -> None:
    text = render_markdown(
        [
            make("memory", type="knowledge", content="The seal leaks above 60 C"),
            make("entity", type="vendor", name="Acme"),
            make("memory", type="identity", content="I am the pump engineer"),
            make("entity", type="decision", name="Pump B"),
            make("entity", type="zz_new", name="Odd"),
            make("state", name="flow", value="4.8 l/s"),
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


def test_attributes_are_told(make: Make) -> None:
    item = make("entity", name="Seal", attributes=(("rated_to", "60 C"),))
    assert "- **Seal**\n  rated to: 60 C\n" in render_markdown([item], marks=False)
