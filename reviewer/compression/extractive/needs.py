"""How likely each name is needed again.

A name is needed the more, the more often it was met and the shorter ago: each meeting counts
with its age to the power of -0.5, as memories are found to be needed (Anderson & Schooler 1991,
"Reflections of the Environment in Memory"). What was said counts more than what tools printed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from reviewer.compression.anchor_rules import WRITING_TOOLS
from reviewer.compression.extractive.names import names_in
from reviewer.compression.values import Turn

FADING = 0.5
SAID, CALLED, WRITTEN, PRINTED = 16.0, 1.0, 2.0, 0.5
"""What a meeting counts: in words, in a call, in a call that writes, in a result."""


class Needs:
    """The names of a conversation: `need` by name (the greatest is 1), and which were `said`."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        raw: Counter[str] = Counter()
        self.said: set[str] = set()
        self.folders: dict[str, str] = {}
        """The folder that a file's name was last met in."""
        for number, turn in enumerate(turns):
            weight = _weight(turn)
            if not weight:
                continue
            named = set(names_of(turn))
            age = (len(turns) - number) ** -FADING
            for name in named:
                raw[name] += weight * age
                folder, _, tail = name.rpartition("/")
                if folder and tail in named:
                    self.folders[tail] = folder
            if turn.said == "text":
                self.said |= named
        most = max(raw.values(), default=1.0)
        self.holds = frozenset(self.folders.values())
        """The folders that hold a file."""
        self.need = {name: value / most for name, value in raw.items()}


def names_of(turn: Turn) -> list[str]:
    """The names in a turn; of a call's JSON those in its values."""
    if turn.said == "tool_use":
        return names_in("\n".join(values_of(turn.text)), said=False)
    return names_in(turn.text, said=turn.said == "text")


def values_of(text: str) -> Iterator[str]:
    """The strings in the values of a JSON text; the text itself when it is no JSON."""
    if not text.lstrip().startswith(("{", "[")):
        yield text
        return
    try:
        value = msgspec.json.decode(text)
    except (ValueError, RecursionError):
        yield text
        return
    yield from _strings(value)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _weight(turn: Turn) -> float:
    if turn.said == "text":
        return SAID
    if turn.said == "tool_use":
        return WRITTEN if WRITING_TOOLS.search(turn.name) else CALLED
    return PRINTED if turn.said == "tool_result" else 0.0
