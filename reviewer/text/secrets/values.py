"""Secrets in values with many texts."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, TypeVar

import msgspec

from reviewer.text.secrets import mask, with_secrets

Value = TypeVar("Value")


def without_secrets(value: Value, type_: type[Value]) -> Value:
    """A value with secrets masked in all its texts, and in the keys of its mappings."""
    plain = msgspec.to_builtins(value)
    secret = with_secrets(_texts(plain))
    return msgspec.convert(_masked(plain, secret), type_) if secret else value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for pair in value.items() for each in pair for text in _texts(each))
    elif isinstance(value, list | tuple):
        yield from (text for each in value for text in _texts(each))


def _masked(value: Any, secret: Collection[str]) -> Any:
    if isinstance(value, str):
        return mask(value).text if value in secret else value
    if isinstance(value, dict):
        return {_masked(key, secret): _masked(each, secret) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_masked(each, secret) for each in value]
    return value
