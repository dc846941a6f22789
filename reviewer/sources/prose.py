"""Distinguishes notes from other text, such as code, tables and logs."""

from __future__ import annotations

import re

NOTE_NAMES = frozenset((".md", ".markdown", ".mdx", ".mdc", ".rst", ".adoc", ".org"))
"""Suffixes of notes; a text with another of PROSE_NAMES must read like one."""
PROSE_NAMES = NOTE_NAMES | {".txt", ".text", ""}
HEAD = 16_000
"""Number of characters to examine."""

_WORD = r"[`\"'(]?[^\W\d_][^\W_]*(?:[’'./-][^\W_]+)*[`\"')]?[,:;]?"
_SAID = re.compile(
    rf"[\s>*+\d.)(\"'-]*{_WORD} +{_WORD} +[`\"'(]?[^\W_]"
    r"|##+ \S|[-*] \S|\*\*\w"
    r"|[^\u0e00-\uffdc]*[\u0e00-\uffdc]{4}"
)
"""The start of a line that begins with words or marks of Markdown, or is in a script without
blanks."""


def is_prose(head: str) -> bool:
    """Whether a third of the lines of a text with this head read as a note."""
    lines = [line for line in head[:HEAD].split("\n") if line.strip()]
    return 3 * sum(map(bool, map(_SAID.match, lines))) >= len(lines)
