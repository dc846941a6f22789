"""Text for an agent, marked so that it is not learnt again from the transcript.

Transcript readers (`sources/claude_words.py`) treat the text between these tags as injected memory.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from reviewer.engine import Engine
from reviewer.packets.assembly import text_within
from reviewer.text.for_agents import (
    NOTHING,
    AgentText,
    enclosed,
    first_lines,
    joined,
)

MAX_CHARACTERS = 9_000
"""The longest text no agent cuts: Claude Code and Codex cut at about 10,000."""

START_TOKENS = 2_000
"""Budget of the packet at a session's start, estimated at four bytes a token, so that only rules
make it longer than MAX_CHARACTERS; a memory is worth more at its moment.
"""
CUT = AgentText("... (cut: the tool `packet` of the MCP server reviewer gives the rest)")

FRAME = len(enclosed(NOTHING))
"""Characters of the tags."""


class RecalledPacket(NamedTuple):
    """The packet between the tags; empty if nothing is remembered."""

    text: AgentText
    memories: tuple[int, ...] = ()


def packet_within(engine: Engine, *, task: str, now: datetime) -> RecalledPacket:
    """The packet of the current project between the tags, in at most MAX_CHARACTERS.

    Rules come first, and are cut at a line if too long by themselves. Raises StoreError.
    """
    ready = engine.packets.prepare_own(engine.project, task=task, now=now, estimated=True)
    made = text_within(ready, START_TOKENS)
    if not made.text:
        return RecalledPacket(NOTHING)
    text = enclosed(made.text)
    if len(text) > MAX_CHARACTERS:
        text = _cut(made.text)
    memories = tuple(int(place[2:]) for place in made.places if place.startswith("m:"))
    return RecalledPacket(text, memories)


def _cut(markdown: AgentText) -> AgentText:
    """The first lines that fit between the tags, and a line about the rest."""
    room = MAX_CHARACTERS - FRAME - len(CUT) - 2
    return enclosed(joined([first_lines(markdown, room), CUT]))
