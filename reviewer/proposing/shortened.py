"""Texts with masked secrets, cut to one line or without pasted logs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

from msgspec import Struct

from reviewer.text.secrets import mask

MASKED_CHARS = 4_000
"""Characters searched for secrets before a text is cut further."""
ERROR_CHARS = 900
ERROR_HEAD, ERROR_TAIL = 4, 6
"""First and last lines of an error to show."""
LONGEST_PASTE = 24
"""Maximum lines of pasted text to show in full, if within `PASTE_CHARS`."""
PASTE_CHARS = 1_500
HEAD_LINES, TAIL_LINES = 3, 2
LINE_CHARS = 240
"""Maximum characters per line of a shortened paste or an error."""
LONGEST_LINE = 1_500
LONGEST_FENCE = 80
"""Maximum lines of a code block in an agent's message to show in full."""


class ShownText(Struct, frozen=True):
    """A possibly shortened text, and the number of characters left out."""

    text: str
    left_out: int = 0


def cut(text: str, limit: int) -> ShownText:
    """A masked text on one line, cut to about `limit` characters."""
    clean = " ".join(mask(text[:MASKED_CHARS]).text.split())
    rest = max(0, len(text) - MASKED_CHARS)
    if len(clean) <= limit and not rest:
        return ShownText(clean)
    kept = clean[: limit - 2].rstrip()
    return ShownText(f"{kept} …", len(clean) - len(kept) + rest)


def ends(text: str) -> ShownText:
    """The first and last lines of an error, on one line."""
    lines = [line for line in text.strip().split("\n") if line.strip()]
    if len(lines) > ERROR_HEAD + ERROR_TAIL:
        lines = [*lines[:ERROR_HEAD], "…", *lines[-ERROR_TAIL:]]
    shown = cut(" | ".join(cut(line, LINE_CHARS).text for line in lines), ERROR_CHARS)
    return ShownText(shown.text, max(0, len(" ".join(text.split())) - len(shown.text)))


def shortened(text: str, *, pasted: bool = False, fence: int = LONGEST_FENCE) -> ShownText:
    """A masked message; a line marks each long pasted part left out.

    `pasted`: the message is the person's, so non-prose was pasted. `fence`: the maximum lines of a
    code block shown in full in another's message.
    """
    masked = mask(text).text
    lines = masked.split("\n")
    if len(lines) <= LONGEST_PASTE and len(masked) <= LONGEST_LINE:
        return ShownText(masked)
    kept: list[str] = []
    left_out = 0
    for run, what in _runs(lines, pasted):
        size = sum(map(len, run))
        long = len(run) > LONGEST_PASTE or size > PASTE_CHARS
        if what and (long if pasted else len(run) > fence):
            run = _shortened_run(run, what)
            left_out += size - sum(map(len, run))
        for line in run:
            short = line
            if len(line) > LONGEST_LINE and not _is_words(line):
                short = _beginning(line, LONGEST_LINE // 2)
                left_out += len(line) - len(short)
            kept.append(short)
    return ShownText("\n".join(kept), max(0, left_out))


def _shortened_run(run: list[str], what: str) -> list[str]:
    middle = len(run) - HEAD_LINES - TAIL_LINES
    if middle > 0:
        gap = f"... {middle:,} lines of {what} left out ..."
        run = [*run[:HEAD_LINES], gap, *run[-TAIL_LINES:]]
    return [_beginning(line, LINE_CHARS) for line in run]


def _beginning(line: str, limit: int) -> str:
    if len(line) <= limit + 40:
        return line
    return f"{line[:limit]} ... {len(line) - limit:,} characters left out ..."


def _runs(lines: list[str], pasted: bool) -> Iterator[tuple[list[str], str]]:
    """The lines in runs of one kind, with the kind; empty for prose."""
    kinds = _kinds(lines, pasted)
    for kind, run in groupby(zip(lines, kinds, strict=True), itemgetter(1)):
        yield [line for line, _ in run], kind


def _kinds(lines: list[str], pasted: bool) -> list[str]:
    """The kind of each line: code block, paste, or prose (empty)."""
    kinds: list[str] = []
    inside = ""
    for line in lines:
        if line.lstrip().startswith(("```", "~~~")):
            kinds.append(inside)
            inside = "" if inside else "a code block"
        elif inside or not pasted or _is_words(line):
            kinds.append(inside)
        else:
            kinds.append("a paste")
    return kinds


def _is_words(line: str) -> bool:
    """Whether a line reads as typed: mostly plain words."""
    words = line.split()
    plain = sum(word.strip(".,;:!?()\"'*`-").isalpha() for word in words)
    return len(words) >= 2 and plain >= 0.7 * len(words)
