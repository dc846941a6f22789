"""A pipeline with its secrets masked, safe to show."""

from __future__ import annotations

from typing import Any

import msgspec

from reviewer.pipelines.values import Pipeline

_SHORTEST_MASKED = 9
"""Characters. Shorter texts cannot contain a secret."""


def without_secrets(pipeline: Pipeline) -> Pipeline:
    """The pipeline with secrets masked in all texts and names."""
    return msgspec.convert(_masked(msgspec.to_builtins(pipeline)), Pipeline)


def _masked(value: Any) -> Any:
    if isinstance(value, dict):
        return {_masked(key): _masked(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_masked(each) for each in value]
    if not isinstance(value, str) or len(value) < _SHORTEST_MASKED:
        return value
    from reviewer.text.secrets import mask  # late: most pipelines have no long texts

    return mask(value).text
