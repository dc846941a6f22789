"""Agents' sessions on this machine, counted, and how many of them were read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from msgspec import Struct

from reviewer.clock import iso
from reviewer.sources.discovery import SOON_DAYS, FoundSession

Stamps = Mapping[str, set[tuple[int, int]]]
"""Path -> the sizes and times of a file when it was read."""


class AgentSessions(Struct, frozen=True):
    """The sessions of one agent. Sub-agents' are included in the bytes, and counted separately."""

    agent: str
    format: str
    sessions: int
    bytes: int
    newest: str
    read: int
    """Sessions read and unchanged since."""
    expiring: int
    """Sessions that the agent will delete within 5 days."""
    subagents: int = 0
    """Sessions of sub-agents, which are read with the others."""


def is_read(session: FoundSession, stamps: Stamps) -> bool:
    """Whether a session was read since it last changed."""
    size, modified = session.stamp
    known = stamps.get(str(session.path), set())
    return (size, modified) in known or (bool(session.session) and (-2 - size, modified) in known)


def by_agent(found: Iterable[FoundSession], stamps: Stamps, now: datetime) -> list[AgentSessions]:
    """The sessions of each agent, most sessions first."""
    groups: dict[tuple[str, str], list[FoundSession]] = {}
    for each in found:
        groups.setdefault((each.agent, each.format), []).append(each)
    rows = []
    for (agent, format_), sessions in groups.items():
        own = [each for each in sessions if not each.subagent]
        newest = max(each.modified_ns for each in sessions)
        rows.append(
            AgentSessions(
                agent=agent,
                format=format_,
                sessions=len(own),
                bytes=sum(each.bytes for each in sessions),
                newest=iso(datetime.fromtimestamp(newest / 1e9, UTC)),
                read=sum(is_read(each, stamps) for each in own),
                expiring=sum(each.expires_within(SOON_DAYS, now.timestamp()) for each in own),
                subagents=len(sessions) - len(own),
            )
        )
    return sorted(rows, key=lambda row: (-row.sessions, row.agent))
