"""Attributes that do harm: slips of the pen, holes of templates, ways to nodes that are missing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from reviewer.pipelines import dot_meaning as meaning
from reviewer.pipelines.values import Pipeline, Remark

_HOLE = re.compile(r"\{\{[^{}\n]{0,60}\}\}|\{%[^%\n]{0,60}%\}|<%[^%\n]{0,60}%>")
_FILLED_HOLE = re.compile(r"\{\{\s*(?:context\.)?[A-Za-z_]\w*(?:\.\w+)*\s*\}\}")
_FILLED = (*meaning.PROMPT, "label")
"""Attributes in which a run fills in `{{ key }}` from its context."""
_WAYS = ("retry_target", "fallback_retry_target")
_NODE = ("prompt", "fidelity", "thread_id", "max_retries", "llm_model", "retry_target")
_EDGE = ("condition", "fidelity", "thread_id", "weight")
_GRAPH = ("goal", "default_fidelity", "default_thread_id", "default_max_retries")
# Names that are meant as they are, however near they come to one above.
_FINE = frozenset(
    (
        *meaning.PROMPT, *meaning.MODEL, *meaning.FIDELITY_OF_GRAPH, *meaning.THREAD_OF_GRAPH,
        *meaning.RETRIES_OF_GRAPH, *_WAYS, *_NODE, *_EDGE, *_GRAPH, "height", "model", "prompts",
    )
)  # fmt: skip
_LIKENESS = 0.8


def attribute_remarks(pipeline: Pipeline, lines: Mapping[str, int]) -> Iterator[Remark]:
    """What stands in attributes that a run would not do as it was meant."""
    places: list[tuple[str, Mapping[str, str], int | None, tuple[str, ...]]] = [
        ("The graph", pipeline.attributes, None, _GRAPH)
    ]
    places += [(node.name, node.attributes, node.line, _NODE) for node in pipeline.nodes.values()]
    places += [
        (f"{edge.source} -> {edge.target}", edge.attributes, edge.line, _EDGE)
        for edge in pipeline.edges
    ]
    for who, attributes, line, known in places:
        for key, value in attributes.items():
            where = lines.get(key) if line is None else line
            if (meant := _meant(key, known)) is not None:
                yield Remark("no-effect", f"{who}: {key} has no effect.{meant}", where)
            if ("{" in value or "<%" in value) and (hole := _hole(key, value)):
                yield Remark("template", f"{who}: {key} holds {hole!r}, "
                             "which nothing fills in.", where)  # fmt: skip
            if key in _WAYS and value and value not in pipeline.nodes:
                yield Remark("edge-to-nowhere", f"{who}: {key} names {value!r}, "
                             "which is no node.", where)  # fmt: skip
        yield from _numbers(who, attributes, line)


def _hole(key: str, value: str) -> str:
    """The first hole of a template in a value that a run leaves as it is; empty for none."""
    for found in _HOLE.finditer(value):
        if key not in _FILLED or not _FILLED_HOLE.fullmatch(found.group()):
            return found.group()
    return ""


def _numbers(who: str, attributes: Mapping[str, str], line: int | None) -> Iterator[Remark]:
    for key in ("max_retries", "weight", *meaning.RETRIES_OF_GRAPH):
        value = attributes.get(key)
        if value and meaning.whole(value) is None:
            yield Remark("no-number", f"{who}: {key} is {value!r}, which is no whole number.", line)


@cache
def _meant(key: str, known: tuple[str, ...]) -> str | None:
    """What a name without effect was probably meant to be, None for a name that does no harm."""
    about_context = "fidelity" in key or "thread" in key
    right = key in known or (known is _GRAPH and key in _FINE - {"fidelity"})
    if right or (key in _FINE and not about_context):
        return None
    from difflib import get_close_matches

    near = get_close_matches(key.lower().replace("-", "_"), known, n=1, cutoff=_LIKENESS)
    if near:
        return f" Did you mean {near[0]}?"
    if not about_context:
        return None
    wanted = next(name for name in known if ("fidelity" if "fidelity" in key else "thread") in name)
    return f" Did you mean {wanted}?"
