"""Notices that a run would go on with other shell commands than those it was started with.

The fingerprint of a pipeline cannot: it is made of the masked text, so that a command may change
inside of a masked secret without changing it. A checkpoint therefore keeps a salted digest of each
command as it was allowed.

Whoever makes up a whole run folder can make up its digests, too. They count only where the store
knows the folder as that of the run; in any other case the person confirms the commands again.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from pathlib import Path
from secrets import token_hex
from shlex import quote

from msgspec import Struct

from reviewer.pipelines.handlers import TOOL, command_of, shortened, taken_in
from reviewer.pipelines.values import Pipeline, PipelineNode

_MASK = "[masked "
_SHOWN = 5
_COMMAND = 200
"""Characters of a command that a sentence shows."""


class ToolSeal(Struct, frozen=True):
    """The commands that a person has allowed: node -> HMAC-SHA-256 (hex) under a random salt."""

    salt: str
    digests: dict[str, str]


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


def changed_sentence(
    changed: Sequence[PipelineNode], source: Path, place: Path, target: str
) -> str:
    """Asks a person to confirm commands. `source` is the file that has them unmasked, `place` where
    they run, `target` what was to be resumed.
    """
    more = f"; and {len(changed) - _SHOWN} more" if len(changed) > _SHOWN else ""
    return (
        f"The run may not have been started with these shell commands, which run in {place}: "
        f"{'; '.join(map(_shown, changed[:_SHOWN]))}{more}. Read them in {source}, because what is "
        f"masked here may have changed, then allow them: reviewer pipeline resume {quote(target)} "
        "--allow-tools --allow-changed-tools"
    )


def lost_secrets_sentence(changed: Sequence[PipelineNode], original: Path, target: str) -> str:
    """Why commands of the run's masked copy of its pipeline cannot run; empty when they can."""
    masked = [node.name for node in changed if _MASK in command_of(node)]
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
    command = " ".join(taken_in(command_of(node)).split())
    return f"{node.name} (line {node.line + 1}) runs {shortened(command, _COMMAND)}"
