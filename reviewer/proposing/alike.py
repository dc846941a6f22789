"""Whether a known text already says the same as a statement, in similar or more words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reviewer.text.wording import NOT, content_words

SHARE = 0.8
"""Minimum share of a statement's content words for a text to say the same."""
LEAST = 3
"""Statements with fewer content words are not compared."""
LONGEST = 1_000
"""Maximum characters of a compared line; longer ones are data."""


def says(text: str, statement: str) -> bool:
    """Whether a text says the same as a statement: nearly all its words, every name and number, and
    a negation only if the statement has one.
    """
    return _covers(_words(text), _words(statement))


class PreparedTexts:
    """Texts by name, such as CLAUDE.md, prepared once for looking up many statements."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._lines = [
            (f"{name}:{number}", words)
            for name, text in texts.items()
            for number, line in _lines(text)
            if len(words := _words(line)) >= LEAST
        ]

    def places(self, statement: str) -> tuple[str, ...]:
        """Where a statement is already written, such as `CLAUDE.md:12` (lines from 1)."""
        own = _words(statement)
        return tuple(dict.fromkeys(place for place, words in self._lines if _covers(words, own)))


def _covers(words: frozenset[str], own: frozenset[str]) -> bool:
    if len(own) < LEAST or (NOT in words) != (NOT in own):
        return False
    missing = own - words
    return len(missing) <= (1 - SHARE) * len(own) and not any(map(_is_exact, missing))


def _is_exact(word: str) -> bool:
    """Whether a word is a name or a number, which has no synonym."""
    return not word.isalpha()


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in content_words(text[:LONGEST]) if any(map(str.isalnum, word)))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Each line, and each line with its indented continuation lines; numbered from 1."""
    whole, begun = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        yield number, line
        if line[:1] in (" ", "\t") and line.strip() and begun:
            whole = f"{whole} {line.strip()}"
            yield begun, whole
        else:
            whole, begun = line, number
