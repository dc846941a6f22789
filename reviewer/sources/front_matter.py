"""Front matter of a note: lines of `key: value` between `---`, or `key = value` between `+++`."""

from __future__ import annotations

import re
from collections.abc import Sequence

LINES_LIMIT = 150
VALUE_LIMIT = 500

_KEY = re.compile(r"([\w][\w .-]{0,60}?)\s*[:=]\s*(.*)")
_ITEM = re.compile(r"\s*-\s+(.*)")


def front_matter(lines: Sequence[str]) -> tuple[dict[str, str], int]:
    """The fields, and the number of front matter lines; 0 if there is none.

    Without a closing line, the note is read from its first line. Lists become one comma-separated
    text; nested values and comments are skipped.
    """
    fence = lines[0].rstrip() if lines else ""
    if fence not in ("---", "+++"):
        return {}, 0
    ends = (fence, "...") if fence == "---" else (fence,)
    found: dict[str, str] = {}
    key = ""
    for number, line in enumerate(lines[1:LINES_LIMIT], 1):
        text = line.rstrip()
        if text in ends:
            return found, number + 1
        if fence == "---" and text.startswith("#") and not found:
            continue
        item = _ITEM.fullmatch(text)
        field = _KEY.fullmatch(text)
        if item and key:
            value = _plain(item[1])
            if value:
                found[key] = f"{found[key]}, {value}"[:VALUE_LIMIT] if found.get(key) else value
        elif field and not text[0].isspace():
            key = field[1].strip()
            value = _plain(field[2])
            if value:
                found[key] = value
    return {}, 0


def _plain(value: str) -> str:
    value = value.strip()
    if value.startswith("[") and value.endswith("]") and not value.startswith("[["):
        value = ", ".join(_plain(part) for part in value[1:-1].split(","))
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    return value[:VALUE_LIMIT]
