"""The tree of a Claude Code session so far, and its abandoned branches."""

from __future__ import annotations

from array import array
from enum import IntEnum


class Node(IntEnum):
    """Kinds of records relevant for finding branches."""

    OTHER = 0  # between turns: progress, system, attachments
    ASSISTANT = 1
    TOOL_RESULT = 2
    WRAPPER = 3
    PROMPT = 4  # typed by the user
    APART = 5  # sidechains


_TURNS = (Node.ASSISTANT, Node.TOOL_RESULT, Node.PROMPT)


class SessionTree:
    """The records of one file. A second prompt below a turn may be a rewind, or just text typed in
    between: only an answer below it tells.
    """

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        """Number of each record, by the hash of its id."""
        self._is_turn = bytearray()
        self._lines = array("q")
        self._bases = array("i")
        """The nearest turn above each record, or the first record of its chain; -1 for that one."""
        self._branches = array("i")
        """The start of the second branch that each record is in; -1 if it is in none."""
        self._typed = bytearray()
        """Whether a prompt is above each record in its second branch, or is the record itself."""
        self._prompts: dict[int, int] = {}
        """The first prompt below each of these bases."""
        self._summaries: dict[str, str] = {}
        """For each compaction so far: the last record that it kept -> its summary."""
        self._first = self._second = self._prompt = -1
        """The open question: the prompt that started the branch before, the record that starts the
        second branch, and the first prompt in that one."""
        self._is_last = False
        """Whether the last turn is below that prompt."""

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
        index, parent = len(self._lines), self._numbers.get(hash(parent_id), -1)
        if self._numbers.setdefault(hash(record_id), index) != index:
            return None  # a resumed session repeats records
        base = branch = -1
        typed = False
        if parent >= 0:
            above = self._bases[parent]
            base = parent if above < 0 or self._is_turn[parent] else above
            if self._branches[parent] == self._second:
                branch, typed = self._second, bool(self._typed[parent])
        self._is_turn.append(kind in _TURNS)
        self._bases.append(base)
        self._lines.append(line)
        if kind is not Node.OTHER and kind is not Node.APART:
            if branch < 0 and base in self._prompts and kind in (Node.PROMPT, Node.WRAPPER):
                branch, self._first, self._second = index, self._prompts[base], index
            if kind is Node.PROMPT:
                if branch >= 0 and not typed:
                    typed, self._prompt = True, index
                if base >= 0:
                    self._prompts.setdefault(base, index)
            self._is_last = typed
        self._branches.append(branch)
        self._typed.append(typed)
        answered = kind is Node.ASSISTANT or kind is Node.TOOL_RESULT
        return self._abandoned() if typed and answered else None

    def ended(self) -> tuple[int, int] | None:
        """The lines that the last turn of the file proves abandoned."""
        return self._abandoned() if self._is_last else None

    def _abandoned(self) -> tuple[int, int]:
        base, lines = (
            self._bases[self._second],
            (self._lines[self._first], self._lines[self._second]),
        )
        if self._bases[self._prompt] == base:
            self._prompts[base] = self._prompt
        else:
            self._prompts.pop(base, None)
        self._second, self._is_last = -1, False
        return lines
