"""Whether a statement is self-contained, the origin of an instruction, and later lines that may
retract the statement. Each check is a pure function.

Quotes are checked in `proof.py`, names and numbers in `statement_facts.py`, already known in
`promotion/rows/known_facts.py`.
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
    """Why a statement is not a complete sentence; empty if it may be one. Only its form is checked:
    its words are left to the reader.
    """
    text = statement.strip().strip("*_")
    if not re.search(r"[^\W\d_]{2}", text):
        return "it has no words"
    if text.endswith("?"):
        return "it is a question"
    if text.endswith(":"):
        return "what follows its colon is missing"
    if text.endswith((",", "…", "...", " -", "–", "—")):
        return "it is cut off"
    return ""


# Instructions that came from a tool result, not from the person or the agent.

_WORDED_BY_MODELS = (Proposer.MODEL, Proposer.COMMAND, Proposer.MCP)


def instruction_origin(proposal: Proposal, cited_lines: Sequence[ViewLine]) -> str:
    """Where an instruction came from, such as `WebFetch at line 120`; empty if from the person or
    the agent.

    The person's own words are never suspect, unless a model worded the statement: it may cite them
    for an instruction it obeyed, or they may be pasted. An instruction found only in tool output is
    not the person's wish. An agent may have repeated instructions planted in its input.
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
    """Whether a line is tool output instead of words of the person or the agent."""
    return line.role in (LineRole.TOOL, LineRole.ERROR) or (
        line.role is LineRole.EVENT and line.speaker is Speaker.HARNESS
    )


def _origin(line: ViewLine) -> str:
    tool = _TOOL_NAME.match(line.text)
    named = tool[1] if tool and line.role in (LineRole.TOOL, LineRole.ERROR) else line.role.value
    return f"{named} at line {line.line}"


_TOOL_NAME = re.compile(r"([\w.-]{1,60})[:(]")


# Later lines about the same subject.

MAX_LATER = 3
"""Maximum lines shown."""
LONGEST_COMMENT = 1_000
"""A longer message of the person is not just a comment on the last turn."""
RARE = 25
"""An identifier in more view lines than this does not identify a subject."""


def later(statement: str, cited_at: Sequence[int], index: ProofIndex) -> tuple[Quote, ...]:
    """Later lines about the same names that may retract the statement: first refused calls and the
    person's messages, then agent messages with all of the names; the latest of each. Long messages
    are tasks or pastes, which mention much and retract nothing.

    `cited_at` are view positions, in order. Whether a line does retract the statement is for the
    reader to decide.
    """
    if not cited_at:
        return ()
    names = _rare_names(statement, index)
    counts = Counter(at for name in names for at in index.mentions[name] if at > cited_at[-1])
    found: list[tuple[bool, int, Quote]] = []
    for position, shared in counts.items():
        line = index.lines[position]
        comment = line.speaker is Speaker.PERSON and len(line.text) <= LONGEST_COMMENT
        person = line.role is LineRole.REJECTED or comment
        if person or (line.role is LineRole.ASSISTANT and shared == len(names)):
            found.append((not person, -position, Quote(line.line, _around(line.text, names))))
    return tuple(quote for _, _, quote in sorted(found, key=itemgetter(0, 1))[:MAX_LATER])


def _rare_names(statement: str, index: ProofIndex) -> set[str]:
    """The words in the statement's identifiers that are rare in the session."""
    names: set[str] = set()
    for one in identifiers(statement):
        if one.kind is not IdentifierKind.QUANTITY:
            names.update(word for word in NAME.findall(one.text.lower()) if len(word) > 3)
    return {name for name in names if 0 < len(index.mentions.get(name, ())) <= RARE}


def _around(text: str, names: set[str]) -> str:
    """The part of a text around one of the names."""
    lower = text.lower()
    at = min((at for name in names if (at := lower.find(name)) >= 0), default=0)
    start = max(text.rfind("\n", 0, at), text.rfind(". ", 0, at), at - 200) + 1
    return text[max(start, 0) :].strip()[:300].strip()
