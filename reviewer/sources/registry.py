"""The registry of formats. To add one, write a module in `formats/` and add its `Format` to
`FORMATS`.
"""

from __future__ import annotations

from reviewer.sources import notes
from reviewer.sources.format import Format
from reviewer.sources.formats import (
    ai_studio,
    aider,
    amp,
    antigravity,
    chat,
    chatgpt,
    claude_ai,
    claude_code,
    claude_stream,
    cline,
    codex,
    codex_app_server,
    continue_dev,
    copilot,
    crush,
    cursor,
    cursor_store,
    droid,
    gemini,
    goose,
    grok,
    hermes,
    kimi,
    opencode,
    pi,
    qwen,
    specstory,
    trajectories,
    vscode_chat,
)

FORMATS: tuple[Format, ...] = (
    claude_code.FORMAT,
    codex.FORMAT,
    opencode.FORMAT,
    gemini.FORMAT,
    copilot.FORMAT,
    vscode_chat.FORMAT,
    cursor.AGENT,
    cursor.EDITOR,
    cursor_store.FORMAT,
    claude_stream.FORMAT,
    chatgpt.FORMAT,
    claude_ai.FORMAT,
    qwen.FORMAT,
    kimi.FORMAT,
    pi.FORMAT,
    droid.FORMAT,
    crush.FORMAT,
    hermes.FORMAT,
    goose.FORMAT,
    amp.FORMAT,
    cline.FORMAT,
    continue_dev.FORMAT,
    antigravity.FORMAT,
    codex_app_server.FORMAT,
    trajectories.OPENHANDS,
    trajectories.ATIF,
    trajectories.MINI_SWE_AGENT,
    trajectories.SWE_AGENT,
    ai_studio.FORMAT,
    grok.EXPORT,
    chat.FORMAT,
    grok.SESSION,
    specstory.FORMAT,
    aider.FORMAT,
    notes.FORMAT,
)
"""Every format, in the order of the tests; the first match wins. In a file with one JSON object
per line, the format of most objects wins."""
