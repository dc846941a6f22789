"""Runs a pipeline stage by stage.

After each stage its prompt and answer are written, then the checkpoint, before the next stage
starts. If the program dies, a resume continues from there: only the running stage is repeated.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import random as any_number

from msgspec import Struct
from msgspec.structs import replace

from reviewer.clock import Clock, iso
from reviewer.llm.model import ModelError
from reviewer.pipelines.conditions import EdgeChoice, choose_edge
from reviewer.pipelines.events import (
    Retrying,
    RunDone,
    RunError,
    RunState,
    StageDone,
    StageQuestion,
    StageStarted,
    StoppedError,
    WaitingError,
)
from reviewer.pipelines.handlers import Session, Visit, is_model_stage, run_stage
from reviewer.pipelines.options import RunOptions
from reviewer.pipelines.outcomes import Attempt
from reviewer.pipelines.resolve import fidelity_on_resume, resolve_fidelity, resolve_thread_id
from reviewer.pipelines.run_folder import RESPONSE, Checkpoint, RunFolder, history_of
from reviewer.pipelines.values import (
    Handler,
    Pipeline,
    PipelineEdge,
    PipelineNode,
    Stage,
    StageOutcome,
)

MIN_STEPS = 1_000
STEPS_A_NODE = 4
FIRST_SECONDS = 0.2
FACTOR = 2.0
LONGEST_SECONDS = 60.0
_CHECK_SECONDS = 0.1
"""Interval of checks whether the run is cancelled."""
_LAST_SHOWN = 6


class Timing(Struct, frozen=True):
    """The timing of a run, replaceable in tests. `random` returns a number in [0, 1)."""

    sleep: Callable[[float], None] = time.sleep
    seconds: Callable[[], float] = time.monotonic
    random: Callable[[], float] = any_number


class Runner:
    """One run of a pipeline in this process, with the sessions of its threads."""

    def __init__(
        self,
        pipeline: Pipeline,
        folder: RunFolder,
        commands_in: Path,
        checkpoint: Checkpoint,
        options: RunOptions,
        *,
        clock: Clock,
        timing: Timing,
        resumed: bool,
    ) -> None:
        """`commands_in`: where shell commands run. `resumed`: thread sessions are lost, so the
        first stage that would continue one gets `summary:high`, once.
        """
        self._pipeline = pipeline
        self._folder = folder
        self._commands_in = commands_in
        # answers are used up
        answers = {name: list(given) for name, given in options.answers.items()}
        self._options = replace(options, answers=answers)
        self._state = checkpoint
        self._clock = clock
        self._timing = timing
        default = max(MIN_STEPS, STEPS_A_NODE * len(pipeline.nodes))
        self._max_steps = options.max_steps or checkpoint.max_steps or default
        self._may_degrade = resumed
        self._sessions: dict[str, Session] = {}

    def run(self) -> RunDone:
        """Continue from the checkpoint, which is on disk, until the exit or a reason to stop."""
        while self._state.next_node:
            node = self._pipeline.nodes[self._state.next_node]
            if self._options.cancelled():
                return self._end("cancelled", "Cancelled.")
            if len(self._state.logs) >= self._max_steps:
                return self._end("stopped", limit_message(self._state))
            try:
                self._step(node)
            except StoppedError:
                return self._end("cancelled", f"Cancelled in {node.name}.")
            except WaitingError as waiting:
                if self._options.cancelled():
                    return self._end("cancelled", f"Cancelled in {node.name}.")
                message = waiting_message(waiting.question, self._state.run_id)
                return self._end("waiting", message)
            except RunError as problem:
                return self._end("failed", f"{node.name}: {problem}")
        last = self._state.logs[-1]
        if last.handler != Handler.EXIT:
            return self._end(
                "failed" if last.outcome is StageOutcome.FAIL else "stopped",
                dead_end_message(last),
            )
        gate = failed_gate(self._pipeline, self._state.logs)
        if gate is not None:
            return self._end(
                "failed",
                f"The exit was reached, but the goal gate {gate.node} ended with {gate.word}, and "
                "there is no retry_target to go to.",
            )
        return self._end("done", f"Reached {last.node}.")

    def _end(self, state: RunState, message: str) -> RunDone:
        return RunDone(
            self._state.run_id,
            state,
            message,
            len(self._state.logs),
            self._state.next_node or self._state.current_node,
            str(self._folder.path),
        )

    def _step(self, node: PipelineNode) -> None:
        """Run the next stage, choose the edge, write the texts and the checkpoint."""
        visit = self._visit(node)
        degraded = visit.fidelity != self._fidelity(node)
        self._options.watch(
            StageStarted(
                visit.step, node.name, node.handler, visit.fidelity, visit.thread, degraded
            )
        )
        begun = self._timing.seconds()
        attempt = self._attempted(visit)
        visit.session.turns.append((attempt.prompt, attempt.response))
        self._may_degrade = self._may_degrade and not degraded
        choice = self._choice(node, attempt)
        stage = replace(
            attempt.stage,
            duration_s=round(self._timing.seconds() - begun, 3),
            step=visit.step,
            handler=node.handler,
            at=iso(self._clock()),
            fidelity=visit.fidelity,
            thread=visit.thread,
            degraded=degraded,
            edge=choice.edge.index if choice.edge is not None else None,
            rule=choice.rule,
        )
        self._folder.write_stage(stage, attempt.prompt, attempt.response)
        self._state = self._after(stage, attempt)
        self._folder.write_checkpoint(self._state)
        self._options.watch(StageDone(stage, self._state.next_node))

    # entering a stage

    def _visit(self, node: PipelineNode) -> Visit:
        state = self._state
        fidelity, thread = self._fidelity(node), ""
        if fidelity == "full" and is_model_stage(node):
            thread = resolve_thread_id(self._entered, node, self._pipeline, state.current_node)
            fidelity = fidelity_on_resume(fidelity, self._may_degrade)
        session = self._sessions.setdefault(thread, Session()) if thread else Session()
        session.model = node.llm_model or session.model
        return Visit(
            len(state.logs) + 1,
            node,
            self._pipeline,
            history_of(state, self._pipeline),
            fidelity,
            thread,
            session,
            self._commands_in,
            self._last_answer() if node.handler == Handler.HUMAN else "",
        )

    @property
    def _entered(self) -> PipelineEdge | None:
        """The edge to the current node; None at the start."""
        index = self._state.next_edge
        return None if index is None else self._pipeline.edges[index]

    def _fidelity(self, node: PipelineNode) -> str:
        return resolve_fidelity(self._entered, node, self._pipeline)

    def _last_answer(self) -> str:
        """The answer before a question, skipping stages that only pass it on."""
        for stage in reversed(self._state.logs):
            if answer := self._folder.text(stage, RESPONSE):
                return answer
        return ""

    # attempts

    def _attempted(self, visit: Visit) -> Attempt:
        """Try a stage until its outcome is not `retry` or no attempts are left.

        Raises RunError if the model failed in the last attempt.
        """
        errors: list[str] = []
        for pause in (*retry_delays(visit.node.max_retries, self._timing.random), None):
            try:
                attempt = run_stage(visit, self._options)
            except ModelError as problem:
                if pause is None:
                    raise RunError(str(problem)) from problem
                reason = str(problem)
            else:
                if attempt.stage.outcome is not StageOutcome.RETRY or pause is None:
                    break
                reason = "The stage asked for another attempt."
            errors.append(reason)
            self._options.watch(Retrying(visit.step, visit.node.name, len(errors), pause, reason))
            self._wait(pause)
        stage = replace(attempt.stage, attempts=len(errors) + 1, errors=tuple(errors))
        return self._settled(visit.node, replace(attempt, stage=stage))

    def _wait(self, seconds: float) -> None:
        """Wait; raises StoppedError if the run is cancelled meanwhile."""
        while seconds > 0:
            if self._options.cancelled():
                raise StoppedError
            self._timing.sleep(min(seconds, _CHECK_SECONDS))
            seconds -= _CHECK_SECONDS

    def _settled(self, node: PipelineNode, attempt: Attempt) -> Attempt:
        """Replace the outcome `retry` when no attempts are left: partial success if the node allows
        it, `retry` itself if an edge tests for it, else failure.
        """
        if attempt.stage.outcome is not StageOutcome.RETRY:
            return attempt
        outcome = StageOutcome.FAIL
        if node.attributes.get("allow_partial", "").lower() == "true":
            outcome = StageOutcome.PARTIAL_SUCCESS
        elif self._choice(node, attempt).rule == "condition":
            return attempt
        return replace(attempt, stage=replace(attempt.stage, outcome=outcome, word=str(outcome)))

    # leaving a stage

    def _choice(self, node: PipelineNode, attempt: Attempt) -> EdgeChoice:
        """The edge out of a node: the person's choice, else by the rules."""
        if node.handler == Handler.EXIT:
            return EdgeChoice(None, "exit")
        if attempt.stage.edge is not None:
            return EdgeChoice(self._pipeline.edges[attempt.stage.edge], "answer")
        return choose_edge(
            self._pipeline.edges_from(node.name),
            self._context_after(attempt),
            preferred_label=attempt.stage.preferred_label,
            suggested_next=attempt.suggested_next,
        )

    def _context_after(self, attempt: Attempt) -> dict[str, object]:
        return {
            **self._state.context,
            **attempt.context_updates,
            "outcome": attempt.stage.word,
            "preferred_label": attempt.stage.preferred_label,
            "last_stage": attempt.stage.node,
        }

    def _after(self, stage: Stage, attempt: Attempt) -> Checkpoint:
        before = self._state
        target = "" if stage.edge is None else self._pipeline.edges[stage.edge].target
        if stage.handler == Handler.EXIT and (gate := failed_gate(self._pipeline, before.logs)):
            target = way_back(self._pipeline, gate)
        retries = before.node_retries
        if stage.attempts > 1 or stage.node in retries:
            retries = {**retries, stage.node: stage.attempts - 1}
        return replace(
            before,
            timestamp=stage.at,
            current_node=stage.node,
            completed_nodes=[*before.completed_nodes, stage.node],
            node_retries=retries,
            context=self._context_after(attempt),
            logs=[*before.logs, stage],
            next_node=target,
            next_edge=stage.edge,
        )


