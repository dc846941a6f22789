"""A view as text, and cut into pieces for a model with a given context size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct, structs

from reviewer.proposing.values import LineRole, SessionView, ViewLine
from reviewer.sources.events import Speaker
from reviewer.text.tokens import counter

SMALLEST = 100
"""Tokens; in fewer there is no room for a message and what precedes it."""
_BEFORE_SHARE = 8
"""The first request gets this part of a piece, and each other line before it half of that."""


class Piece(Struct, frozen=True):
    """A part of a view: its lines, and what a reader must know of the lines before them."""

    lines: tuple[ViewLine, ...]
    before: tuple[ViewLine, ...] = ()


def view_text(lines: Iterable[ViewLine]) -> str:
    """The lines as text: `[12] USER: ...`."""
    return "\n".join(f"[{line.line}] {label(line)}: {line.text}" for line in lines)


def label(line: ViewLine) -> str:
    """The label of a line, in capitals: its role, and the speaker where it is not the usual one."""
    if line.role is LineRole.USER and line.speaker is Speaker.AGENT:
        return "AGENT TO AGENT"
    if line.speaker is Speaker.SUBAGENT:
        return "SUBAGENT" if line.role is LineRole.ASSISTANT else f"SUBAGENT {line.role.upper()}"
    return line.role.upper()


def pieces(view: SessionView, *, max_tokens: int) -> list[Piece]:
    """The view in pieces that have at most `max_tokens` tokens each, `before` included.

    Cut before a message of the person where possible, else between messages; a message that is
    too long for one piece is split. Raises ValueError for fewer than 100 tokens.
    """
    if max_tokens < SMALLEST:
        raise ValueError(f"a piece needs at least {SMALLEST} tokens")
    return list(_Cutter(view.lines, max_tokens).pieces())


class _Cutter:
    def __init__(self, lines: tuple[ViewLine, ...], max_tokens: int) -> None:
        self._tokens = counter()
        self._max = max_tokens
        self._share = max_tokens // _BEFORE_SHARE
        # Half a piece holds every part of a split message beside the largest `before`.
        self._lines = [part for line in lines for part in self._split(line, max_tokens // 2)]

    def pieces(self) -> Iterator[Piece]:
        start = 0
        while start < len(self._lines):
            before = self._before(start)
            while before and self._count((*before, self._lines[start])) > self._max:
                before = before[1:]
            end = self._cut(start, self._fitting(start, before))
            yield Piece(tuple(self._lines[start:end]), before)
            start = end

    def _count(self, lines: Iterable[ViewLine]) -> int:
        return self._tokens.count(view_text(lines))

    def _fitting(self, start: int, before: tuple[ViewLine, ...]) -> int:
        """The first line that does not fit any more."""
        used = self._count(before) + 1
        end = start
        while end < len(self._lines):
            used += self._count(self._lines[end : end + 1]) + 1
            if used > self._max and end > start:
                break
            end += 1
        while end > start + 1 and self._count((*before, *self._lines[start:end])) > self._max:
            end -= 1
        return end

    def _cut(self, start: int, end: int) -> int:
        """The best place for a cut at or before `end`."""
        if end == len(self._lines):
            return end
        earliest = start + max(1, (end - start) // 2)
        for wanted in (_is_turn, _is_message):
            for at in range(end, earliest - 1, -1):
                if wanted(self._lines[at]) and self._lines[at].line != self._lines[at - 1].line:
                    return at
        return end

    def _before(self, start: int) -> tuple[ViewLine, ...]:
        """The first request, the last exchange and the last to-do list before a cut."""
        told = self._lines[:start]
        if not told:
            return ()
        first = next((line for line in told if _is_turn(line)), None)
        chosen: dict[int, ViewLine] = {}
        if first is not None:
            at = told.index(first)
            chosen[at] = self._shorter(first, self._share)
        for wanted in (_is_turn, _is_answer, _is_list):
            found = next((at for at in range(len(told) - 1, -1, -1) if wanted(told[at])), None)
            if found is not None and found not in chosen:
                chosen[found] = self._shorter(told[found], self._share // 2)
        return tuple(chosen[at] for at in sorted(chosen))

    def _shorter(self, line: ViewLine, tokens: int) -> ViewLine:
        """A line cut to about so many tokens."""
        if self._count([line]) <= tokens:
            return line
        text = line.text
        while len(text) > 8 and self._count([structs.replace(line, text=f"{text} …")]) > tokens:
            text = text[: len(text) * 3 // 4]
        text = text.rstrip()
        left_out = line.left_out + len(line.text) - len(text)
        return structs.replace(line, text=f"{text} …", left_out=left_out)

    def _split(self, line: ViewLine, tokens: int) -> Iterator[ViewLine]:
        """A line in parts that have at most so many tokens."""
        rest, left_out = line.text, line.left_out
        while self._count([structs.replace(line, text=rest)]) > tokens and len(rest) > 1:
            size = min(len(rest) - 1, 6 * tokens)
            while size > 1 and self._count([structs.replace(line, text=rest[:size])]) > tokens:
                size = size * 3 // 4
            size = _boundary(rest, size)
            yield structs.replace(line, text=rest[:size].rstrip("\n"), left_out=left_out)
            rest, left_out = rest[size:].lstrip("\n"), 0
        if rest or not line.text:
            yield structs.replace(line, text=rest, left_out=left_out)


def _boundary(text: str, size: int) -> int:
    """The end of the last paragraph, line, sentence or word before `size`."""
    for mark in ("\n\n", "\n", ". ", " "):
        at = text.rfind(mark, size // 2, size)
        if at > 0:
            return at + len(mark)
    return max(1, size)


def _is_turn(line: ViewLine) -> bool:
    return line.role is LineRole.USER and line.speaker is Speaker.PERSON


def _is_answer(line: ViewLine) -> bool:
    return line.role is LineRole.ASSISTANT and line.speaker is Speaker.AGENT


def _is_list(line: ViewLine) -> bool:
    return line.role is LineRole.EVENT and line.text.startswith("to-do list:")


def _is_message(line: ViewLine) -> bool:
    return line.role in (LineRole.USER, LineRole.ASSISTANT, LineRole.SUMMARY)
