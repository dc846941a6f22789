"""The engine without a model."""

from __future__ import annotations

import re
from collections.abc import Callable

from reviewer.commits.values import Priority
from reviewer.compression.engine import EngineText, SummaryTask
from reviewer.compression.salient_terms import SourceTerms, Term
from reviewer.compression.values import Level, Segment
from reviewer.compression.words import terms
from reviewer.compression.writing import begun, write_session
from reviewer.text.clip import clip

SHOWN = 48
"""Characters of a result whose call is in an earlier segment."""

LONGEST_TAG, SHORTEST_TAG = 30, 4
CAPITAL, FILE, TOPIC, ASKED = 2.0, 1.5, 1.5, 2.5
"""Weights of a capitalised word, of a file, of a word that distinguishes the segment from the
others of its context, and of a word of the request."""
_NO_TAG = re.compile(r"[0-9a-f]{7,40}|\d.*")
"""Hashes and quantities."""


class OfflineEngine:
    """Deterministic. `count` counts tokens."""

    name = "offline"
    deterministic = True

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count

    def write(self, task: SummaryTask) -> EngineText:
        """The text, at most `max_tokens` long; anchors verbatim as far as they fit."""
        if task.max_tokens <= 0:
            return EngineText("", self.name)
        analysis, room = task.analysis, task.max_tokens
        session, title = analysis.session, ""
        first = analysis.segment.turns[0]
        if first.kind == "tool_result" and not (session.speeches or session.steps):
            name = first.name or "A call"  # which is in an earlier segment
            title = begun(f"{name} returned: {clip(first.text, SHOWN)}", room, self._count)
            room -= self._count(f"{title}\n")
        if task.level is Level.TAGS:  # the summarizer adds tags for the anchors
            terms = analysis.called_terms
            asked = session.requests[-1].text if session.requests else ""
            tags = tag_list(analysis.segment, terms, room, self._count, asked)
            text = ", ".join(filter(None, (title, *tags)))
        else:
            wanted = [anchor.content for anchor in task.anchors]
            turns = enumerate(analysis.segment.turns)
            cared_for = {at for at, turn in turns if turn.priority is Priority.IMPORTANT}
            part = analysis.segment.is_part
            text = write_session(session, room, self._count, wanted, cared_for, part=part)
            text = f"{title}\n{text}".strip()
        return EngineText(text, self.name)


def tag_list(
    segment: Segment,
    source: SourceTerms,
    room: int,
    count: Callable[[str], int],
    request: str = "",
) -> list[str]:
    """The tags in at most `room` tokens, most telling first. `request`: the latest one."""
    asked = terms(request)
    topic = frozenset(segment.topic.split())
    ranked: dict[str, tuple[float, str]] = {}
    for term in source.terms:
        word, weight = _tags_of(term, source, segment)
        if not SHORTEST_TAG <= len(word) <= LONGEST_TAG or _NO_TAG.fullmatch(word):
            continue
        weight *= TOPIC if word.lower() in topic else 1.0
        weight *= ASKED if word.lower() in asked else 1.0
        known = ranked.get(word.lower())
        if known is None or known[0] < weight:
            ranked[word.lower()] = (weight, word)
    tags: list[str] = []
    used = 0
    said: set[str] = set()
    for _, word in sorted(ranked.values(), key=lambda each: (-each[0], each[1])):
        cost = count(f", {word}")
        if used + cost > room:
            break
        if any(word.lower() in known or known in word.lower() for known in said):
            continue
        said.add(word.lower())
        tags.append(word)
        used += cost
    return tags


def _tags_of(term: Term, source: SourceTerms, segment: Segment) -> tuple[str, float]:
    """A term as a tag: a path as the name of its file, a word as spelled."""
    if term.kind == "identifier":
        name = term.text.rstrip("/").rpartition("/")[2]
        return name, term.weight * (FILE if "." in name else 1.0)
    start, _ = source.place(term)
    before = segment.turns[term.turn].text[max(start - 3, 0) : start].rstrip(" *_`\"'(")
    begins_sentence = not before or before[-1:] in ".!?:\n-"
    if term.text[:1].isupper() and not begins_sentence:
        return term.text, term.weight * CAPITAL
    return term.text.lower(), term.weight
