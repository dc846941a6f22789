"""What the attributes of a DOT graph mean for a pipeline: aliases, handlers, numbers."""

from __future__ import annotations

from collections.abc import Mapping

FIDELITY_OF_GRAPH = ("default_fidelity", "context_fidelity_default")
THREAD_OF_GRAPH = ("default_thread_id", "default_thread", "thread_id", "context_thread_default")
RETRIES_OF_GRAPH = ("default_max_retries", "default_max_retry")
PROMPT = ("prompt", "llm_prompt")
MODEL = ("llm_model", "model")
HANDLER = ("type", "handler", "node_type")

START, EXIT, CODERGEN, CONDITIONAL = "start", "exit", "codergen", "conditional"
HUMAN, TOOL = "wait.human", "tool"
SUPPORTED = (START, EXIT, CODERGEN, CONDITIONAL, HUMAN, TOOL)
"""Handlers that a run knows (`tool` only where it is allowed)."""

_BY_SHAPE = {
    "mdiamond": START,
    "msquare": EXIT,
    "box": CODERGEN,
    "tab": CODERGEN,
    "diamond": CONDITIONAL,
    "hexagon": HUMAN,
    "parallelogram": TOOL,
    "component": "parallel",
    "tripleoctagon": "parallel.fan_in",
    "house": "stack.manager_loop",
    "folder": "pipeline",
}
_BY_NAME = {
    **{name: name for name in (*SUPPORTED, *_BY_SHAPE.values())},
    "end": EXIT,
    "agent": CODERGEN,
    "llm": CODERGEN,
    "human": HUMAN,
    "wait_human": HUMAN,
    "wait-human": HUMAN,
    "command": TOOL,
    "shell": TOOL,
    "fan_in": "parallel.fan_in",
}
_EXIT_NAMES = ("exit", "end")


def first(attributes: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    """The first of the named attributes that is there and not empty."""
    return next((attributes[name] for name in names if attributes.get(name)), None)


def handler_of(attributes: Mapping[str, str]) -> str:
    """What runs a node: its type where that is a known one, else its shape; a model by default."""
    named = next((_BY_NAME.get(attributes.get(key, "").strip().lower()) for key in HANDLER
                  if attributes.get(key, "").strip().lower() in _BY_NAME), None)  # fmt: skip
    return named or _BY_SHAPE.get(attributes.get("shape", "").strip().lower(), CODERGEN)


def unknown_type(attributes: Mapping[str, str]) -> str | None:
    """The `type` or `handler` that names nothing known, or None.

    `node_type` is left out: other programs keep labels of their own in it.
    """
    named = first(attributes, HANDLER[:2])
    return named if named and named.strip().lower() not in _BY_NAME else None


def by_name(name: str, *, prompt: str) -> str | None:
    """START or EXIT where only the name of a node says so, else None."""
    if prompt:
        return None
    lowered = name.lower()
    return START if lowered == "start" else EXIT if lowered in _EXIT_NAMES else None


def whole(text: str | None) -> int | None:
    """The whole number that a text says, None where it says none."""
    try:
        return int((text or "").strip())
    except ValueError:
        return None
