"""The person's messages of the current task, in order, each as an entry of one line.

Assents ("ok", "oui", "C") are described with what they assented to; several in a row are one entry.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from reviewer.compression.offline.events import ANSWERS, Event, Kind, Message, Moment, Voice
from reviewer.compression.offline.line import Line, is_person, shortened, terms_of
from reviewer.compression.offline.person import (
    deciding_option,
    has_content,
    is_answer,
    numbered_answers,
    question_before,
)
from reviewer.compression.offline.statements import WIDE, person_words, statements

LEAST_MESSAGES = 10
"""Messages with content that are described, however long ago the task began."""
LENGTHS = (2_000, 700, 260)
"""Characters of a message: as many as there is room for."""
WORDS = 4_000
"""Characters of a message that are looked at."""
LONGEST_ASSENT = 40
WORDS_OF_ASSENT = 4
LONGEST_PROPOSAL = 200
MOST_PROPOSALS = 3
NEW_SUBJECT = 0.2
"""Share of the words of a request that were said before, up to which it opens a new subject."""
LEAST_TERMS = 8


class Entry(Struct, frozen=True):
    """One line about one message, or about several assents in a row."""

    turn: int
    words: str
    """What the person said; empty where `text` tells all."""
    text: str = ""
    before: str = ""
    """What the message answers."""

    @property
    def lengths(self) -> tuple[int, ...]:
        return LENGTHS if self.words else LENGTHS[:1]

    def told(self, longest: int) -> str:
        """The entry with at most so many characters of the person's words."""
        if not self.words:
            return self.text
        words = in_the_middle(self.words, longest)
        whole = len(words) > 1 and words[0] == words[-1] == '"'
        quoted = words if whole else f'"{words}"'
        return f'{self.text}{quoted} - to: "{self.before}"' if self.before else self.text + quoted


