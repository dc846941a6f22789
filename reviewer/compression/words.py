"""The words of a text that carry its content."""

from __future__ import annotations

import re

from reviewer.text.stop_words import SPEECH_STOP_WORDS

_WORD = re.compile(r"[^\W\d_][^\W_]+(?:['’][^\W_]+)?")
FUNCTION_WORDS = SPEECH_STOP_WORDS


def content_words(text: str) -> list[str]:
    """The words of at least three letters that are no function words, in lower case, in order."""
    return [
        word for word in _WORD.findall(text.lower()) if len(word) > 2 and word not in FUNCTION_WORDS
    ]
