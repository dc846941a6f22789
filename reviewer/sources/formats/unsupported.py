"""Formats that are recognised but skipped, with the reason."""

from __future__ import annotations

from reviewer.sources.format import Format

UNSUPPORTED = (
    Format(
        name="claude-web",
        agent="Claude Code on the web",
        detect_document=lambda d: "loglines" in d,
        not_read="a web copy of a Claude Code session; reviewer reads the session's own file",
    ),
    Format(
        name="antigravity-summary",
        agent="Antigravity",
        detect_document=lambda d: "cascadeId" in d,
        not_read="a summary of an Antigravity session without its turns",
    ),
    Format(
        name="atof",
        agent="ATOF trace",
        detect_record=lambda r: "atof_version" in r,
        not_read="a call trace without conversation turns",
    ),
    Format(
        name="beads",
        agent="beads",
        detect_record=lambda r: "issue_id" in r and "kind" in r,
        not_read="an issue change log",
    ),
    Format(
        name="mcp-memory",
        agent="MCP memory",
        detect_record=lambda r: r.get("type") in ("entity", "relation") and "message" not in r,
        not_read="an entity graph without conversations",
    ),
)
