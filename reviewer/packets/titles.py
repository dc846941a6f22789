"""Titles of what has none, and the lead of what is too long to be shown whole."""

from __future__ import annotations

import re

from reviewer.text.sentences import split_sentences

TITLE_CHARS = 80
LEAD_CHARS = 240

_LABEL = re.compile(r"(?:^|\s)#[\w-]+:\S+")
_LISTED = re.compile(r"\n[ \t]*(?:[-*+]|\d+[.)]|```|~~~)")
_MARKS = re.compile(r"\*\*|__|~~")
_FIELD = re.compile(r"\s*(?:[-*+]\s+)?\*\*([\w /-]{2,40})\*\*:?\s*|\s*\*\*([\w /-]{2,40}):\*\*\s*")
_WORTH = ("decision", "lesson", "learning", "rule", "application", "rationale", "consequence")
"""Labelled paragraphs that hold what an entry says, the best first."""


def title_of(text: str, limit: int = TITLE_CHARS) -> str:
    """A title for a text without one: its first sentence on one line, without labels such as
    `#added:2026-02-14` and without emphasis, cut at a word to `limit` characters.
    """
    line = _one_line(_LISTED.split(text[:2000], maxsplit=1)[0])
    sentence = next((line[a:b] for a, b in split_sentences(line, 0, len(line))), "")
    return cut(sentence.rstrip(" .:;,"), limit)


def cut(text: str, limit: int) -> str:
    """A text of at most `limit` characters, with an ellipsis where something is missing."""
    if len(text) > limit:
        text = f"{text[: limit - 1].rsplit(' ', 1)[0].rstrip(' .,:;-—(')}…"
    if text.count("`") % 2:
        text = "".join(text.rsplit("`", 1))
    return text


def lead_of(text: str, title: str = "", limit: int = LEAD_CHARS) -> str:
    """The few words that say most: the decision or lesson where one is labelled, else the first
    sentences; at most `limit` characters on one line. What only repeats the title is passed over.
    """
    paragraphs = [part for part in re.split(r"\n\s*\n", text[:20_000]) if part.strip()]
    ranked = sorted(enumerate(paragraphs), key=lambda pair: (_worth(pair[1]), pair[0]))
    for _, paragraph in ranked:
        said = _one_line(_FIELD.sub("", paragraph, count=1))
        if said and _bare(said) != _bare(title):
            return _sentences(said, limit)
    return ""


def _sentences(line: str, limit: int) -> str:
    """As many whole sentences as fit; of a first one that is too long, its beginning."""
    end = 0
    for _, stop in split_sentences(line, 0, len(line)):
        if stop > limit:
            break
        end = stop
    return line[:end] if end else cut(line, limit)


def _worth(paragraph: str) -> int:
    found = _FIELD.match(paragraph)
    label = ((found[1] or found[2]) if found else "").lower()
    for place, word in enumerate(_WORTH):
        if label.startswith(word):
            return place
    return len(_WORTH) + bool(label)


def _one_line(text: str) -> str:
    return " ".join(_LABEL.sub(" ", _MARKS.sub("", text)).split())


def _bare(text: str) -> str:
    return re.sub(r"\W+", " ", text).strip().lower()
