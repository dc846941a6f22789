"""One question over all sessions of a project: which statements are duplicates, which contradict
each other, and which are outdated by a later one. Only numbers and sentences are exchanged.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from reviewer.extraction.rules import LONGEST_STATEMENT, SHORTEST_STATEMENT
from reviewer.llm.templates import Fields, fence_for, load_template, render
from reviewer.proposing.answers import NUMBER, TEXT, a_list, an_object
from reviewer.proposing.proof_index import has
from reviewer.proposing.statements import TEMPLATES, PieceQuestion, StatementWriter
from reviewer.proposing.values import Relations, Sentence
from reviewer.text.controls import CONTROLS, without_escapes
from reviewer.text.identifiers import identifiers
from reviewer.text.normalise import clean
from reviewer.text.secrets import mask

OVER = "over-sessions"
FIELDS: Fields = {"statements": (), "fence": ()}
LEAST = 2
"""Fewer statements leave nothing to compare."""

_NUMBERS = a_list(NUMBER)
SCHEMA = an_object(
    same=a_list(_NUMBERS),
    untrue=a_list(an_object(old=NUMBER, new=NUMBER, now=TEXT)),
    contradict=a_list(_NUMBERS),
)


def question_over(writer: StatementWriter, sentences: Sequence[Sentence]) -> PieceQuestion:
    """The question about statements. Raises TemplateError."""
    text = "\n".join(f"#{each.id} ({each.day or 'no date'}) {each.text}" for each in sentences)
    fence = fence_for("statements", text)
    template = load_template(OVER, TEMPLATES, None, FIELDS)
    return writer.asking(render(template, {"statements": text, "fence": fence}), schema=SCHEMA)


def read_relations(answer: str, sentences: Iterable[Sentence]) -> Relations:
    """The relations in an answer. Entries with an unknown number or a repeated statement are
    ignored, and the more recent of two is never the outdated one.
    """
    asked = {each.id: each for each in sentences}
    days = {number: each.day for number, each in asked.items()}
    relations = _object(answer)
    taken: set[int] = set()
    same: list[tuple[int, ...]] = []
    for numbers in _lists(relations.get("same")):
        group = tuple(dict.fromkeys(each for each in numbers if each in days))
        if len(group) > 1 and not taken.intersection(group):
            taken.update(group)
            same.append(group)
    pairs: set[frozenset[int]] = set()

    def is_new(one: int, other: int) -> bool:
        both = frozenset((one, other))
        if len(both) < 2 or not both <= days.keys() or both in pairs:
            return False
        pairs.add(both)
        return not any(both <= set(group) for group in same)

    untrue: list[tuple[int, int]] = []
    corrected: list[tuple[int, int, str]] = []
    for item in _items(relations.get("untrue")):
        old, new = (item.get("old"), item.get("new")) if isinstance(item, dict) else (0, 0)
        if isinstance(old, int) and isinstance(new, int) and is_new(old, new):
            swapped, now = days[old] > days[new], item.get("now")
            pair = (new, old) if swapped else (old, new)
            if now and isinstance(now, str):
                again = any(pair[0] == known for known, _, _ in corrected)
                wording = (
                    "" if swapped or again else _corrected(now, asked[old].text, asked[new].text)
                )
                corrected.append((*pair, wording))
            else:
                untrue.append(pair)
    contradict = [
        (numbers[0], numbers[1])
        for numbers in _lists(relations.get("contradict"))
        if len(numbers) == 2 and is_new(numbers[0], numbers[1])
    ]
    return Relations(tuple(same), tuple(untrue), tuple(corrected), tuple(contradict))


def _corrected(now: str, *known: str) -> str:
    """A corrected wording, fit for the queue; empty if it is not a statement, or has names that
    neither of the two has.
    """
    wording = clean(mask(without_escapes(now)).text)
    names = (each.text.lower() for each in identifiers(wording))
    proved = all(any(has(text.lower(), name) for text in known) for name in names)
    fits = SHORTEST_STATEMENT <= len(wording) <= LONGEST_STATEMENT
    return wording if fits and proved and not CONTROLS.search(wording) else ""


def _object(answer: str) -> Mapping[str, Any]:
    """The JSON object in an answer, ignoring text around it; empty if there is none."""
    try:
        value = json.loads(answer[answer.find("{") : answer.rfind("}") + 1])
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _lists(value: object) -> list[list[int]]:
    """The lists of numbers in a value."""
    return [
        [each for each in item if isinstance(each, int) and not isinstance(each, bool)]
        for item in _items(value)
        if isinstance(item, list)
    ]
