"""The tree of a Claude Code session, and the turns on branches that the user abandoned."""

from __future__ import annotations

from array import array
from enum import IntEnum

from msgspec import Struct


class Node(IntEnum):
    """Kinds of records that matter for finding branches."""

    OTHER = 0  # between turns: progress, system, attachments
    ASSISTANT = 1
    TOOL_RESULT = 2
    WRAPPER = 3
    PROMPT = 4  # typed by the user
    APART = 5  # sidechains


class _Below(Struct):
    """The nearest turn below a record of the live path."""

    node: int
    index: int
    prompt_follows: bool


class SessionTree:
    """The records of one file in order, a few bytes each.

    The parent of most records is the record before them; only the others store a link.
    """

    def __init__(self) -> None:
        self._ids = array("q")
        self._nodes = bytearray()
        self._links: dict[int, int] = {}
        self._summaries: dict[str, str] = {}
        """Of each compaction so far: the last record that it kept -> its summary."""

    def compacted(self, tail_id: str, summary_id: str) -> None:
        """From here on, what names `tail_id` as its parent follows the summary instead: otherwise
        what was said between the two would look abandoned.
        """
        self._summaries[tail_id] = summary_id

    def add(self, record_id: str, parent_id: str | None, node: Node) -> int:
        """Append a record and return its index."""
        index = len(self._ids)
        if parent_id is not None:
            parent_id = self._summaries.get(parent_id, parent_id)
        parent = hash(parent_id) if parent_id is not None else None
        if parent is None:
            self._links[index] = 0
        elif not index or self._ids[-1] != parent:
            self._links[index] = parent
        self._ids.append(hash(record_id))
        self._nodes.append(node)
        return index

    def rewound(self) -> bytearray:
        """For every index, 1 if the user abandoned its branch, else 0.

        A branch is abandoned when it begins with a typed prompt, and the path to the last turn
        continues from the same place with a later prompt. Parallel tool calls and sub-agents also
        make branches, but those are never abandoned.
        """
        left = bytearray(len(self._ids))
        parents = self._resolve()
        live_path, below = self._live_path(parents)
        fork: dict[int, int] = {}  # records between a fork and the first turn of its side branch
        for index in range(len(self._ids)):
            parent = self._parent(index, parents)
            if live_path[index] or parent < 0:
                continue
            if left[parent]:
                left[index] = 1
                continue
            at = parent if live_path[parent] else fork.get(parent, -1)
            if at < 0:
                continue
            node = self._nodes[index]
            if node in (Node.OTHER, Node.WRAPPER):
                fork[index] = at
            elif node == Node.PROMPT:
                live = below[at]
                left[index] = (
                    live.prompt_follows
                    and live.node in (Node.WRAPPER, Node.PROMPT)
                    and live.index > index
                )
        return left

    def _resolve(self) -> dict[int, int]:
        """Index of a record -> index of its parent (-1: none), unless that is the record before."""
        wanted = set(self._links.values())
        found: dict[int, int] = {}
        parents: dict[int, int] = {}
        for index, record_id in enumerate(self._ids):
            if index in self._links:
                parents[index] = found.get(self._links[index], -1) if self._links[index] else -1
            if record_id in wanted:
                found[record_id] = index
        return parents

    def _parent(self, index: int, parents: dict[int, int]) -> int:
        return parents.get(index, index - 1)

    def _live_path(self, parents: dict[int, int]) -> tuple[bytearray, dict[int, _Below]]:
        """The records from the last turn up to its root, and what follows each fork on it."""
        forks = set(parents.values())
        index = len(self._nodes) - 1
        while index >= 0 and self._nodes[index] in (Node.OTHER, Node.APART):
            index -= 1
        path = bytearray(len(self._nodes))
        below: dict[int, _Below] = {}
        following = _Below(Node.OTHER, -1, False)
        while index >= 0:
            path[index] = 1
            if index in forks:
                below[index] = following
            node = self._nodes[index]
            if node not in (Node.OTHER, Node.APART):
                prompt = node == Node.PROMPT or following.prompt_follows
                following = _Below(node, index, prompt)
            index = self._parent(index, parents)
        return path, below
