"""The tree of a Claude Code session so far, and its abandoned branches."""

from __future__ import annotations

from array import array
from enum import IntEnum

from msgspec import Struct


class Node(IntEnum):
    """Kinds of records relevant for finding branches."""

    OTHER = 0  # between turns: progress, system, attachments
    ASSISTANT = 1
    TOOL_RESULT = 2
    WRAPPER = 3
    PROMPT = 4  # typed by the user
    APART = 5  # sidechains


_TURNS = (Node.ASSISTANT, Node.TOOL_RESULT, Node.PROMPT)
_BELOW, _PROMPTED = 1, 2


class _Fork(Struct):
    """A second branch below a turn: possibly a rewind, or just text typed in between."""

    first: int
    """The prompt that started the branch before."""
    second: int
    """The record that starts the second branch."""
    prompt: int
    """The first prompt in the second branch; -1 while there is none."""
    below: bytearray
    """For each record since `second`: 0, or whether it is below `second`, or also below a prompt
    there."""


class SessionTree:
    """The records of one file."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        """Number of each record, by the hash of its id."""
        self._kinds = bytearray()
        self._bases = array("i")
        """The nearest turn above each record, or the first record of its chain; -1 for that one."""
        self._prompts: dict[int, int] = {}
        """The first prompt below each of these bases."""
        self._lines = array("q")
        self._summaries: dict[str, str] = {}
        """For each compaction so far: the last record that it kept -> its summary."""
        self._fork: _Fork | None = None
        self._last = 0
        """Position of the last turn relative to the fork."""

    def compacted(self, tail_id: str, summary_id: str) -> None:
        """From here on, records with the parent `tail_id` follow the summary instead: otherwise the
        messages between the two would look abandoned.
        """
        self._summaries[tail_id] = summary_id

    def add(
        self, record_id: str, parent_id: str | None, kind: Node, line: int
    ) -> tuple[int, int] | None:
        """Append a record. Returns the lines of a branch that it proves abandoned (half-open).

        A branch is abandoned if it starts with a typed prompt and the agent continues below a later
        prompt at the same place. Parallel tool calls and sub-agents also create branches, but those
        are never abandoned.
        """
        if parent_id is not None:
            parent_id = self._summaries.get(parent_id, parent_id)
        index, parent = len(self._kinds), self._numbers.get(hash(parent_id), -1)
        if self._numbers.setdefault(hash(record_id), index) != index:
            return None  # a resumed session repeats records
        base = -1
        if parent >= 0:
            above = self._bases[parent]
            base = parent if above < 0 or self._kinds[parent] in _TURNS else above
        self._kinds.append(kind)
        self._bases.append(base)
        self._lines.append(line)
        if kind is Node.OTHER or kind is Node.APART:
            if self._fork is not None:
                self._fork.below.append(self._below(parent))
            return None
        return self._turn(index, parent, base, kind)

    def ended(self) -> tuple[int, int] | None:
        """The lines that the last turn of the file proves abandoned."""
        return self._abandoned() if self._last == _PROMPTED else None

    def _turn(self, index: int, parent: int, base: int, kind: Node) -> tuple[int, int] | None:
        below = self._below(parent)
        fork = self._fork
        if below == _BELOW and kind is Node.PROMPT and fork is not None:
            fork.prompt, below = index, _PROMPTED
        if not below and kind in (Node.PROMPT, Node.WRAPPER) and base >= 0:
            first = self._prompts.get(base)
            if first is not None:
                typed = kind is Node.PROMPT
                below = _PROMPTED if typed else _BELOW
                fork = self._fork = _Fork(first, index, index if typed else -1, bytearray())
        if kind is Node.PROMPT and base >= 0:
            self._prompts.setdefault(base, index)
        if fork is not None:
            fork.below.append(below)
        self._last = below
        answered = kind is Node.ASSISTANT or kind is Node.TOOL_RESULT
        return self._abandoned() if below == _PROMPTED and answered else None

    def _below(self, parent: int) -> int:
        fork = self._fork
        if fork is None or parent < fork.second:
            return 0
        return fork.below[parent - fork.second]

    def _abandoned(self) -> tuple[int, int]:
        fork = self._fork
        assert fork is not None
        base = self._bases[fork.second]
        if self._bases[fork.prompt] == base:
            self._prompts[base] = fork.prompt
        else:
            self._prompts.pop(base, None)
        self._fork, self._last = None, 0
        return self._lines[fork.first], self._lines[fork.second]
