"""The parts of a pipeline and of a run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct, field

from reviewer.text.numerals import count

MODES = ("full", "truncate", "compact", "summary:low", "summary:medium", "summary:high")
"""The fidelity modes."""

CEILINGS = {
    "truncate": 100,
    "compact": 500,
    "summary:low": 600,
    "summary:medium": 1500,
    "summary:high": 3000,
}
"""Tokens that the preamble of a mode never exceeds."""


class Handler(StrEnum):
    """What runs a node (`tool` only where it is allowed)."""

    START = "start"
    EXIT = "exit"
    CODERGEN = "codergen"
    CONDITIONAL = "conditional"
    HUMAN = "wait.human"
    TOOL = "tool"
    PARALLEL = "parallel"
    FAN_IN = "parallel.fan_in"


class StageOutcome(StrEnum):
    """How a stage ended."""

    SUCCESS = "success"
    PARTIAL_SUCCESS = "partial_success"
    FAIL = "fail"
    RETRY = "retry"
    SKIPPED = "skipped"


class PipelineNode(Struct, frozen=True):
    """A node. `handler` is the name of what runs it, perhaps of one that is not supported. `line`
    is 0-based.
    """

    name: str
    label: str
    shape: str
    handler: str
    prompt: str = ""
    fidelity: str | None = None
    thread_id: str | None = None
    classes: tuple[str, ...] = ()
    """Of the enclosing subgraphs, innermost first."""
    max_retries: int = 0
    llm_model: str | None = None
    attributes: dict[str, str] = {}
    line: int = 0


class PipelineEdge(Struct, frozen=True):
    """An edge; `index` is its place among all edges of the file, as several may join two nodes."""

    source: str
    target: str
    index: int
    label: str = ""
    condition: str = ""
    weight: int = 0
    fidelity: str | None = None
    thread_id: str | None = None
    attributes: dict[str, str] = {}
    line: int = 0


class Remark(Struct, frozen=True):
    """Something that is odd in a pipeline but does not stop it. `line` is 0-based."""

    rule: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        return self.message if self.line is None else f"Line {self.line + 1}: {self.message}"


class Pipeline(Struct, frozen=True):
    """A parsed pipeline."""

    name: str
    goal: str
    nodes: dict[str, PipelineNode]
    edges: tuple[PipelineEdge, ...]
    default_fidelity: str | None = None
    default_thread_id: str | None = None
    attributes: dict[str, str] = {}
    warnings: tuple[Remark, ...] = ()

    def edges_from(self, node: str) -> tuple[PipelineEdge, ...]:
        """The edges that leave a node, in file order."""
        return tuple(edge for edge in self.edges if edge.source == node)


class ToolCall(Struct, frozen=True):
    """A tool that a stage used."""

    name: str
    arguments: dict[str, Any] = {}
    result: str = ""


class Stage(Struct, frozen=True, omit_defaults=True):
    """A node that has run; one node may run many times. A history from outside may know only the
    first five fields.

    `word` is the outcome in the words of the stage (`needs_review`), which conditions compare.
    `thread` names its session, empty for one of its own; `degraded`: a resume had lost that
    session. `edge` is the index of the edge by which the run left, chosen by `rule`. `errors`:
    those of failed attempts. `remark`: a warning about the answer.
    """

    node: str
    outcome: StageOutcome = field(default_factory=lambda: StageOutcome.SUCCESS)  # always written
    notes: str = ""
    tools: tuple[ToolCall, ...] = ()
    duration_s: float = 0.0
    step: int = 0
    handler: str = ""
    at: str = ""
    word: str = "success"
    fidelity: str = ""
    thread: str = ""
    degraded: bool = False
    preferred_label: str = ""
    attempts: int = 1
    errors: tuple[str, ...] = ()
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    finish: str = ""
    left_out_turns: int = 0
    left_out_tokens: int = 0
    edge: int | None = None
    rule: str = ""
    remark: str = ""

    @property
    def folder(self) -> str:
        """Its folder within that of the run; the step tells the visits of a node apart."""
        return f"{plain_name(self.node)}-{self.step}"


NAMED = 6
"""Names that one sentence has, at most."""


def listed(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more:,} more" if more > 0 else "")


_ODD = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_NAME = 60


def plain_name(name: str) -> str:
    """A name that is safe as the name of a file."""
    plain = _ODD.sub("_", name)[:_LONGEST_NAME]
    if plain != name:
        import hashlib  # late: few names need it

        plain += "." + hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:6]
    return plain


class RunHistory(Struct, frozen=True):
    """A run so far, as `--history FILE` reads it: stages oldest first, context, retries as
    node -> [done, allowed].
    """

    run_id: str
    completed: tuple[Stage, ...] = ()
    context: dict[str, Any] = {}
    retries: dict[str, tuple[int, int]] = {}


class FidelityResolution(Struct, frozen=True):
    """How fidelity or thread was decided: `value`, the rule that decided, and the value of each, in
    order of precedence.
    """

    value: str
    rule: str
    steps: tuple[tuple[str, str | None], ...]

    def explained(self, decides: str) -> Iterator[tuple[str, str, str]]:
        """Each rule, its value, and what came of it: `decides`, passed over, or nothing."""
        decided = False
        for rule, value in self.steps:
            passed_over = "(no such mode)" if value and not decided else ""
            yield rule, value or "", decides if rule == self.rule else passed_over
            decided = decided or rule == self.rule


class Preamble(Struct, frozen=True):
    """The text that a fresh session begins with, never above `budget` tokens (0: unbounded)."""

    mode: str
    text: str
    tokens: int
    budget: int
    left_out: int = 0
    """Oldest stages that did not fit."""
    shortened: int = 0
    """Values that were shortened with a mark."""
    values_left_out: int = 0
    """Oldest values of the context that did not fit."""

    def missing(self) -> tuple[str, ...]:
        """What did not fit, as parts of a sentence."""
        parts = (
            (self.left_out, "oldest stage", "left out"),
            (self.values_left_out, "value", "left out"),
            (self.shortened, "text", "shortened"),
        )
        return tuple(f"{count(number, noun)} {verb}" for number, noun, verb in parts if number)
