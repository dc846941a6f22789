"""Walks a pipeline, stage by stage, with a checkpoint after each (context-fidelity.md, "Engine").

A stage's prompt, answer and status are on the disk before the checkpoint says that it has ended.
Whenever the program dies, a resume therefore finds either the stage with its status, which it
takes over, or no status, and then the stage is done again: none is lost and none counts twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from reviewer.clock import Clock, iso
from reviewer.pipelines.checkpoint import Checkpoint, LogEntry, write_checkpoint
from reviewer.pipelines.edge_choice import Choice, choose_edge
from reviewer.pipelines.handlers import Hands, StageInput, is_model_stage
from reviewer.pipelines.outcomes import StageResult
from reviewer.pipelines.resolve import fidelity_on_resume, resolve_fidelity, resolve_thread_id
from reviewer.pipelines.run_errors import RunError, StageFailedError, StoppedError, WaitingError
from reviewer.pipelines.run_events import RunDone, RunState, StageDone, StageStarted
from reviewer.pipelines.run_files import RunFolder, StageStatus, stage_folder_name
from reviewer.pipelines.runner_attempts import Pace, carry_out
from reviewer.pipelines.runner_ends import (
    failed_gate,
    loop_sentence,
    no_way_on_sentence,
    waiting_sentence,
)
from reviewer.pipelines.sessions import Session, Sessions
from reviewer.pipelines.values import Outcome, Pipeline, PipelineEdge, PipelineNode

BuildPreamble = Callable[[str, Pipeline, Checkpoint, str], str]
"""Mode, pipeline, the run so far, the node about to run -> the text a fresh session begins with."""


class _Way(NamedTuple):
    """How a stage is entered. `thread` is empty unless its session is or was a shared one."""

    node: PipelineNode
    fidelity: str
    thread: str
    degraded: bool


class Course(Struct, frozen=True):
    """What a run needs besides the pipeline: where it is kept, what times it, how far it may go."""

    folder: RunFolder
    hands: Hands
    build_preamble: BuildPreamble
    clock: Clock
    pace: Pace
    max_steps: int


class Runner:
    """One run of a pipeline in this process, with its thread sessions."""

    def __init__(self, pipeline: Pipeline, course: Course) -> None:
        self._pipeline = pipeline
        self._course = course
        self._hands = course.hands
        self.sessions = Sessions()
        self._edges: dict[str, tuple[PipelineEdge, ...]] = {}
        for edge in pipeline.edges:
            self._edges[edge.source] = (*self._edges.get(edge.source, ()), edge)

    def run(self, checkpoint: Checkpoint, *, resumed: bool) -> RunDone:
        """Walk on from a checkpoint until the exit, or until something stops the run.

        `resumed`: sessions of threads are lost, so that the first stage that would go on with one
        gets `summary:high` instead, once.
        """
        may_degrade = resumed
        while not checkpoint.finished:
            if self._hands.cancelled():
                return self._end(checkpoint, "cancelled", "Cancelled.")
            if len(checkpoint.logs) >= self._course.max_steps:
                return self._end(checkpoint, "stopped", loop_sentence(checkpoint))
            way = self._way(checkpoint, may_degrade=may_degrade)
            may_degrade = may_degrade and not way.degraded
            try:
                status = self._stage(checkpoint, way)
                checkpoint = self._after(checkpoint, status)
            except StoppedError:
                return self._end(checkpoint, "cancelled", f"Cancelled in {way.node.name}.")
            except WaitingError as waiting:
                if self._hands.cancelled():
                    return self._end(checkpoint, "cancelled", f"Cancelled in {way.node.name}.")
                sentence = waiting_sentence(waiting.question, checkpoint.run_id)
                return self._end(checkpoint, "waiting", sentence)
            except (StageFailedError, RunError) as problem:
                return self._end(checkpoint, "failed", f"{way.node.name}: {problem}")
        return self._finish(checkpoint)

    def _way(self, checkpoint: Checkpoint, *, may_degrade: bool) -> _Way:
        node = self._pipeline.nodes[checkpoint.next_node]
        edge = self._edge(checkpoint.next_edge)
        resolved = resolve_fidelity(edge, node, self._pipeline)
        if resolved != "full" or not is_model_stage(node):
            return _Way(node, resolved, "", degraded=False)
        thread = resolve_thread_id(edge, node, self._pipeline, checkpoint.current_node)
        fidelity = fidelity_on_resume(resolved, may_degrade)
        return _Way(node, fidelity, thread, degraded=fidelity != resolved)

    def _stage(self, checkpoint: Checkpoint, way: _Way) -> StageStatus:
        """Carry out the next stage, or take over the one that ended before its checkpoint."""
        node, step = way.node, len(checkpoint.logs) + 1
        self._hands.watch(
            StageStarted(step, node.name, node.handler, way.fidelity, way.thread, way.degraded)
        )
        known = self._course.folder.finished(node.name, step)
        if known is not None:
            leaving = [edge.index for edge in self._edges.get(node.name, ())]
            if known.edge is not None and known.edge not in leaving:
                raise RunError("Its status.json is damaged: it leaves by an edge of another node.")
            return known
        shared = bool(way.thread) and not way.degraded
        preamble = ""
        if is_model_stage(node) and not shared:
            preamble = self._course.build_preamble(
                way.fidelity, self._pipeline, checkpoint, node.name
            )
        stage = StageInput(
            step,
            node,
            self._edges.get(node.name, ()),
            self._goal(checkpoint.context),
            checkpoint.context,
            self.sessions.get_or_create(way.thread, node.llm_model)
            if shared
            else Session("", node.llm_model or ""),
            preamble,
            _previous(checkpoint),
        )
        begun = self._course.pace.seconds()
        done = carry_out(stage, self._hands, self._course.pace)
        output, folder = done.output, self._course.folder
        if way.thread:
            # A degraded stage begins the lost session anew, with the summary that it was given.
            session = self.sessions.get_or_create(way.thread, node.llm_model)
            session.append(output.prompt, output.response)
        folder.keep_text(node.name, step, "prompt.md", output.prompt)
        folder.keep_text(node.name, step, "response.md", output.response)
        status = StageStatus(
            step=step,
            node=node.name,
            handler=node.handler,
            result=self._settled(node, output.result, checkpoint),
            at=iso(self._course.clock()),
            fidelity=way.fidelity,
            thread=way.thread,
            degraded=way.degraded,
            attempts=len(done.errors) + 1,
            errors=done.errors,
            duration_s=round(self._course.pace.seconds() - begun, 3),
            model=output.model,
            prompt_tokens=output.prompt_tokens,
            completion_tokens=output.completion_tokens,
            finish=output.finish,
            left_out_turns=output.left_out_turns,
            left_out_tokens=output.left_out_tokens,
            tools=output.tools,
            edge=output.edge,
        )
        folder.keep_status(status)
        return status

    def _goal(self, context: dict[str, Any]) -> str:
        """The graph's goal, or the run's where the graph leaves it open (`goal="$goal"`)."""
        goal, given = self._pipeline.goal, context.get("goal")
        open_ = not goal.strip() or goal.strip().startswith("$")
        return given if open_ and isinstance(given, str) else goal

    def _settled(
        self, node: PipelineNode, result: StageResult, checkpoint: Checkpoint
    ) -> StageResult:
        """What `retry` comes to when no attempt is left: a partial success where the node allows
        it, itself where an edge asks for it, else a failure.
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
        """The checkpoint that says that a stage has ended, written, and told to who watches."""
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
            timestamp=iso(self._course.clock()),
            current_node=node.name,
            completed_nodes=[*checkpoint.completed_nodes, node.name],
            node_retries=_retries_after(checkpoint.node_retries, status),
            context=context,
            logs=[*checkpoint.logs, entry],
            next_node=target,
            next_edge=entry.edge,
        )
        write_checkpoint(self._course.folder.checkpoint, following)
        self._hands.watch(
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
        """How a run ended after which no stage follows."""
        last = checkpoint.logs[-1]
        if last.handler != "exit":
            state: RunState = "failed" if last.outcome is Outcome.FAIL else "stopped"
            return self._end(checkpoint, state, no_way_on_sentence(last))
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
            str(self._course.folder.path),
        )

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
