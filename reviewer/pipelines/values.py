"""The parts of a pipeline and of a run."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
"""Maximum tokens of a preamble by mode."""


class Handler(StrEnum):
    """The handler of a node (`tool` needs permission)."""

    START = "start"
    EXIT = "exit"
    CODERGEN = "codergen"
    CONDITIONAL = "conditional"
    HUMAN = "wait.human"
    TOOL = "tool"


class StageOutcome(StrEnum):
    SUCCESS = "success"
    PARTIAL_SUCCESS = "partial_success"
    FAIL = "fail"
    RETRY = "retry"
    SKIPPED = "skipped"

    @property
    def is_good(self) -> bool:
        return self in (StageOutcome.SUCCESS, StageOutcome.PARTIAL_SUCCESS)


class PipelineNode(Struct, frozen=True):
    """A node. `handler` may be unsupported; `line` is 0-based."""

    name: str
    label: str
    shape: str
    handler: str
    prompt: str = ""
    fidelity: str | None = None
    thread_id: str | None = None
    classes: tuple[str, ...] = ()
    """Classes of the enclosing subgraphs, innermost first."""
    max_retries: int = 0
    llm_model: str | None = None
    attributes: dict[str, str] = {}
    line: int = 0


class PipelineEdge(Struct, frozen=True):
    """An edge; `index` is its position in the file, because two nodes may have several edges."""

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
    """A warning about a pipeline. `line` is 0-based."""

    rule: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        return self.message if self.line is None else f"Line {self.line + 1}: {self.message}"


class Pipeline(Struct, frozen=True):
    name: str
    goal: str
    nodes: dict[str, PipelineNode]
    edges: tuple[PipelineEdge, ...]
    default_fidelity: str | None = None
    default_thread_id: str | None = None
    attributes: dict[str, str] = {}
    warnings: tuple[Remark, ...] = ()

    def edges_from(self, node: str) -> tuple[PipelineEdge, ...]:
        """The outgoing edges of a node, in file order."""
        return tuple(edge for edge in self.edges if edge.source == node)


class ToolCall(Struct, frozen=True):
    name: str
    arguments: dict[str, Any] = {}
    result: str = ""


class Stage(Struct, frozen=True, omit_defaults=True):
    """One run of a node, which may run many times. An external history may have only the first five
    fields.

    `word` is the outcome as the stage stated it (`needs_review`), for conditions. `thread` names
    the shared session, if any; `degraded`: a resume had lost that session. `edge` is the index of
    the edge taken, chosen by `rule`. `errors`: from failed attempts. `remark`: a warning about the
    answer.
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
        """Its folder within the run's; the step distinguishes several runs of a node."""
        return f"{plain_name(self.node)}-{self.step}"


_ODD = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_NAME = 60


def plain_name(name: str) -> str:
    """A name that is safe as a file name."""
    plain = _ODD.sub("_", name)[:_LONGEST_NAME]
    if plain != name:
        import hashlib  # late: few names need it

        plain += "." + hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:6]
    return plain


class RunHistory(Struct, frozen=True):
    """A run so far, in the form of `--history FILE`: stages oldest first, context, retries as
    node -> [done, allowed].
    """

    run_id: str
    completed: tuple[Stage, ...] = ()
    context: dict[str, Any] = {}
    retries: dict[str, tuple[int, int]] = {}


class FidelityResolution(Struct, frozen=True):
    """A resolved fidelity or thread: `value`, the deciding rule, and the value of each rule, in
    order of precedence.
    """

    value: str
    rule: str
    steps: tuple[tuple[str, str | None], ...]

    def explained(self, decides: str) -> Iterator[tuple[str, str, str]]:
        """Each rule, its value, and a note: `decides`, invalid, or nothing."""
        decided = False
        for rule, value in self.steps:
            passed_over = "(no such mode)" if value and not decided else ""
            yield rule, value or "", decides if rule == self.rule else passed_over
            decided = decided or rule == self.rule


class Preamble(Struct, frozen=True):
    """The text at the start of a fresh session, at most `budget` tokens (0: unlimited)."""

    mode: str
    text: str
    tokens: int
    budget: int
    left_out: int = 0
    """Number of oldest stages left out."""
    shortened: int = 0
    """Number of values shortened, with a mark."""
    values_left_out: int = 0
    """Number of oldest context values left out."""

    def missing(self) -> tuple[str, ...]:
        """The omissions, as parts of a sentence."""
        parts = (
            (self.left_out, "oldest stage", "left out"),
            (self.values_left_out, "value", "left out"),
            (self.shortened, "text", "shortened"),
        )
        return tuple(f"{count(number, noun)} {verb}" for number, noun, verb in parts if number)
