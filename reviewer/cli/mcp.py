"""`reviewer mcp`: the server for agents, over stdio."""

from __future__ import annotations

import re

import click

from reviewer.cli.inputs import option
from reviewer.cli.session import Session, Verb, pass_session

_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,39}")


@click.command(cls=Verb, example="mcp --agent claude-code")
@option("--agent NAME", "The proposer's name (default: the client's own name).", default="")
@pass_session
def mcp(session: Session, agent: str) -> None:
    """Agents start this, as set up by `reviewer connect AGENT`. The project is that of the git work
    tree in which it is started, or of --project. Nothing here promotes, edits or rejects.
    """
    session.refuse_all_projects()
    if agent and not _NAME.fullmatch(agent):
        raise click.UsageError("--agent is a name of lower-case letters, digits, dots and hyphens")
    from reviewer.agents.agent_tools import AgentTools
    from reviewer.agents.mcp_server import serve

    tools = AgentTools(session.store_path(), project=session.project, agent=agent or "agent")
    serve(tools, agent_given=bool(agent))
