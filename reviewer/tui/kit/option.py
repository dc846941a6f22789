"""An option to choose from."""

from __future__ import annotations

from msgspec import Struct


class Option(Struct, frozen=True):
    """An option; `key` identifies it to the caller."""

    key: str
    name: str
    detail: str = ""
