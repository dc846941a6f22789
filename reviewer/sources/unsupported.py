"""Formats that are recognised but not read yet; an error names them."""

from __future__ import annotations

from collections.abc import Callable

from reviewer.sources.chat import has_role
from reviewer.sources.formats import Fields, Format, is_among

_CODEX_TYPES = frozenset(
    ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
)


def _has(*names: str) -> Callable[[Fields], bool]:
    return lambda record: all(name in record for name in names)


def _is_droid(record: Fields) -> bool:
    kind = record.get("type")
    return kind == "session_start" or ("session_id" in record and kind in ("message", "system"))


def _is_grok_export(document: Fields) -> bool:
    conversations = document.get("conversations")
    return "responses" in document or (
        isinstance(conversations, list)
        and any(isinstance(item, dict) and "responses" in item for item in conversations[:3])
    )


UNSUPPORTED = (
    Format(
        name="Codex CLI session",
        detect_record=lambda r: is_among(r.get("type"), _CODEX_TYPES) or "record_type" in r,
    ),
    Format(
        name="Qwen Code session",
        detect_record=lambda r: "uuid" in r and ("systemPayload" in r or "message" in r),
    ),
    Format(name="ChatGPT export", detect_document=_has("mapping")),
    Format(name="Claude.ai export", detect_document=_has("chat_messages")),
    Format(
        name="Gemini CLI session",
        detect_record=lambda r: (
            ("sessionId" in r and "projectHash" in r) or r.get("type") == "gemini" or "$set" in r
        ),
        detect_document=lambda d: "projectHash" in d or d.get("kind") in ("chat", "main"),
    ),
    Format(
        name="SWE-agent trajectory",
        detect_document=lambda d: "trajectory" in d or ("history" in d and "info" in d),
    ),
    Format(name="AI Studio export", detect_document=_has("chunkedPrompt")),
    Format(name="Claude web session", detect_document=_has("loglines")),
    Format(
        name="Antigravity session",
        detect_record=_has("step_index", "source"),
        detect_document=_has("cascadeId"),
    ),
    Format(
        name="ATIF trajectory",
        detect_document=lambda d: "steps" in d and ("agent" in d or "schema_version" in d),
    ),
    Format(name="OpenCode storage", detect_document=lambda d: "messageID" in d or "sessionID" in d),
    Format(
        name="Copilot session",
        detect_record=lambda r: "data" in r and "." in str(r.get("type")) and "id" in r,
    ),
    Format(name="Droid session", detect_record=_is_droid),
    Format(
        name="Pi or OpenClaw session",
        detect_record=lambda r: r.get("type") == "session" and "version" in r,
    ),
    Format(
        name="Kimi session", detect_record=lambda r: "protocol_version" in r or "systemPrompt" in r
    ),
    Format(name="ATOF trace", detect_record=_has("atof_version")),
    Format(name="beads issue log", detect_record=_has("issue_id", "kind")),
    Format(
        name="MCP memory",
        detect_record=lambda r: r.get("type") in ("entity", "relation") and "message" not in r,
    ),
    Format(
        name="Cursor session",
        detect_record=lambda r: has_role(r) and isinstance(r.get("message"), dict),
    ),
    Format(
        name="Grok session",
        detect_record=lambda r: r.get("type") in ("user", "system") and "content" in r,
    ),
    Format(name="Grok export", detect_document=_is_grok_export),
    Format(name="older Codex CLI session", detect_record=lambda r: has_role(r) and "message" in r),
)
