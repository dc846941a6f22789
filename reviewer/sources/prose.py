"""Telling notes from other text: code, tables, logs, data."""

from __future__ import annotations

import re
from collections import Counter

from reviewer.sources.front_matter import front_matter
from reviewer.sources.note_kinds import FENCED

HEAD = 16_000
"""Number of characters to examine."""

PROSE_NAMES = {".md", ".markdown", ".mdx", ".txt", ".text", ".rst", ".adoc", ".org", ""}

CODE_NAMES = frozenset(
    {".py", ".pyi", ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".java", ".kt", ".swift", ".go"}
    | {".rs", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".css", ".scss", ".rb", ".php", ".pl"}
    | {".lua", ".r", ".jl", ".scala", ".sql", ".sh", ".bash", ".zsh", ".ps1", ".vue", ".svelte"}
)

CODE_LINE = re.compile(
    r"\s*(?:"
    r"(?:from [\w.]+ )?import [\w.{*\"']|#include\b|package [\w.]+;?$|use [\w:]+;|using [\w.]+;"
    r"|(?:export |public |private |protected |static |async |pub )*(?:def|class|func|fn|function"
    r"|struct|enum|interface|impl|trait|type|const|let|var|void|int)\s+[\w<(*&]+.*[{(:=;,]\s*$"
    r"|(?:if|for|while|switch|return|else|elif|try|except|catch)\b.*[{:;]\s*$"
    r"|[\w.\[\]\"']+\s*(?:=|:=|\+=|->|=>)\s*\S.*|[\w.]+\(.*\)[;{,]?$"
    r"|[}\])]+[;,)]*$|.*[;{}]$|//|/\*|\*/|\#!|@\w+"
    r"|\"[^\"]+\"\s*:.*|</?\w+[^>]*>$|[rbuf]?(?:\"\"\"|''')|[\"'][^\"']*[\"'],?$"
    r")"
)
LOG_LINE = re.compile(
    r"\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d"
    r"|(?:\d{1,3}\.){3}\d{1,3} |\[?(?:DEBUG|INFO|WARN(?:ING)?|ERROR|TRACE)\b)"
)
NOTE_LINE = re.compile(r"\s*(?:#{1,6} +\S|[-*+] +\S|\d+[.)] +\S|> ?|\||!?\[|\*\*|```|~~~|<!--|%%)")
VALUE_LINE = re.compile(
    r"\s*[^\W\d_][\w /-]{0,60}? ?= ?[-+]?\d[\d.,]* ?(?:[^\W\d_]|[%°])[\w/°%]*\s*$"
)
"""A value with its unit, as notes give it: `mass = 4.8 kg`."""
YAML_LINE = re.compile(r"\s*(?:- )?[\w.$/-]+:(?:\s.*)?$")
DIAGRAM = re.compile(r"\s*(?:strict\s+)?(?:di)?graph\b[^{\n]*\{", re.IGNORECASE)
MARKUP_START = re.compile(r"\s*<(?:\?xml|!doctype|html|svg)\b", re.IGNORECASE)
WORD = re.compile(r"[^\W\d_]{2,}")


def why_not_prose(head: str, suffix: str) -> str | None:
    """None if a text that begins with `head` reads as a note, else the kind of text it is instead.

    The suffix of the file name decides only if the text could be either.
    """
    text = head[:HEAD]
    lines = text.split("\n")
    body = "\n".join(lines[front_matter(lines)[1] :])
    if MARKUP_START.match(body):
        return "markup"
    if body.startswith("#!"):
        return "a script"
    if DIAGRAM.match(re.sub(r"(?m)^\s*(?://|#).*$", "", body)):
        return "a diagram"
    written = [line for line in FENCED.sub("", body).split("\n") if line.strip()]
    if not written:
        return None
    lines = [line for line in written if len(line) < 400 or line.count(" ") > 0.08 * len(line)]
    if not lines:
        return "minified text"
    named = suffix.lower() in PROSE_NAMES
    if _is_table(lines):
        return "a table"
    share = Counter(kind for line in lines if (kind := _kind(line)))
    total = len(lines)
    if share["log"] > 0.6 * total:
        return "a log"
    if suffix.lower() in CODE_NAMES and share["code"]:
        return "source code"
    if share["code"] > (0.7 if named else 0.25) * total and share["code"] > share["note"]:
        return "source code"
    if not named and share["data"] > 0.4 * total:
        return "settings or data"
    if not named and share["prose"] + share["note"] < 0.5 * total:
        return "text of another kind"
    if not WORD.search(text):
        return "text without words"
    return None


def _kind(line: str) -> str | None:
    if LOG_LINE.match(line):
        return "log"
    line = line[:300]
    words = len(WORD.findall(line))
    if NOTE_LINE.match(line) and not line.rstrip().endswith((";", "{")):
        return "note"
    if VALUE_LINE.match(line):
        return "note"
    if CODE_LINE.match(line):
        return "code"
    if YAML_LINE.match(line) and words < 8:
        return "data"
    return "prose" if words >= 4 else None


def _is_table(lines: list[str]) -> bool:
    """Whether most lines have the same number of separators: CSV, TSV."""
    if len(lines) < 3:
        return False
    for separator in ("\t", ",", ";"):
        counts = Counter(line.count(separator) for line in lines)
        number, times = counts.most_common(1)[0]
        if number >= 2 and times > 0.8 * len(lines):
            return True
    return False
