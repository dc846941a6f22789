"""Kept until the State screen goes through `Host.open_memory`."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message


@dataclass
class OpenMemory(Message):
    """The person wants to see this memory in the queue."""

    memory: int
