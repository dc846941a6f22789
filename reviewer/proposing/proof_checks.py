"""Whether a statement stands alone, where an instruction came from, and which later lines may take
the statement back. Each check is a pure function.

Quotes are checked in `proof.py`, names and numbers in `statement_facts.py`, and whether a statement
is known already in `promotion/rows/known_facts.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from operator import itemgetter

from reviewer.extraction.candidates import MemoryType
from reviewer.extraction.flags import INJECTION, flags_of
from reviewer.proposing.proof_index import NAME, ProofIndex
from reviewer.proposing.values import LineRole, Proposal, Proposer, Quote, ViewLine
from reviewer.sources.events import Speaker
from reviewer.sources.records import Role
from reviewer.text.identifiers import IdentifierKind, identifiers


def why_not_alone(statement: str) -> str:
    """Why a statement is no whole sentence; empty if it may be. Its words are the reader's task."""
    text = statement.strip().strip("*_")
    if not re.search(r"[^\W\d_]{2}", text):
        return "it has no words"
    if text.endswith("?"):
        return "it is a question"
    if text.endswith(":"):
        return "it ends in a colon"
    if text.endswith((",", "…", "...", " -", "–", "—")):
        return "it is cut off"
    return ""


# Instructions that neither the person nor the agent gave: they come from the result of a tool.

_WORDED_BY_MODELS = (Proposer.MODEL, Proposer.COMMAND, Proposer.MCP)


def instruction_origin(proposal: Proposal, cited_lines: Sequence[ViewLine]) -> str:
    """Where an instruction came from, such as `WebFetch at line 120`; empty if the person or the
    agent gave it.

    The person's own words are never suspected, unless a model worded the statement: it may cite
    them for what it obeyed, and they may be pasted. What only tools said is no wish of the person.
    An agent may have repeated words that were planted in what it read.
    """
    own = any(line.speaker is Speaker.PERSON for line in cited_lines)
    if not cited_lines or (own and proposal.proposer not in _WORDED_BY_MODELS):
        return ""
    texts = [proposal.statement, *(quote.text for quote in proposal.quotes)]
    planted = any(INJECTION in flags_of(text, Role.TOOL) for text in texts)
    wish = proposal.type in (MemoryType.ADAPTATION, MemoryType.PREFERENCE)
    if planted or (wish and all(map(_is_data, cited_lines))):
        return _origin(next((line for line in cited_lines if _is_data(line)), cited_lines[0]))
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


# What is said later about the same thing.

MAX_LATER = 3
"""At most this many lines are shown."""
SAID = 1_000
"""Characters of a message of the person that is more than words about the last turn."""
RARE = 25
"""An identifier in more view lines than this does not tell what a later line is about."""


def later(statement: str, cited_at: Sequence[int], index: ProofIndex) -> tuple[Quote, ...]:
    """What was said after the cited lines about the same names, which may take the statement back:
    refused calls and what the person said first, then where the agent names all of them; of each
    the last. A long message is a task or a paste, which mentions much and takes nothing back.

    `cited_at` are positions in the view, in order. Whether it does take it back, only a reader can
    tell.
    """
    if not cited_at:
        return ()
    names = _rare_names(statement, index)
    counts = Counter(at for name in names for at in index.mentions[name] if at > cited_at[-1])
    found: list[tuple[bool, int, Quote]] = []
    for position, shared in counts.items():
        line = index.lines[position]
        said = line.speaker is Speaker.PERSON and len(line.text) <= SAID
        person = line.role is LineRole.REJECTED or said
        if person or (line.role is LineRole.ASSISTANT and shared == len(names)):
            found.append((not person, -position, Quote(line.line, _around(line.text, names))))
    return tuple(quote for _, _, quote in sorted(found, key=itemgetter(0, 1))[:MAX_LATER])


def _rare_names(statement: str, index: ProofIndex) -> set[str]:
    """The words of the statement's identifiers that few lines of the session have."""
    names: set[str] = set()
    for one in identifiers(statement):
        if one.kind is not IdentifierKind.QUANTITY:
            names.update(word for word in NAME.findall(one.text.lower()) if len(word) > 3)
    return {name for name in names if 0 < len(index.mentions.get(name, ())) <= RARE}


def _around(text: str, names: set[str]) -> str:
    """The part of a text that has one of the names."""
    lower = text.lower()
    at = min((at for name in names if (at := lower.find(name)) >= 0), default=0)
    start = max(text.rfind("\n", 0, at), text.rfind(". ", 0, at), at - 200) + 1
    return text[max(start, 0) :].strip()[:300].strip()
