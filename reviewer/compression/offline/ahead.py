"""What is left to do by the calls themselves: places like those that were edited, and the call in
which the session was cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reviewer.compression.anchor_types import Section
from reviewer.compression.offline.call_told import call_told
from reviewer.compression.offline.events import COMMENT, Message, Moment, Voice
from reviewer.compression.offline.history import Places
from reviewer.compression.offline.line import Line, terms_of
from reviewer.compression.offline.state import File, WorkState
from reviewer.compression.offline.steps import roots_of, upper, waiting_of
from reviewer.compression.offline.tail import Tail
from reviewer.proposing.view_calls import cut, read_call

LEAST_ALIKE = 3
"""Places with the same new line from which on they are one repeated change."""
MOST_PLACES = 8
MOST_LINES = 2
LEAST_CHARS = 16
"""Letters and digits of a line by which it tells places apart."""
LINE_CHARS = 100
_WAITS = "When it was cut: "
_ORDER = -2.5
"""After what is in hand, before open items."""


def left_lines(
    moments: Sequence[Moment],
    state: WorkState,
    places: Places,
    tail: Tail,
    known: Sequence[Line],
    folder: str,
) -> list[Line]:
    """Lines for what comes next, besides those that are `known`."""
    texts = [*_repeated(moments, state), *_still_there(state, places)]
    waits = waiting_of(moments, tail, folder).removeprefix(_WAITS).rstrip(".")
    if not texts and not any(line.section is Section.NEXT for line in known):
        if "(no result yet)" in waits:
            texts.append(f"Go on from this call, which was cut: {waits}")
        elif waits and "no end was seen" in waits:
            texts.append(f"{upper(waits)}: look how it ended")
        elif not waits and (last := _last_call(tail, folder)):
            texts.append(f"The work was in the middle; its last call, with its result: {last}")
    lines = [Line(Section.NEXT, text, _ORDER, 2.5, "state") for text in texts]
    for line in lines:
        line.terms = terms_of(line.text)
    return lines


def _last_call(tail: Tail, folder: str) -> str:
    """The call with whose result the session ends, in words; empty for one that ends otherwise."""
    calls = [each for each in tail if each.turn.kind in ("tool_use", "tool_result")]
    final = max((each.number for each in tail), default=-1)
    if not calls or calls[-1].number != final or calls[-1].turn.kind != "tool_result":
        return ""
    used = next((each for each in reversed(calls) if each.turn.kind == "tool_use"), None)
    if used is None:
        return ""
    told = call_told(used.number, read_call(used.turn.name, used.turn.text), roots_of(tail, folder))
    return told.text(whole=False) if told is not None else ""


def _telling(line: str) -> bool:
    return sum(map(str.isalnum, line)) >= LEAST_CHARS and not COMMENT.match(line)


def _repeated(moments: Sequence[Moment], state: WorkState) -> Iterator[str]:
    """Where the same lines were put in, in the file that the agent's last words name."""
    last = moments[-1] if moments else None
    if not isinstance(last, Message) or last.voice is not Voice.AGENT:
        return
    for file in state.uncommitted:
        if file.path.rpartition("/")[2] not in last.text:
            continue
        found: dict[str, dict[str, None]] = {}
        for piece in file.new.pieces:
            for line in map(str.strip, piece.text.split("\n")):
                if line in file.new.at and piece.within and _telling(line):
                    found.setdefault(line, {})[piece.within] = None
        alike = [(line, list(within)) for line, within in found.items()]
        alike = [each for each in alike if len(each[1]) >= LEAST_ALIKE]
        if not alike:
            continue
        line, within = max(alike, key=lambda each: len(each[1]))
        more = f" and {len(within) - MOST_PLACES} more" if len(within) > MOST_PLACES else ""
        yield (
            f"The edits put `{cut(line, LINE_CHARS).text}` into {len(within)} places of "
            f"{file.path}: {', '.join(f'`{name}`' for name in within[:MOST_PLACES])}{more}"
        )


def _still_there(state: WorkState, places: Places) -> Iterator[str]:
    """Lines that the edits took out of one place and that files still have at another."""
    said, moved = 0, state.moved
    edited = {file.path.rpartition("/")[2]: file.path for file in state.uncommitted}
    for file in reversed(state.uncommitted):
        for line in _taken_out(file):
            found = [
                f"{path}:{number}"
                for path, text in places.files.items()
                if edited.get(path.rpartition("/")[2], path) == path  # else it may have been moved
                and not any(path == old or path.startswith(f"{old.rstrip('/')}/") for old in moved)
                for number in _numbers(text, line, places.first_lines.get(path, 1))
            ]
            if 0 < len(found) <= MOST_PLACES:
                shown = cut(line, LINE_CHARS).text
                yield f"`{shown}` was replaced and is still at {', '.join(found)}"
                said += 1
            if said == MOST_LINES:
                return


def _taken_out(file: File) -> Iterator[str]:
    """Lines of code that an edit replaced, no test of an error and no bare end."""
    for line in file.new.removed:
        if _telling(line) and re.search(r"[\w\])]\(|=", line) and not _COMMON.match(line):
            yield line


_COMMON = re.compile(r"(?:if err\b|return\b|import\b|from\b|use\b|\}|defer\b|def test|func Test)")


def _numbers(text: str, line: str, first: int) -> Iterator[int]:
    for at, each in enumerate(text.split("\n")):
        if each.strip() == line:
            yield first + at
