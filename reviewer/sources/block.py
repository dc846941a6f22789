"""What is inside the turns of a conversation: words, thoughts, calls of tools and their results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, Protocol

from msgspec import Struct

from reviewer.sources.records import Role, Use

Said = Literal["text", "thinking", "tool_use", "tool_result"]


class Block(Struct, frozen=True):
    """One block of one message, in the order of the file; lines are 0-based and half-open.

    `text` of a `tool_use` is a command as it was typed, or else the call's input as compact JSON.
    Pictures and other data are named (`[image]`), never embedded.
    """

    role: Role
    said: Said
    text: str
    line_start: int
    line_end: int
    name: str = ""
    """The speaker of a text where the format names one; the tool of a call and of its result."""
    at: str | None = None
    use: Use = Use.SAID
    sidechain: bool = False
    call: str = ""
    """What joins a call and its result; empty where the format has nothing of the kind."""


class BlockScan(Protocol):
    """One file being read. Iterate to get its blocks; `tally` and `errors` fill meanwhile."""

    path: Path
    format: str
    tally: Counter[str]
    """Reason -> lines (or messages) passed over."""
    errors: list[str]

    def __iter__(self) -> Iterator[Block]: ...
