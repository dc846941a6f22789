"""An option to choose from."""

from __future__ import annotations

from msgspec import Struct


class Option(Struct, frozen=True):
    """An option; `key` identifies it to the caller. `off`: it cannot be used now;
    `by_start`: typing finds it only by how its name begins.
    """

    key: str
    name: str
    detail: str = ""
    off: bool = False
    by_start: bool = False
