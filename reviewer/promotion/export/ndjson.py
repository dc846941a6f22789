"""Facts as JSON Lines, for programs: every field, one object a line."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from reviewer.promotion.export.groups import grouped
from reviewer.promotion.export.items import ExportItem, mask_items
from reviewer.text.display import escaped_json


def render_ndjson(items: Iterable[ExportItem]) -> str:
    """One line an item with all its fields, in the order of the Markdown; secrets are masked.

    `sources` have 0-based half-open lines, `attributes` are pairs, and `hand_authored` is also
    true for what has no source.
    """
    groups = grouped(mask_items(items).items)
    return "".join(_line(item) for group in groups for item in group.items)


def _line(item: ExportItem) -> str:
    fields = msgspec.to_builtins(replace(item, hand_authored=item.by_hand))
    return escaped_json(msgspec.json.encode(_writable(fields)).decode()) + "\n"


def _writable(value: object) -> object:
    """The same without lone surrogates, which cannot be written as UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {key: _writable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_writable(each) for each in value]
    return value
