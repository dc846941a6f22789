"""Instructions that neither the person nor the agent gave: they stand in what a tool returned."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reviewer.extraction.flags import INJECTION, flags_of
from reviewer.proposing.values import LineRole, Proposal, Speaker, ViewLine
from reviewer.sources.records import Role

_ORDER = re.compile(
    r"(?:please |always |never |do not |don[’']t |make sure|be sure|ensure|remember"
    r"|note that you)|(?:add|answer|append|approve|avoid|build|call|change|commit|configure|copy"
    r"|create|curl|delete|deploy|disable|download|edit|email|enable|execute|export|fetch|follow"
    r"|forward|give|go|grant|ignore|include|insert|install|keep|leave|load|mail|merge|move|open"
    r"|paste|post|prefer|print|publish|push|put|read|remove|rename|replace|report|reply|require"
    r"|respond|run|save|say|send|set|share|skip|start|stop|store|submit|sudo|tell|treat|trust"
    r"|turn|update|upload|use|visit|write)"
    r" (?!is\b|are\b|was\b|has\b|of\b)",
    re.IGNORECASE,
)
"""How instructions open: in the imperative."""
_ORDERS = re.compile(
    r"\b(?:you|agents?|assistants?|claude|codex|gemini|copilot|models?|everyone|all (?:agents"
    r"|tools)) (?:\w+ )?(?:must|should|shall|need to|have to|has to|may not|are to)\b"
    r"|\b(?:must|should) (?:always|never|not)\b",
    re.IGNORECASE,
)


def order_in_data(proposal: Proposal, cited: Sequence[ViewLine]) -> str:
    """Where an instruction comes from, such as `WebFetch at line 120`; empty if from somebody.

    The person's own words are never suspected. What is quoted from tools alone must not tell
    anybody what to do, and an agent may have repeated words that were planted in what it read.
    """
    if not cited or any(line.speaker is Speaker.PERSON for line in cited):
        return ""
    texts = [proposal.statement, *(quote.text for quote in proposal.quotes)]
    planted = any(INJECTION in flags_of(text, Role.TOOL) for text in texts)
    told = _ORDER.match(proposal.statement) or _ORDERS.search(proposal.statement)
    if planted or (told and all(map(_is_data, cited))):
        return _origin(next((line for line in cited if _is_data(line)), cited[0]))
    return ""


def _is_data(line: ViewLine) -> bool:
    """Whether a line has words of neither the person nor the agent, but of what a tool returned."""
    return line.role in (LineRole.TOOL, LineRole.ERROR) or (
        line.role is LineRole.EVENT and line.speaker is Speaker.HARNESS
    )


def _origin(line: ViewLine) -> str:
    tool = _TOOL_NAME.match(line.text)
    named = tool[1] if tool and line.role in (LineRole.TOOL, LineRole.ERROR) else line.role.value
    return f"{named} at line {line.line}"


_TOOL_NAME = re.compile(r"([\w.-]{1,60})[:(]")
