"""Which agent or tool wrote a JSON object, told by its fields (`formats.md`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet

CLAUDE_CODE = "claude-code"
CHAT = "chat"

Fields = Mapping[str, object]

_CLAUDE_TYPES = {
    "user",
    "assistant",
    "system",
    "summary",
    "progress",
    "file-history-snapshot",
    "queue-operation",
    "attachment",
}
_CODEX_TYPES = {"session_meta", "response_item", "event_msg", "turn_context", "compacted"}
_ROLES = {
    "user",
    "assistant",
    "system",
    "developer",
    "tool",
    "function",
    "human",
    "gpt",
    "model",
    "chatgpt",
    "bing",
    "bard",
    "claude",
}


def _among(value: object, names: AbstractSet[str]) -> bool:
    """Whether a value of any JSON type is one of some names."""
    return isinstance(value, str) and value in names


def line_format(record: Fields) -> str | None:
    """The format that one line of a JSONL file belongs to, or None when it is unknown."""
    for name, fits in _LINES:
        if fits(record):
            return name
    return None


def document_format(document: object) -> str | None:
    """The format of a JSON document, or None. `document` needs two levels of decoded fields."""
    sample = document
    for _ in range(3):
        if isinstance(sample, list):
            sample = next((item for item in sample if isinstance(item, (dict, list))), None)
    if not isinstance(sample, dict):
        return None
    for name, fits in _DOCUMENTS:
        if fits(sample):
            return name
    return None


def is_message(record: Fields) -> bool:
    """Whether an object is one message of a chat-completions or ShareGPT conversation."""
    if _among(record.get("from"), _ROLES) and "value" in record:
        return True
    if not _plays(record):
        return False
    return "content" in record or "tool_calls" in record


def _plays(record: Fields) -> bool:
    return _among(record.get("role"), _ROLES)


def is_claude(record: Fields) -> bool:
    """Whether an object is a record of Claude Code; looks at names two levels down."""
    if not _among(record.get("type"), _CLAUDE_TYPES) or "systemPayload" in record:
        return False
    if record.get("type") == "summary":
        return "leafUuid" in record
    if record.get("type") in ("file-history-snapshot", "queue-operation"):
        return "snapshot" in record or "sessionId" in record
    message = record.get("message")
    if isinstance(message, dict) and "parts" in message:
        return False
    return "sessionId" in record and ("uuid" in record or "parentUuid" in record)


def _has_conversation(record: Fields) -> bool:
    for name in ("messages", "conversations", "traj"):
        value = record.get(name)
        if isinstance(value, list):
            messages = [item for item in value[:5] if isinstance(item, dict)]
            return any(is_message(item) or _has_conversation(item) for item in messages)
    return False


def _type_in(*names: str) -> Callable[[Fields], bool]:
    return lambda record: record.get("type") in names


def _has(*names: str) -> Callable[[Fields], bool]:
    return lambda record: all(name in record for name in names)


_LINES: tuple[tuple[str, Callable[[Fields], bool]], ...] = (
    (CLAUDE_CODE, is_claude),
    ("Codex CLI session", lambda r: _among(r.get("type"), _CODEX_TYPES) or "record_type" in r),
    ("Qwen Code session", lambda r: "uuid" in r and ("systemPayload" in r or "message" in r)),
    ("Gemini CLI session", _has("sessionId", "projectHash")),
    ("Gemini CLI session", lambda r: r.get("type") == "gemini" or "$set" in r),
    ("Antigravity session", _has("step_index", "source")),
    ("Copilot session", lambda r: "data" in r and "." in str(r.get("type")) and "id" in r),
    ("Droid session", _type_in("session_start")),
    ("Droid session", lambda r: "session_id" in r and _type_in("message", "system")(r)),
    ("Pi or OpenClaw session", lambda r: r.get("type") == "session" and "version" in r),
    ("Kimi session", lambda r: "protocol_version" in r or "systemPrompt" in r),
    ("ATOF trace", _has("atof_version")),
    ("beads issue log", _has("issue_id", "kind")),
    ("MCP memory", lambda r: r.get("type") in ("entity", "relation") and "message" not in r),
    (
        "Cursor session",
        lambda r: _among(r.get("role"), _ROLES) and isinstance(r.get("message"), dict),
    ),
    ("Grok session", lambda r: r.get("type") in ("user", "system") and "content" in r),
    ("older Codex CLI session", lambda r: _plays(r) and "message" in r),
    (CHAT, is_message),
    (CHAT, _has_conversation),
)

_DOCUMENTS: tuple[tuple[str, Callable[[Fields], bool]], ...] = (
    ("ChatGPT export", _has("mapping")),
    ("Claude.ai export", _has("chat_messages")),
    ("Gemini CLI session", lambda d: "projectHash" in d or d.get("kind") in ("chat", "main")),
    ("SWE-agent trajectory", _has("trajectory")),
    ("SWE-agent trajectory", lambda d: "history" in d and "info" in d),
    ("AI Studio export", _has("chunkedPrompt")),
    ("Claude web session", _has("loglines")),
    ("Antigravity session", _has("cascadeId")),
    ("ATIF trajectory", lambda d: "steps" in d and ("agent" in d or "schema_version" in d)),
    ("OpenCode storage", lambda d: "messageID" in d or "sessionID" in d),
    ("Grok export", lambda d: "responses" in d or _grok_export(d)),
    (CHAT, is_message),
    (CHAT, _has_conversation),
)


def _grok_export(document: Fields) -> bool:
    conversations = document.get("conversations")
    return isinstance(conversations, list) and any(
        isinstance(item, dict) and "responses" in item for item in conversations[:3]
    )
