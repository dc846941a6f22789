"""Names and known values of pipeline attributes.

`dot.py` reads and unquotes the values.
"""

from __future__ import annotations

from collections.abc import Mapping

from reviewer.pipelines.values import Handler

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
    "component": "parallel",
    "tripleoctagon": "parallel.fan_in",
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
    "fan_in": "parallel.fan_in",
}
_BY_NODE_NAME = {"start": Handler.START, "exit": Handler.EXIT, "end": Handler.EXIT}


def first_of(attributes: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    """The first non-empty attribute of `names`."""
    return next((attributes[name] for name in names if attributes.get(name)), None)


def handler_of(attributes: Mapping[str, str]) -> str:
    """The handler of a node: by its type if known, else by its shape; a model by default."""
    types = (attributes.get(key, "").strip().lower() for key in HANDLER)
    named = next((_BY_NAME[each] for each in types if each in _BY_NAME), None)
    return named or _BY_SHAPE.get(attributes.get("shape", "").strip().lower(), Handler.CODERGEN)


def unknown_type(attributes: Mapping[str, str]) -> str | None:
    """The `type` or `handler` if unknown, else None.

    `node_type` is ignored: other programs use it for their own labels.
    """
    named = first_of(attributes, HANDLER[:2])
    return named if named and named.strip().lower() not in _BY_NAME else None


def end_named(name: str, *, prompt: str) -> str | None:
    """Start or exit for a node with that name and no prompt, else None."""
    return None if prompt else _BY_NODE_NAME.get(name.lower())


def whole_number(text: str | None) -> int | None:
    try:
        return int((text or "").strip())
    except ValueError:
        return None
