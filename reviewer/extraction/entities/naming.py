"""Short names from text (titles, subjects, targets), and keys for comparing names."""

from __future__ import annotations

import re

from reviewer.text.normalise import clean, without_bold

LONGEST_NAME = 80

_NUMBER = re.compile(
    r"(?:\[\d{4}-\d\d-\d\d[^\]\n]{0,20}\]|\d{4}-\d\d-\d\d)[ ]*[:—–-]?[ ]*"
    r"|(?:(?:ADR|RFC|MADR)[- ]?#?(?P<adr>\d{1,5})|(?P<dot>\d{1,5})(?=[.:)])|(?P<zero>0\d{2,4}))"
    r"[.:)]?[ ]*(?:[-–—][ ]*)?",
    re.IGNORECASE,
)
_LINK = re.compile(
    r"\[\[(?:[^\[\]|\n]*+\|)?([^\[\]\n]+)\]\]"
    r"|\[([^\[\]\n]+)\]\((?:(?!\]\()[^)\n])*\)"
)
_ARTICLE = re.compile(r"(?:the|an?|our|your|its|their|this|that|all|every|each)\s+", re.IGNORECASE)
_COMMA = re.compile(r",\s")
_CLAUSE = re.compile(
    r"[;:](?=\s)|\.\s|\s[-–—(]|\s(?:because|since|so that|in order to|unless|which|until|when"
    r"|instead of|without)\b"
)
_KEY = re.compile(r"[^\w.%/+#-]+")


def title_parts(title: str) -> tuple[str, str]:
    """Number and wording of a title: `7. Use X` -> `("7", "Use X")`; dates are dropped."""
    number = ""
    title = title.replace("~~", "").strip()
    at = 0
    while match := _NUMBER.match(title, at):
        if match.end() == at or match.end() == len(title):
            break
        number = number or match["adr"] or match["dot"] or match["zero"] or ""
        at = match.end()
        while at < len(title) and title[at].isspace():
            at += 1
    return number, wording(title[at:])


def named(text: str) -> str:
    """A name in plain text: links as their text, without markup or a leading article."""
    text = _LINK.sub(lambda match: match[1] or match[2], text)
    text = wording(text.replace("`", "").replace("**", "").strip(" \t*_()"))
    stripped = _ARTICLE.sub("", text, count=1) if _ARTICLE.match(text) else text
    return _shortened(stripped or text)


def titled(text: str) -> str:
    """A statement's name: its wording, keeping `every`."""
    text = _LINK.sub(lambda match: match[1] or match[2], text)
    return _shortened(wording(text.replace("`", "").replace("**", "")))


def _shortened(text: str) -> str:
    """At most LONGEST_NAME characters, cut after a clause if possible, else at a word."""
    if len(text) <= LONGEST_NAME:
        return text
    head = text[:LONGEST_NAME]
    clauses = [match for match in _CLAUSE.finditer(head) if match.start() > 20]
    commas = [match for match in _COMMA.finditer(head) if match.start() > 50]
    borders = clauses or commas
    cut = borders[-1].start() if borders else head.rfind(" ")
    return head[: cut if cut > 20 else LONGEST_NAME].rstrip(" ,;:-–—")


def name_key(name: str) -> str:
    """A name for comparison: lower case, without article and punctuation."""
    return " ".join(_KEY.sub(" ", named(name).lower()).replace("_", " ").split())


def wording(raw: str) -> str:
    """A text on one line, without bold marks."""
    return clean(without_bold(raw))
