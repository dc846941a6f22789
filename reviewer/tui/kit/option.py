"""A line that a person can choose."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    """A line to choose; the caller identifies it by `key`."""

    key: str
    name: str
    detail: str = ""
