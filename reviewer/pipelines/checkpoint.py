"""The checkpoint of a run: what a resume goes on from, and which shell commands it may run.

`checkpoint.json` is the whole checkpoint of the time when a run was started, resumed or ended.
While it runs, each stage appends a line to `checkpoint.log` with what it changed, so that a stage
costs the same however many came before it. A line that a crash has cut is not read.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from pathlib import Path
from secrets import token_hex
from shlex import quote
from typing import Any

import msgspec
from msgspec import Struct

from reviewer.pipelines.events import CheckpointError
from reviewer.pipelines.handlers import clean_text, command_of, shortened
from reviewer.pipelines.run_folder import (
    append_run_file,
    read_run_file,
    remove_run_file,
    write_run_file,
)
from reviewer.pipelines.values import (
    TOOL,
    Outcome,
    Pipeline,
    PipelineNode,
    RunHistory,
    Stage,
    ToolCall,
)
from reviewer.text.placeholder import MASK


class LogEntry(Struct, frozen=True, omit_defaults=True):
    """A stage that has ended. `thread` names its session, empty for one of its own; `degraded`: a
    resume had lost that session. `folder` is relative to the run's.
    """

    step: int
    node: str
    handler: str
    at: str
    outcome: Outcome
    word: str
    fidelity: str
    notes: str = ""
    thread: str = ""
    degraded: bool = False
    preferred_label: str = ""
    tools: tuple[ToolCall, ...] = ()
    duration_s: float = 0.0
    attempts: int = 1
    folder: str = ""
    edge: int | None = None
    rule: str = ""
    remark: str = ""


class ToolSeal(Struct, frozen=True):
    """The commands that a person has allowed: node -> HMAC-SHA-256 (hex) under a random salt."""

    salt: str
    digests: dict[str, str]


class Checkpoint(Struct, frozen=True):
    """Everything that a run needs to go on. `current_node` ended last; `next_node`, empty at the
    end of the run, is reached by the edge `next_edge`. `pipeline` is the fingerprint, `tools` the
    seal of the shell commands that were allowed (None: from a version that did not keep it).
    """

    run_id: str
    pipeline: str
    pipeline_name: str
    timestamp: str
    current_node: str
    completed_nodes: list[str]
    node_retries: dict[str, int]
    context: dict[str, Any]
    logs: list[LogEntry]
    next_node: str
    next_edge: int | None = None
    version: int = 1
    tools: ToolSeal | None = None

    @property
    def finished(self) -> bool:
        """Whether no stage follows."""
        return not self.next_node


class _Step(Struct, frozen=True, omit_defaults=True):
    """A line of the log: what changed in a checkpoint that had `after` stages."""

    after: int
    timestamp: str
    current_node: str
    next_node: str
    logs: list[LogEntry]
    next_edge: int | None = None
    context: dict[str, Any] = {}
    node_retries: dict[str, int] = {}


_encoder = msgspec.json.Encoder()
_steps = msgspec.json.Decoder(_Step)


def log_path(path: Path) -> Path:
    """The log of a checkpoint."""
    return path.with_suffix(".log")


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Replace the checkpoint and remove its log; a crash leaves the old one or the new one.

    Raises RunError when it cannot be written.
    """
    write_run_file(path, _encoder.encode(checkpoint))
    remove_run_file(log_path(path))


def append_checkpoint(path: Path, before: Checkpoint, after: Checkpoint) -> None:
    """Append to the log what changed since `before`, which is on the disk. Raises RunError."""
    step = _Step(
        len(before.logs),
        after.timestamp,
        after.current_node,
        after.next_node,
        after.logs[len(before.logs) :],
        after.next_edge,
        _changed(before.context, after.context),
        _changed(before.node_retries, after.node_retries),
    )
    # not synced: a resume takes over the stages whose status is newer than the log
    append_run_file(log_path(path), _encoder.encode(step) + b"\n")


_MISSING = object()


def _changed(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in after.items() if before.get(key, _MISSING) is not value}


