"""Detects installed agents without starting them."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from reviewer.agents.agent_files import AgentFiles
from reviewer.agents.connections import Connection, Connections
from reviewer.agents.program import missing_mcp
from reviewer.agents.wiring import CONNECTABLE, FileKind, WiringScope
from reviewer.errors import ReviewerError
from reviewer.projects import tree_root
from reviewer.promotion.export.file_writer import read_file


class AgentRow(Struct, frozen=True, kw_only=True):
    """A row of the table of `reviewer connect`. Unknown fields are empty."""

    agent: str
    title: str
    program: str
    connected: tuple[str, ...]
    """`user`, `project FOLDER` or `memory FOLDER`."""
    last_packet: str
    last_read: str
    missing: tuple[str, ...]
    gets_nothing: str
    """Why sessions in this folder get no memories although it is connected."""
    never_run: bool
    """Whether our settings have never been tried with its program."""


def agent_rows(store: Path, why_nothing: Callable[[str | None], str]) -> list[AgentRow]:
    """All agents, with the connections of the project here and of all projects. `why_nothing`: see
    `Engine.why_agents_get_nothing`.

    Raises ReviewerError for a damaged record.
    """
    root, files = tree_root(), AgentFiles(store)
    here = [each for each in Connections(store).all() if each.is_for(root)]
    read: dict[str, str] = {}
    for note in files.sessions():
        if note.read_at and not note.problem:
            read[note.agent] = max(read.get(note.agent, ""), note.read_at)
    rows = []
    for name, kind in CONNECTABLE.items():
        own = [connection for connection in here if connection.agent == name]
        program = next(filter(None, map(shutil.which, kind.programs)), "")
        missing = [sentence for connection in own for sentence in connection.missing()]
        if own and not program:
            missing.append(f"{kind.programs[0]} is not on the PATH.")
        missing += [sentence for connection in own if (sentence := _unapproved(connection))]
        if any(each.command and not each.has_server for each in own) and not missing_mcp():
            missing.append("The MCP server is not in its settings: connect again to add it.")
        given = files.given(name)
        reasons = [why_nothing(each.named) for each in own if each.command]
        rows.append(
            AgentRow(
                agent=name,
                title=kind.title,
                program=program,
                connected=tuple(
                    "user" if each.scope is WiringScope.USER else f"{each.scope} {each.root}"
                    for each in own
                ),
                last_packet=given.at if given else "",
                last_read=read.get(name, ""),
                missing=tuple(missing),
                gets_nothing=reasons[0] if reasons and all(reasons) else "",
                never_run=kind.never_run,
            )
        )
    return rows


def _unapproved(connection: Connection) -> str:
    """A sentence if Codex has not approved the hooks, and therefore skips them."""
    if connection.agent != "codex":
        return ""
    hooks = next((file.path for file in connection.files if file.path.endswith("hooks.json")), "")
    config = next((file.path for file in connection.files if file.kind is FileKind.TOML), "")
    if not hooks or not config:
        return ""
    try:
        data = read_file(Path(config)) or b""
        state = tomllib.loads(data.decode()).get("hooks", {}).get("state", {})
    except (ReviewerError, ValueError, AttributeError):
        return ""  # a damaged file is already reported
    if any(str(key).startswith(f"{hooks}:") for key in state):
        return ""
    return "Codex skips its hooks until you approve them: start codex and open /hooks."
