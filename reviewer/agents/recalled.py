"""Text that an agent is given, marked so that no transcript of it is learnt from again.

The readers of transcripts (`sources/claude_words.py`) count what stands between these tags as
injected memory.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.packets.prepared import Prepared
    from reviewer.packets.values import Packet, PacketItem

OPENING = '<recalled-memory source="reviewer">'
CLOSING = "</recalled-memory>"

MOST_CHARACTERS = 9_000
"""What every agent takes whole from a hook: Claude Code and Codex cut texts over about 10,000."""

BYTES_PER_TOKEN = 4
"""Of the estimate, which needs no encoding to be loaded."""

CUT = "... (cut: the tool `packet` of the MCP server reviewer gives the rest)"

_TAG = re.compile(r"<(?=/?recalled-memory)", re.IGNORECASE)


def wrapped(text: str) -> str:
    """A text between the tags; tags inside it are made harmless."""
    return f"{OPENING}\n{harmless(text).strip()}\n{CLOSING}"


def harmless(text: str) -> str:
    """A text that cannot end the tags around it."""
    return _TAG.sub("&lt;", text)


class Recalled(NamedTuple):
    """A packet between the tags; empty where nothing is remembered."""

    text: str
    ready: Prepared
    """What it was made of: `save_counts` spares the next one most of the work."""


def packet_within(
    engine: Engine, *, task: str, now: datetime, most: int = MOST_CHARACTERS
) -> Recalled:
    """The packet of the current project between the tags, in at most `most` characters.

    Rules come before everything else, and are cut at a line where they alone are too long. Raises
    StoreError.
    """
    ready = _prepared(engine, engine.project, task, now)
    made = _assembled(ready, most)
    if not says_anything(made):
        return Recalled("", ready)
    text = wrapped(made.markdown)
    return Recalled(text if len(text) <= most else _cut(made.markdown, most), ready)


def packet_items(
    engine: Engine, project: str, *, now: datetime, most: int = MOST_CHARACTERS
) -> dict[str, PacketItem]:
    """What a packet of a project without a task shows of each fact, by its place. Raises
    StoreError.
    """
    made = _assembled(_prepared(engine, project, "", now), most)
    return {item.place: item for item in made.items}


def _prepared(engine: Engine, project: str | None, task: str, now: datetime) -> Prepared:
    from reviewer.packets.token_counts import ESTIMATE

    return engine.packets.prepare_own(project, task=task, now=now, counting=ESTIMATE)


def _assembled(ready: Prepared, most: int) -> Packet:
    from reviewer.packets.assembly import assemble_within

    return assemble_within(ready, most // BYTES_PER_TOKEN, most - len(wrapped("")))


def says_anything(packet: Packet) -> bool:
    """Whether a packet has more than its instruction."""
    return any(item.shown for item in packet.items)


def _cut(markdown: str, most: int) -> str:
    """The first lines that fit between the tags, and a line about the rest."""
    room = most - len(wrapped("")) - len(CUT) - 2
    kept: list[str] = []
    for line in harmless(markdown).splitlines():
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return wrapped("\n".join([*kept, CUT]))
