"""How likely each name is needed again.

A name is needed the more, the more often it was met and the shorter ago: each meeting counts
with a power of its age, as memories are found to be needed (Anderson & Schooler 1991, "Reflections
of the Environment in Memory"). What was said counts more than what tools printed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from reviewer.compression.anchor_rules import WRITING_TOOLS
from reviewer.compression.extractive.names import names_in
from reviewer.compression.values import Turn

FADING = 0.35
SAID, CALLED, WRITTEN, PRINTED = 16.0, 1.0, 2.0, 0.5
HOME = 0.3
"""What a meeting counts: in words, in a call, in a call that writes, in a result."""


class Needs:
    """The names of a conversation.

    `need` by name (the greatest is 1), which names were `said`, the folder that each file is
    mostly met in (`folders`), and the arguments that each tool was called with (`tools`, those
    called most first).
    """

    def __init__(self, turns: Sequence[Turn]) -> None:
        raw: Counter[str] = Counter()
        homes: dict[str, Counter[str]] = {}
        calls: Counter[str] = Counter()
        arguments: dict[str, dict[str, None]] = {}
        self.said: set[str] = set()
        for number, turn in enumerate(turns):
            weight = _weight(turn)
            if not weight:
                continue
            named = dict.fromkeys(names_of(turn))  # sums of floats depend on their order
            weight *= (len(turns) - number) ** -FADING
            for name in named:
                folder, _, tail = name.rpartition("/")
                if not folder or tail not in named:
                    raw[name] += weight
                    continue
                homes.setdefault(tail, Counter())[folder] += 1
                raw[folder] += weight * HOME
                if turn.said == "text":
                    raw[name] += weight
            if turn.said == "text":
                self.said.update(named)
            elif turn.said == "tool_use" and turn.name:
                calls[turn.name] += 1
                known = arguments.setdefault(turn.name, {})
                known.update(dict.fromkeys(arguments_of(turn.text)))
        most = max(raw.values(), default=1.0)
        self.need = {name: value / most for name, value in raw.items()}
        self.folders = {tail: found.most_common(1)[0][0] for tail, found in homes.items()}
        self.holds = frozenset(self.folders.values())
        self.tools = {name: tuple(arguments[name]) for name, _ in calls.most_common()}


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


def arguments_of(text: str) -> tuple[str, ...]:
    """The names of a call's arguments; none for a command."""
    if not text.lstrip().startswith("{"):
        return ()
    try:
        value = msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return ()
    return tuple(name for name in value if name.isidentifier())


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
