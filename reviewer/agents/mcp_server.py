"""The MCP server over stdio. Answers are plain text: some agents would show a structured result
as one line of JSON.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, ParamSpec

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from reviewer import __version__
from reviewer.agents.agent_tools import MAX_QUOTES, AgentQuote, AgentTools
from reviewer.agents.events import EVENTS
from reviewer.errors import ReviewerError
from reviewer.extraction.candidates import MemoryType
from reviewer.text.for_agents import AgentText, joined, sentence

INSTRUCTIONS = (
    "The memories of this project that a person approved. Call `packet` with the task before you "
    "begin, `search` when you are unsure of a rule or decision. When the person corrects you, "
    "states a rule or a decision, or a trap cost you time, `propose` it: one self-contained "
    "sentence, with the words of the session or file that prove it; `dispute` a wrong memory. "
    "A person decides; proposals are not remembered before that."
)
"""At most 500 characters: sent with every request."""

PROPOSE = (
    "Look back over this session, without reading anything again: what did the person correct, "
    "decide or lay down as a rule, and what trap cost calls?",
    "Propose each with the tool `propose` of reviewer: one self-contained sentence, with the exact "
    "words of the person or of the results that prove it as quotes.",
    "Propose at most five, nothing that the project's files already say, and nothing about the "
    "state of the work. Then list your proposals in one line.",
)

WRONG = (
    "A memory that you were given is wrong: find its id, such as m:12, in this session or with the "
    "tool `search` of reviewer.",
    "Call the tool `dispute` with it and the reason. Go on without that memory, and say in one "
    "line which one it was.",
)

READ = ToolAnnotations(read_only_hint=True, open_world_hint=False, idempotent_hint=True)
WRITE = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, open_world_hint=False, idempotent_hint=True
)

P = ParamSpec("P")

_ODD = re.compile(r"[^a-z0-9.-]+")


def serve(tools: AgentTools, *, agent_given: bool) -> None:
    """Serve on stdin and stdout until the client leaves.

    Without `agent_given`, the agent's name is taken from the client.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(_OneLine())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])  # the SDK's default is Rich's
    server(tools, agent_given=agent_given).run()


class _OneLine(logging.Formatter):
    """Logs a message without its traceback."""

    def format(self, record: logging.LogRecord) -> str:
        return " ".join(record.getMessage().split())


def server(tools: AgentTools, *, agent_given: bool = True) -> MCPServer[Any]:
    """The MCP server for these tools, for any transport."""
    made: MCPServer[Any] = MCPServer(
        "reviewer", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING"
    )

    def recognise(ctx: Context[Any, Any]) -> None:
        if not agent_given:
            tools.agent = client_agent(ctx)

    for title, tool in (
        ("Packet for a task", tools.packet),
        ("Search memories", tools.search),
        ("Read a memory", tools.read),
        ("Hand-over of a session", tools.brief),
    ):
        made.add_tool(_answering(tool), title=title, annotations=READ, structured_output=False)

    @made.tool(title="Propose a memory", annotations=WRITE, structured_output=False)
    def propose(
        ctx: Context[Any, Any],
        statement: Annotated[
            str, Field(description="One self-contained sentence of 8 to 280 characters.")
        ],
        quotes: Annotated[
            list[AgentQuote],
            Field(description="The passages that prove it.", min_length=1, max_length=MAX_QUOTES),
        ],
        type: Annotated[str, Field(description=" | ".join(MemoryType))] = "",  # noqa: A002
    ) -> str:
        """Propose something worth remembering. A person decides on it later.

        Names, numbers and quoted words of the statement have to be in the quotes or beside them.
        """
        recognise(ctx)
        return _answering(tools.propose)(statement, type, quotes)

    @made.tool(title="Dispute a memory", annotations=WRITE, structured_output=False)
    def dispute(
        ctx: Context[Any, Any],
        id: Annotated[str, Field(description="The memory: m:12.")],  # noqa: A002
        reason: Annotated[str, Field(description="The error in it, and how you know.")],
    ) -> str:
        """Say that a memory is wrong. It is held back until a person has decided on it."""
        recognise(ctx)
        return _answering(tools.dispute)(id, reason)

    @made.prompt("propose", title="Propose what this session showed")
    def propose_from_session(what: str = "") -> str:
        """Propose what this session showed: the person decides later."""
        return joined(map(sentence, (*PROPOSE, *_about(what))))

    @made.prompt(title="Say that a memory is wrong")
    def wrong(what: str = "") -> str:
        """Dispute a memory: it is held back until a person has decided on it."""
        return joined(map(sentence, (*WRONG, *_about(what))))

    return made


def client_agent(ctx: Context[Any, Any]) -> str:
    """The agent behind a client, by the client's name."""
    params = ctx.session.client_params
    name = _ODD.sub("-", params.client_info.name.lower()).strip("-") if params else ""
    return next((agent for agent in EVENTS if agent in name), name[:40] or "agent")


def _about(what: str) -> list[str]:
    return [f"It is about this: {what}"] if what.strip() else []


def _answering(tool: Callable[P, AgentText]) -> Callable[P, str]:
    """A tool whose problems are sentences for the agent."""

    @wraps(tool)
    def answer(*arguments: P.args, **named: P.kwargs) -> str:
        try:
            return tool(*arguments, **named)
        except ReviewerError as problem:
            raise ToolError(sentence(str(problem))) from problem

    return answer
