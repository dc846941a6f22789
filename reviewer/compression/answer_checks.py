"""Checks of a model's summary: faults, invented names, and emptiness."""

from __future__ import annotations

import re
from collections import Counter

from reviewer.compression.engine import SummaryTask
from reviewer.compression.fidelity import (
    checkable_units,
    find_invented,
)
from reviewer.compression.markers import without_markers
from reviewer.compression.sections import TITLES
from reviewer.compression.words import content_words
from reviewer.llm.model import Completion

LOOP_WORDS = 6
"""Words in a row whose repetition indicates a loop."""
LOOP_TIMES = 4
LOOP_SHARE = 0.3
"""Share of an answer that consists of repetitions."""
MOST_INVENTED = 0.5
"""Share of names and numbers that the source does not have, above which a summary is refused."""
FEW = 3
"""Invented names up to which that share does not count."""
LEAST_SAID = 2
"""Words or names of the conversation that a summary of more than a few words has at least."""
FEW_WORDS = 8
_REFUSAL = re.compile(
    r"\W{0,4}(?:i'?m sorry|i am sorry|sorry,|i apologi[sz]e|i (?:can(?:no|')t|am (?:not able"
    r"|unable)|won't)"
    r"|as an ai|i'm (?:not able|unable)|unfortunately,? i (?:can|am))",
    re.IGNORECASE,
)
LONGEST_REFUSAL = 600
"""Characters up to which an answer that begins like a refusal counts as one."""
_WORD = re.compile(r"\w+")


def find_fault(
    answer: Completion, source: str, source_tokens: int, max_tokens: int | None
) -> str | None:
    """Why an answer cannot be used as a summary, as a sentence for the model and for a person.

    `source_tokens`: tokens of the source, which it must not exceed. `max_tokens`: its hard ceiling.
    """
    text = answer.text.strip()
    if not text:
        return "The summary is empty."
    if answer.finish == "filtered" or (
        len(text) <= LONGEST_REFUSAL and _REFUSAL.match(text) and not _REFUSAL.match(source)
    ):
        return "The model refused instead of summarizing."
    if loops(text, source):
        return "The summary repeats itself over and over."
    if answer.finish == "length":
        return f"The summary was cut off at {answer.completion_tokens} tokens; it must be shorter."
    if max_tokens is not None and answer.completion_tokens > max_tokens:
        return (
            f"The summary has {answer.completion_tokens} tokens; at most {max_tokens} are allowed."
        )
    if answer.completion_tokens > max(source_tokens, 32):
        return (
            f"The summary has {answer.completion_tokens} tokens, more than the {source_tokens} "
            "that it summarizes."
        )
    return None


def loops(text: str, source: str) -> bool:
    """Whether a text repeats the same words over and over, and its source does not."""
    words = _WORD.findall(text.lower())
    runs = Counter(tuple(words[at : at + LOOP_WORDS]) for at in range(len(words) - LOOP_WORDS + 1))
    if not runs:
        return False
    run, times = runs.most_common(1)[0]
    if times < LOOP_TIMES or times * LOOP_WORDS < LOOP_SHARE * len(words):
        return False
    return " ".join(_WORD.findall(source.lower())).count(" ".join(run)) < times


def invented_by(task: SummaryTask, text: str) -> tuple[list[str], int]:
    """The names and numbers of a summary that its source does not have, and how many it names."""
    named = checkable_units(without_markers(text))
    return find_invented(named, task.analysis.terms, task.analysis.session), len(named)


def find_inventions(task: SummaryTask, text: str) -> str | None:
    """Why a summary is refused in which most names are invented."""
    invented, named = invented_by(task, text)
    invented = [unit for unit in invented if len(unit) > 2]  # not the numbers of a list
    if len(invented) <= FEW or len(invented) <= MOST_INVENTED * named:
        return None
    return f"The summary names what the conversation does not have: {', '.join(invented[:6])}."


def find_emptiness(task: SummaryTask, text: str) -> str | None:
    """Why a summary is refused that says nothing of the conversation, such as one that flatters.

    What the program adds to it afterwards does not count.
    """
    titles = {title.lower() for title in TITLES}
    lines = [line for line in text.split("\n") if line.strip().lower() not in titles]
    if text.strip() and not any(char.isalnum() for line in lines for char in line):
        return "The summary says nothing of the conversation."
    words = _stems("\n".join(lines))
    source = _stems("\n".join(turn.text for turn in task.segment.turns))
    invented, named = invented_by(task, text)
    said = len(words & source) + named - len(invented)
    if said >= LEAST_SAID or len(words) < FEW_WORDS:
        return None
    return "The summary says nothing of the conversation."


def _stems(text: str) -> set[str]:
    return {word[:6] for word in content_words(text)}
