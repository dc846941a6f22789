"""Bring the README's table of keys up to date: `.venv/bin/python tests/readme_keys.py`."""

from __future__ import annotations

import re
from pathlib import Path

from reviewer.tui.legacy_actions import key_table

README = Path(__file__).resolve().parent.parent / "README.md"
BETWEEN_THE_MARKS = re.compile(
    r"(<!-- made by tests/readme_keys.py -->\n).*(\n<!-- end of the keys -->)", re.DOTALL
)


def with_keys(text: str) -> str:
    """The README's text with the keys that the screen has now."""
    table = key_table().strip()
    return BETWEEN_THE_MARKS.sub(lambda found: found[1] + table + found[2], text)


if __name__ == "__main__":
    README.write_text(with_keys(README.read_text(encoding="utf-8")), encoding="utf-8")
