"""One question over all sessions of a project: which statements are duplicates, which contradict
each other, and which are outdated by a later one. Only numbers and sentences are exchanged.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from reviewer.extraction.rules import LONGEST_STATEMENT, SHORTEST_STATEMENT
from reviewer.llm.templates import fence_for, load_template, render
from reviewer.proposing.answers import NUMBER, TEXT, a_list, an_object
from reviewer.proposing.proof_index import has
from reviewer.proposing.statements import TEMPLATES, PieceQuestion, StatementWriter
from reviewer.proposing.values import Relations, Sentence
from reviewer.sources.fields import Fields, each, inner
from reviewer.text.controls import CONTROLS, without_escapes
from reviewer.text.identifiers import identifiers
from reviewer.text.normalise import clean
from reviewer.text.secrets import mask

OVER = "over-sessions"
FIELDS = ("statements", "fence")
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
    text = "\n".join(f"#{one.id} ({one.day or 'no date'}) {one.text}" for one in sentences)
    fence = fence_for("statements", text)
    template = load_template(OVER, TEMPLATES, None, FIELDS)
    return writer.asking(render(template, {"statements": text, "fence": fence}), schema=SCHEMA)


def read_relations(answer: str, sentences: Iterable[Sentence]) -> Relations:
    """The relations in an answer. Entries with an unknown number or a repeated statement are
    ignored, and the more recent of two is never the outdated one.
    """
    asked = {sentence.id: sentence for sentence in sentences}
    days = {number: sentence.day for number, sentence in asked.items()}
    relations = _object(answer)
    taken: set[int] = set()
    same: list[tuple[int, ...]] = []
    for numbers in _lists(relations.get("same")):
        group = tuple(dict.fromkeys(number for number in numbers if number in days))
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
    for item in each(relations.get("untrue")):
        old, new, now = (item.get(name) for name in ("old", "new", "now"))
        if isinstance(old, int) and isinstance(new, int) and is_new(old, new):
            swapped = days[old] > days[new]
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
    names = (name.text.lower() for name in identifiers(wording))
    proved = all(any(has(text.lower(), name) for text in known) for name in names)
    fits = SHORTEST_STATEMENT <= len(wording) <= LONGEST_STATEMENT
    return wording if fits and proved and not CONTROLS.search(wording) else ""


def _object(answer: str) -> Fields:
    """The JSON object in an answer, ignoring text around it; empty if there is none."""
    try:
        return inner(json.loads(answer[answer.find("{") : answer.rfind("}") + 1]))
    except (ValueError, RecursionError):
        return {}


def _lists(value: object) -> list[list[int]]:
    """The lists of numbers in a value."""
    return [
        [number for number in item if isinstance(number, int) and not isinstance(number, bool)]
        for item in (value if isinstance(value, list) else [])
        if isinstance(item, list)
    ]