def with_log(checkpoint: dict[str, Any], data: bytes) -> dict[str, Any]:
    """A checkpoint, as its JSON, with the stages of its log.

    Lines that the checkpoint contains already are skipped; a line that is cut or damaged, and
    what follows it, is left out.
    """
    logs, nodes = list(checkpoint["logs"]), list(checkpoint["completed_nodes"])
    merged = {**checkpoint, "logs": logs, "completed_nodes": nodes}
    merged["context"] = dict(checkpoint.get("context") or {})
    merged["node_retries"] = dict(checkpoint.get("node_retries") or {})
    for line in data.split(b"\n")[:-1]:
        try:
            step = _steps.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            break
        if step.after < len(logs):
            continue
        if step.after > len(logs):
            break
        logs += msgspec.to_builtins(step.logs)
        nodes += [entry.node for entry in step.logs]
        merged["context"].update(step.context)
        merged["node_retries"].update(step.node_retries)
        merged |= {
            "timestamp": step.timestamp,
            "current_node": step.current_node,
            "next_node": step.next_node,
            "next_edge": step.next_edge,
        }
    return merged


def read_checkpoint(path: Path) -> Checkpoint:
    """The checkpoint in a file. Raises CheckpointError when it is missing or damaged, RunError when
    its folder belongs to another user.
    """
    try:
        data, log = read_run_file(path), _read_log(path)
    except OSError as problem:
        raise CheckpointError(
            f"The checkpoint {path} cannot be read: {problem.strerror}."
        ) from problem
    try:
        found = msgspec.json.decode(data, type=Checkpoint)
        if log:
            found = msgspec.convert(with_log(msgspec.json.decode(data), log), Checkpoint)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise CheckpointError(
            f"The checkpoint {path} is cut or damaged ({problem}): the run cannot go on from it. "
            "Start again: reviewer pipeline run FILE"
        ) from problem
    if len(found.completed_nodes) != len(found.logs):
        raise CheckpointError(
            f"The checkpoint {path} is damaged: it names {len(found.completed_nodes)} completed "
            f"stages and has the logs of {len(found.logs)}. Start again: reviewer pipeline run FILE"
        )
    return found


def _read_log(path: Path) -> bytes:
    try:
        return read_run_file(log_path(path))
    except FileNotFoundError:
        return b""


def fingerprint(pipeline: Pipeline) -> str:
    """SHA-256 (hex) of a pipeline without its layout, comments and remarks.

    Secrets are masked first, because they are masked in the copy that a run keeps.
    """
    from reviewer.text.secrets import mask  # late: its patterns take a while

    nodes = [msgspec.structs.replace(node, line=0) for _, node in sorted(pipeline.nodes.items())]
    edges = [msgspec.structs.replace(edge, line=0) for edge in pipeline.edges]
    content = (
        pipeline.name,
        pipeline.goal,
        nodes,
        edges,
        pipeline.default_fidelity,
        pipeline.default_thread_id,
        pipeline.attributes,
    )
    text = msgspec.json.encode(content, order="deterministic").decode()
    return hashlib.sha256(mask(text).text.encode()).hexdigest()


def require_same_pipeline(checkpoint: Checkpoint, pipeline: Pipeline) -> None:
    """Raise CheckpointError unless the checkpoint was made with this pipeline."""
    if checkpoint.pipeline == fingerprint(pipeline):
        if checkpoint.next_node and checkpoint.next_node not in pipeline.nodes:
            raise CheckpointError(
                f"The checkpoint of run {checkpoint.run_id} goes on at {checkpoint.next_node}, "
                f"which the pipeline {pipeline.name} does not have."
            )
        if not _names_fit(checkpoint, pipeline):
            raise CheckpointError(
                f"The checkpoint of run {checkpoint.run_id} is damaged: it names stages or edges "
                f"that the pipeline {pipeline.name} does not have."
            )
        return
    if checkpoint.pipeline_name != pipeline.name:
        raise CheckpointError(
            f"The checkpoint belongs to another pipeline: run {checkpoint.run_id} is of "
            f"{checkpoint.pipeline_name}, the file has {pipeline.name}."
        )
    raise CheckpointError(
        f"The pipeline {pipeline.name} has changed since run {checkpoint.run_id} began. Go on with "
        f"the copy that it began with: reviewer pipeline resume {checkpoint.run_id}"
    )


