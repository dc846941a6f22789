"""The needs of whoever continues a session, and whether a text covers them."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from msgspec import Struct

from reviewer.compression.session import SessionFacts
from reviewer.compression.values import LostKind
from reviewer.compression.words import terms

ENOUGH, FEWEST_TERMS, MAX_TERMS = 0.5, 2, 8
"""A need counts as covered with this share of its terms, limited to a minimum and a maximum
number."""
TOKENS_A_TERM = 8
"""One more term of each need is expected for so many tokens of the text."""
FIRST_FROM = 200
"""Minimum tokens of a text that is expected to contain the first request, too."""
LEAST = 0.34
"""Share below which a need is missing."""
MAX_FILES, MAX_INSTRUCTIONS = 12, 8


FIRST = "the first request"


class Need(Struct, frozen=True):
    """Something that a text about the session must contain. `kind`: as in `Lost`.

    `turn`: its source, -1 if computed.
    """

    kind: LostKind
    named: str
    """In words: `the request`."""
    text: str
    weight: float
    turn: int = -1


def needs_of(session: SessionFacts) -> Iterator[Need]:
    """The request, the person's refusals, the state of the work, and open points."""
    asked = session.requests
    if asked:
        yield Need("request", "the request", asked[-1].text, 3.0, asked[-1].turn)
    if asked[1:]:
        yield Need("request", FIRST, asked[0].text, 2.0, asked[0].turn)
    refused = [s for s in session.speeches if s.kind == "refusal" and not s.wordless]
    for speech in refused[-MAX_INSTRUCTIONS:]:
        yield Need("instruction", "what the person refused", speech.text, 1.0, speech.turn)
    state = session.state
    files = [posixpath.basename(each.path) for each in state.uncommitted]
    if files:
        listed = " ".join(files[-MAX_FILES:])
        yield Need("state", "the uncommitted files", listed, 2.0)
    for check in state.failing:
        if not check.stale:
            yield Need("state", "the failing check", check.command, 1.5)
    conflicts = [posixpath.basename(each.path) for each in state.conflicts if not each.touched]
    if conflicts:
        yield Need("state", "the files in conflict", " ".join(conflicts), 2.0)
    if state.waiting is not None and state.waiting.query:
        yield Need("next", "the question to the person", state.waiting.query, 1.5)
    if state.open_items:
        listed = " ".join(each.text for each in state.open_items)
        yield Need("next", "the open part of the plan", listed, 1.5)


class Carried(Struct, frozen=True):
    """The needs covered by a text."""

    share: float
    """Weight of the covered needs, out of all; 1 without needs."""
    missing: tuple[Need, ...]


def carried(needs: Sequence[Need], text: str, tokens: int) -> Carried:
    """How much of the needs a text of so many tokens covers."""
    said = terms(text)
    said |= {term.rpartition("/")[2] for term in said if "/" in term}
    most = max(FEWEST_TERMS, min(MAX_TERMS, tokens // TOKENS_A_TERM))
    total = gained = 0.0
    missing = []
    for need in needs:
        wanted = terms(need.text)
        if not wanted or (need.named == FIRST and tokens < FIRST_FROM):
            continue
        share = min(1.0, len(wanted & said) / min(ENOUGH * len(wanted), most))
        total += need.weight
        gained += need.weight * share
        if share < LEAST:
            missing.append(need)
    return Carried(gained / total if total else 1.0, tuple(missing))
