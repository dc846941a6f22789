"""Splitting prose about software into sentences; most of its dots are not full stops."""

from __future__ import annotations

import re
from collections.abc import Iterator

_ABBREVIATION_LIST = """
e.g i.e etc vs cf al approx no nr fig sec ch dr mr mrs ms prof st inc ltd co corp dept est resp
incl excl min max avg ca aka jan feb mar apr jun jul aug sep sept oct nov dec u.s u.k a.m p.m
ver vol ed eds pp eq ref refs
"""
_ABBREVIATIONS = frozenset(_ABBREVIATION_LIST.split())
# A sentence end: closing punctuation, closing quotes or emphasis, then white space. A line ending
# in a colon also ends a sentence, as does a line break before a capital after a short line.
# Starting with a character set makes the search several times faster.
_END = re.compile(
    r"[.!?…:\n](?:(?<=[.!?…])(?<![.!?…][.!?…])[.!?…]*+[\"')\]*_”’]{0,4}\s+"
    r"|(?<=:)\*{0,2}(?=[ \t]*\n)\s+|(?<=\n)[ \t]*)"
)
_INLINE_CODE = re.compile(r"`[^`\n]*`")
_WORD_BEFORE = re.compile(r"[\w.]+$")
_SHORT_LINE = 60
"""Characters; hand-wrapped lines of prose are longer than this."""


def split_sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The spans of the sentences in `text[start:end]`, without surrounding white space.

    Dots inside inline code, names, versions, URLs and abbreviations do not end a sentence.
    """
    piece = text[start:end]
    masked = _INLINE_CODE.sub(_mask, piece) if "`" in piece else piece
    first = line_start = 0
    for match in _END.finditer(masked):
        at, after = match.span()
        if after >= len(masked):
            break
        if masked[at] == "\n":
            broken = _line_breaks(masked, line_start, at, after)
            line_start = after
            if not broken:
                continue
        else:
            newline = masked.rfind("\n", at, after)
            if newline >= 0:
                line_start = newline + 1
            elif not _ends(masked, first, at, after):
                continue
        if at > first or masked[at] != "\n":
            stop = first + len(masked[first:after].rstrip())
            if stop > first:
                yield start + first, start + stop
        first = after
    stop = first + len(masked[first:].rstrip())
    if stop > first:
        yield start + first, start + stop


def _mask(match: re.Match[str]) -> str:
    return "`" + "x" * (match.end() - match.start() - 2) + "`"


def _ends(masked: str, first: int, at: int, after: int) -> bool:
    """Whether the punctuation at `at` ends the sentence that starts at `first`."""
    if masked[at] in "!?…":
        return True
    following = masked[after]
    word = _WORD_BEFORE.search(masked, max(first, at - 24), at)
    before = word.group().lower() if word else ""
    if before in _ABBREVIATIONS:
        # "etc." may end a sentence; other abbreviations are followed by their word
        return before == "etc" and following.isupper()
    if following.islower():
        return len(before) >= 3 and "." not in before
    return not (before.isdigit() and at - first <= len(before) + 2)


def _line_breaks(masked: str, line_start: int, at: int, after: int) -> bool:
    """Whether a line break without punctuation separates two statements instead of wrapping one."""
    if masked[after : after + 1].islower():
        return False
    return at - line_start < _SHORT_LINE


def whole_sentences(text: str, limit: int) -> str:
    """As many whole sentences as fit into `limit` characters; empty if the first one does not."""
    if len(text) <= limit:
        return text
    end = 0
    for _, stop in split_sentences(text, 0, len(text)):
        if stop > limit:
            break
        end = stop
    return text[:end]
