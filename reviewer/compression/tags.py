"""The tags of a segment: its names and nouns, those that it uses most against its context."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from reviewer.compression.salient_terms import SourceTerms, Term
from reviewer.compression.values import Segment
from reviewer.compression.words import terms
from reviewer.text.identifiers import IdentifierKind, identifiers

LONGEST, SHORTEST = 30, 3
CAPITAL, FILE, TOPIC, ASKED = 2.0, 1.5, 1.5, 2.5
"""Worth of a word that is written with a capital, of a file, of a word that sets the segment apart
from the others of its context, and of a word of the request."""
_NO_TAGS = frozenset({IdentifierKind.QUANTITY, IdentifierKind.URL, IdentifierKind.HASH})


def tag_list(
    segment: Segment,
    source: SourceTerms,
    room: int,
    count: Callable[[str], int],
    request: str = "",
) -> list[str]:
    """The tags in at most `room` tokens, the most telling first. `request`: what was asked last."""
    asked = terms(request)
    topic = frozenset(segment.topic.split())
    ranked: dict[str, tuple[float, str]] = {}
    for term in source.terms:
        for word, weight in _tags_of(term, segment):
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


def _tags_of(term: Term, segment: Segment) -> Iterator[tuple[str, float]]:
    """A term as tags: a path as the name of its file, a word as it is written."""
    if term.kind == "identifier":
        for each in identifiers(term.text):
            name = each.text.rstrip("/").rpartition("/")[2].removesuffix("()")
            if each.kind not in _NO_TAGS and SHORTEST <= len(name) <= LONGEST:
                yield name, term.weight * (FILE if "." in name else 1.0)
    elif term.kind == "name":
        for word in term.text.split():
            yield word, term.weight * CAPITAL / 1.5
    elif term.kind == "term" and len(term.text) > SHORTEST:
        written = segment.turns[term.turn].text[term.start : term.end]
        is_name = written[:1].isupper() and not _begins_sentence(segment, term)
        yield written if is_name else term.text, term.weight * (CAPITAL if is_name else 1.0)


def _begins_sentence(segment: Segment, term: Term) -> bool:
    before = segment.turns[term.turn].text[max(term.start - 3, 0) : term.start].rstrip(" *_`\"'(")
    return not before or before[-1:] in ".!?:\n-"
