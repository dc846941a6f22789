"""Whether two statements say the same fact in other words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reviewer.proposing.values import Proved
from reviewer.text.normalise import duplicate_key


def same_fact(a: str, b: str) -> bool:
    """Whether two statements differ only in wording: function words, inflection, punctuation.

    Statements that differ in a content word, a number, a negation or in who does what to whom are
    different facts, however similar they look.
    """
    return duplicate_key(a) == duplicate_key(b)


def grouped(proved: Sequence[Proved]) -> list[list[Proved]]:
    """The statements by fact, in the order of the first of each; the best wording comes first."""
    groups: dict[str, list[Proved]] = {}
    for each in proved:
        groups.setdefault(duplicate_key(each.proposal.statement), []).append(each)
    return list(groups.values())


def known_in_texts(statement: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    """Where texts, by name, already say a statement, such as `CLAUDE.md:12`."""
    return tuple(
        f"{name}:{number}"
        for name, text in texts.items()
        for number, line in enumerate(text.splitlines(), 1)
        if same_fact(statement, line)
    )
