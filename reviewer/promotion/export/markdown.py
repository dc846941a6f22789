"""Facts as Markdown: one fact a bullet, under the headings of their layer and type.

Text from outside can only be read: it opens no structure and loads nothing. What is escaped begins
a block (CommonMark 0.31, sections 4 and 5), is HTML, an image, or an `@path` that an agent's
instruction file would import. Emphasis, underscores and code spans are left alone, because agents
read and search the raw text for identifiers.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable

from reviewer.extraction.entities.naming import name_key
from reviewer.promotion.export.items import LAYER_TITLES, ExportItem, Layer, grouped
from reviewer.promotion.views import SourceRef
from reviewer.text.display import display_text
from reviewer.text.for_agents import NOTHING, AgentText, as_markdown, joined
from reviewer.text.inert_markdown import LIVE_SIGN


def render_markdown(items: Iterable[ExportItem], *, marks: bool) -> AgentText:
    """Trusted state first, then entities by type, then memories by type; "" for no items.

    What was written by hand says so; with `marks`, every fact names where it comes from, with
    1-based lines.
    """
    parts: list[AgentText] = []
    layer: Layer | None = None
    for group in grouped(items):
        if group.layer is not layer:
            layer = group.layer
            parts.append(_heading(2, LAYER_TITLES[layer]))
        if group.title:
            parts.append(_heading(3, markdown_line(group.title)))
        parts.append(joined(bullet(item, marks=marks) for item in group.items))
    return joined([joined(parts, "\n\n"), NOTHING]) if parts else NOTHING


def _heading(level: int, title: str) -> AgentText:
    return as_markdown(f"{'#' * level} {title}")


def bullet(item: ExportItem, *, marks: bool) -> AgentText:
    """One fact as a list item; further lines are indented by two spaces."""
    text = statement(item)
    if item.status != "active":
        text += f" ({markdown_line(item.status)})"
    if item.by_hand:
        text += " (written by hand)"
    details = [
        *(f"{_words(name)}: {markdown_text(value)}" for name, value in item.attributes),
        *([f"note: {markdown_text(item.note)}"] if item.note.strip() else []),
        *([relations(item)] if item.relations else []),
        *([f"({provenance(item)})"] if marks else []),
    ]
    lines = "\n".join([text, *details]).split("\n")
    return as_markdown(
        "\n".join([f"- {lines[0]}", *(f"  {line}" if line else "" for line in lines[1:])])
    )


def statement(item: ExportItem, *, named: bool = True) -> str:
    """What the fact says: `**name**: value unit`, and its wording.

    A wording that begins with the name, as that of most entities does, goes without it.
    """
    value = f"{item.value} {item.unit}".strip()
    text = markdown_text("\n\n".join(part for part in (value, item.content.strip()) if part))
    if named and item.name.strip() and (value or not _begins_with(item.content, item.name)):
        text = _strong(markdown_line(item.name)) + (f": {text}" if text else "")
    return text or "(empty)"


def _begins_with(content: str, name: str) -> bool:
    words = name_key(name).split()
    return bool(words) and name_key(content).split()[: len(words)] == words


def _strong(text: str) -> str:
    """Bold, unless its characters would end the marks or become part of them."""
    if "*" in text or text.endswith("\\"):
        return f"\\{text}" if text.startswith("[") else text
    return f"**{text}**"


def relations(item: ExportItem) -> str:
    """`part of: Pump; satisfies: R-7`."""
    return "; ".join(f"{_words(to.kind)}: {markdown_line(to.target)}" for to in item.relations)


def provenance(item: ExportItem) -> str:
    """Layer and id, the day of the decision, and the lines it came from."""
    parts = [f"{item.layer} {item.id}"]
    if item.decided_at:
        parts.append(f"decided {markdown_line(item.decided_at[:10])}")
    return ", ".join([*parts, *places(item)])


def places(item: ExportItem) -> list[str]:
    """Where it can be looked up, 1-based: `notes/pump.md:10-12`."""
    found = [markdown_line(_place(source)) for source in item.sources]
    return [*found, markdown_line(item.evidence)] if item.evidence.strip() else found


def _place(source: SourceRef) -> str:
    first, last = source.line_start + 1, max(source.line_end, source.line_start + 1)
    return f"{source.path}:{first}" + (f"-{last}" if last > first else "")


def _words(name: str) -> str:
    return markdown_line(name.replace("_", " "))


_TICKS = re.compile(r"`+")
_FENCE = re.compile(r"^[ ]*(`{3,})[^`\n]*$", re.MULTILINE)
_BLOCK_START = re.compile(
    r"(?P<before>\d{1,9})(?=[.)](?:\s|$))"
    r"|(?=#{1,6}(?:\s|$)|[-+*](?:\s|$)|>|<[A-Za-z/!?]|\[[ xX]?\]|~~~"
    r"|=+\s*$|(?:[-*_]\s*){3,}$|[|:-][|:\s-]*$)"
)
# Backslashes in front are doubled, so that they cannot take back the escape.
_LIVE = re.compile(rf"(?<!\\)(?P<slashes>\\*+)(?P<sign>{LIVE_SIGN})")
_CLOSING = re.compile(r"(?<!\\)\]")
_BEFORE_TICKS = re.compile(r"(?<!\\)\\++\Z")


def markdown_text(text: str) -> str:
    """Text of one or more paragraphs, each line at column 0, at most one blank line in between."""
    shown = display_text(text)
    lines = [line.strip() for line in shown.split("\n")]
    paragraphs = re.split(r"\n{2,}", "\n".join(lines).strip("\n"))
    return "\n\n".join(_paragraph(paragraph) for paragraph in paragraphs)


def markdown_line(text: str) -> str:
    """The same on one line."""
    return markdown_text(" ".join(text.split()))


def _paragraph(text: str) -> str:
    # Backticks that would begin a fence belong to no code span: spans are searched around them.
    parts: list[str] = []
    at = 0
    for fence in _FENCE.finditer(text):
        start, end = fence.span(1)
        parts += [_inline(text[at:start]), "\\`" * (end - start)]
        at = end
    parts.append(_inline(text[at:]))
    lines = "".join(parts).split("\n")
    closes = defines = False
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number]
        # `[label]: place` defines a link and is not shown; it may run over several lines.
        closes = closes or _CLOSING.search(line) is not None
        defines = defines or "]:" in line
        if line.startswith("[") and (defines or not closes):
            lines[number] = f"\\{line}"
        else:
            lines[number] = _block_start(line)
    return "\n".join(lines)


def _inline(text: str) -> str:
    """Escape what is live outside of code spans, and backticks that begin none."""
    runs = list(_TICKS.finditer(text))
    waiting: defaultdict[int, deque[int]] = defaultdict(deque)
    for number, run in enumerate(runs):
        waiting[len(run[0])].append(number)
    parts: list[str] = []
    at = number = 0
    while number < len(runs):
        run = runs[number]
        same = waiting[len(run[0])]
        while same and same[0] <= number:
            same.popleft()
        plain = _LIVE.sub(_escaped, text[at : run.start()])
        parts.append(_BEFORE_TICKS.sub(lambda match: match[0] * 2, plain))
        if same:
            number = same.popleft()
            at = runs[number].end()
            parts.append(text[run.start() : at])
        else:
            at = run.end()
            parts.append("\\`" * len(run[0]))
        number += 1
    parts.append(_LIVE.sub(_escaped, text[at:]))
    return "".join(parts)


def _escaped(match: re.Match[str]) -> str:
    return match["slashes"] * 2 + "\\" + match["sign"]


def _block_start(line: str) -> str:
    match = _BLOCK_START.match(line)
    if match is None:
        return line
    before = match["before"] or ""
    return f"{before}\\{line[len(before) :]}"
