"""Whether two statements say the same fact in other words."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

from reviewer.proposing.values import Proved
from reviewer.text.units import UnitKind, units
from reviewer.text.wording import same_wording, wording_key

__all__ = ["KnownTexts", "grouped", "known_in_texts", "same_fact"]


def same_fact(a: str, b: str) -> bool:
    """Whether two statements differ only in wording: function words, inflection, punctuation.

    Statements that differ in a content word, a number, a negation or in who does what to whom are
    different facts, however similar they look.
    """
    return same_wording(a, b)


def grouped(proved: Sequence[Proved]) -> list[list[Proved]]:
    """The statements by fact, in the order of the first of each; the best wording comes first."""
    groups: list[list[Proved]] = []
    by_key: dict[tuple[str, ...], list[list[Proved]]] = {}
    for each in proved:
        statement = each.proposal.statement
        alike = by_key.setdefault(wording_key(statement), [])
        for group in alike:
            if same_fact(statement, group[0].proposal.statement):
                group.append(each)
                break
        else:
            alike.append([each])
            groups.append(alike[-1])
    return [sorted(group, key=_faults) for group in groups]


def _faults(proved: Proved) -> tuple[object, ...]:
    """Less for a better wording; equal ones keep their order."""
    proposal, proof = proved.proposal, proved.proof
    return (
        not proof.sound,
        len(proof.unproved) + sum(not quote.found for quote in proof.quotes),
        bool(proof.not_alone_because),
        len(proof.flags),
        len(proof.later),
        -(proposal.confidence or 0.0),
        len(proposal.statement),
    )


class KnownTexts:
    """Texts by name, such as CLAUDE.md, prepared once to look many statements up in them."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._places: dict[tuple[str, ...], list[tuple[str, str]]] = {}
        for name, text in texts.items():
            for said, line in _said(text):
                key = wording_key(said)
                if key:
                    self._places.setdefault(key, []).append((said, f"{name}:{line}"))

    def places(self, statement: str) -> tuple[str, ...]:
        """Where a statement is said already, such as `CLAUDE.md:12`, with lines from 1."""
        found = self._places.get(wording_key(statement), ())
        return tuple(dict.fromkeys(place for said, place in found if same_fact(statement, said)))


def known_in_texts(statement: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    """Where texts, by name, already say a statement, such as `CLAUDE.md:12`, with lines from 1.

    For many statements make one `KnownTexts`.
    """
    return KnownTexts(texts).places(statement)


LONGEST = 1_000
"""Characters of a sentence that is read at most; longer ones are data rather than instructions."""
_SENTENCES = (UnitKind.SENTENCE, UnitKind.LIST_ITEM, UnitKind.HEADING, UnitKind.QUOTE)
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+")
_LABEL = re.compile(r"[*_`]{0,3}[\w /&-]{1,40}[*_`]{0,3}:[*_]{0,3}\s+")
_REASON = re.compile(r"[,;]?\s+(?:because|since|so that|otherwise)\b|\s*[(;]|\s[–—-]{1,2}\s")
"""What follows gives a reason or adds something, and takes nothing back."""


def _said(text: str) -> Iterator[tuple[str, int]]:
    """The sentences of a text with their lines, from 1; also without a label or a reason."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    for unit in units(text):
        if unit.kind not in _SENTENCES:
            continue
        position = unit.start
        for piece in _SENTENCE_END.split(text[unit.start : unit.end]):
            position = max(text.find(piece, position), position)
            line = bisect_right(starts, position)
            if len(piece) > LONGEST:
                continue
            whole = [piece]
            label = _LABEL.match(piece)
            if label:
                whole.append(piece[label.end() :])
            for said in whole:
                yield said, line
                reason = _REASON.search(said)
                if reason and reason.start():
                    yield said[: reason.start()], line
        whole_item = text[unit.start : unit.end]
        if unit.kind is UnitKind.LIST_ITEM and len(whole_item) <= LONGEST:
            yield whole_item, bisect_right(starts, unit.start)
