"""Why a run ends or pauses, as sentences that say what to do; goal gates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from reviewer.pipelines.checkpoint import Checkpoint, LogEntry
from reviewer.pipelines.run_events import Question
from reviewer.pipelines.values import Outcome, Pipeline

_SHOWN = 6
_GOOD = (Outcome.SUCCESS, Outcome.PARTIAL_SUCCESS)


class FailedGate(NamedTuple):
    """A node with `goal_gate=true` that has run without success; `target` is where the run goes
    instead of ending, empty when nothing says it.
    """

    target: str
    sentence: str


def failed_gate(pipeline: Pipeline, logs: Sequence[LogEntry]) -> FailedGate | None:
    """The first goal gate whose latest visit was no success: a run may not end past it."""
    latest = {entry.node: entry for entry in logs}
    for name, entry in latest.items():
        attributes = pipeline.nodes[name].attributes
        if attributes.get("goal_gate", "").lower() != "true" or entry.outcome in _GOOD:
            continue
        for said in (attributes, pipeline.attributes):
            for key in ("retry_target", "fallback_retry_target"):
                if said.get(key, "") in pipeline.nodes:
                    return FailedGate(said[key], "")
        return FailedGate(
            "",
            f"The exit was reached, but the goal gate {name} had ended with {entry.word}, and no "
            "retry_target says where to go on.",
        )
    return None


def loop_sentence(checkpoint: Checkpoint) -> str:
    """What is said when the limit of stages is reached."""
    stages = len(checkpoint.logs)
    names = checkpoint.completed_nodes[-_SHOWN:]
    return (
        f"Stopped after {stages:,} stages without reaching an exit; the last were "
        f"{' -> '.join(names)}. Allow more: reviewer pipeline resume {checkpoint.run_id} "
        f"--max-steps {stages * 2}"
    )


def no_way_on_sentence(last: LogEntry) -> str:
    """What is said when no edge leads on."""
    why = (
        "no condition of its edges holds, and each of them has one"
        if last.rule == "no condition holds"
        else "no edge leaves it"
    )
    return f"The run ended at {last.node} with {last.word}: {why}."


def waiting_sentence(question: Question, run_id: str) -> str:
    """What is said when nobody is there to answer."""
    labels = ", ".join(choice.label for choice in question.choices) or "any text"
    return (
        f"{question.node} waits for an answer ({labels}). Give it: reviewer pipeline resume "
        f"{run_id} --answer {question.node}=ANSWER"
    )
