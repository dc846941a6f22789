"""What the attributes of a pipeline mean: their names and the values that we know.

`dot.py` reads and unquotes the values.
"""

from __future__ import annotations

from collections.abc import Mapping

from reviewer.pipelines.values import (
    Handler,
)

FIDELITY_OF_GRAPH = ("default_fidelity", "context_fidelity_default")
THREAD_OF_GRAPH = ("default_thread_id", "default_thread", "thread_id", "context_thread_default")
RETRIES_OF_GRAPH = ("default_max_retries", "default_max_retry")
PROMPT = ("prompt", "llm_prompt")
MODEL = ("llm_model", "model")
DEFAULT_CHOICE = ("human.default_choice", "default_choice")
COMMAND = ("tool_command", "command", "script")
HANDLER = ("type", "handler", "node_type")

_BY_SHAPE = {
    "mdiamond": Handler.START,
    "msquare": Handler.EXIT,
    "box": Handler.CODERGEN,
    "tab": Handler.CODERGEN,
    "diamond": Handler.CONDITIONAL,
    "hexagon": Handler.HUMAN,
    "parallelogram": Handler.TOOL,
    "component": Handler.PARALLEL,
    "tripleoctagon": Handler.FAN_IN,
    "house": "stack.manager_loop",
    "folder": "pipeline",
}
_BY_NAME = {
    **{name: name for name in (*Handler, *_BY_SHAPE.values())},
    "end": Handler.EXIT,
    "agent": Handler.CODERGEN,
    "llm": Handler.CODERGEN,
    "human": Handler.HUMAN,
    "wait_human": Handler.HUMAN,
    "wait-human": Handler.HUMAN,
    "command": Handler.TOOL,
    "shell": Handler.TOOL,
    "fan_in": Handler.FAN_IN,
}
_BY_NODE_NAME = {"start": Handler.START, "exit": Handler.EXIT, "end": Handler.EXIT}


def first_of(attributes: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    """The first of the named attributes that is not empty."""
    return next((attributes[name] for name in names if attributes.get(name)), None)


def handler_of(attributes: Mapping[str, str]) -> str:
    """What runs a node: its type if that is a known one, else its shape; a model by default."""
    types = (attributes.get(key, "").strip().lower() for key in HANDLER)
    named = next((_BY_NAME[each] for each in types if each in _BY_NAME), None)
    return named or _BY_SHAPE.get(attributes.get("shape", "").strip().lower(), Handler.CODERGEN)


def unknown_type(attributes: Mapping[str, str]) -> str | None:
    """The `type` or `handler` that we do not know, or None.

    `node_type` does not count: other programs keep their own labels in it.
    """
    named = first_of(attributes, HANDLER[:2])
    return named if named and named.strip().lower() not in _BY_NAME else None


def end_named(name: str, *, prompt: str) -> str | None:
    """Start or exit for a node that has no prompt and is called so, else None."""
    return None if prompt else _BY_NODE_NAME.get(name.lower())


def whole_number(text: str | None) -> int | None:
    """The whole number that a text spells, else None."""
    try:
        return int((text or "").strip())
    except ValueError:
        return None