def _names_fit(checkpoint: Checkpoint, pipeline: Pipeline) -> bool:
    edge, logs = checkpoint.next_edge, checkpoint.logs
    return (
        (edge is None or 0 <= edge < len(pipeline.edges))
        and all(entry.node in pipeline.nodes for entry in logs)
        and bool(logs or checkpoint.next_node)
    )


def history_of(checkpoint: Checkpoint, pipeline: Pipeline) -> RunHistory:
    """The run as preambles see it."""
    return RunHistory(
        checkpoint.run_id,
        tuple(map(stage_of_log, checkpoint.logs)),
        checkpoint.context,
        retries_of(checkpoint, pipeline),
    )


def stage_of_log(entry: LogEntry) -> Stage:
    """The stage of a log entry, as preambles see it."""
    return Stage(entry.node, entry.outcome, entry.notes, entry.tools, entry.duration_s)


def retries_of(checkpoint: Checkpoint, pipeline: Pipeline) -> dict[str, tuple[int, int]]:
    """Further attempts by node: how many there were, and how many are allowed."""
    return {
        name: (done, pipeline.nodes[name].max_retries if name in pipeline.nodes else done)
        for name, done in checkpoint.node_retries.items()
    }


# The seal of shell commands
#
# The fingerprint does not show that a command changed within a masked secret, since it is made of
# the masked text. A checkpoint therefore keeps a salted digest of each command as it was allowed.
#
# Whoever makes up a whole run folder can make up its digests too. They count only if the store has
# recorded the folder as that of the run; else the person confirms the commands again.


_SHOWN = 5
_COMMAND = 200
"""Characters of a command that a sentence shows."""


def tool_nodes(pipeline: Pipeline) -> list[PipelineNode]:
    """The nodes that run a shell command."""
    return [node for node in pipeline.nodes.values() if node.handler == TOOL and command_of(node)]


def seal_tools(pipeline: Pipeline) -> ToolSeal:
    """The seal of a pipeline's commands, secrets included."""
    salt = token_hex(32)
    return ToolSeal(salt, {node.name: _digest(salt, node) for node in tool_nodes(pipeline)})


def changed_tools(seal: ToolSeal | None, pipeline: Pipeline) -> list[PipelineNode]:
    """The nodes whose command is not the sealed one; all of them without a seal."""
    return [
        node
        for node in tool_nodes(pipeline)
        if seal is None or seal.digests.get(node.name) != _digest(seal.salt, node)
    ]


def changed_tools_message(
    changed: Sequence[PipelineNode], source: Path, place: Path, target: str
) -> str:
    """Asks a person to confirm commands. `source` is the file with their full text, `place` the
    folder they run in, `target` the argument of `pipeline resume`.
    """
    more = f"; and {len(changed) - _SHOWN} more" if len(changed) > _SHOWN else ""
    return (
        f"The run may not have been started with these shell commands, which run in {place}: "
        f"{'; '.join(map(_shown, changed[:_SHOWN]))}{more}. Read them in {source}, because a "
        f"masked part may have changed, then allow them: reviewer pipeline resume {quote(target)} "
        "--allow-tools --allow-changed-tools"
    )


def lost_secrets_message(changed: Sequence[PipelineNode], original: Path, target: str) -> str:
    """Why commands of the masked copy of the pipeline cannot run; empty when they can."""
    masked = [node.name for node in changed if MASK in command_of(node)]
    if not masked:
        return ""
    return (
        f"The shell command of {', '.join(masked[:_SHOWN])} has a secret in it, which the run's "
        f"own copy of the pipeline does not keep, and {original} has changed or gone since. Put "
        f"that file back as it was, then: reviewer pipeline resume {quote(target)} --allow-tools"
    )


def _digest(salt: str, node: PipelineNode) -> str:
    command = command_of(node).encode("utf-8", "surrogatepass")
    return hmac.digest(salt.encode("utf-8", "surrogatepass"), command, "sha256").hex()


def _shown(node: PipelineNode) -> str:
    command = " ".join(clean_text(command_of(node)).split())
    return f"{node.name} (line {node.line + 1}) runs {shortened(command, _COMMAND)}"
