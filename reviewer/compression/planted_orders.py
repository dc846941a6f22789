"""Planted orders in a model's summary: a transcript quotes web pages and tools, and a model may
repeat their instructions as if someone had agreed to them.
"""

from __future__ import annotations

from reviewer.compression.values import Segment
from reviewer.extraction.flags import INJECTION, flags_of
from reviewer.sources.records import Role
from reviewer.text.sentences import split_sentences

LONGEST = 160
"""Characters shown of an order."""


def planted_orders(summary: str, segment: Segment) -> tuple[str, ...]:
    """The sentences of a summary that read like planted orders, each cut to LONGEST characters,
    except for words typed by the person.
    """
    typed = [" ".join(turn.text.split()) for turn in segment.turns if turn.role == "user"]
    found: dict[str, None] = {}
    for paragraph in summary.split("\n"):
        for start, end in split_sentences(paragraph, 0, len(paragraph)):
            sentence = " ".join(paragraph[start:end].split())
            if INJECTION in flags_of(sentence, Role.ASSISTANT) and not any(
                sentence.rstrip(".") in text for text in typed
            ):
                found[sentence[:LONGEST]] = None
    return tuple(found)
