"""A model's answer as a summary: unwrapped, checked, and shortened if it is too long."""

from __future__ import annotations

import re
from collections.abc import Callable

from reviewer.compression.engine import SummaryTask
from reviewer.compression.fidelity import checkable_units, find_invented
from reviewer.compression.markers import without_markers
from reviewer.compression.values import TITLES, HandoverSection
from reviewer.compression.words import content_words
from reviewer.llm.model import Completion

LONGEST_ANSWER = 200_000
"""Characters of an answer that are read."""
LONGEST_REFUSAL = 600
"""The longest answer, in characters, that counts as a refusal if it begins like one."""
MAX_INVENTED, FEW = 0.5, 3
"""A summary is refused if a larger share of its names and numbers is not in the source, and more
than this number of them."""
MIN_SAID, FEW_WORDS = 2, 8
"""Minimum words or names of the conversation in a summary of more than a few words."""

_THOUGHTS = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHTS_END = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_FENCED = re.compile(r"(?:[^\n`]{0,120}:[ \t]*\n+)?```[\w-]*[ \t]*\n(.*)```", re.DOTALL)
_WRAPPED = re.compile(r"<(summary|answer|hand-?over|output)>(.*)</\1>", re.DOTALL)
_TITLE = re.compile(
    rf"^(?:#{{1,6}}[ \t]+)?(?:\d+\.[ \t]+)?[*_]*({'|'.join(map(re.escape, HandoverSection))})"
    r"[ \t]*:?[*_]*[ \t]*:?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_NAMES = {section.value.lower(): section.value for section in HandoverSection}
_REFUSAL = re.compile(
    r"\W{0,4}(?:i'?m sorry|i am sorry|sorry,|i apologi[sz]e|i (?:can(?:no|')t|am (?:not able"
    r"|unable)|won't)"
    r"|as an ai|i'm (?:not able|unable)|unfortunately,? i (?:can|am))",
    re.IGNORECASE,
)


def cleaned(text: str) -> str:
    """An answer without the model's thoughts and without a fence or tag around all of it, its
    titles in the program's form.
    """
    text = _THOUGHTS_END.split(_THOUGHTS.sub("", text[:LONGEST_ANSWER]))[-1].strip()
    for wrapper in (_FENCED, _WRAPPED):
        if (found := wrapper.fullmatch(text)) and "\n```" not in found[wrapper.groups].rstrip():
            text = found[wrapper.groups].strip()
    return _TITLE.sub(lambda found: f"{_NAMES[found[1].lower()]}:", text)


def trimmed(text: str, tokens: int, count: Callable[[str], int]) -> str:
    """The text in at most `tokens`, without its last lines, which are the least needed ones of a
    hand-over.
    """
    lines = text.split("\n")
    while len(lines) > 1 and count("\n".join(lines)) > tokens:
        over = count("\n".join(lines)) - tokens
        while len(lines) > 1 and over > 0:
            over -= count(lines.pop()) + 1
    return "\n".join(lines)


def find_fault(answer: Completion, source_tokens: int, max_tokens: int | None) -> str | None:
    """Why an answer is not a usable summary, as a sentence for the model and for a person.

    `source_tokens`: tokens of the source, which it must not exceed. `max_tokens`: its hard ceiling.
    """
    text = answer.text.strip()
    if not any(char.isalnum() for line in text.split("\n") if line not in TITLES for char in line):
        return "The summary is empty."
    if answer.finish == "filtered" or (len(text) <= LONGEST_REFUSAL and _REFUSAL.match(text)):
        return "The model refused instead of summarizing."
    tokens = answer.completion_tokens
    if answer.finish == "length":
        return f"The summary was cut off at {tokens} tokens; it must be shorter."
    if max_tokens is not None and tokens > max_tokens:
        return f"The summary has {tokens} tokens; at most {max_tokens} are allowed."
    if tokens > max(source_tokens, 32):
        return f"The summary has {tokens} tokens, more than the {source_tokens} that it summarizes."
    return None


def find_inventions(task: SummaryTask, text: str) -> str | None:
    """Why a summary is about something else: most of its names are not in the conversation, or none
    of its words are, as in flattery.
    """
    named = checkable_units(without_markers(text))
    invented = find_invented(named, task.analysis.terms, task.analysis.session)
    invented = [unit for unit in invented if len(unit) > 2]  # not the numbers of a list
    if len(invented) > FEW and len(invented) > MAX_INVENTED * len(named):
        return f"The summary names what the conversation does not have: {', '.join(invented[:6])}."
    words = _stems("\n".join(line for line in text.split("\n") if line not in TITLES))
    source = _stems("\n".join(turn.text for turn in task.segment.turns))
    said = len(words & source) + len(named) - len(invented)
    if said >= MIN_SAID or len(words) < FEW_WORDS:
        return None
    return "The summary says nothing of the conversation."


def _stems(text: str) -> set[str]:
    return {word[:6] for word in content_words(text)}
