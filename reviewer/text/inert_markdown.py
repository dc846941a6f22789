"""Makes outside Markdown readable but inert: headings, lists and code stay, but no image is loaded,
no HTML is left, and no `@path` makes an agent include a file.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

LIVE_SIGN = r"<(?=[A-Za-z/!?])|!(?=\[)|(?<!\w)@(?=[^\s@])"
"""The start of HTML or an autolink, an image, or a path to include."""

MAX_PASSES = 8
"""Escaping an HTML block exposes its content, which needs another pass."""

_LIVE = re.compile(rf"(?<!\\)(?P<slashes>\\*+)(?P<sign>{LIVE_SIGN})")
_SPECIAL = re.compile(r"\\[!-/:-@\[-`{-~]|`+")
_TICKS = re.compile(r"`+")
_FENCE = re.compile(r"(?:```|~~~)")


def inert(text: str) -> str:
    """The text with a backslash before each live sign outside code, and with fences closed.

    Idempotent.
    """
    if not _LIVE.search(text) and not _FENCE.search(text):
        return text
    for _ in range(MAX_PASSES):
        done = _pass(text)
        if done == text:
            return done
        text = done
    return _escaped(text)


@cache
def _blocks() -> MarkdownIt:
    """A parser for blocks only; creating one takes longer than parsing a text."""
    from markdown_it import MarkdownIt  # late: most texts have nothing live

    made = MarkdownIt("commonmark").disable("inline")
    made.parse("> a\n\n- b")  # fills its rule tables, which is not thread-safe
    return made


def _pass(text: str) -> str:
    lines = text.split("\n")
    end_of_text = len(text.rstrip().split("\n"))
    kinds: dict[int, int] = {}  # line -> number of its inline text
    code: set[int] = set()
    closing = ""
    for number, token in enumerate(_blocks().parse(text)):
        if token.map is None or token.type not in ("fence", "code_block", "inline"):
            continue
        first, last = token.map
        if token.type == "inline":
            kinds.update((line, number) for line in range(first, last))
        else:
            # The line of an opening fence is not code: its info string is shown or dropped.
            code.update(range(first + (token.type == "fence"), last))
            if token.type == "fence" and last >= end_of_text:
                closing = token.markup
    parts: list[str] = []
    at = 0
    while at < len(lines):
        end = at + 1
        if at not in code:
            while end < len(lines) and at in kinds and kinds.get(end) == kinds[at]:
                end += 1
            piece = "\n".join(lines[at:end])
            parts.append(_outside_code(piece) if at in kinds else _escaped(piece))
        else:
            parts.append(lines[at])
        at = end
    if closing and _is_open(text):
        return "\n".join([text.rstrip("\n"), closing])
    return "\n".join(parts)


def _is_open(text: str) -> bool:
    """Whether the last fence stays open at the end of the text."""
    tokens = _blocks().parse(f"{text}\n\n# end")
    return tokens[-1].type != "heading_close"


def _outside_code(text: str) -> str:
    """Escape live signs outside the code spans of a paragraph (CommonMark 0.31, 6.1)."""
    parts: list[str] = []
    at = 0
    for start, end in _code_spans(text):
        parts += [_escaped(text[at:start]), text[start:end]]
        at = end
    return "".join([*parts, _escaped(text[at:])])


def _code_spans(text: str) -> Iterator[tuple[int, int]]:
    runs: dict[int, list[int]] = defaultdict(list)
    for run in _TICKS.finditer(text):
        runs[len(run[0])].append(run.start())
    at = 0
    while found := _SPECIAL.search(text, at):
        at = found.end()
        if found[0].startswith("\\"):
            continue
        ends = runs[len(found[0])]
        next_one = bisect_right(ends, found.start())
        if next_one < len(ends):
            at = ends[next_one] + len(found[0])
            yield found.start(), at


def _escaped(text: str) -> str:
    return _LIVE.sub(_with_backslash, text)


def _with_backslash(match: re.Match[str]) -> str:
    escaped = len(match["slashes"]) % 2
    return match[0] if escaped else f"{match['slashes']}\\{match['sign']}"
