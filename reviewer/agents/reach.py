"""Which agents get a promoted fact, and how."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from reviewer.agents.agent_files import AgentFiles
from reviewer.agents.connections import Connection, Connections
from reviewer.agents.memory_folders import INSTRUCTIONS
from reviewer.agents.recalled import packet_items
from reviewer.agents.wiring import AGENTS, FileKind, WiringScope
from reviewer.errors import ReviewerError
from reviewer.extraction.planted import is_planted
from reviewer.packets.values import PacketItem, State
from reviewer.promotion.export.file_writer import read_file

if TYPE_CHECKING:
    from reviewer.engine import Engine

_SHOWN = {
    State.FULL: "in full",
    State.SHORT: "shortened",
    State.TITLE: "as a title only",
    State.DROPPED: "not in it",
}


class Route(Struct, frozen=True, kw_only=True):
    """How an agent gets a fact, or why it does not."""

    agent: str
    title: str
    where: str
    """`packet`, `tools`, `memory folder`, `block`; empty if the agent is not connected."""
    gets: bool
    how: str
    """A sentence part, or a file's path."""


def reach(engine: Engine, number: int, *, root: Path | None) -> list[Route]:
    """The routes from a memory or entity to each agent. `root`: include this work tree's
    connections besides the user's.

    Raises UnknownIdError, and ReviewerError for one that is not promoted.
    """
    from reviewer.promotion.views import Status

    view = engine.queue.candidate(number)
    if view.status is not Status.ACTIVE:
        raise ReviewerError(f"#{number} is not promoted, so no agent gets it.")
    connections = Connections(engine.path.absolute(), clock=engine.clock).all()
    files = AgentFiles(engine.path.absolute())
    planted = is_planted(view.content, view.flags)
    now = engine.clock().astimezone()
    places = packet_items(engine, view.project, now=now)
    item = places.get(f"m:{number}")

    def ways_to(agent: str) -> Iterator[tuple[str, bool, str]]:
        own = [
            connection
            for connection in connections
            if connection.agent == agent
            and (connection.scope is WiringScope.USER or connection.root == str(root))
        ]
        if not own:
            yield "", False, "not connected"
        if any(each.scope is not WiringScope.MEMORY for each in own):
            yield "packet", *_in_packet(item, planted=planted)
            last = files.given(agent)
            if last is not None and last.project == view.project:
                had = _has(last.text, view.content)
                verb = "had it" if had else "did not have it"
                yield "last packet", had, f"{verb}, as it was sent at {last.at}"
            if planted:
                how = "it reads like an order planted for an agent, so the tools leave it out"
                yield "tools", False, how
            else:
                packet = "packet, " if item is not None else ""
                yield "tools", True, f"{packet}search, and read m:{number}"
        for each in own:
            yield from _in_files(each, view.content)

    return [
        Route(agent=agent, title=kind.title, where=where, gets=gets, how=how)
        for agent, kind in AGENTS.items()
        for where, gets, how in ways_to(agent)
    ]


def _in_packet(item: PacketItem | None, *, planted: bool) -> tuple[bool, str]:
    if item is None:
        order = "it reads like an order planted for an agent"
        return False, f"not in it: {order if planted else 'it is left out of packets'}"
    moment = "when a session starts, without a task"
    shown = _SHOWN[item.state]
    if item.state is State.DROPPED:
        return False, f"{moment}: {shown} ({item.reason})"
    why = "" if item.state is State.FULL else f" ({item.reason})"
    return True, f"{moment}: {shown}, under {item.section}{why}"


def _in_files(connection: Connection, content: str) -> list[tuple[str, bool, str]]:
    """The files of a connection with facts: kind, whether they have this one, path."""
    found = []
    for file in connection.files:
        memory = connection.scope is WiringScope.MEMORY and file.kind is FileKind.OWN
        if not memory and file.kind is not FileKind.BLOCK:
            continue
        if Path(file.path).name == INSTRUCTIONS:
            continue
        data = read_file(Path(file.path)) or b""
        has = _has(data.decode("utf-8", "replace"), content)
        how = f"{'in' if has else 'not in'} {file.path}"
        found.append(("memory folder" if memory else "block", has, how))
    return found


def _has(text: str, content: str) -> bool:
    """Whether a text contains a wording, whatever its line breaks."""
    return " ".join(content.split()) in " ".join(text.split())
