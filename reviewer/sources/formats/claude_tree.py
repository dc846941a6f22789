"""The tree of a Claude Code session so far, and its abandoned branches."""

from __future__ import annotations

from enum import IntEnum


class Node(IntEnum):
    """Kinds of records relevant for finding branches."""

    OTHER = 0  # between turns: progress, system, attachments
    ASSISTANT = 1
    TOOL_RESULT = 2
    WRAPPER = 3
    PROMPT = 4  # typed by the user
    APART = 5  # sidechains


_TURNS = frozenset((Node.ASSISTANT, Node.TOOL_RESULT, Node.PROMPT))
_TYPED = frozenset((Node.WRAPPER, Node.PROMPT))


class SessionTree:
    """The records of one file. A second prompt below a turn may be a rewind, or just text typed in
    between: only an answer below it tells.

    Records are known by the hashes of their ids. The base of a record is the nearest turn above it,
    or the first record of its chain.
    """

    def __init__(self) -> None:
        self._bases: dict[int, int] = {}
        """For each record, the base of those below it."""
        self._prompts: dict[int, int] = {}
        """The line of the first prompt below each of these bases."""
        self._summaries: dict[str, str] = {}
        """For each compaction so far: the last record that it kept -> its summary."""
        self._base, self._lines = 0, (0, 0)
        """The open question: where the second branch starts, and the lines before it that were
        abandoned if it is answered."""
        self._second: dict[int, bool] = {}
        """The records of the second branch: whether a prompt is above, or is the record itself."""
        self._prompt = (0, 0)
        """The base and line of the first prompt in the second branch."""
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
        if parent_id in self._summaries:
            parent_id = self._summaries[parent_id]
        record, parent = hash(record_id), hash(parent_id)
        if record in self._bases:
            return None  # a resumed session repeats records
        base = self._bases.get(parent)
        self._bases[record] = record if base is None or kind in _TURNS else base
        in_second, typed = parent in self._second, self._second.get(parent, False)
        if kind is not Node.OTHER and kind is not Node.APART:
            if kind in _TYPED and not in_second and base in self._prompts:
                in_second, self._second = True, {}
                self._base, self._lines = base, (self._prompts[base], line)
            if kind is Node.PROMPT and base is not None:
                if in_second and not typed:
                    typed, self._prompt = True, (base, line)
                self._prompts.setdefault(base, line)
            self._is_last = typed
        if in_second:
            self._second[record] = typed
        answered = kind is Node.ASSISTANT or kind is Node.TOOL_RESULT
        return self._abandoned() if typed and answered else None

    def ended(self) -> tuple[int, int] | None:
        """The lines that the last turn of the file proves abandoned."""
        return self._abandoned() if self._is_last else None

    def _abandoned(self) -> tuple[int, int]:
        base, line = self._prompt
        if base == self._base:
            self._prompts[base] = line
        else:
            self._prompts.pop(self._base, None)
        self._second, self._is_last = {}, False
        return self._lines
