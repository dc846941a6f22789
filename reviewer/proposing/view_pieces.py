"""A view as text, cut into pieces for a given context size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct, structs

from reviewer.proposing.values import LineRole, SessionView, ViewLine
from reviewer.sources.events import Speaker
from reviewer.text.tokens import counter

SMALLEST = 100
"""In fewer tokens, a message and its context do not fit."""
_BEFORE_SHARE = 8
"""Each context line before a piece gets one part in this many of its tokens."""


class Piece(Struct, frozen=True):
    """A part of a view: its lines, plus context from the lines before."""

    lines: tuple[ViewLine, ...]
    before: tuple[ViewLine, ...] = ()


def view_text(lines: Iterable[ViewLine]) -> str:
    """The lines as text: `[12] USER: ...`."""
    return "\n".join(f"[{line.line}] {label(line)}: {line.text}" for line in lines)


def label(line: ViewLine) -> str:
    """The label of a line, in capitals: its role, and the speaker if unusual."""
    if line.role is LineRole.USER and line.speaker is Speaker.AGENT:
        return "AGENT TO AGENT"
    if line.speaker is Speaker.SUBAGENT:
        return "SUBAGENT" if line.role is LineRole.ASSISTANT else f"SUBAGENT {line.role.upper()}"
    return line.role.upper()


def pieces(view: SessionView, *, max_tokens: int, read_to: int = 0) -> list[Piece]:
    """Cut the view into pieces of at most `max_tokens` tokens each, including `before`. `read_to`:
    the offset in the file up to which nothing is needed.

    Cuts before a message of the person if possible; a message longer than half a piece is split.
    Raises ValueError for fewer than 100 tokens.
    """
    if max_tokens < SMALLEST:
        raise ValueError(f"a piece needs at least {SMALLEST} tokens")
    lines = [part for line in view.lines for part in _split(line, max_tokens // 2)]
    unread = (at for at, line in enumerate(lines) if not read_to or end_of(line) > read_to)
    found, start = [], next(unread, len(lines))
    while start < len(lines):
        before = tuple(_before(lines[:start], max_tokens // _BEFORE_SHARE))
        end = _cut(lines, start, max_tokens - _tokens(before))
        found.append(Piece(tuple(lines[start:end]), before))
        start = end
    return found


def end_of(line: ViewLine) -> int:
    """The offset in the file where the record of a line ends; 0 without one."""
    return line.span[1] if line.span else 0


def _tokens(lines: Iterable[ViewLine]) -> int:
    """Tokens of lines, counted line by line, which never underestimates."""
    return sum(counter().count(f"{view_text([line])}\n") + 1 for line in lines)


def _cut(lines: Sequence[ViewLine], start: int, most: int) -> int:
    """Where a piece that starts at `start` ends."""
    end = start
    while end < len(lines) and (most := most - _tokens(lines[end : end + 1])) >= 0:
        end += 1
    if end == len(lines):
        return end
    turns = (at for at in range(end, start + (end - start) // 2, -1) if _is_turn(lines[at]))
    return max(next(turns, end), start + 1)


def _before(earlier: Sequence[ViewLine], most: int) -> Iterator[ViewLine]:
    """The first request, the last to-do list and the last exchange before a cut."""
    wanted = {next((at for at, line in enumerate(earlier) if _is_turn(line)), -1)}
    for chosen in (_is_list, _is_turn, _is_answer):
        wanted.add(next((at for at in range(len(earlier) - 1, -1, -1) if chosen(earlier[at])), -1))
    for at in sorted(wanted - {-1}):
        first, *rest = _split(earlier[at], most - 2)
        yield structs.replace(first, text=f"{first.text} …") if rest else first


def _split(line: ViewLine, most: int) -> Iterator[ViewLine]:
    """A line in parts of at most this many tokens, cut between lines or words if possible."""
    text = line.text
    if len(text) < 2 or _tokens([line]) <= most:
        yield line
        return
    middle = len(text) // 2
    breaks = (text.rfind(mark, middle // 2, middle) + 1 for mark in ("\n", " "))
    at = next(filter(None, breaks), middle)
    yield from _split(structs.replace(line, text=text[:at].rstrip("\n")), most)
    yield from _split(structs.replace(line, text=text[at:].lstrip("\n")), most)


def _is_turn(line: ViewLine) -> bool:
    return line.role is LineRole.USER and line.speaker is Speaker.PERSON


def _is_answer(line: ViewLine) -> bool:
    return line.role is LineRole.ASSISTANT and line.speaker is Speaker.AGENT


def _is_list(line: ViewLine) -> bool:
    return line.role is LineRole.EVENT and line.text.startswith("to-do list:")
