"""Runs a pipeline stage by stage.

A stage's prompt, answer and status are written before the next stage begins, and the checkpoint
follows. If the program dies, a resume takes over every stage that has a status and repeats the one
that has none: no stage is lost, none counts twice, also of the branches of a parallel node, whose
stages are in the checkpoint only when all branches have ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from reviewer.clock import Clock, iso
from reviewer.pipelines.checkpoint import (
    Checkpoint,
    retries_of,
    write_checkpoint,
)
from reviewer.pipelines.conditions import EdgeChoice, choose_edge
from reviewer.pipelines.events import (
    RunDone,
    RunError,
    RunState,
    StageDone,
    StageFailedError,
    StageQuestion,
    StageStarted,
    StoppedError,
    WaitingError,
)
from reviewer.pipelines.handlers import (
    StageInput,
    StageServices,
    Timing,
    asked_of,
    is_model_stage,
    matching_choice,
    question_of,
    room_for_preamble,
    run_with_retries,
    unknown_answer,
)
from reviewer.pipelines.lint import listed
from reviewer.pipelines.outcomes import StageResult
from reviewer.pipelines.parallel import (
    RESULTS,
    BranchResult,
    fork_of,
    joined_outcome,
)
from reviewer.pipelines.preamble import build_preamble, goal_of, masked
from reviewer.pipelines.resolve import (
    DEGRADED_MODE,
    fidelity_on_resume,
    resolve_fidelity,
    resolve_thread_id,
)
from reviewer.pipelines.run_folder import RunFolder
from reviewer.pipelines.sessions import ModelThread, Sessions
from reviewer.pipelines.values import (
    CEILINGS,
    CODERGEN,
    FAN_IN,
    HUMAN,
    PARALLEL,
    TOOL,
    Pipeline,
    PipelineEdge,
    PipelineNode,
    RunHistory,
    Stage,
    StageOutcome,
)
from reviewer.pipelines.walk import outgoing

COSTLY = frozenset({CODERGEN, HUMAN, TOOL})
"""Stages that a power cut must not repeat."""
_MIN_PREAMBLE = 32
"""Tokens in which a preamble can say anything."""


class _Entry(NamedTuple):
    """How a stage is entered. `thread` is empty unless its session is, or was, shared."""

    node: PipelineNode
    fidelity: str
    thread: str
    degraded: bool


class _Lane(Struct):
    """One line of stages, that of the run or of a branch, and all stages before the next one.

    `ahead`: stages that were counted and are not in the log of this line: those of other branches.
    """

    stages: list[Stage]
    branch: str = ""
    ahead: int = 0
    may_degrade: bool = False

    def step(self, checkpoint: Checkpoint) -> int:
        """The number of the next stage."""
        return self.ahead + len(checkpoint.logs) + 1

    def thread(self, name: str) -> str:
        """The name of a thread: those of branches are their own."""
        return f"{name}/{self.branch}" if name and self.branch else name


class Runner:
    """One run of a pipeline in this process, with its thread sessions."""

    def __init__(
        self,
        pipeline: Pipeline,
        folder: RunFolder,
        services: StageServices,
        checkpoint: Checkpoint,
        *,
        clock: Clock,
        timing: Timing,
        max_steps: int,
    ) -> None:
        self._pipeline = pipeline
        self._folder = folder
        self._services = services
        self._clock = clock
        self._timing = timing
        self._max_steps = max_steps
        self._sessions = Sessions()
        self._edges = {name: tuple(edges) for name, edges in outgoing(pipeline).items()}
        self._began = checkpoint

    def run(self, *, resumed: bool) -> RunDone:
        """Go on from the checkpoint, which is on the disk, until the exit or a reason to stop.

        `resumed`: the sessions of threads are lost, so that the first stage that would continue
        one gets `summary:high` instead, once.
        """
        checkpoint = self._began
        lane = _Lane(list(checkpoint.logs), may_degrade=resumed)
        while not checkpoint.finished:
            if self._services.cancelled():
                return self._end(checkpoint, "cancelled", "Cancelled.")
            if len(checkpoint.logs) >= self._max_steps:
                return self._end(checkpoint, "stopped", limit_message(checkpoint))
            node = self._pipeline.nodes[checkpoint.next_node]
            try:
                if node.handler == PARALLEL:
                    checkpoint = self._fan_out(checkpoint, node, lane)
                else:
                    checkpoint = self._next(checkpoint, node, lane)
            except StoppedError:
                return self._end(checkpoint, "cancelled", f"Cancelled in {node.name}.")
            except WaitingError as waiting:
                if self._services.cancelled():
                    return self._end(checkpoint, "cancelled", f"Cancelled in {node.name}.")
                sentence = waiting_message(waiting.question, checkpoint.run_id)
                return self._end(checkpoint, "waiting", sentence)
            except (StageFailedError, RunError) as problem:
                return self._end(checkpoint, "failed", f"{node.name}: {problem}")
        return self._finish(checkpoint)

    def _next(self, checkpoint: Checkpoint, node: PipelineNode, lane: _Lane) -> Checkpoint:
        """The checkpoint after the next stage, which is run unless it has ended already."""
        stage = self._taken_over(checkpoint, node, lane)
        if stage is None:
            entry = self._entry(checkpoint, node, lane)
            lane.may_degrade = lane.may_degrade and not entry.degraded
            stage = self._stage(checkpoint, entry, lane)
        return self._after(checkpoint, stage, lane)

    # branches

    def _fan_out(self, checkpoint: Checkpoint, node: PipelineNode, lane: _Lane) -> Checkpoint:
        """Run the branches of a parallel node one after another, each with its own context and
        threads. Stages that had ended when the program died are taken over. What the branches came
        to is in the context, in the order of the edges.
        """
        fork, why_not = fork_of(self._pipeline, node)
        if fork is None:
            raise RunError(why_not)
        step, begun = lane.step(checkpoint), self._timing.seconds()
        self._services.watch(StageStarted(step, node.name, node.handler, "", "", False))
        before = len(checkpoint.logs)
        logs: list[Stage] = []
        results: list[BranchResult] = []
        retries = dict(checkpoint.node_retries)
        into: int | None = None
        for edge in fork.edges:
            own = _Lane(list(lane.stages), edge.target, ahead=1 + len(logs))
            ended = self._branch(checkpoint, edge, fork.join, own)
            own_logs = ended.logs[before:]
            results += [
                BranchResult(edge.target, last.node, _end_of(last), last.notes)
                for last in own_logs[-1:]
            ]
            logs += own_logs
            retries |= ended.node_retries
            into = ended.next_edge if into is None and ended.next_node else into
        outcome = joined_outcome(results)
        stage = Stage(
            fork.node,
            outcome,
            duration_s=round(self._timing.seconds() - begun, 3),
            step=step,
            handler=PARALLEL,
            at=iso(self._clock()),
            word=str(outcome),
            context_updates={RESULTS: [msgspec.to_builtins(each) for each in results]},
            rule="branches",
        )
        self._folder.write_status(stage, synced=False)
        following = msgspec.structs.replace(
            checkpoint,
            timestamp=iso(self._clock()),
            current_node=fork.node,
            completed_nodes=[
                *checkpoint.completed_nodes, fork.node, *(each.node for each in logs)
            ],
            node_retries=retries,
            context=_context_after(checkpoint.context, stage.node, stage),
            logs=[*checkpoint.logs, _as_kept(stage), *logs],
            next_node=fork.join,
            next_edge=into,
        )  # fmt: skip
        lane.stages += [stage, *logs]
        write_checkpoint(self._folder, following)
        self._services.watch(_done(stage, fork.join))
        return following

    def _branch(self, before: Checkpoint, edge: PipelineEdge, join: str, lane: _Lane) -> Checkpoint:
        """Run one branch until it reaches the join, or ends before it."""
        checkpoint = msgspec.structs.replace(
            before, current_node=edge.source, next_node=edge.target, next_edge=edge.index
        )
        while checkpoint.next_node not in ("", join):
            if self._services.cancelled():
                raise StoppedError
            if lane.step(checkpoint) > self._max_steps:
                raise RunError(limit_message(checkpoint))
            node = self._pipeline.nodes[checkpoint.next_node]
            try:
                checkpoint = self._next(checkpoint, node, lane)
            except StageFailedError as problem:
                raise StageFailedError(f"{node.name}: {problem}") from problem
        return checkpoint

    # stages

    def _taken_over(self, checkpoint: Checkpoint, node: PipelineNode, lane: _Lane) -> Stage | None:
        """The next stage if it ended before the program died, without a checkpoint to say so."""
        step = lane.step(checkpoint)
        stage = self._folder.ended(Stage(node.name, step=step))
        if stage is None:
            return None
        self._services.watch(
            StageStarted(
                step, node.name, node.handler, stage.fidelity, stage.thread, stage.degraded
            )
        )
        return stage

    def _entry(self, checkpoint: Checkpoint, node: PipelineNode, lane: _Lane) -> _Entry:
        edge = self._edge(checkpoint.next_edge)
        resolved = resolve_fidelity(edge, node, self._pipeline)
        if resolved != "full" or not is_model_stage(node):
            return _Entry(node, resolved, "", degraded=False)
        thread = resolve_thread_id(edge, node, self._pipeline, checkpoint.current_node)
        fidelity = fidelity_on_resume(resolved, lane.may_degrade)
        return _Entry(node, fidelity, lane.thread(thread), degraded=fidelity != resolved)

    def _stage(self, checkpoint: Checkpoint, entry: _Entry, lane: _Lane) -> Stage:
        """Run the next stage and write its files."""
        node, step = entry.node, lane.step(checkpoint)
        self._services.watch(
            StageStarted(
                step, node.name, node.handler, entry.fidelity, entry.thread, entry.degraded
            )
        )
        begins, remark = self._stage_input(checkpoint, entry, lane, step)
        begun = self._timing.seconds()
        done = run_with_retries(begins, self._services, self._timing)
        output, folder = done.output, self._folder
        if entry.thread:
            # A degraded stage starts the lost session again, with the summary that it was given.
            session = self._sessions.get_or_create(entry.thread, node.llm_model)
            session.append(output.prompt, output.response)
        result = self._settled(node, output.result, checkpoint.context)
        choice = self._leaves(node, result, output.edge, checkpoint.context)
        stage = Stage(
            node=node.name,
            outcome=result.outcome,
            notes=result.notes,
            tools=output.tools,
            duration_s=round(self._timing.seconds() - begun, 3),
            step=step,
            handler=node.handler,
            at=iso(self._clock()),
            word=result.word,
            fidelity=entry.fidelity,
            thread=entry.thread,
            degraded=entry.degraded,
            preferred_label=result.preferred_label,
            context_updates=result.context_updates,
            attempts=len(done.errors) + 1,
            errors=done.errors,
            model=output.model,
            prompt_tokens=output.prompt_tokens,
            completion_tokens=output.completion_tokens,
            finish=output.finish,
            left_out_turns=output.left_out_turns,
            left_out_tokens=output.left_out_tokens,
            edge=choice.edge.index if choice.edge is not None else None,
            rule=choice.rule,
            remark=f"{remark} {result.remark}".strip(),
        )
        costly = node.handler in COSTLY
        folder.write_stage_text(stage, "prompt.md", output.prompt)
        folder.write_stage_text(stage, "response.md", output.response, synced=costly)
        folder.write_status(stage, synced=costly)
        return stage

    def _stage_input(
        self, checkpoint: Checkpoint, entry: _Entry, lane: _Lane, step: int
    ) -> tuple[StageInput, str]:
        """The input of a stage, and a remark for a person about it."""
        node = entry.node
        shared = bool(entry.thread) and not entry.degraded
        session = (
            self._sessions.get_or_create(entry.thread, node.llm_model)
            if shared
            else ModelThread("", node.llm_model or "")
        )
        goal, asked, preamble, remark = goal_of(self._pipeline, checkpoint.context), "", "", ""
        if is_model_stage(node):
            asked = asked_of(node, goal, checkpoint.context, self._services)
            if not session.turns:
                preamble, remark = self._preamble(checkpoint, entry, lane, asked)
        stage = StageInput(
            step,
            node,
            self._edges.get(node.name, ()),
            goal,
            checkpoint.context,
            session,
            asked,
            preamble,
            _previous(checkpoint),
            self._last_answer(checkpoint) if node.handler == HUMAN else "",
        )
        return stage, remark

    def _preamble(
        self, checkpoint: Checkpoint, entry: _Entry, lane: _Lane, asked: str
    ) -> tuple[str, str]:
        """The preamble of a fresh session, within the room that the model has beside the prompt and
        the answer, and a sentence if that cuts it.

        The first stage of a thread has no conversation to go on from, and gets what it would after
        a resume; the thread needs the other half of the model's context.
        """
        mode = DEGRADED_MODE if entry.fidelity == "full" else entry.fidelity
        room = room_for_preamble(asked, self._services)
        if entry.thread:
            room = min(room, self._services.context_tokens // 2)
        room = room if room >= _MIN_PREAMBLE else 0
        made = build_preamble(
            mode, self._pipeline, self._history(checkpoint, lane), entry.node.name, room=room
        )
        if not made.is_short or room >= CEILINGS[mode]:
            return made.text, ""
        return made.text, (
            f"The model's context has room for {made.tokens:,} tokens of the preamble only, beside "
            "the prompt and the answer."
        )

    def _last_answer(self, checkpoint: Checkpoint) -> str:
        """What the stage before a question answered, without those that only pass it on."""
        for entry in reversed(checkpoint.logs):
            if entry.handler == FAN_IN and entry.notes:
                return entry.notes
            if answer := self._folder.text(entry, "response.md"):
                return answer
        return ""

    def _settled(
        self, node: PipelineNode, result: StageResult, context: dict[str, Any]
    ) -> StageResult:
        """The outcome that replaces `retry` when no attempt is left: a partial success where the
        node allows it, itself where an edge asks for it, else a failure.
        """
        if result.outcome is not StageOutcome.RETRY:
            return result
        if node.attributes.get("allow_partial", "").lower() == "true":
            outcome = StageOutcome.PARTIAL_SUCCESS
        elif self._leaves(node, result, None, context).rule == "condition":
            return result
        else:
            outcome = StageOutcome.FAIL
        return msgspec.structs.replace(result, outcome=outcome, word=str(outcome))

    def _leaves(
        self, node: PipelineNode, result: StageResult, chosen: int | None, context: dict[str, Any]
    ) -> EdgeChoice:
        """How the run leaves a node: as a person has chosen, else by the rules."""
        if node.handler == "exit":
            return EdgeChoice(None, "exit")
        if chosen is not None:
            return EdgeChoice(self._pipeline.edges[chosen], "answer")
        return choose_edge(
            self._edges.get(node.name, ()),
            _context_after(context, node.name, result),
            preferred_label=result.preferred_label,
            suggested_next=result.suggested_next,
        )

    def _after(self, checkpoint: Checkpoint, stage: Stage, lane: _Lane) -> Checkpoint:
        """The checkpoint after a stage that has ended, which is reported."""
        edge = self._edge(stage.edge)
        target = edge.target if edge is not None else ""
        if stage.handler == "exit" and (gate := failed_gate(self._pipeline, checkpoint.logs)):
            target = gate.target
        following = msgspec.structs.replace(
            checkpoint,
            timestamp=iso(self._clock()),
            current_node=stage.node,
            completed_nodes=[*checkpoint.completed_nodes, stage.node],
            node_retries=_retries_after(checkpoint.node_retries, stage),
            context=_context_after(checkpoint.context, stage.node, stage),
            logs=[*checkpoint.logs, _as_kept(stage)],
            next_node=target,
            next_edge=stage.edge,
        )
        lane.stages.append(stage)
        if not lane.branch:
            write_checkpoint(self._folder, following)
        self._services.watch(_done(stage, target))
        return following

    def _finish(self, checkpoint: Checkpoint) -> RunDone:
        """The end of a run that no stage follows."""
        last = checkpoint.logs[-1]
        if last.handler != "exit":
            state: RunState = "failed" if last.outcome is StageOutcome.FAIL else "stopped"
            return self._end(checkpoint, state, dead_end_message(last))
        gate = failed_gate(self._pipeline, checkpoint.logs[:-1])
        if gate is not None:
            return self._end(checkpoint, "failed", gate.sentence)
        return self._end(checkpoint, "done", f"Reached {last.node}.")

    def _end(self, checkpoint: Checkpoint, state: RunState, message: str) -> RunDone:
        return RunDone(
            checkpoint.run_id,
            state,
            message,
            len(checkpoint.logs),
            checkpoint.next_node or checkpoint.current_node,
            str(self._folder.path),
        )

    def _history(self, checkpoint: Checkpoint, lane: _Lane) -> RunHistory:
        retries = retries_of(checkpoint, self._pipeline)
        return RunHistory(checkpoint.run_id, tuple(lane.stages), checkpoint.context, retries)

    def _edge(self, index: int | None) -> PipelineEdge | None:
        return None if index is None else self._pipeline.edges[index]


def _end_of(last: Stage) -> str:
    """The outcome of a branch: a failure if no edge led on to the join."""
    return str(last.outcome) if last.edge is not None else str(StageOutcome.FAIL)


def _as_kept(stage: Stage) -> Stage:
    """A stage as a checkpoint keeps it, whose context has what the stage set there."""
    return msgspec.structs.replace(stage, context_updates={})


def _done(stage: Stage, target: str) -> StageDone:
    return StageDone(
        stage.step,
        stage.node,
        str(stage.outcome),
        stage.word,
        stage.notes,
        stage.duration_s,
        stage.attempts,
        target,
        stage.rule,
        stage.left_out_turns,
        stage.remark,
    )


def _context_after(
    context: dict[str, Any], node: str, ended: StageResult | Stage
) -> dict[str, Any]:
    return {
        **context,
        **ended.context_updates,
        "outcome": ended.word,
        "preferred_label": ended.preferred_label,
        "last_stage": node,
    }


def _previous(checkpoint: Checkpoint) -> StageResult | None:
    if not checkpoint.logs:
        return None
    last = checkpoint.logs[-1]
    return StageResult(last.outcome, last.word, last.preferred_label)


def _retries_after(retries: dict[str, int], stage: Stage) -> dict[str, int]:
    if stage.attempts == 1 and stage.node not in retries:
        return retries
    return {**retries, stage.node: stage.attempts - 1}


# Ends


_LAST_SHOWN = 6
_GOOD = (StageOutcome.SUCCESS, StageOutcome.PARTIAL_SUCCESS)


class FailedGate(NamedTuple):
    """A node with `goal_gate=true` that has run without success. `target` is where the run goes
    instead of ending, empty when no retry_target names a node.
    """

    target: str
    sentence: str


def failed_gate(pipeline: Pipeline, logs: Sequence[Stage]) -> FailedGate | None:
    """The first goal gate whose latest visit was not a success; it keeps a run from ending."""
    latest = {entry.node: entry for entry in logs}
    for name, entry in latest.items():
        attributes = pipeline.nodes[name].attributes
        if attributes.get("goal_gate", "").lower() != "true" or entry.outcome in _GOOD:
            continue
        for values in (attributes, pipeline.attributes):
            for key in ("retry_target", "fallback_retry_target"):
                if values.get(key, "") in pipeline.nodes:
                    return FailedGate(values[key], "")
        return FailedGate(
            "",
            f"The exit was reached, but the goal gate {name} had ended with {entry.word}, and no "
            "retry_target names a node to go to.",
        )
    return None


def limit_message(checkpoint: Checkpoint) -> str:
    """Why a run stops at the limit of stages."""
    stages = len(checkpoint.logs)
    names = checkpoint.completed_nodes[-_LAST_SHOWN:]
    return (
        f"Stopped after {stages:,} stages without reaching an exit; the last were "
        f"{' -> '.join(names)}. Allow more: reviewer pipeline resume {checkpoint.run_id} "
        f"--max-steps {stages * 2}"
    )


def dead_end_message(last: Stage) -> str:
    """Why a run ends at a node that is not an exit."""
    why = (
        "all of its edges have conditions, and none is true"
        if last.rule == "no condition holds"
        else "no edge leaves it"
    )
    return f"The run ended at {last.node} with {last.word}: {why}."


def waiting_message(question: StageQuestion, run_id: str) -> str:
    """Why a run waits."""
    labels = ", ".join(choice.label for choice in question.choices) or "any text"
    return (
        f"{question.node} waits for an answer ({labels}). Give it: reviewer pipeline resume "
        f"{run_id} --answer {question.node}=ANSWER"
    )


# Checks before a run, so that none stops halfway for a reason known from the start


_SHOWN = 5


_REFUSED = (
    "empty", "no-name", "no-start", "two-starts", "no-exit", "condition", "unsupported-handler",
    "parallel", "no-command",
)  # fmt: skip
"""Remarks of `lint.py` with which no run starts."""


def require_runnable(pipeline: Pipeline, *, allow_tools: bool) -> None:
    """Raise RunError, naming everything that keeps the pipeline from running."""
    refused = _REFUSED if allow_tools else (*_REFUSED, "shell")
    problems = [str(remark) for remark in pipeline.warnings if remark.rule in refused]
    if problems:
        more = f" And {len(problems) - _SHOWN:,} more." if len(problems) > _SHOWN else ""
        said = " ".join(problems[:_SHOWN]) + more
        raise RunError(f"The pipeline {pipeline.name} cannot run. {said}")


def require_plain_names(pipeline: Pipeline, context: Iterable[str]) -> None:
    """Raise RunError for a name with a secret in it: names of the pipeline, of its nodes and of
    values that are set become names of folders and keys, which cannot be masked.
    """
    for what, names in (
        ("pipeline", (pipeline.name,)),
        ("node", pipeline.nodes),
        ("value", context),
    ):
        for name in names:
            if (shown := masked(name)) != name:
                raise RunError(f"The name of the {what} {shown} has a secret in it. Rename it.")


def require_answers(pipeline: Pipeline, answers: Mapping[str, Sequence[str]]) -> None:
    """Raise RunError unless each node takes the answers given to it in advance."""
    for name, given in answers.items():
        node = pipeline.nodes.get(name)
        if node is None or node.handler != HUMAN:
            asking = [each.name for each in pipeline.nodes.values() if each.handler == HUMAN]
            raise RunError(
                f"{name} does not ask anything. Nodes that ask: {listed(asking) or 'none'}."
            )
        question = question_of(0, node, pipeline.edges_from(name), node.label)
        for answer in given:
            if matching_choice(question, answer) is None and not question.freeform:
                raise RunError(unknown_answer(question, answer))
