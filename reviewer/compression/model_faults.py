"""What can be wrong with a model's answer, found without another model."""

from __future__ import annotations

import re
from collections import Counter

from reviewer.llm.model import Completion

LOOP_WORDS = 6
"""Words in a row whose repetition tells a loop."""
LOOP_TIMES = 4
LOOP_SHARE = 0.3
"""Share of an answer that the repetitions make up."""
_REFUSAL = re.compile(
    r"\W{0,4}(?:i'?m sorry|i am sorry|sorry,|i apologi[sz]e|i (?:can(?:no|')t|am (?:not able"
    r"|unable)|won't)"
    r"|as an ai|i'm (?:not able|unable)|unfortunately,? i (?:can|am))",
    re.IGNORECASE,
)
LONGEST_REFUSAL = 600
"""Characters up to which an answer that begins like a refusal is one."""
_WORD = re.compile(r"\w+")


def fault(
    answer: Completion, source: str, source_tokens: int, max_tokens: int | None
) -> str | None:
    """What makes an answer no summary, as a sentence for the model and for a person; None for none.

    `max_tokens`: its hard ceiling, if there is one. `source_tokens` are those of what it
    summarizes, which it must not exceed.
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
    """Whether a text says the same words over and over, and its source does not."""
    words = _WORD.findall(text.lower())
    runs = Counter(tuple(words[at : at + LOOP_WORDS]) for at in range(len(words) - LOOP_WORDS + 1))
    if not runs:
        return False
    run, times = runs.most_common(1)[0]
    if times < LOOP_TIMES or times * LOOP_WORDS < LOOP_SHARE * len(words):
        return False
    return " ".join(_WORD.findall(source.lower())).count(" ".join(run)) < times
