"""Values that a test knows to be there, although their types allow that they are not."""

from __future__ import annotations

from typing import TypeVar

Value = TypeVar("Value")


def present(value: Value | None) -> Value:
    """The value itself. Raises AssertionError when there is none."""
    assert value is not None
    return value
