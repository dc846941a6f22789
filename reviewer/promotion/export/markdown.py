"""Facts as Markdown: one bullet per fact, under the headings of their layer and type.

Text from outside stays inside its bullet, because its lines are indented, and `as_markdown` makes
sure that it loads nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from reviewer.extraction.entities.naming import name_key
from reviewer.promotion.export.items import LAYER_TITLES, ExportItem, Layer, grouped
from reviewer.promotion.views import SourceRef
from reviewer.text.display import display_text
from reviewer.text.for_agents import NOTHING, AgentText, as_markdown, joined


def render_markdown(items: Iterable[ExportItem], *, marks: bool) -> AgentText:
    """Trusted state first, then entities by type, then memories by type; "" for no items.

    Facts written by hand say so; with `marks`, every fact names its source, with 1-based lines.
    """
    parts: list[AgentText] = []
    layer: Layer | None = None
    for of, title, facts in grouped(items):
        if of is not layer:
            layer = of
            parts.append(_heading(2, LAYER_TITLES[layer]))
        if title:
            parts.append(_heading(3, markdown_line(title)))
        parts.append(joined(bullet(item, marks=marks) for item in facts))
    return joined([joined(parts, "\n\n"), NOTHING]) if parts else NOTHING


def _heading(level: int, title: str) -> AgentText:
    return as_markdown(f"{'#' * level} {title}")


def bullet(item: ExportItem, *, marks: bool) -> AgentText:
    """One fact as a list item; further lines are indented by two spaces."""
    text = _statement(item)
    if item.by_hand:
        text += " (written by hand)"
    details = [
        *(f"{_words(name)}: {markdown_text(value)}" for name, value in item.attributes),
        *([f"note: {markdown_text(item.note)}"] if item.note.strip() else []),
        *([f"({_provenance(item)})"] if marks else []),
    ]
    lines = "\n".join([text, *details]).split("\n")
    return as_markdown(
        "\n".join([f"- {lines[0]}", *(f"  {line}" if line else "" for line in lines[1:])])
    )


def _statement(item: ExportItem) -> str:
    """The statement of a fact: `**name**: value`, and its wording.

    The name is omitted if the wording begins with it, as most entities' do.
    """
    value = item.value.strip()
    text = markdown_text("\n\n".join(part for part in (value, item.content.strip()) if part))
    if item.name.strip() and (value or not _begins_with(item.content, item.name)):
        text = _strong(markdown_line(item.name)) + (f": {text}" if text else "")
    return text or "(empty)"


def _begins_with(content: str, name: str) -> bool:
    words = name_key(name).split()
    return bool(words) and name_key(content).split()[: len(words)] == words


def _strong(text: str) -> str:
    """Bold, unless its characters would end the marks or merge with them."""
    return text if "*" in text or text.endswith("\\") else f"**{text}**"


def _provenance(item: ExportItem) -> str:
    """Layer and id, the day of the decision, and the source lines."""
    parts = [f"{item.layer} {item.id}"]
    if item.decided_at:
        parts.append(f"decided {markdown_line(item.decided_at[:10])}")
    parts += (markdown_line(_place(source)) for source in item.sources)
    if item.evidence.strip():
        parts.append(markdown_line(item.evidence))
    return ", ".join(parts)


def _place(source: SourceRef) -> str:
    """A source, 1-based: `notes/pump.md:10-12`."""
    first, last = source.line_start + 1, max(source.line_end, source.line_start + 1)
    return f"{source.path}:{first}" + (f"-{last}" if last > first else "")


def _words(name: str) -> str:
    return markdown_line(name.replace("_", " "))


def markdown_text(text: str) -> str:
    """Text of one or more paragraphs, each line at column 0, with single blank lines."""
    lines = "\n".join(line.strip() for line in display_text(text).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", lines.strip("\n"))


def markdown_line(text: str) -> str:
    return markdown_text(" ".join(text.split()))
