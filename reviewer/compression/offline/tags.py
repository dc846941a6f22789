"""Tags: the terms of a range. Names first, then phrases that are used again and again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from math import log2, sqrt

from reviewer.compression.offline.events import Event, Kind, Message, Moment, Voice
from reviewer.compression.offline.state import WorkState
from reviewer.compression.offline.statements import person_words, plain, statements
from reviewer.compression.values import Turn
from reviewer.compression.words import FREQUENCIES, FUNCTION_WORDS, GENERAL, SPOKEN
from reviewer.proposing.view_calls import read_call
from reviewer.text.identifiers import Identifier, IdentifierKind, identifiers

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


IN_CALLS, IN_RESULTS = 0.5, 0.15
"""Weights of a name in a tool's call and in its result, against 1 in what was said."""
READ_OF_TURN = 4_000
"""Characters of a call or result in which names are looked for."""
ONCE = 0.5
"""Factor for a plain word that was used once: most of these name nothing."""


def _singular(key: str) -> str:
    """A word or phrase without a plural's ending, so that both forms are one term."""
    plural = key.endswith("s") and not key.endswith(("ss", "us", "is", "ous"))
    return key[:-1] if plural and len(key) > 2 and key.replace(" ", "").isalpha() else key


class _Terms:
    """Terms with their weights, as they were first written."""

    def __init__(self) -> None:
        self._weights: dict[str, float] = {}
        self._times: Counter[str] = Counter()
        self._shown: dict[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self._weights)

    def add(self, term: str, weight: float) -> None:
        key = _singular(term.lower().removesuffix("()").removesuffix("'s").removesuffix("’s"))
        self._shown.setdefault(key, term)
        self._weights[key] = self._weights.get(key, 0.0) + weight
        self._times[key] += 1

    def ranked(self) -> list[str]:
        """The most telling first, for their lengths."""
        keys = sorted(self._weights, key=lambda key: (-self._rank(key), key))
        return [self._shown[key] for key in keys]

    def _rank(self, key: str) -> float:
        telling = _telling(key, self._times[key])
        return log2(1 + self._weights[key]) * telling / sqrt(2 + len(key) / 4)


def ranked_tags(
    moments: Sequence[Moment], state: WorkState, turns: Sequence[Turn] = ()
) -> list[str]:
    """The terms of these moments, the most telling first, each once.

    What was said and done comes first. `turns`: those of the moments; names in tool calls and in
    their results follow.
    """
    said, tools = _Terms(), _Terms()
    for moment in moments:
        if isinstance(moment, Message):
            factor = 1.5 if moment.voice in (Voice.PERSON, Voice.SPEAKER) else 1.0
            factor = 0.4 if moment.voice is Voice.SUBAGENT else factor
            for text in _texts(moment):
                for term, weight in _terms(text):
                    said.add(term, weight * factor)
        elif moment.kind in (Kind.EDIT, Kind.WRITE):
            said.add(moment.what.rpartition("/")[2], 1.5)
    for kind in dict.fromkeys(each.kind for each in moments if isinstance(each, Event)):
        if kind in _DONE:
            said.add(_DONE[kind], 1.0)
    ranked = _apart(said.ranked())
    if len(ranked) >= MOST_RANKED:
        return ranked
    for turn in turns:
        if turn.kind in ("tool_use", "tool_result"):
            for term, weight in _tool_terms(turn, with_words=not said):
                tools.add(term, weight)
    if state.branch:  # sessions have one whether or not it is what they are about
        tools.add(state.branch, 2.0)
    return _apart([*ranked, *tools.ranked()])


def _texts(message: Message) -> list[str]:
    if message.voice is Voice.PERSON:
        return [person_words(message.text)]
    return [each.text for each in statements(message)] or [plain(message.text)[:400]]


def _tool_terms(turn: Turn, *, with_words: bool) -> list[tuple[str, float]]:
    """Names in a tool's call or result; also words, where nothing else names the range."""
    if turn.kind == "tool_use":
        given = read_call(turn.name, turn.text).given
        text = "\n".join(each for each in given.values() if isinstance(each, str))
        factor = IN_CALLS
    else:
        text, factor = turn.text, IN_RESULTS
    text = text[:READ_OF_TURN]
    found = dict(_terms(text) if with_words else _named(identifiers(text)))
    return [(term, w * factor) for term, w in found.items()]


def _telling(key: str, times: int) -> float:
    """Names tell more than words, two words more than one."""
    if re.search(r"[\d_./#()]", key):
        return 1.5
    if " " not in key and times == 1 and key.isalpha():
        return ONCE
    return 1.0 + 0.35 * key.count(" ")


MOST_RANKED = 600
NAMED = 2.0
"""Weight of a name in what was said; of a plain word it is 1."""


def _terms(text: str) -> list[tuple[str, float]]:
    names = identifiers(text)
    found = _named(names)
    rest, at = [], 0
    for each in names:
        rest += [text[at : each.start], ";"]
        at = each.end
    words = "".join([*rest, text[at:]])
    found += [
        (match[0], 1.6)
        for match in _NAME.finditer(words)
        if not any(word in _COMMON or word in GENERAL for word in match[0].lower().split(" "))
    ]
    for run in _RUN.findall(words):
        found += [(phrase, 1.0) for phrase in _phrases(run.split(" "))]
    return found


def _named(names: Sequence[Identifier]) -> list[tuple[str, float]]:
    found = []
    for each in names:
        if each.kind not in _NO_TAGS:
            name = each.text.strip().strip("_*").rstrip("/")
            name = name.rpartition("/")[2] if each.kind is IdentifierKind.PATH else name
            if 2 < len(name) <= LONGEST_TAG and name.count(" ") < MOST_WORDS:
                found.append((name, NAMED))
    return found


def _phrases(words: Sequence[str]) -> list[str]:
    """Content words, and pairs of content words that follow each other."""
    content = [len(w) > 2 and not w.isdigit() and w.lower() not in _COMMON for w in words]
    found = [
        word
        for word, is_content in zip(words, content, strict=True)
        if is_content and word.lower() not in GENERAL
    ]
    found += [
        f"{words[at]} {words[at + 1]}"
        for at in range(len(words) - 1)
        if content[at] and content[at + 1] and _names_something(words[at], words[at + 1])
    ]
    return found


def _names_something(first: str, second: str) -> bool:
    """Whether two words may be a term: the last one names something, and they differ."""
    second = second.lower()
    return second not in GENERAL and first.lower() != second


def _apart(terms: Sequence[str]) -> list[str]:
    """The terms without those that another, earlier one contains as words."""
    kept: list[str] = []
    words: set[str] = set()
    for term in terms:
        parts = {each.removesuffix("()") for each in term.lower().split(" ")}
        if not parts <= words:
            kept.append(term)
            words |= parts
    return kept


def tag_list(
    moments: Sequence[Moment],
    state: WorkState,
    max_tokens: int,
    count: Callable[[str], int],
    turns: Sequence[Turn] = (),
) -> list[str]:
    """As many tags as fit in a comma-separated list."""
    left = max_tokens + 1  # the first needs no comma
    tags = []
    for tag in ranked_tags(moments, state, turns)[:MOST_RANKED]:
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
