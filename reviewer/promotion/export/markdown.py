"""Facts as Markdown: one fact a bullet, under the headings of their layer and type."""

from __future__ import annotations

from collections.abc import Iterable

from reviewer.promotion.export.escaping import markdown_line, markdown_text
from reviewer.promotion.export.groups import LAYER_TITLES, grouped
from reviewer.promotion.export.items import ExportItem, Layer, mask_items
from reviewer.promotion.views import SourceRef


def render_markdown(items: Iterable[ExportItem], *, marks: bool, level: int = 2) -> str:
    """Trusted state first, then entities by type, then memories by type; "" for no items.

    What was written by hand says so; with `marks`, every fact names where it comes from, with
    1-based lines. `level` is that of the headings of layers. Secrets are masked.
    """
    parts: list[str] = []
    layer: Layer | None = None
    for group in grouped(mask_items(items).items):
        if group.layer is not layer:
            layer = group.layer
            parts.append(f"{'#' * level} {LAYER_TITLES[layer]}")
        if group.title:
            parts.append(f"{'#' * (level + 1)} {markdown_line(group.title)}")
        parts.append("\n".join(bullet(item, marks=marks) for item in group.items))
    return "\n\n".join(parts) + "\n" if parts else ""


def bullet(item: ExportItem, *, marks: bool) -> str:
    """One fact as a list item; further lines are indented by two spaces. Nothing is masked here."""
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
    return "\n".join([f"- {lines[0]}", *(f"  {line}" if line else "" for line in lines[1:])])


def statement(item: ExportItem, *, named: bool = True) -> str:
    """What the fact says: `**name**: value unit`, and its wording."""
    value = f"{item.value} {item.unit}".strip()
    said = markdown_text("\n\n".join(part for part in (value, item.content.strip()) if part))
    if named and item.name.strip():
        said = _strong(markdown_line(item.name)) + (f": {said}" if said else "")
    return said or "(empty)"


def _strong(text: str) -> str:
    """Bold, unless what stands in it would end that or become part of the marks."""
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
