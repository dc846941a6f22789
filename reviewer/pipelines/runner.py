"""Runs a pipeline stage by stage.

A stage's prompt, answer and status are on the disk before the next stage begins, and a checkpoint
follows. If the program dies, a resume takes over every stage that has a status and repeats the one
that has none: no stage is lost, none counts twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from reviewer.clock import Clock, iso
from reviewer.pipelines.checkpoint import (
    Checkpoint,
    LogEntry,
    retries_of,
    stage_of_log,
    tool_nodes,
    write_checkpoint,
)
from reviewer.pipelines.conditions import Choice, ConditionError, choose_edge, parse_condition
from reviewer.pipelines.events import (
    Question,
    RunDone,
    RunError,
    RunState,
    StageDone,
    StageFailedError,
    StageStarted,
    StoppedError,
    WaitingError,
)
from reviewer.pipelines.handlers import (
    StageInput,
    StageServices,
    Timing,
    command_of,
    is_model_stage,
    matching_choice,
    question_of,
    run_with_retries,
    unknown_answer,
)
from reviewer.pipelines.outcomes import StageResult
from reviewer.pipelines.preamble import build_preamble, masked
from reviewer.pipelines.resolve import fidelity_on_resume, resolve_fidelity, resolve_thread_id
from reviewer.pipelines.run_folder import RunFolder, StageStatus, stage_folder_name
from reviewer.pipelines.sessions import Session, Sessions
from reviewer.pipelines.values import (
    HUMAN,
    SUPPORTED,
    TOOL,
    Outcome,
    Pipeline,
    PipelineEdge,
    PipelineNode,
    RunHistory,
    Stage,
)
from reviewer.pipelines.walk import exit_nodes, outgoing, start_nodes

_CHECKPOINT_SHARE = 32
"""A checkpoint is due once a run has grown by 1/32, so that all of them together take linear time.
Until 64 stages that is after each stage.
"""


class _Entry(NamedTuple):
    """How a stage is entered. `thread` is empty unless its session is, or was, shared."""

    node: PipelineNode
    fidelity: str
    thread: str
    degraded: bool


class Runner:
    """One run of a pipeline in this process, with its thread sessions."""

    def __init__(
        self,
        pipeline: Pipeline,
        folder: RunFolder,
        services: StageServices,
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
        self._stages: list[Stage] = []
        self._written = 0
        """Stages in the checkpoint on the disk."""

    def run(self, checkpoint: Checkpoint, *, resumed: bool) -> RunDone:
        """Go on from a checkpoint, which is on the disk, until the exit or a reason to stop.

        `resumed`: the sessions of threads are lost, so that the first stage that would continue
        one gets `summary:high` instead, once.
        """
        may_degrade = resumed
        self._written = len(checkpoint.logs)
        self._stages = [stage_of_log(entry) for entry in checkpoint.logs]
        while not checkpoint.finished:
            if self._services.cancelled():
                return self._end(checkpoint, "cancelled", "Cancelled.")
            if len(checkpoint.logs) >= self._max_steps:
                return self._end(checkpoint, "stopped", limit_message(checkpoint))
            node = self._pipeline.nodes[checkpoint.next_node]
            try:
                status = self._taken_over(checkpoint, node)
                if status is None:
                    entry = self._entry(checkpoint, node, may_degrade=may_degrade)
                    may_degrade = may_degrade and not entry.degraded
                    status = self._stage(checkpoint, entry)
                checkpoint = self._after(checkpoint, status)
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

    def _taken_over(self, checkpoint: Checkpoint, node: PipelineNode) -> StageStatus | None:
        """The next stage if it ended before the program died, without a checkpoint to say so."""
        step = len(checkpoint.logs) + 1
        status = self._folder.status_of(node.name, step)
        if status is None:
            return None
        leaving = [edge.index for edge in self._edges.get(node.name, ())]
        if status.edge is not None and status.edge not in leaving:
            raise RunError("Its status.json is damaged: it leaves by an edge of another node.")
        self._services.watch(
            StageStarted(
                step, node.name, node.handler, status.fidelity, status.thread, status.degraded
            )
        )
        return status

    def _entry(self, checkpoint: Checkpoint, node: PipelineNode, *, may_degrade: bool) -> _Entry:
        edge = self._edge(checkpoint.next_edge)
        resolved = resolve_fidelity(edge, node, self._pipeline)
        if resolved != "full" or not is_model_stage(node):
            return _Entry(node, resolved, "", degraded=False)
        thread = resolve_thread_id(edge, node, self._pipeline, checkpoint.current_node)
        fidelity = fidelity_on_resume(resolved, may_degrade)
        return _Entry(node, fidelity, thread, degraded=fidelity != resolved)

    def _stage(self, checkpoint: Checkpoint, entry: _Entry) -> StageStatus:
        """Run the next stage and write its files."""
        node, step = entry.node, len(checkpoint.logs) + 1
        self._services.watch(
            StageStarted(
                step, node.name, node.handler, entry.fidelity, entry.thread, entry.degraded
            )
        )
        shared = bool(entry.thread) and not entry.degraded
        preamble = ""
        if is_model_stage(node) and not shared:
            history = self._history(checkpoint)
            preamble = build_preamble(entry.fidelity, self._pipeline, history, node.name).text
        stage = StageInput(
            step,
            node,
            self._edges.get(node.name, ()),
            self._goal(checkpoint.context),
            checkpoint.context,
            self._sessions.get_or_create(entry.thread, node.llm_model)
            if shared
            else Session("", node.llm_model or ""),
            preamble,
            _previous(checkpoint),
        )
        begun = self._timing.seconds()
        done = run_with_retries(stage, self._services, self._timing)
        output, folder = done.output, self._folder
        if entry.thread:
            # A degraded stage starts the lost session again, with the summary that it was given.
            session = self._sessions.get_or_create(entry.thread, node.llm_model)
            session.append(output.prompt, output.response)
        folder.write_stage_text(node.name, step, "prompt.md", output.prompt)
        folder.write_stage_text(node.name, step, "response.md", output.response)
        status = StageStatus(
            step=step,
            node=node.name,
            handler=node.handler,
            result=self._settled(node, output.result, checkpoint),
            at=iso(self._clock()),
            fidelity=entry.fidelity,
            thread=entry.thread,
            degraded=entry.degraded,
            attempts=len(done.errors) + 1,
            errors=done.errors,
            duration_s=round(self._timing.seconds() - begun, 3),
            model=output.model,
            prompt_tokens=output.prompt_tokens,
            completion_tokens=output.completion_tokens,
            finish=output.finish,
            left_out_turns=output.left_out_turns,
            left_out_tokens=output.left_out_tokens,
            tools=output.tools,
            edge=output.edge,
        )
        folder.write_status(status)
        return status

    def _goal(self, context: dict[str, Any]) -> str:
        """The graph's goal, or the run's where the graph leaves it open (`goal="$goal"`)."""
        goal, given = self._pipeline.goal, context.get("goal")
        open_ = not goal.strip() or goal.strip().startswith("$")
        return given if open_ and isinstance(given, str) else goal

    def _settled(
        self, node: PipelineNode, result: StageResult, checkpoint: Checkpoint
    ) -> StageResult:
        """The outcome that replaces `retry` when no attempt is left: a partial success where the
        node allows it, itself where an edge asks for it, else a failure.
        """
        if result.outcome is not Outcome.RETRY:
            return result
        if node.attributes.get("allow_partial", "").lower() == "true":
            outcome = Outcome.PARTIAL_SUCCESS
        elif self._choice(node.name, result, checkpoint.context).rule == "condition":
            return result
        else:
            outcome = Outcome.FAIL
        return msgspec.structs.replace(result, outcome=outcome, word=str(outcome))

    def _after(self, checkpoint: Checkpoint, status: StageStatus) -> Checkpoint:
        """The checkpoint after a stage that has ended; written when due, and reported."""
        node, result = self._pipeline.nodes[status.node], status.result
        context = _context_after(checkpoint.context, node.name, result)
        if node.handler == "exit":
            gate = failed_gate(self._pipeline, checkpoint.logs)
            choice = Choice(None, "exit")
            target = gate.target if gate is not None else ""
        else:
            chosen = self._edge(status.edge)
            choice = (
                Choice(chosen, "answer")
                if chosen is not None
                else self._choice(node.name, result, checkpoint.context)
            )
            target = choice.edge.target if choice.edge is not None else ""
        entry = LogEntry(
            step=status.step,
            node=node.name,
            handler=node.handler,
            at=status.at,
            outcome=result.outcome,
            word=result.word,
            fidelity=status.fidelity,
            notes=result.notes,
            thread=status.thread,
            degraded=status.degraded,
            preferred_label=result.preferred_label,
            tools=status.tools,
            duration_s=status.duration_s,
            attempts=status.attempts,
            folder=stage_folder_name(node.name, status.step),
            edge=choice.edge.index if choice.edge is not None else None,
            rule=choice.rule,
            remark=result.remark,
        )
        following = msgspec.structs.replace(
            checkpoint,
            timestamp=iso(self._clock()),
            current_node=node.name,
            completed_nodes=[*checkpoint.completed_nodes, node.name],
            node_retries=_retries_after(checkpoint.node_retries, status),
            context=context,
            logs=[*checkpoint.logs, entry],
            next_node=target,
            next_edge=entry.edge,
        )
        self._stages.append(stage_of_log(entry))
        stages = len(following.logs)
        if stages - self._written >= max(stages // _CHECKPOINT_SHARE, 1):
            self._write(following)
        self._services.watch(
            StageDone(
                status.step,
                node.name,
                str(result.outcome),
                result.word,
                result.notes,
                status.duration_s,
                status.attempts,
                target,
                choice.rule,
                status.left_out_turns,
                result.remark,
            )
        )
        return following

    def _choice(self, node: str, result: StageResult, context: dict[str, Any]) -> Choice:
        return choose_edge(
            self._edges.get(node, ()),
            _context_after(context, node, result),
            preferred_label=result.preferred_label,
            suggested_next=result.suggested_next,
        )

    def _finish(self, checkpoint: Checkpoint) -> RunDone:
        """The end of a run that no stage follows."""
        last = checkpoint.logs[-1]
        if last.handler != "exit":
            state: RunState = "failed" if last.outcome is Outcome.FAIL else "stopped"
            return self._end(checkpoint, state, dead_end_message(last))
        gate = failed_gate(self._pipeline, checkpoint.logs[:-1])
        if gate is not None:
            return self._end(checkpoint, "failed", gate.sentence)
        return self._end(checkpoint, "done", f"Reached {last.node}.")

    def _end(self, checkpoint: Checkpoint, state: RunState, message: str) -> RunDone:
        if len(checkpoint.logs) > self._written:
            try:
                self._write(checkpoint)
            except RunError as problem:  # a resume still finds the status of each stage
                state = "failed"
                message = message if str(problem) in message else f"{message} {problem}"
        return RunDone(
            checkpoint.run_id,
            state,
            message,
            len(checkpoint.logs),
            checkpoint.next_node or checkpoint.current_node,
            str(self._folder.path),
        )

    def _write(self, checkpoint: Checkpoint) -> None:
        write_checkpoint(self._folder.checkpoint, checkpoint)
        self._written = len(checkpoint.logs)

    def _history(self, checkpoint: Checkpoint) -> RunHistory:
        retries = retries_of(checkpoint, self._pipeline)
        return RunHistory(checkpoint.run_id, tuple(self._stages), checkpoint.context, retries)

    def _edge(self, index: int | None) -> PipelineEdge | None:
        return None if index is None else self._pipeline.edges[index]


def _context_after(context: dict[str, Any], node: str, result: StageResult) -> dict[str, Any]:
    return {
        **context,
        **result.context_updates,
        "outcome": result.word,
        "preferred_label": result.preferred_label,
        "last_stage": node,
    }


def _previous(checkpoint: Checkpoint) -> StageResult | None:
    if not checkpoint.logs:
        return None
    last = checkpoint.logs[-1]
    return StageResult(last.outcome, last.word, last.preferred_label)


def _retries_after(retries: dict[str, int], status: StageStatus) -> dict[str, int]:
    if status.attempts == 1 and status.node not in retries:
        return retries
    return {**retries, status.node: status.attempts - 1}


# Ends


_LAST_SHOWN = 6
_GOOD = (Outcome.SUCCESS, Outcome.PARTIAL_SUCCESS)


class FailedGate(NamedTuple):
    """A node with `goal_gate=true` that has run without success. `target` is where the run goes
    instead of ending, empty when no retry_target names a node.
    """

    target: str
    sentence: str


def failed_gate(pipeline: Pipeline, logs: Sequence[LogEntry]) -> FailedGate | None:
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


def dead_end_message(last: LogEntry) -> str:
    """Why a run ends at a node that is not an exit."""
    why = (
        "all of its edges have conditions, and none is true"
        if last.rule == "no condition holds"
        else "no edge leaves it"
    )
    return f"The run ended at {last.node} with {last.word}: {why}."


def waiting_message(question: Question, run_id: str) -> str:
    """Why a run waits."""
    labels = ", ".join(choice.label for choice in question.choices) or "any text"
    return (
        f"{question.node} waits for an answer ({labels}). Give it: reviewer pipeline resume "
        f"{run_id} --answer {question.node}=ANSWER"
    )


# Checks before a run, so that none stops halfway for a reason known from the start


_SHOWN = 5


def require_runnable(pipeline: Pipeline, *, allow_tools: bool) -> None:
    """Raise RunError, naming everything that keeps the pipeline from running."""
    problems = [
        *_ends(pipeline),
        *_edges(pipeline),
        *_handlers(pipeline),
        *([] if allow_tools else _tools(pipeline)),
    ]
    if problems:
        raise RunError(f"The pipeline {pipeline.name} cannot run. " + " ".join(problems))


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


def start_of(pipeline: Pipeline) -> str:
    """The node that a run begins with. Raises RunError unless there is exactly one, and an exit."""
    problems = _ends(pipeline)
    if problems:
        raise RunError(" ".join(problems))
    return start_nodes(pipeline)[0]


def _ends(pipeline: Pipeline) -> list[str]:
    starts, exits = start_nodes(pipeline), exit_nodes(pipeline)
    problems = []
    if "" in pipeline.nodes:
        problems.append(f'A node is named "" (line {pipeline.nodes[""].line + 1}): give it a name.')
    if not starts:
        problems.append("It has no start: give one node shape=Mdiamond.")
    elif len(starts) > 1:
        problems.append(f"It has {len(starts)} starts ({listed(starts)}); keep one.")
    if not exits:
        problems.append("It has no exit: give one node shape=Msquare.")
    return problems


def _edges(pipeline: Pipeline) -> list[str]:
    problems = []
    nowhere = [
        f"{edge.source} -> {edge.target}"
        for edge in pipeline.edges
        if edge.target not in pipeline.nodes or edge.source not in pipeline.nodes
    ]
    if nowhere:
        problems.append(f"Edges lead to nodes that are not there: {listed(nowhere)}.")
    for edge in pipeline.edges:
        try:
            parse_condition(edge.condition)
        except ConditionError as problem:
            problems.append(f"{edge.source} -> {edge.target} (line {edge.line + 1}): {problem}")
            if len(problems) > _SHOWN:
                break
    return problems


def _handlers(pipeline: Pipeline) -> list[str]:
    unsupported = [
        f"{node.name} ({node.handler})"
        for node in pipeline.nodes.values()
        if node.handler not in SUPPORTED
    ]
    idle = [
        node.name
        for node in pipeline.nodes.values()
        if node.handler == TOOL and not command_of(node)
    ]
    problems = []
    if unsupported:
        problems.append(f"The handlers of these nodes are not supported: {listed(unsupported)}.")
    if idle:
        problems.append(f"These nodes have no tool_command to run: {listed(idle)}.")
    return problems


def _tools(pipeline: Pipeline) -> list[str]:
    tools = [node.name for node in tool_nodes(pipeline)]
    if not tools:
        return []
    return [
        f"These nodes run shell commands: {listed(tools)}. Read the commands, then allow them "
        "with --allow-tools."
    ]


def listed(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
