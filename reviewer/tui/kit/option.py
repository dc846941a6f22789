"""A line that a person can choose."""

from __future__ import annotations

from msgspec import Struct


class Option(Struct, frozen=True):
    """A line to choose; the caller identifies it by `key`."""

    key: str
    name: str
    detail: str = ""
