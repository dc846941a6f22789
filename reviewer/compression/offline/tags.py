"""Tags: the terms of a range. Names first, then phrases that are used again and again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from math import log2, sqrt

from reviewer.compression.offline.events import Event, Kind, Message, Moment, Voice
from reviewer.compression.offline.state import WorkState
from reviewer.compression.offline.statements import person_words, plain, statements
from reviewer.compression.words import FREQUENCIES, FUNCTION_WORDS, SPOKEN
from reviewer.text.identifiers import IdentifierKind, identifiers

LONGEST_TAG = 48
MOST_WORDS = 3
_COMMON = FUNCTION_WORDS | SPOKEN | FREQUENCIES.keys()
_RUN = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*(?: [^\W_]+(?:[-'’][^\W_]+)*)*")
_NAME = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][\w+#-]*[\w+#](?: [A-Z][\w+#-]*)*")
_NO_TAGS = frozenset({IdentifierKind.QUANTITY, IdentifierKind.HASH, IdentifierKind.FLAG})
_DONE = {
    Kind.COMMIT: "committed",
    Kind.PUSH: "pushed",
    Kind.MERGE: "merged",
    Kind.PULL_REQUEST: "pull request",
    Kind.CHECK: "tested",
}


def ranked_tags(moments: Sequence[Moment], state: WorkState) -> list[str]:
    """The terms of these moments, the most telling first, each once."""
    weights: Counter[str] = Counter()
    shown: dict[str, str] = {}

    def add(term: str, weight: float) -> None:
        key = term.lower()
        shown.setdefault(key, term)
        weights[key] += weight  # type: ignore[assignment]

    for moment in moments:
        if isinstance(moment, Message):
            factor = 1.5 if moment.voice in (Voice.PERSON, Voice.SPEAKER) else 1.0
            factor = 0.4 if moment.voice is Voice.SUBAGENT else factor
            for text in _texts(moment):
                for term, weight in _terms(text):
                    add(term, weight * factor)
        elif moment.kind in (Kind.EDIT, Kind.WRITE):
            add(moment.what.rpartition("/")[2], 1.5)
    for kind in dict.fromkeys(each.kind for each in moments if isinstance(each, Event)):
        if kind in _DONE:
            add(_DONE[kind], 1.0)
    if state.branch:
        add(state.branch, 2.0)
    ranked = sorted(
        weights,
        key=lambda key: (-log2(1 + weights[key]) * _telling(key) / sqrt(2 + len(key) / 4), key),
    )
    return _apart([shown[key] for key in ranked])


def _texts(message: Message) -> list[str]:
    if message.voice is Voice.PERSON:
        return [person_words(message.text)]
    return [each.text for each in statements(message)] or [plain(message.text)[:400]]


def _telling(key: str) -> float:
    """Names tell more than words, two words more than one."""
    if re.search(r"[\d_./#()]", key):
        return 1.5
    return 1.0 + 0.35 * key.count(" ")


def _terms(text: str) -> list[tuple[str, float]]:
    found: list[tuple[str, float]] = []
    taken: list[tuple[int, int]] = []
    for each in identifiers(text):
        taken.append((each.start, each.end))
        if each.kind not in _NO_TAGS:
            name = each.text.strip().rstrip("/")
            name = name.rpartition("/")[2] if each.kind is IdentifierKind.PATH else name
            if 2 < len(name) <= LONGEST_TAG and name.count(" ") < MOST_WORDS:
                found.append((name, 2.0))
    rest = list(text)
    for start, end in taken:
        rest[start:end] = [";"] * (end - start)
    words = "".join(rest)
    found += [(match[0], 1.6) for match in _NAME.finditer(words) if match[0].lower() not in _COMMON]
    for run in _RUN.findall(words):
        found += [(phrase, 1.0) for phrase in _phrases(run.split(" "))]
    return found


def _phrases(words: Sequence[str]) -> list[str]:
    """Content words, and pairs of content words that follow each other."""
    content = [len(w) > 2 and not w.isdigit() and w.lower() not in _COMMON for w in words]
    found = [word for word, is_content in zip(words, content, strict=True) if is_content]
    found += [
        f"{words[at]} {words[at + 1]}"
        for at in range(len(words) - 1)
        if content[at] and content[at + 1]
    ]
    return found


def _apart(terms: Sequence[str]) -> list[str]:
    """The terms without those that another, earlier one contains as words."""
    kept: list[str] = []
    words: set[str] = set()
    for term in terms:
        parts = set(term.lower().split(" "))
        if not parts <= words:
            kept.append(term)
            words |= parts
    return kept


def tag_list(
    moments: Sequence[Moment], state: WorkState, max_tokens: int, count: Callable[[str], int]
) -> list[str]:
    """As many tags as fit in a comma-separated list."""
    left = max_tokens + 1  # the first needs no comma
    tags = []
    for tag in ranked_tags(moments, state)[:600]:
        if "," in tag:
            continue
        cost = count(f", {tag}")
        if cost <= left:
            tags.append(tag)
            left -= cost
        if left < 2:
            break
    while tags and count(", ".join(tags)) > max_tokens:
        tags.pop()
    return tags