def in_the_middle(text: str, longest: int) -> str:
    """A text that is shortened in its middle, at words."""
    if len(text) <= longest:
        return text
    head, end = longest * 2 // 3, longest // 3
    first = text.rfind(" ", head // 2, head)
    last = text.find(" ", len(text) - end, len(text) - end // 2)
    first, last = first if first > 0 else head, last if last > 0 else len(text) - end
    return f"{text[:first].rstrip(' ,;:')} […] {text[last:].lstrip()}"


_PREVIEW = re.compile(r" selected preview:.*?(?=, \"[^\"\n]{1,300}\"=\"|$)", re.DOTALL)


def without_previews(words: str) -> str:
    """Answers to questions of a call, without the drawings that were beside the choices."""
    return _PREVIEW.sub("", words) if " selected preview:" in words else words


def is_assent(text: str) -> bool:
    """Whether a message says no more than "ok" or "continue"."""
    words = person_words(text)
    return bool(words) and len(words) <= LONGEST_ASSENT and not has_content(words)


class _Said(Struct):
    at: int
    turn: int
    words: str
    question: str
    assent: bool
    refused: str = ""
    option: str = ""
    """What a bare letter or number stands for that decides something."""


def message_entries(moments: Sequence[Moment], quoted: Sequence[Line]) -> list[Entry]:
    """The messages since the current task began, without those that `quoted` lines have whole."""
    said = _said(moments)
    start = _task_start(moments, said)
    told = {line.turn for line in quoted}
    entries: list[Entry] = []
    run: list[_Said] = []
    for each in said[start:]:
        if each.assent:
            if each.turn not in told:
                run.append(each)
            continue
        entries += _assents(run, moments, last=False)
        run = []
        if each.turn not in told:
            entries.append(_entry(each, moments))
    return [*entries, *_assents(run, moments, last=True)]


def _said(moments: Sequence[Moment]) -> list[_Said]:
    found: list[_Said] = []
    for at, each in enumerate(moments):
        if not isinstance(each, Message) or each.voice is not Voice.PERSON:
            continue
        words = without_previews(person_words(each.text, WORDS))
        if not words:
            continue
        before = moments[at - 1] if at else None
        refused = ""
        if isinstance(before, Event) and before.kind is Kind.REFUSED and before.turn == each.turn:
            refused = f"Refused {before.what}: " if before.what else "Refused: "
        if each.name == ANSWERS:
            found.append(_Said(at, each.turn, words, "", assent=False, refused="Answers: "))
            continue
        question = question_before(moments, at)
        length = len(words) + 3 * sum(map(len, WIDE.findall(words)))
        short = length <= LONGEST_ASSENT and len(words.split()) <= WORDS_OF_ASSENT
        asked = question.endswith(("?", "？", "؟"))
        plain_words = not re.search(r"[\d/_@`]|\w\.\w", words)
        option = deciding_option(words, moments, at)
        assent = not (refused or option) and (
            not has_content(words)
            or (short and asked and plain_words and not words.endswith(("?", "？", "吗")))
            or (len(words) <= 2 and bool(question))
        )
        found.append(_Said(at, each.turn, words, question, assent, refused, option))
    return found


def _task_start(moments: Sequence[Moment], said: Sequence[_Said]) -> int:
    """The place of the message with which the current task began.

    It is the latest request that has little in common with what was said shortly before; from
    there on there are at least `LEAST_MESSAGES` messages with content.
    """
    content = [place for place, each in enumerate(said) if not (each.assent or each.option)]
    if not content:
        return 0
    least = content[-LEAST_MESSAGES] if len(content) > LEAST_MESSAGES else 0
    for place in reversed(content):
        each = said[place]
        terms = terms_of(each.words)
        if len(terms) < LEAST_TERMS or is_answer(each.words, each.question):
            continue
        known: set[str] = set()
        for other in moments[max(0, each.at - 12) : each.at]:
            known |= terms_of(other.text[:WORDS]) if isinstance(other, Message) else set()
        if len(terms & known) <= NEW_SUBJECT * len(terms):
            return min(place, least)
    return 0


def _entry(each: _Said, moments: Sequence[Moment]) -> Entry:
    if each.option:
        return Entry(each.turn, "", f'{each.refused}"{each.words}" ({each.option})')
    said = moments[each.at]
    pairs = numbered_answers(said.text, moments, each.at) if isinstance(said, Message) else []
    if pairs and not each.refused:
        return Entry(each.turn, "", "; ".join(pairs))
    needs = is_answer(each.words, each.question) and not each.refused
    before = shortened(each.question, LONGEST_PROPOSAL) if needs else ""
    return Entry(each.turn, each.words, each.refused, before)


_PART = re.compile(r"[\d.,]+|\b[A-Z]\b")


def _assents(run: Sequence[_Said], moments: Sequence[Moment], *, last: bool) -> list[Entry]:
    """One entry for assents in a row: the words, and what they assented to, each kind once.

    `last`: whether they are the last that the person said.
    """
    if not run:
        return []
    final = run[-1]
    if len(run) == 1:
        proposal = _proposal(moments, final)
        if not proposal:
            return []
        return [Entry(final.turn, "", f'"{final.words}" - to: "{proposal}"')]
    words = Counter(each.words.strip(" .!").lower() for each in run)
    shown = ", ".join(
        f'"{word}"' + (f" {times} times" if times > 1 else "")
        for word, times in words.most_common(4)
    )
    kinds: dict[str, list[_Said]] = {}
    for each in run:
        if each.question:
            kinds.setdefault(_PART.sub("#", each.question.lower()), []).append(each)
    recent = sorted(kinds.values(), key=lambda each: each[-1].turn)
    recent = recent[-MOST_PROPOSALS:] if last else sorted(recent, key=len)[-1:]
    longest = LONGEST_PROPOSAL if last else LONGEST_PROPOSAL // 2
    proposals = [
        f'"{shortened(kind[-1].question, longest)}"'
        + (f" ({len(kind)} such questions)" if len(kind) > 1 else "")
        for kind in recent
    ]
    text = f"{len(run)} short answers in a row: {shown}"
    if proposals:
        text += f", to: {'; '.join(proposals)}"
    if last and (proposal := _proposal(moments, final)):
        text += f'. The last one, "{final.words}", was to: "{proposal}"'
    return [Entry(final.turn, "", text)]


def _proposal(moments: Sequence[Moment], said: _Said) -> str:
    """What a short answer assented to: the question, with the statement before it."""
    for each in reversed(moments[max(0, said.at - 3) : said.at]):
        if is_person(each):
            return ""
        if isinstance(each, Message) and each.voice is Voice.AGENT:
            texts = [found.text for found in statements(each, closing=True)]
            asked = max((at for at, text in enumerate(texts) if text.endswith("?")), default=-1)
            if asked < 0:
                return shortened(texts[-1], LONGEST_PROPOSAL) if texts else ""
            question = shortened(texts[asked], LONGEST_PROPOSAL)
            offered = next((text for text in texts[:asked] if not text.endswith("?")), "")
            lean = len(terms_of(question)) < LEAST_TERMS and offered
            return f"{shortened(offered, LONGEST_PROPOSAL)} - {question}" if lean else question
    return ""
