"""The numbered items of a request, and what became of each of them.

An item is recognised where the agent names its number ("Item 4 is fine"), or by words that no other
item has. What the agent says about an item last decides, with what it changed right after.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from reviewer.compression.offline.events import MAKES, Event, Kind, Message, Moment, Voice
from reviewer.compression.offline.line import is_edit, is_person
from reviewer.compression.offline.statements import is_announcement, plain, statements, straight
from reviewer.text.units import UnitKind, units

LEAST_ITEMS = 2
MOST_ITEMS = 40
ITEM_CHARS = 300
TOLD_CHARS = 160
"""Characters of what the agent said about an item."""


class Fate(StrEnum):
    """What became of an item."""

    NOTHING = "not mentioned since"
    LOOKED_AT = "looked at, nothing changed yet"
    EDITED = "edited"
    COMMITTED = "committed"
    REPORTED = "reported as done"
    FINE = "found to need nothing"


class Item(Struct):
    """An item of a request. `told`: what the agent said about it last; `files`: what it changed."""

    number: str
    text: str
    fate: Fate = Fate.NOTHING
    told: str = ""
    files: tuple[str, ...] = ()
    named: bool = False
    """Whether the agent used its number."""

    @property
    def is_open(self) -> bool:
        """Whether nothing was changed for it, and nobody said that nothing has to be."""
        return self.fate in (Fate.NOTHING, Fate.LOOKED_AT)


_ITEM = re.compile(r"(?:^|\n)[^\S\n]*+\(?(\d{1,2})[.):]\s+")
_NAMED = re.compile(
    r"\b(?:item|task|point|step|issue|finding|comment|question|problem|change|phase|part|number|no\.)s?"
    r"\s*+#?((?:\d{1,2}(?:\s{0,4}(?:,|and|&|\+)\s{0,4}){0,4}){1,60})\b",
    re.IGNORECASE,
)
_FINE = re.compile(
    r"\b(?:is|are|looks?|was|were|already|also|both|all)\b.{0,30}\b(?:fine|correct|ok(?:ay)?"
    r"|handled|covered|in place|resolved|up[ -]to[ -]date)\b"
    r"|\bno (?:changes?|fix(?:es)?|actions?|edits?) (?:is |are |was |were )?(?:needed|required"
    r"|necessary)\b|\bnot (?:an issue|a problem|needed|necessary|actionable)\b|\bfalse positive\b"
    r"|\bnothing (?:to (?:do|change|fix)|needed)\b|\bnon-issue\b|\bdoesn'?t need\b",
    re.IGNORECASE,
)
_UNDONE = re.compile(
    r"\b(?:needs? (?:to|a|an|fix\w*|work)|need fixing|remain(?:s|ing)?|left|todo|still|not yet"
    r"|pending|next|skip(?:ped|ping)?|defer\w*|out of scope)\b",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\b(?:done|complete[d]?|fixed|added|implemented|resolved|finished|addressed|removed|renamed"
    r"|updated|replaced|extracted|moved|created|wrote|merged|refactored)\b|[✅✓✔]",
    re.IGNORECASE,
)
_WORD = re.compile(r"(?<![\w./-])[\w./-]*\w")
_SPECIAL = re.compile(r"[\d_./]|[a-z][A-Z]|[A-Z]{2,}")
"""What names have and words have not."""
SHARED_WORDS = 2
"""Words of its own by which an item is recognised; one name is enough."""


def numbered(text: str) -> dict[str, str]:
    """The last list of numbered items in a text: number -> first paragraph."""
    found: dict[str, str] = {}
    matches = list(_ITEM.finditer(text))
    for at, match in enumerate(matches):
        end = matches[at + 1].start() if at + 1 < len(matches) else len(text)
        if match[1] == "1":
            found = {}
        found[match[1]] = (
            text[match.end() : min(end, match.end() + ITEM_CHARS * 4)].strip().split("\n\n", 1)[0]
        )
    return found


def items_of(text: str) -> list[Item]:
    """The items of a request: numbered ones, or else the points of a list that a line announces."""
    counted = numbered(text)
    if len(counted) >= LEAST_ITEMS:
        found = [Item(number, plain(words)[:ITEM_CHARS]) for number, words in counted.items()]
    else:
        points = [
            each for each in units(text) if each.kind is UnitKind.LIST_ITEM and not each.depth
        ]
        before = text[: points[0].start].rstrip(" \t-*+•–") if points else ""
        if not before.rstrip().endswith(":"):
            return []
        found = [Item("", plain(text[each.start : each.end])[:ITEM_CHARS]) for each in points]
    found = [each for each in found if len(each.text.split()) >= 2]
    return found if LEAST_ITEMS <= len(found) <= MOST_ITEMS else []


def fates(items: Sequence[Item], after: Sequence[Moment]) -> list[Item]:
    """The items of a request with what became of each in the moments after it."""
    found = [Item(each.number, each.text) for each in items]
    own = _own_words(found)
    for at, moment in enumerate(after):
        if isinstance(moment, Event) and moment.kind is Kind.COMMIT and moment.failed is False:
            _committed(moment, found, own)
        if not isinstance(moment, Message) or moment.voice is not Voice.AGENT:
            continue
        closing = at + 1 == len(after) or is_person(after[at + 1])
        said = [each.text for each in statements(moment, closing=closing)]
        said = said or [plain(moment.text)]
        changed, made = _changed_after(after, at), _made_after(after, at)
        for place, text in enumerate(said):
            about = _about(text, found, own)
            files = changed if place == len(said) - 1 else ()
            for item in about:
                _tell(item, text, files, closing=closing, alone=len(about) == 1)
                if made and place == len(said) - 1 and item.is_open:
                    item.fate, item.told = Fate.REPORTED, text[:TOLD_CHARS]
    return found


def latest_items(moments: Sequence[Moment]) -> list[Item]:
    """The items of the person's latest request that has several, where the work goes by them.

    That is so where the agent uses their numbers, or has a word about most of them. Empty where the
    person has asked for something else since, or where a to-do list says it better.
    """
    for at in range(len(moments) - 1, -1, -1):
        each = moments[at]
        if isinstance(each, Event) and each.kind is Kind.TODO and each.items:
            return []
        if isinstance(each, Message) and each.voice is Voice.PERSON:
            items = items_of(each.text)
            if items and _answers_points(moments, at):
                return []
            if items:
                known = fates(items, moments[at + 1 :])
                _mark_written(known, moments[at + 1 :])
                taken_up = sum(item.fate is not Fate.NOTHING for item in known)
                sure = any(item.named for item in known) or taken_up >= MOSTLY * len(known)
                return known if sure else []
            if len(each.text.split()) > SHORT_REPLY:
                return []
    return []


def _answers_points(moments: Sequence[Moment], at: int) -> bool:
    """Whether the numbers of a message of the person are those of questions of the agent."""
    said, before = moments[at], moments[at - 1] if at else None
    if not isinstance(said, Message) or not isinstance(before, Message):
        return False
    answers, asked = numbered(said.text), numbered(before.text)
    shared = answers.keys() & asked.keys()
    same = sum(
        "?" in asked[number]
        or bool(
            set(_words(asked[number][:TITLE_CHARS])) & set(_words(answers[number][:TITLE_CHARS]))
        )
        for number in shared
    )
    return len(shared) >= LEAST_ITEMS and 2 * same >= len(shared)


TITLE_CHARS = 60
"""Characters in which the title of a numbered point is."""


def latest_points(moments: Sequence[Moment]) -> list[Item]:
    """The points that the agent listed before it began to change files, with those that it changed.

    Empty where it has reported since, or where no edit can be told to belong to a point.
    """
    for at in range(len(moments) - 1, -1, -1):
        each = moments[at]
        if isinstance(each, Message):
            if each.voice is Voice.PERSON:
                return []
            items = items_of(each.text) if each.voice is Voice.AGENT else []
            edits = [e for e in moments[at + 1 :] if isinstance(e, Event) and is_edit(e)]
            if items and edits and sum(bool(names_in(item.text)) for item in items) > 1:
                return _matched(items, edits)
            if at == len(moments) - 1:
                return []
    return []


def _matched(items: list[Item], edits: Sequence[Event]) -> list[Item]:
    """The points with the files of the edits that belong to them; nothing if none belongs."""
    own = _own_words(items)
    for edit in edits:
        words = {edit.within, *edit.names, edit.what.rpartition("/")[2], edit.what}
        hits = [item for item, mine in zip(items, own, strict=True) if mine & words]
        if len(hits) == 1:
            hits[0].fate = Fate.EDITED
            hits[0].files = tuple(dict.fromkeys((*hits[0].files, edit.what)))
    return items if any(item.files for item in items) else []


def names_in(text: str) -> list[str]:
    """The names of functions, classes and files in a text."""
    return [
        word.strip("./") for word in _WORD.findall(text) if len(word) > 3 and _CODE.search(word)
    ]


_CODE = re.compile(r"[a-z][A-Z]|[A-Za-z]_[A-Za-z]|\w\.\w")
MOSTLY = 0.6
SHORT_REPLY = 12
"""Words up to which what the person says does not replace the request before."""


def _changed_after(moments: Sequence[Moment], at: int) -> tuple[str, ...]:
    """The files changed after a message and before the next one."""
    paths: list[str] = []
    for each in moments[at + 1 :]:
        if isinstance(each, Message):
            break
        if each.kind in (Kind.EDIT, Kind.WRITE) and not each.failed:
            paths.append(each.what)
    return tuple(dict.fromkeys(paths))


def _made_after(moments: Sequence[Moment], at: int) -> bool:
    """Whether something was made in another system after a message and before the next one."""
    for each in moments[at + 1 :]:
        if isinstance(each, Message):
            break
        if each.kind is Kind.PULL_REQUEST or (each.kind is Kind.RUN and MAKES.match(each.what)):
            return not each.failed
    return False


_FOLDER = re.compile(r"`((?:[\w.-]+/)+)`")


def _mark_written(items: Sequence[Item], after: Sequence[Moment]) -> None:
    """Note the files that were made in a folder that one item alone names."""
    folders = [set(_FOLDER.findall(each.text)) for each in items]
    times = Counter(folder for each in folders for folder in each)
    made = [e.what for e in after if isinstance(e, Event) and is_edit(e) and e.kind is Kind.WRITE]
    for item, named in zip(items, folders, strict=True):
        own = [folder for folder in named if times[folder] == 1]
        files = [path for path in made if any(path.startswith(folder) for folder in own)]
        if files and item.is_open:
            item.fate, item.files = Fate.EDITED, tuple(dict.fromkeys(files))


def _own_words(items: Sequence[Item]) -> list[frozenset[str]]:
    """The words of each item that no other item has."""
    words = [frozenset(_words(each.text)) for each in items]
    times = Counter(word for each in words for word in each)
    return [frozenset(word for word in each if times[word] == 1) for each in words]


def _words(text: str) -> list[str]:
    return [
        word if _SPECIAL.search(word) else word.lower()
        for word in _WORD.findall(text)
        if len(word) > 3
    ]


def _about(text: str, items: Sequence[Item], own: Sequence[frozenset[str]]) -> list[Item]:
    """The items that a statement is about: by their numbers, or else the one by its words."""
    numbers = {n for found in _NAMED.finditer(text) for n in re.findall(r"\d+", found[1])}
    named = [each for each in items if each.number and each.number.split(" ")[-1] in numbers]
    if named:
        for each in named:
            each.named = True
        return named
    words = frozenset(_words(text))
    scores = [sum(2 if _SPECIAL.search(word) else 1 for word in each & words) for each in own]
    best = max(scores, default=0)
    if best >= SHARED_WORDS and scores.count(best) == 1:
        return [items[scores.index(best)]]
    return []


def _tell(item: Item, said: str, files: tuple[str, ...], *, closing: bool, alone: bool) -> None:
    """Note what a statement says about an item, unless more is known."""
    text = straight(said)
    if item.fate is Fate.COMMITTED and not files:
        return
    if files:
        item.files = tuple(dict.fromkeys((*item.files, *files)))
        item.fate, item.told = Fate.EDITED, said[:TOLD_CHARS]
    elif is_announcement(text):
        if item.fate is Fate.NOTHING:
            item.fate = Fate.LOOKED_AT
    elif _UNDONE.search(text):
        if item.fate is not Fate.EDITED and alone:
            item.told = said[:TOLD_CHARS]
    elif _FINE.search(text) and not item.files:
        item.fate, item.told = Fate.FINE, _sentence_about(item, said)[:TOLD_CHARS]
    elif _DONE.search(text) and (closing or item.files):
        item.fate, item.told = Fate.REPORTED, said[:TOLD_CHARS]
    elif item.fate is Fate.NOTHING and alone:
        item.fate, item.told = Fate.LOOKED_AT, said[:TOLD_CHARS]


def _committed(commit: Event, items: Sequence[Item], own: Sequence[frozenset[str]]) -> None:
    """Note the items that the subject of a commit is about."""
    subject = commit.what.split("\n", 1)[0]
    made = commit.outcome.rpartition(" ")[2]
    for item in _about(subject, items, own):
        item.fate, item.told = Fate.COMMITTED, made or subject[:TOLD_CHARS]


_SENTENCE = re.compile(r"(?<=[.!?])\s+")


def _sentence_about(item: Item, said: str) -> str:
    """The sentence of a statement that uses the item's number, or else all of it."""
    for each in _SENTENCE.split(said):
        if any(item.number in re.findall(r"\d+", found[1]) for found in _NAMED.finditer(each)):
            return each
    return said