def retry_delays(max_retries: int, random: Callable[[], float]) -> Iterator[float]:
    """Delays in seconds before each of `max_retries` retries: 0.2, doubled each time, at most 60;
    each randomly reduced by up to half, so that runs do not retry in step.
    """
    longest = FIRST_SECONDS
    for _ in range(max_retries):
        yield longest * (0.5 + random() / 2)
        longest = min(longest * FACTOR, LONGEST_SECONDS)


def failed_gate(pipeline: Pipeline, logs: Sequence[Stage]) -> Stage | None:
    """The latest stage of the first goal gate (`goal_gate=true`) that did not succeed; it keeps the
    run from ending.
    """
    latest = {stage.node: stage for stage in logs}
    for stage in latest.values():
        is_gate = pipeline.nodes[stage.node].attributes.get("goal_gate", "").lower() == "true"
        if is_gate and not stage.outcome.is_good:
            return stage
    return None


def way_back(pipeline: Pipeline, gate: Stage) -> str:
    """The retry target of a failed gate; empty without one."""
    for values in (pipeline.nodes[gate.node].attributes, pipeline.attributes):
        for key in ("retry_target", "fallback_retry_target"):
            if values.get(key, "") in pipeline.nodes:
                return values[key]
    return ""


def limit_message(checkpoint: Checkpoint) -> str:
    stages = len(checkpoint.logs)
    names = checkpoint.completed_nodes[-_LAST_SHOWN:]
    return (
        f"Stopped after {stages:,} stages without reaching an exit; the last were "
        f"{' -> '.join(names)}. Allow more: reviewer pipeline resume {checkpoint.run_id} "
        f"--max-steps {stages * 2}"
    )


def dead_end_message(last: Stage) -> str:
    """The message for a run that ends at a node that is not an exit."""
    why = (
        "all of its edges have conditions, and none is true"
        if last.rule == "no condition holds"
        else "no edge leaves it"
    )
    return f"The run ended at {last.node} with {last.word}: {why}."


def waiting_message(question: StageQuestion, run_id: str) -> str:
    labels = ", ".join(choice.label for choice in question.choices) or "any text"
    return (
        f"{question.node} waits for an answer ({labels}). Give it: reviewer pipeline resume "
        f"{run_id} --answer {question.node}=ANSWER"
    )
