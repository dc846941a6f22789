"""What each agent tells its hooks on stdin, and how it wants to be answered on stdout."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any

from msgspec import Struct

from reviewer.agents import call_hook
from reviewer.errors import ReviewerError
from reviewer.text.for_agents import AgentText


class UnknownEventError(ReviewerError):
    """An agent or an event that means nothing here."""


class LifecycleMoment(Enum):
    """An event in a session."""

    START = "start"
    COMPACTION = "compaction"  # it is about to begin
    END = "end"


class LifecycleEvent(Struct, frozen=True, kw_only=True):
    """An event of a session. What an agent does not say is empty.

    `source`: why a session starts: startup, resume, clear, compact.
    """

    agent: str
    name: str
    moment: LifecycleMoment
    session: str = ""
    transcript: str = ""
    cwd: str = ""
    prompt: str = ""
    source: str = ""


_AROUND = {"SessionStart": LifecycleMoment.START, "SessionEnd": LifecycleMoment.END}
_CAMEL = {"sessionStart": LifecycleMoment.START, "sessionEnd": LifecycleMoment.END}

EVENTS: dict[str, dict[str, LifecycleMoment]] = {
    "claude-code": {**_AROUND, "PreCompact": LifecycleMoment.COMPACTION},
    "codex": _AROUND,
    "gemini": _AROUND,
    "opencode": {
        "start": LifecycleMoment.START,
        "compact": LifecycleMoment.COMPACTION,
        "end": LifecycleMoment.END,
    },
    "copilot": _CAMEL,
    "cursor": _CAMEL,
}
"""Agent -> the events around a session, by the agent's own names; those within are answered by
`call_hook`.
"""

COMPACTIONS = frozenset(
    name
    for events in EVENTS.values()
    for name, moment in events.items()
    if moment is LifecycleMoment.COMPACTION
)
"""The names of the event before a compaction."""


def read_event(agent: str, event: str, data: bytes) -> LifecycleEvent:
    """An event as an agent reports it. Raises UnknownEventError, and ReviewerError for text that is
    not JSON.
    """
    if agent not in EVENTS:
        raise UnknownEventError(f"{agent} is not an agent that is known here: {', '.join(EVENTS)}.")
    if event not in EVENTS[agent]:
        known = ", ".join((*EVENTS[agent], *call_hook.EVENTS.get(agent, ())))
        raise UnknownEventError(f"{event} of {agent} means nothing here; what does: {known}.")
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise ReviewerError(f"{agent} sent something on stdin that is not JSON.") from None
    if not isinstance(value, dict):
        raise ReviewerError(f"{agent} sent JSON on stdin that is not an object.")
    roots = value.get("workspace_roots")
    folder = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
    session = _text(value, "session_id", "sessionId", "conversation_id", "sessionID")
    return LifecycleEvent(
        agent=agent,
        name=event,
        moment=EVENTS[agent][event],
        session=session,
        transcript=_text(value, "transcript_path", "transcriptPath") or _transcript(agent, session),
        cwd=_text(value, "cwd", "directory") or folder or os.getcwd(),
        prompt=_text(value, "prompt", "initialPrompt"),
        source=_text(value, "source"),
    )


def answer(event: LifecycleEvent, text: AgentText) -> str:
    """The output by which the agent's model gets a text."""
    if event.agent in ("claude-code", "codex", "gemini"):
        if event.moment is LifecycleMoment.COMPACTION:
            return text  # Claude Code adds plain output to the prompt of the compaction
        return json.dumps(
            {"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": text}}
        )
    if event.agent == "cursor":
        return json.dumps({"additional_context": text})
    return json.dumps({"additionalContext": text})


def _text(value: Mapping[str, Any], *names: str) -> str:
    """The first of these fields that is a text."""
    for name in names:
        found = value.get(name)
        if isinstance(found, str) and found:
            return found
    return ""


def _transcript(agent: str, session: str) -> str:
    """Where an agent that does not say it keeps the transcript of a session."""
    if agent == "copilot" and session and "/" not in session:
        home = Path(os.environ.get("COPILOT_HOME") or Path.home() / ".copilot")
        return str(home / "session-state" / session / "events.jsonl")
    return ""
