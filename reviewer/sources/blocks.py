"""Opening a file for everything that was said and done in it, not for the words alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from reviewer.sources.block import Block, BlockScan, Said
from reviewer.sources.blocks_chat import ChatBlocks
from reviewer.sources.blocks_claude import ClaudeBlocks
from reviewer.sources.chat import ChatScan
from reviewer.sources.claude_code import ClaudeCodeScan
from reviewer.sources.open import open_source
from reviewer.sources.records import Scan

__all__ = ["Block", "BlockScan", "RecordBlocks", "Said", "open_blocks"]


class RecordBlocks:
    """The records of a note or a conversation kept as text, one block each."""

    def __init__(self, scan: Scan) -> None:
        self.path, self.format = scan.path, scan.format
        self.tally: Counter[str] = scan.tally
        self.errors: list[str] = scan.errors
        self._scan = scan

    def __iter__(self) -> Iterator[Block]:
        for record in self._scan:
            yield Block(
                role=record.role,
                said="text",
                text=record.text,
                line_start=record.line_start,
                line_end=record.line_end,
                at=record.at,
                use=record.use,
                sidechain=record.sidechain,
            )


def open_blocks(path: Path, *, line_start: int = 0, line_end: int | None = None) -> BlockScan:
    """The blocks of a file: thoughts, calls of tools and their results beside what was said.

    `line_start` and `line_end` are 0-based half-open lines. Raises SourceError, here or while
    iterating, as `open_source` does.
    """
    scan = open_source(path, line_start=line_start, line_end=line_end)
    if isinstance(scan, ClaudeCodeScan):
        return ClaudeBlocks(scan)
    if isinstance(scan, ChatScan):
        return ChatBlocks(scan)
    return RecordBlocks(scan)
