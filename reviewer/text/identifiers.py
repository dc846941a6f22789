"""Identifiers in text: paths, names, flags, versions, numbers.

They cannot be paraphrased, so their count measures how specific a statement is.
"""

from __future__ import annotations

import re
from enum import StrEnum

from msgspec import Struct

from reviewer.text.late_pattern import late


class IdentifierKind(StrEnum):
    """Values are the groups of the pattern."""

    URL = "url"
    CODE = "code"
    PATH = "path"
    FLAG = "flag"
    VARIABLE = "variable"
    HASH = "hash"
    ISSUE = "issue"
    VERSION = "version"
    QUANTITY = "quantity"
    NAME = "name"


class Identifier(Struct, frozen=True):
    """The identifier at `start:end` of a text; inline code without its backticks."""

    text: str
    start: int
    end: int
    kind: IdentifierKind


_UNITS = (
    r"%|ms|µs|us|ns|s|sec|secs|seconds?|min|mins|minutes?|h|hours?|days?|weeks?|months?|years?"
    r"|[kKMGT]i?B(?:/s)?|bytes?|bits?|kb|mb|gb|tb|chars?|characters|tokens?|lines?|rows?|files?"
    r"|tests?|px|rem|em|pt|fps|Hz|kHz|MHz|GHz|mm|cm|km|m|kg|g|mg|N|Pa|kPa|MPa|bar|V|mV|A|mA|W|kW"
    r"|°C|°F|K|x|USD|EUR|€|\$"
)
_EXTENSIONS = (
    r"py|pyi|js|jsx|ts|tsx|mjs|cjs|go|rs|rb|java|kt|c|h|cc|cpp|hpp|cs|swift|php|sh|bash|zsh|ps1"
    r"|sql|json|jsonl|ya?ml|toml|ini|cfg|conf|env|lock|md|mdx|rst|txt|html?|css|scss|tcss|xml"
    r"|csv|tsv|svg|png|log|proto|graphql|vue|svelte|ipynb|dot|db|sqlite3?|tf|gradle"
)
# Alternatives from the most to the least specific; every repeat is bounded, and is either
# possessive or disjoint from the characters after it, so a search is linear.
_IDENTIFIER = late(
    rf"""
      (?P<url>\b(?:https?|ssh|git|file|wss?)://[^\s<>"')\]`]{{1,2000}})
    | `(?P<code>[^`\n]{{1,400}})`
    | (?P<issue>(?<![\w/])(?:[\w.-]{{1,80}}/[\w.-]{{1,80}})?\#\d{{1,7}}\b
        | \b[A-Z]{{2,10}}-\d{{1,7}}\b)
    | (?P<path>(?<![\w/.~@-])(?:~|\.{{1,2}}|[\w@.+-]{{1,120}})?(?:/[\w@.+*-]{{1,120}}){{1,40}}/?
          (?::\d{{1,7}})?
        | (?<![\w/.-])[\w-]{{1,120}}(?:\.[\w-]{{1,60}}){{0,6}}\.(?:{_EXTENSIONS})\b(?::\d{{1,7}})?)
    | (?P<flag>(?<![\w-])--?[a-zA-Z][\w-]{{0,80}}(?:=[^\s,;)`]{{1,120}})?)
    | (?P<variable>(?<![\w$])(?:\$\{{?[A-Za-z_]\w{{0,80}}\}}?
        | [A-Z][A-Z0-9]{{0,60}}(?:_[A-Z0-9]{{1,60}}){{1,12}}\b))
    | (?P<hash>\b(?=[0-9a-f]{{0,39}}\d)(?=[0-9]{{0,39}}[a-f])[0-9a-f]{{7,64}}\b)
    | (?P<version>\bv\d{{1,6}}(?:\.\d{{1,6}}){{0,4}}[\w.+-]{{0,20}}\b
        | (?<![\w.])\d{{1,6}}(?:\.\d{{1,6}}){{2,4}}(?:[-+][\w.]{{1,20}})?\b)
    | (?P<quantity>(?<![\w.])[$€£]?\d{{1,18}}(?:[.,]\d{{1,18}}){{0,6}}(?:[ ]?(?:{_UNITS})(?!\w))?)
    | (?P<name>(?<![\w.])(?:
          [A-Za-z_]\w{{0,80}}(?:(?:\.|::|->)[A-Za-z_]\w{{0,80}}){{1,8}}(?:\(\))?
        | [A-Za-z_]\w{{0,80}}\(\)
        | [a-z0-9]{{1,60}}(?:_[a-zA-Z0-9]{{1,60}}){{1,12}}
        | _{{1,2}}[a-z]\w{{0,80}}
        | [A-Z]{{1,8}}[a-z0-9]{{1,40}}(?:[A-Z]{{1,8}}+[a-z0-9]{{0,40}}+){{1,12}}+
        | [a-z]{{1,40}}[0-9]{{0,8}}(?:[A-Z]{{1,8}}+[a-z0-9]{{0,40}}+){{1,12}}+)(?!\w))
    """,
    re.VERBOSE,
)
_SENTENCE_END = ".,;:!?"
_PLAIN_WORDS = """
and/or either/or yes/no true/false on/off he/she his/her input/output read/write i/o n/a w/o tcp/ip
client/server e.g i.e a.m p.m u.s
"""
_NOT_NAMES = frozenset(_PLAIN_WORDS.split())


def identifiers(text: str) -> tuple[Identifier, ...]:
    """The identifiers of a text in order, without overlaps; inline code counts as one each.

    Numbers without a unit are quantities too. Sentence punctuation after a path or URL is not part
    of it.
    """
    found = []
    for match in _IDENTIFIER.finditer(text):
        kind = str(match.lastgroup)
        start, end = match.span(kind)
        named = match[kind]
        if kind in ("url", "path"):
            end -= len(named) - len(named.rstrip(_SENTENCE_END))
            named = text[start:end]
        if kind in ("path", "name") and (not named.strip("/.~") or named.lower() in _NOT_NAMES):
            continue
        found.append(Identifier(named, start, end, IdentifierKind(kind)))
    return tuple(found)


_LONG_ID = re.compile(r"[0-9a-z]{8}-[0-9a-z-]{27}|[0-9a-f]{32,}", re.IGNORECASE)


def short_id(name: str) -> str:
    """The first 8 characters of a UUID or hash; other names unchanged."""
    return name[:8] if _LONG_ID.fullmatch(name) else name
