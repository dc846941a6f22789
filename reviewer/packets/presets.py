"""What agents take of a text that a hook hands them at the start of a session."""

from __future__ import annotations

from msgspec import Struct


class Preset(Struct, frozen=True):
    """Limits below the size at which an agent cuts a text or puts it into a file."""

    chars: int
    tokens: int


PRESETS = {
    "claude-code": Preset(9_500, 8_000),  # more than 10,000 characters become a file
    "codex": Preset(9_500, 2_400),  # more than about 2,500 tokens become a file
    "copilot": Preset(15_000, 8_000),  # the most that was seen uncut
    "cursor": Preset(9_500, 8_000),  # up to 10,000 characters are inline
    "gemini": Preset(30_000, 8_000),  # the most that was seen uncut
}
"""By the name of the agent."""
