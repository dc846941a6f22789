"""Session events: parsing a hook's payload, and the output for each agent."""

from __future__ import annotations

import json
import os
from pathlib import Path

from msgspec import Struct

from reviewer.agents.call_hook import first_text, formatted
from reviewer.agents.events import COMPACTION, EVENTS
from reviewer.errors import ReviewerError
from reviewer.text.for_agents import AgentText


class UnknownEventError(ReviewerError):
    """An unknown agent or event."""


class LifecycleEvent(Struct, frozen=True, kw_only=True):
    """A session event; fields that the agent does not send are empty.

    `source`: startup, resume, clear or compact.
    """

    agent: str
    name: str
    kind: str
    session: str = ""
    transcript: str = ""
    cwd: str = ""
    prompt: str = ""
    source: str = ""


def read_event(agent: str, event: str, data: bytes) -> LifecycleEvent:
    """Parse an agent's event. Raises UnknownEventError, and ReviewerError for invalid JSON."""
    if agent not in EVENTS:
        raise UnknownEventError(f"Unknown agent {agent}. Known agents: {', '.join(EVENTS)}.")
    if event not in EVENTS[agent]:
        known = ", ".join(EVENTS[agent])
        raise UnknownEventError(f"Unknown event {event} of {agent}. Known events: {known}.")
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise ReviewerError(f"{agent} sent invalid JSON on stdin.") from None
    if not isinstance(value, dict):
        raise ReviewerError(f"{agent} sent JSON on stdin that is not an object.")
    roots = value.get("workspace_roots")
    folder = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
    session = first_text(value, "session_id", "sessionId", "conversation_id", "sessionID")
    return LifecycleEvent(
        agent=agent,
        name=event,
        kind=EVENTS[agent][event],
        session=session,
        transcript=first_text(value, "transcript_path", "transcriptPath")
        or _transcript(agent, session),
        cwd=first_text(value, "cwd", "directory") or folder or os.getcwd(),
        prompt=first_text(value, "prompt", "initialPrompt"),
        source=first_text(value, "source"),
    )


def answer(event: LifecycleEvent, text: AgentText) -> str:
    """The output that gives a text to the agent's model."""
    if event.kind == COMPACTION and event.agent == "claude-code":
        return text  # it adds plain output to the compaction prompt
    return formatted(event.agent, event.name, text)


def _transcript(agent: str, session: str) -> str:
    """The transcript's usual path, for an agent that does not send it."""
    if agent == "copilot" and session and "/" not in session:
        home = Path(os.environ.get("COPILOT_HOME") or Path.home() / ".copilot")
        return str(home / "session-state" / session / "events.jsonl")
    return ""
