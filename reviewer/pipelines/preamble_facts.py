"""What a preamble may tell of a run, masked, newest first; the run itself is only read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

from msgspec import Struct

from reviewer.pipelines.preamble_budget import CHARACTERS_A_TOKEN, Entry
from reviewer.pipelines.values import CEILINGS, Outcome, Pipeline, RunHistory, Stage, ToolCall

INTERNAL = ("internal.", "_")
"""How keys of the context begin that are the engine's own."""

LOOKED_AT = max(CEILINGS.values()) * CHARACTERS_A_TOKEN
"""Characters of one text that are looked at; no ceiling has room for more."""

MOST = 600
"""Stages or values that are looked at, the newest; no ceiling has room for more."""

_TOOLS = 6
_ARGUMENT = 48
_KEY = 160


class Facts(Struct, frozen=True):
    """A run as a preamble sees it before one of its nodes. Stages and values newest first."""

    name: str
    goal: str
    run_id: str
    stage: str
    number: int
    total: int
    stages: tuple[Stage, ...]
    values: tuple[tuple[str, Any], ...]
    retries: tuple[tuple[str, int, int], ...]


def facts_of(pipeline: Pipeline, history: RunHistory, node: str) -> Facts:
    """What there is to tell before `node`. Texts are masked when they become entries."""
    done = {stage.node for stage in history.completed if stage.node in pipeline.nodes}
    goal = goal_of(pipeline, history.context)
    return Facts(
        name=plain(pipeline.name),
        goal=plain(goal),
        run_id=plain(history.run_id) or "(none)",
        stage=plain(node),
        number=min(len(done - {node}) + 1, max(len(pipeline.nodes), 1)),
        total=max(len(pipeline.nodes), 1),
        stages=history.completed[::-1],
        values=tuple(
            (key, value)
            for key, value in reversed(history.context.items())
            if not key.startswith(INTERNAL) and not (key in _GOALS and value == goal)
        ),
        retries=tuple(
            (name, done, allowed) for name, (done, allowed) in history.retries.items() if done
        )[::-1],
    )


_GOALS = ("goal", "graph.goal")


def goal_of(pipeline: Pipeline, context: Mapping[str, Any]) -> str:
    """The graph's goal, or the run's where the graph leaves it open (`goal="$goal"`)."""
    if pipeline.goal and not pipeline.goal.strip().startswith("$"):
        return pipeline.goal
    given = next((context[key] for key in _GOALS if isinstance(context.get(key), str)), "")
    return given or pipeline.goal or "(none given)"


def masked(text: str) -> str:
    """The beginning of a text, as far as any preamble could reach, without secrets."""
    return _masked(text[:LOOKED_AT])


@lru_cache(maxsize=4096)
def _masked(text: str) -> str:
    # A run makes a preamble for every stage, out of texts that are mostly those of the one before.
    from reviewer.text.secrets import mask

    return mask(text).text


def plain(text: str) -> str:
    """A masked text on one line."""
    return " ".join(masked(text).split())


def outcomes(stages: tuple[Stage, ...]) -> str:
    """`44 success, 11 fail`."""
    counted = Counter(stage.outcome for stage in stages)
    return ", ".join(f"{counted[each]:,} {each}" for each in Outcome if counted[each])


def named_stages(facts: Facts, *, with_outcome: bool) -> list[Entry]:
    """Each node once, by its latest run: `implement (success)`, `implement x3 (success)`."""
    runs = Counter(stage.node for stage in facts.stages)
    latest = {stage.node: stage for stage in reversed(facts.stages)}
    order = dict.fromkeys(stage.node for stage in facts.stages)
    return [
        Entry(
            _name(name)
            + (f" x{runs[name]}" if runs[name] > 1 else "")
            + (f" ({latest[name].outcome})" if with_outcome else ""),
            stands_for=runs[name],
        )
        for name in islice(order, MOST)
    ]


def told_stages(facts: Facts, *, whole: bool) -> list[Entry]:
    """The stages with their notes; `whole`: on lines of their own, with tools and duration."""
    found = []
    for stage in facts.stages[:MOST]:
        notes = masked(stage.notes).strip() if whole else plain(stage.notes)
        found.append(
            Entry(
                f"- {_name(stage.node)}: {stage.outcome}",
                notes,
                _details(stage) if whole else "",
                _indented,
                len(notes) + max(len(stage.notes) - LOOKED_AT, 0),
            )
        )
    return found


def told_values(facts: Facts, *, head: str, tail: str = "", quoted: bool) -> list[Entry]:
    """The values of the context; `head` has a place for the key. `quoted`: as JSON writes them."""
    found = []
    for key, value in facts.values[:MOST]:
        is_text = isinstance(value, str)
        raw = value if is_text else json.dumps(value, ensure_ascii=False, default=str)
        text = masked(raw)
        if is_text or len(raw) > LOOKED_AT:
            dress = _json_text if quoted else _one_line
        else:
            dress = _Json(text) if quoted else _one_line
        length = len(text) + max(len(raw) - LOOKED_AT, 0)
        name = _json_text(_name(key)) if tail else _name(key)
        if text:
            found.append(Entry(head.format(name), text, tail, dress, length))
        else:
            found.append(Entry(head.format(name) + ('""' if quoted else "(empty)"), tail=tail))
    return found


def _name(name: str) -> str:
    """A node or key, masked, no longer than a line."""
    text = plain(name)
    return text if len(text) <= _KEY else text[: _KEY - 1] + "…"


def _details(stage: Stage) -> str:
    lines = []
    if stage.tools:
        told = [_tool(call) for call in stage.tools[:_TOOLS]]
        more = len(stage.tools) - _TOOLS
        told += [f"and {more:,} more"] if more > 0 else []
        lines.append(f"  Tools used: {', '.join(told)}")
    if stage.duration_s:
        lines.append(f"  Duration: {stage.duration_s:.1f} s")
    return "".join(f"\n{line}" for line in lines)


def _tool(call: ToolCall) -> str:
    """`shell (pytest -q)`: a tool with the beginning of its first argument."""
    first = next(iter(call.arguments.values()), "")
    argument = plain(first if isinstance(first, str) else json.dumps(first, default=str))
    name = _name(call.name)
    if not argument:
        return name
    return f"{name} ({argument if len(argument) <= _ARGUMENT else argument[:_ARGUMENT] + '…'})"


def _indented(notes: str) -> str:
    """Notes behind a dash; their further lines cannot pass for headings or entries."""
    return " — " + "\n    ".join(line.rstrip() for line in notes.splitlines())


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _json_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


class _Json:
    """Leaves JSON as it is while it is whole, and makes a text of it once it is cut."""

    __slots__ = ("whole",)

    def __init__(self, whole: str) -> None:
        self.whole = whole

    def __call__(self, text: str) -> str:
        return text if text == self.whole else _json_text(text)
