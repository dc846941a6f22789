"""Text that an agent is given, marked so that no transcript of it is learnt from again.

The readers of transcripts (`sources/claude_words.py`) count what stands between these tags as
injected memory.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from reviewer.text.for_agents import NOTHING, AgentText, between_tags, without_tags

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.packets.values import Packet, PacketItem

MOST_CHARACTERS = 9_000
"""What every agent takes whole from a hook: Claude Code and Codex cut texts over about 10,000."""

BYTES_PER_TOKEN = 4
"""Of the estimate, which needs no encoding to be loaded."""

CUT = "... (cut: the tool `packet` of the MCP server reviewer gives the rest)"

FRAME = len(between_tags(""))
"""Characters of the tags."""


def packet_within(
    engine: Engine, *, task: str, now: datetime, most: int = MOST_CHARACTERS
) -> AgentText:
    """The packet of the current project between the tags, in at most `most` characters.

    Empty where nothing is remembered. Rules come before everything else, and are cut at a line
    where they alone are too long. Raises StoreError.
    """
    made = _assembled(engine, engine.project, task, now, most)
    if not says_anything(made):
        return NOTHING
    text = between_tags(made.markdown)
    return text if len(text) <= most else _cut(made.markdown, most)


def packet_items(
    engine: Engine, project: str, *, now: datetime, most: int = MOST_CHARACTERS
) -> dict[str, PacketItem]:
    """What a packet of a project without a task shows of each fact, by its place. Raises
    StoreError.
    """
    made = _assembled(engine, project, "", now, most)
    return {item.place: item for item in made.items}


def _assembled(engine: Engine, project: str | None, task: str, now: datetime, most: int) -> Packet:
    from reviewer.packets.assembly import assemble_within
    from reviewer.packets.token_counts import ESTIMATE

    ready = engine.packets.prepare_own(project, task=task, now=now, counting=ESTIMATE)
    return assemble_within(ready, most // BYTES_PER_TOKEN, most - FRAME)


def says_anything(packet: Packet) -> bool:
    """Whether a packet has more than its instruction."""
    return any(item.shown for item in packet.items)


def _cut(markdown: AgentText, most: int) -> AgentText:
    """The first lines that fit between the tags, and a line about the rest."""
    room = most - FRAME - len(CUT) - 2
    kept: list[str] = []
    for line in without_tags(markdown).splitlines():
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return between_tags("\n".join([*kept, CUT]))
