"""The hook events of each agent, and their timeouts. Hooks load this at every call."""

from reviewer.recall.event_kinds import ERROR, GUARD, PROMPT, START

CHILD = "REVIEWER_CHILD"
"""Set for agents that `reviewer` itself calls: their hooks do nothing."""

COMPACTION = "compaction"
END = "end"

EVENTS: dict[str, dict[str, str]] = {
    "claude-code": {
        "SessionStart": START, "PreCompact": COMPACTION, "SessionEnd": END,
        "UserPromptSubmit": PROMPT, "PostToolUseFailure": ERROR, "PostToolUse": ERROR,
        "PreToolUse": GUARD,
    },
    "codex": {
        "SessionStart": START, "SessionEnd": END,
        "UserPromptSubmit": PROMPT, "PostToolUse": ERROR, "PreToolUse": GUARD,
    },
    "gemini": {
        "SessionStart": START, "SessionEnd": END,
        "BeforeAgent": PROMPT, "AfterTool": ERROR, "BeforeTool": GUARD,
    },
    "opencode": {
        "start": START, "compact": COMPACTION, "end": END,
        "prompt": PROMPT, "failure": ERROR, "guard": GUARD,
    },
    "copilot": {
        "sessionStart": START, "sessionEnd": END,
        "userPromptSubmitted": PROMPT, "postToolUse": ERROR, "postToolUseFailure": ERROR,
        "preToolUse": GUARD,
    },
    "cursor": {"sessionStart": START, "sessionEnd": END},
}  # fmt: skip
"""Agent -> event -> kind."""

CALL_EVENTS = (PROMPT, ERROR, GUARD)
"""Answered by `call_hook`; the others by `hooks`."""

TIMEOUTS = {START: 5, COMPACTION: 9, END: 5, PROMPT: 2, ERROR: 2, GUARD: 2}
"""Seconds before a hook gives up. At a compaction the whole session is read, and the person waits
longer for the summary anyway."""
AGENT_TIMEOUTS = {START: 10, COMPACTION: 20, END: 10, PROMPT: 5, ERROR: 5, GUARD: 5}
"""Seconds that `connect` lets an agent wait for a hook."""


def is_call_event(agent: str, event: str) -> bool:
    return EVENTS.get(agent, {}).get(event) in CALL_EVENTS


def agent_timeout(agent: str, event: str) -> int:
    return AGENT_TIMEOUTS[EVENTS[agent][event]]
