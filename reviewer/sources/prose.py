"""Distinguishes notes from other text: code, tables, logs, data."""

from __future__ import annotations

import re
from collections import Counter

from reviewer.sources.front_matter import front_matter
from reviewer.sources.note_kinds import FENCED

HEAD = 16_000
"""Number of characters to examine."""

PROSE_NAMES = {".md", ".markdown", ".mdx", ".txt", ".text", ".rst", ".adoc", ".org"}
PROSE_NAMES |= {".mdc", ""}

_OTHERS = re.compile(
    r"\s*(?:<(?:\?xml|!doctype|html|svg)\b|#!|(?:strict\s+)?(?:di)?graph\b[^{\n]*\{)",
    re.IGNORECASE,
)
"""Beginnings of markup, scripts and diagrams."""
_LOG_LINE = re.compile(
    r"\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d"
    r"|(?:\d{1,3}\.){3}\d{1,3} |\[?(?:DEBUG|INFO|WARN(?:ING)?|ERROR|TRACE)\b)"
)
_NOTE_LINE = re.compile(r"\s*(?:#{1,6} +\S|[-*+] +\S|\d+[.)] +\S|> ?|\||!?\[|\*\*|~~~|<!--|%%)")
_CODE_LINE = re.compile(
    r".*[;{]$|[}\])]+[;,)]*$|(?:from [\w.]+ )?import [\w.{*]|\#include\b|(?:async )?def \w+\("
    r"|@\w+|//|/\*|[\w.\[\]\"']+ ?(?:[-+:]?=|[-=]>) ?\S|[\w.]+\(.*\)$|\"[^\"]+\"\s*:"
)
_WORD = re.compile(r"[^\W\d_]{2,}")


def is_prose(head: str) -> bool:
    """Whether a text with this head reads as a note."""
    text = head[:HEAD]
    lines = text.split("\n")
    body = "\n".join(lines[front_matter(lines)[1] :])
    if _OTHERS.match(re.sub(r"\A(?:\s*(?://|# ).*\n)+", "", body)):
        return False
    written = [line for line in FENCED.sub("", body).split("\n") if line.strip()]
    if not written:
        return True
    if _is_table(written) or sum(map(bool, map(_LOG_LINE.match, written))) > 0.6 * len(written):
        return False
    notes = sum(map(bool, map(_NOTE_LINE.match, written)))
    code = sum(bool(_CODE_LINE.match(line[:300].strip())) for line in written)
    return code <= max(0.7 * len(written), notes) and bool(_WORD.search(text))


def _is_table(lines: list[str]) -> bool:
    """Whether most lines have the same number of separators: CSV, TSV."""
    if len(lines) < 3:
        return False
    for separator in ("\t", ",", ";"):
        number, times = Counter(line.count(separator) for line in lines).most_common(1)[0]
        if number >= 2 and times > 0.8 * len(lines):
            return True
    return False
