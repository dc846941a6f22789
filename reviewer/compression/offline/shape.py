"""The shape of a summary: which of the lines of `lines.py` fit, and in which order they come.

Every line belongs to a section; sections come in the order in which somebody who goes on needs
them. The budget is released twice: first to what the person said, to the state of the work and to
what happened last; the rest to what says most that is not said yet, for its length.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import pairwise
from math import fsum, log2

from msgspec import Struct, structs

from reviewer.compression.anchor_types import AnchorType, Section
from reviewer.compression.offline.events import Event, Kind, Message, Voice
from reviewer.compression.offline.history import read_history
from reviewer.compression.offline.items import names_in
from reviewer.compression.offline.line import Line, changes, is_of, is_person, recency_of, terms_of
from reviewer.compression.offline.lines import (
    REPORTED,
    TRAFFIC,
    has_reported,
    lines_of,
    read_lines,
    traffic_lines,
)
from reviewer.compression.offline.messages import ASKED_EARLIER
from reviewer.compression.offline.person import REPLY_TO, THEN
from reviewer.compression.offline.state import read_state
from reviewer.compression.offline.statements import WIDE, person_words
from reviewer.compression.values import AnchorPoint, Turn
from reviewer.compression.words import Expected, words_of
from reviewer.text.identifiers import IdentifierKind, identifiers
from reviewer.text.normalise import fold
from reviewer.text.secrets import mask

TITLED_FROM = 120
"""Tokens from which on a summary has headings."""


LONGEST_BULLET = 700
"""Characters up to which sentences that follow each other share a line."""


class Share(Struct, frozen=True):
    """A part of the first release: which lines it is for, and how much of the budget."""

    name: str
    of_budget: float


FIRST = (
    Share("request", 0.14),
    Share("state", 0.15),
    Share("edits", 0.12),
    Share("commits", 0.12),
    Share("tail", 0.2),
    Share("goal", 0.1),
    Share("words", 0.18),
)
"""The first release, in this order; what a part leaves goes to the second release."""
BEFORE_ANCHORS = (Share("request", 0.1), Share("state", 0.06))
"""What is taken even before anchors, so that they have something to refer to."""


SMALL = (Share("request", 0.4),)
"""The same for a summary that is too small for headings."""
LEAST_REQUEST = 26
"""Tokens that the beginning of the latest request has at least."""


LAST_ROUNDS = 3
"""Messages of the person from which on all that was found out may matter."""
_HISTORY = frozenset({Section.FOUND, Section.LISTS})
_TOLD_AS_FACTS = frozenset({Section.FOUND, Section.NOW, Section.DONE})
_AHEAD_OF = frozenset({Section.NOW, Section.NEXT})
LEAST_NEW = 0.25
"""Share of what was done or found out that has to be new in a hand-over."""
_TOLD_ONCE = frozenset({Section.FOUND, Section.DONE, Section.LISTS})
FILES_SHARE = 0.1
"""Share of a text that lines about single files have at most."""
LISTS_SHARE = 0.25
HISTORY_SHARE = 0.18
"""Share of a hand-over that what was found out may have, where work on files goes on."""
_NAMES = frozenset({IdentifierKind.PATH, IdentifierKind.CODE, IdentifierKind.NAME})
MOST_NAMES = 400
OFTEN_NAMED = 6
"""Twice the messages of the agent in which a name comes that nobody else uses."""
LEAST_NAME = 3
"""Letters and digits of a name."""
MOST_LISTED = 16
NAMES_SHARE = 0.12
"""Share of a summary that names may have at its end, where no line fits any more."""
ALSO = "Also named: "


NO_ANSWER = "Asked, no answer found: "
CLEAR = 2
"""Words of content with which a reply of the person is understood without what it answers."""
LINE_SHARE, LEAST_WHOLE = 0.12, 40
"""Share of a summary that a line has at most where it can be cut, and tokens that it may have."""
REQUEST_SHARE = 0.2
"""Share of a summary by which a request that was cut may grow, where room is left."""
LEAST_NEW_OF_TAIL = 0.2
"""Share of a report about the latest turn that has to be new."""
LONGEST_TOKEN = 12
"""Characters of a token at most, on average over a text."""
LEAST_PART = 10
"""Tokens that a part of a line has at least."""
_PART_END = re.compile(r"(?<=[a-z\d)`\"'])[.!?](?=\s+[A-Z`\"*])|;(?=\s)|(?<=[。！？])")
"""Where a line may be cut: the end of a sentence, or of a part of a list."""
OVERHEAD = 16
"""Tokens that a line costs its reader besides its own."""
SMALL_TEXT = 400
"""Tokens below which the state of the work counts no more than what was said; so do more requests
in a text without headings."""
STATE_OF_SMALL = 1.5


MUCH_ROOM = 0.3
"""Share of a summary from which on it also says what was only looked at."""
LITTLE = 3
"""Lines up to which what was only looked at is worth a line too."""


class Account:
    """The lines of some turns, and summaries of any size made of them. `count` counts tokens."""

    def __init__(self, turns: Iterable[Turn], count: Callable[[str], int]) -> None:
        self.count = count
        self.least_new = 0.0
        """Share of a line that has to be new, for it to fill the room that is left."""
        self.words: dict[int, list[str]] = {}
        """The words of what people said to each other, by the ids of their lines."""
        self.lists_names = True
        """Whether names that no line has may come at the end of a text."""
        self.most: dict[Section, float] = {Section.FILES: FILES_SHARE}
        """Sections that have at most this share of a text."""
        history = read_history(turns)
        self.moments = history.moments
        self.interrupted = history.interrupted
        """The turns of calls that the person interrupted."""
        self.folder = history.folder
        self.places = history.places
        self.state = read_state(self.moments)
        self.lines = lines_of(self.moments, self.state, history.places)
        if len(self.lines) < LITTLE:
            self.lines += traffic_lines(turns)
        else:
            self.lines += read_lines(history.places, self.state)
        self._price(self.lines)
        self._names_of = {
            each.turn: each.name
            for each in self.moments
            if isinstance(each, Message) and each.voice is Voice.SPEAKER
        }
        self.expected: Expected | None = None
        """Worth of words, where people talk to each other."""
        if 2 * len(self._names_of) > sum(isinstance(m, Message) for m in self.moments):
            said = [line for line in self.lines if line.turn in self._names_of]
            _as_discussion(said)
            self.words = {id(line): _spoken_words(line, self._names_of[line.turn]) for line in said}
            self.expected = Expected(self.words.values())
        self._weights = _weights(self.lines)
        spoken = [moment.turn for moment in self.moments if is_person(moment)]
        self.last_words = spoken[-1] if spoken else -1
        """The turn in which the person spoke last."""

    def _price(self, lines: Iterable[Line]) -> None:
        for line in lines:
            line.text = mask(line.text).text if "[masked" not in line.text else line.text
            line.cost = self.count(f"- {line.text}\n")

    def looked_at(self, turns: Iterable[Turn]) -> list[Line]:
        """What was only read, searched for and run in the turns, where no line says it."""
        if any(line.worth == TRAFFIC for line in self.lines):
            return []
        told = " ".join(line.text for line in self.lines)
        found = traffic_lines(turns, with_names=False, told=told)
        self._price(found)
        return found

    @cached_property
    def names(self) -> list[str]:
        """The names in what was said and done, those that are used most first.

        Of what only the agent names, those that it uses several times.
        """
        found: Counter[str] = Counter()
        matter: set[str] = set()
        for moment in self.moments:
            if isinstance(moment, Message):
                text = person_words(moment.text) if is_person(moment) else moment.text
                said = [each.text for each in identifiers(text) if each.kind in _NAMES]
                for name in dict.fromkeys(said):
                    found[name] += 1 if moment.voice is Voice.SUBAGENT else 2
                if moment.voice is Voice.PERSON:
                    matter.update(said)
            elif moment.kind in (Kind.EDIT, Kind.WRITE):
                found[moment.what] += 2
                matter.add(moment.what)
        return [
            name
            for name, times in found.most_common(MOST_NAMES)
            if " " not in name
            and sum(map(str.isalnum, name)) >= LEAST_NAME
            and (name in matter or times >= OFTEN_NAMED)
        ]

    def write(
        self,
        max_tokens: int,
        required: Sequence[AnchorPoint] = (),
        turns: Iterable[Turn] = (),
        given: Sequence[Line] = (),
    ) -> str:
        """A summary of at most `max_tokens`; anchors of `required` verbatim as far as they fit.

        `turns`: those of the account, for what was only looked at, where there is room. `given`:
        lines that it has in any case, which were chosen before.
        """
        if max_tokens <= 0:
            return ""
        draft = _Draft(self, max_tokens, turns)
        draft.give(given)
        if max_tokens >= TITLED_FROM:
            draft.release(BEFORE_ANCHORS)
        names = [each for each in required if each.type is AnchorType.CODE_ARTIFACT]
        draft.require([each for each in required if each.type is not AnchorType.CODE_ARTIFACT])
        if max_tokens < TITLED_FROM:
            draft.release(SMALL)
        draft.require(names)
        draft.release(FIRST)
        draft.second_release()
        draft.rest()
        draft.use_what_is_left()
        return draft.text()

    def add(self, lines: Sequence[Line]) -> None:
        """Offer more lines."""
        self._price(lines)
        self.lines += lines

    def leave_out_folder(self, folder: str) -> None:
        """Name what lies in a folder by its path in it."""
        for line in self.lines:
            if f"{folder}/" in line.text:
                line.text = line.text.replace(f"{folder}/", "")
                line.terms = terms_of(line.text)
                line.cost = self.count(f"- {line.text}\n")

    def say_whose_turn_it_is(self) -> None:
        """Say that the agent waits for the person, where it has reported and nothing comes next."""
        ahead = any(line.section is Section.NEXT for line in self.lines)
        if has_reported(self.moments) and not ahead:
            waits = Line(Section.NEXT, REPORTED, 1e6, 0.3, "state", terms=terms_of(REPORTED))
            waits.cost = self.count(f"- {REPORTED}\n")
            self.lines.append(waits)

    def leave_out_history(self) -> None:
        """Leave out what was found out and asked before the last rounds, unless open work needs it.

        Where nothing was changed, what was found out is all there is, and stays.
        """
        self.lists_names, self.least_new = False, LEAST_NEW
        self.lines = [
            line for line in self.lines if not (line.guess and line.section in _TOLD_AS_FACTS)
        ]
        spoken = [moment.turn for moment in self.moments if is_person(moment)]
        worked = any(isinstance(moment, Event) and changes(moment) for moment in self.moments)
        earlier = [each.turn for each in self.moments if is_of(each, Voice.SUMMARY)]
        start = spoken[-LAST_ROUNDS] if len(spoken) > LAST_ROUNDS else 0
        start = max(start, max(earlier, default=-1))
        if not worked or not (start or earlier):
            return
        ahead = [
            line
            for line in self.lines
            if (line.section in _AHEAD_OF and line.release != "edits") or line.release == "request"
        ]
        needed = {name for line in ahead for name in names_in(line.text)}
        self.lines = [
            line
            for line in self.lines
            if not line.text.startswith(ASKED_EARLIER)
            and not (line.turn < start and line.text.startswith("Asked: ") and "?" in line.text)
            and (line.current or line.lasting or line.turn >= self.last_words)
            and (
                line.section not in _HISTORY
                or line.turn >= start
                or line.lasting
                or (line.current and not needed.isdisjoint(names_in(line.text)))
            )
        ]
        self.most = {Section.FOUND: HISTORY_SHARE, Section.LISTS: LISTS_SHARE}

    def name_of(self, turn: int) -> str:
        """Who speaks in a turn, where several people do; empty for the person and the agent."""
        return self._names_of.get(turn, "")

    def weight(self, terms: Iterable[str]) -> float:
        return fsum(self._weights.get(term, 0.0) for term in terms)  # sets have no order


def _weights(lines: Sequence[Line]) -> dict[str, float]:
    """What a term is worth: more the more often it comes, names more than words."""
    counts = Counter(term for line in lines for term in line.terms)
    return {
        term: log2(1 + times) * (1.4 if re.search(r"[\d_./#-]", term) else 1.0)
        for term, times in counts.items()
    }


def _as_discussion(lines: Sequence[Line]) -> None:
    """Put what people said to each other under a heading of its own, all of it equally late."""
    last = max((line.turn for line in lines), default=0)
    for line in lines:
        line.worth /= recency_of(line.turn / max(last, 1))
        if line.section not in (Section.DECISIONS, Section.INSTRUCTIONS):
            line.section = Section.DISCUSSED


def _spoken_words(line: Line, name: str) -> list[str]:
    return words_of(line.text.removeprefix(f"{name}: "))


def _goes_on(line: Line) -> bool:
    """Whether the person only said how to go on after a request."""
    return line.text.startswith(THEN)


def _is_balanced(text: str) -> bool:
    """Whether no quotation, bracket or code is left open where a text was cut."""
    pairs = (("(", ")"), ("[", "]"))
    marks = ("`", "**", '"')
    return all(text.count(a) <= text.count(b) for a, b in pairs) and not any(
        text.count(mark) % 2 for mark in marks
    )


def _pieces(text: str) -> tuple[list[str], str]:
    """A text in pieces at which it may be cut, and what joins them: its words, or characters."""
    if sum(map(len, WIDE.findall(text))) > len(text) / 3:
        return list(text), ""
    return text.split(" "), " "


def _two_ends(pieces: Sequence[str], joint: str, number: int) -> str:
    """So many pieces of a text: its beginning, and its end where there is room for both."""
    last = number // 3 if number >= LEAST_TWO_ENDS and number < len(pieces) else 0
    end = f"[…]{joint or ' '}{joint.join(pieces[-last:])}" if last else "…"
    return f"{joint.join(pieces[: number - last])} {end}"


def _cut_request(line: Line, pieces: Sequence[str], joint: str, number: int, *, files: bool) -> str:
    """So many pieces of a request, and with `files` those that the rest of it names."""
    if number >= len(pieces):
        return line.text
    text = _two_ends(pieces, joint, number)
    if text.count('"') % 2:
        text += '"'
    words = line.text.partition(REPLY_TO)[0]
    named = _A_FILE.findall(words) if files else ()
    left = [each for each in dict.fromkeys(named) if each not in text]
    return f"{text} (it names {', '.join(left[:MOST_FILES])})" if left else text


_A_FILE = re.compile(
    r"(?<![@~./\w-])[@~./\w-]{0,200}[\w-]/[\w./-]{0,100}\.[A-Za-z]\w{0,7}\b|(?<![\w./-])[\w-]{1,80}\.(?:md|txt|ya?ml)\b"
)
MOST_FILES = 3
"""Files of a request that are named where it is cut before them."""
LEAST_TWO_ENDS = 60
"""Words of a request from which on its end is quoted too: many end with the task."""


class _Draft:
    """The lines that were chosen for one summary, within its tokens."""

    def __init__(self, account: Account, ceiling: int, turns: Iterable[Turn] = ()) -> None:
        self._account, self._ceiling, self._turns = account, ceiling, turns
        self._titled = ceiling >= TITLED_FROM
        self._chosen: list[Line] = []
        self._taken: set[int] = set()
        self._spent = 0
        self._of_section: Counter[Section] = Counter()
        self._said: set[str] = set()
        self._sections: set[Section] = set()
        self._names: list[str] = []
        self._made: list[Line] = []
        """Beginnings and parts of lines, kept because lines are distinguished by their ids."""
        self._parted: set[int] = set()
        self._mentions: Counter[str] = Counter()
        self._pairs: set[tuple[str, str]] = set()
        self._begun: dict[int, Line] = {}
        """Lines of which only the beginning was taken: id -> that beginning."""
        self._given: set[int] = set()

    def _price(self, line: Line) -> int:
        title = 4 if self._titled and line.section not in self._sections else 0
        return line.cost + title

    def _price_with_previous(self, line: Line) -> int:
        """The price of a line and of the parts of its list that come along."""
        before = line.previous
        comes = before is not None and id(before) not in self._taken
        return self._price(line) + (self._price_with_previous(before) if comes and before else 0)

    def _take(self, line: Line) -> bool:
        price = self._price(line)
        if id(line) in self._taken or self._spent + price > self._ceiling:
            return False
        most = self._account.most.get(line.section, 1.0) * self._ceiling
        if self._of_section[line.section] + price > most:
            return False
        if line.previous is not None and id(line.previous) not in self._taken:
            if self._spent + price + self._price(line.previous) > self._ceiling:
                return False
            if not self._take(line.previous):
                return False
        self._chosen.append(line)
        self._taken.add(id(line))
        self._spent += price
        self._of_section[line.section] += price
        self._said |= line.terms
        if id(line) in self._account.words:
            words = self._account.words[id(line)]
            self._mentions.update(words)
            self._pairs.update(pairwise(words))
        self._sections.add(line.section)
        return True

    def give(self, lines: Sequence[Line]) -> None:
        for line in lines:
            self._take(line)
        self._given = {id(line) for line in lines}

    def require(self, anchors: Sequence[AnchorPoint]) -> None:
        """Take the lines that contain the anchors; anchors in no line are lines of their own."""
        names = [each for each in anchors if each.type is AnchorType.CODE_ARTIFACT]
        for anchor in (each for each in anchors if each.type is not AnchorType.CODE_ARTIFACT):
            wanted = fold(anchor.content)
            if not any(wanted in fold(line.text) for line in self._chosen):
                self._take(self._holding(anchor, wanted))
        for anchor in names:
            wanted = fold(anchor.content)
            cost = self._account.count(f", {wanted}")
            if self._spent + cost <= self._ceiling:
                self._names.append(wanted)
                self._spent += cost
        self._without_repeats()

    def _without_repeats(self) -> None:
        """Take back the lines that another line contains."""
        folded = {id(line): fold(line.text) for line in self._chosen}
        for line in list(self._chosen):
            if id(line) in self._given:
                continue
            others = (e for e in self._chosen if e is not line and id(e) not in self._given)
            if any(line.text in folded[id(e)] for e in others):
                self._drop(line)

    def _holding(self, anchor: AnchorPoint, wanted: str) -> Line:
        """The shortest line with the anchor in it, where that is not much longer than itself."""
        section = anchor.type.section
        if section is Section.NEXT and anchor.turn < self._account.last_words:
            section = Section.FOUND  # the person has spoken since
        name = self._account.name_of(anchor.turn)
        told = f"{name}: {wanted}" if name else wanted
        if anchor.type is AnchorType.UNRESOLVED_QUESTION and section is Section.FOUND:
            told = f"{NO_ANSWER}{told}"
        alone = Line(section, told, anchor.turn + 0.5, 2.0, turn=anchor.turn)
        alone.terms = terms_of(wanted)
        alone.cost = self._account.count(f"- {told}\n")
        around = [
            line
            for line in self._account.lines
            if line.turn == anchor.turn and wanted in fold(line.text)
        ]
        best = min(around, key=lambda line: line.cost, default=alone)
        longest = self._ceiling * 0.16 if best.release else 2 * alone.cost + 24
        return best if best.cost <= min(longest, self._ceiling - self._spent) else alone

    def release(self, shares: Sequence[Share]) -> None:
        """Lines for each share of the budget, the newest first where that matters."""
        for share in shares:
            room = int(share.of_budget * self._ceiling)
            if share.name == "request" and self._titled:
                room = max(room, LEAST_REQUEST)
            waiting = [line for line in self._account.lines if line.release == share.name]
            newest_first = share.name in ("tail", "words", "request", "commits", "edits")
            if newest_first:
                waiting.sort(key=lambda line: (_goes_on(line), -line.order, -line.worth))
            for line in waiting:
                if self._is_given(line):
                    continue
                if share.name == "tail" and self._repeats_state(line):
                    continue
                price = self._price_with_previous(line)
                if price <= room and self._take(line):
                    room -= price
                elif share.name in ("request", "goal") and room > 20:
                    room -= self._take_beginning(line, room)

    def _take_beginning(self, line: Line, room: int) -> int:
        """Take as much of a line as fits, and return what that costs more than before."""
        if id(line) in self._taken and id(line) not in self._begun:
            return 0
        begun = self._begun.get(id(line))
        had = begun.cost if begun is not None else 0
        room = min(room + had, self._ceiling - self._spent + had)
        words, joint = _pieces(line.text)
        files = bool(self._given)  # a summary of a part has no room for them
        low, high = 0, min(len(words), room)
        while low < high:
            middle = (low + high + 1) // 2
            text = _cut_request(line, words, joint, middle, files=files)
            fits = self._account.count(f"- {text}\n") + 4 <= room
            low, high = (middle, high) if fits else (low, middle - 1)
        if low < 4:
            return 0
        text = _cut_request(line, words, joint, low, files=files)
        said, replies, _ = line.text.partition(REPLY_TO)
        if replies and len(said) < len(text) < len(line.text) and len(terms_of(said)) >= CLEAR:
            text = said  # it is understood without the half of a question
        short = structs.replace(line, text=text, cost=self._account.count(f"- {text}\n"))
        self._made.append(short)
        place = None
        if begun is not None:
            if short.cost <= begun.cost:
                return 0
            place = next((at for at, e in enumerate(self._chosen) if e is begun), None)
            if place is None:
                return 0  # another line has its words
            self._drop(begun)
        short.terms = terms_of(text)
        price = self._price(short)
        self._taken.add(id(line))
        self._begun[id(line)] = short
        if not self._take(short):
            return 0
        if place is not None:
            self._chosen.insert(place, self._chosen.pop())
        return price - had

    def _drop(self, line: Line) -> None:
        """Take a line back, whose words come in another one."""
        self._chosen = [each for each in self._chosen if each is not line]
        self._spent -= line.cost
        self._of_section[line.section] -= line.cost

    def _novel(self, line: Line) -> float:
        """The share of a line that is not said yet."""
        whole = self._account.weight(line.terms)
        return self._account.weight(line.terms - self._said) / whole if whole else 0.0

    def _repeats_state(self, line: Line) -> bool:
        """Whether a report says what the state of the work says: "Committed and pushed."."""
        return self._novel(line) < LEAST_NEW_OF_TAIL

    def _is_given(self, line: Line) -> bool:
        """Whether lines that were chosen before already say what a statement says."""
        told = line.section in _TOLD_ONCE or (line.place >= 0 and line.section is not Section.NEXT)
        return bool(self._given) and told and self._novel(line) < LEAST_NEW

    def _least_new(self, line: Line, least: float) -> float:
        return max(least, self._account.least_new) if line.section in _TOLD_ONCE else least

    def second_release(self) -> None:
        """The other lines, by what they add for their length.

        Of a line that is too long for the room that is left, the sentences or parts that fit.
        """
        heap: list[tuple[float, int]] = []
        lines = list(self._account.lines)
        whole: dict[int, Line] = {}
        for number, line in enumerate(lines):
            if id(line) not in self._taken:
                heap.append((-self._gain(line), number))
        heapify(heap)
        while heap:
            _, number = heappop(heap)
            line = lines[number]
            room = self._ceiling - self._spent
            most = max(round(LINE_SHARE * self._ceiling), LEAST_WHOLE)
            if self._price(line) > room or (line.cost > most and id(line) not in self._parted):
                short = self._first_part(line, min(room, most))
                if short is not None:
                    whole[len(lines)] = line
                    heappush(heap, (-self._gain(short), len(lines)))
                    lines.append(short)
                if short is not None or self._price(line) > room:
                    continue
            now = -self._gain(line)
            if heap and now > heap[0][0] + 1e-9:
                if now < 0:
                    heappush(heap, (now, number))
                continue
            if now < 0 and self._take(line) and number in whole:
                self._taken.add(id(whole[number]))

    def rest(self) -> None:
        """Where room is left: more of the requests, then what says little that is new."""
        for line in self._account.lines:
            if id(line) in self._begun:
                self._take_beginning(line, int(REQUEST_SHARE * self._ceiling))
        for line in sorted(self._account.lines, key=lambda each: (-each.worth, -each.order)):
            if self._novel(line) > self._least_new(line, 0.0) and not self._is_given(line):
                self._take(line)
        if self._titled and self._ceiling - self._spent > MUCH_ROOM * self._ceiling:
            for line in self._account.looked_at(self._turns):
                self._take(line)

    def use_what_is_left(self) -> None:
        """Fill the room that lines leave, which need fewer tokens together than one by one."""
        used = self._account.count(self._rendered(self._chosen))
        if self._ceiling - used >= LEAST_PART:
            self._spent = used + sum(self._account.count(f", {name}") for name in self._names[:1])
            self.second_release()
            self.rest()

    def _first_part(self, line: Line, room: int) -> Line | None:
        """The first sentences or parts of a line, where they fit the room and say enough."""
        if room < LEAST_PART or id(line) in self._parted or line.release in ("request", "goal"):
            return None
        self._parted.add(id(line))
        ends = [match.end() for match in _PART_END.finditer(line.text[: room * LONGEST_TOKEN])]
        for end in reversed(ends[:-1] if ends[-1:] == [len(line.text)] else ends):
            text = line.text[:end].rstrip(" ;")
            text = text if text.endswith((".", "!", "?")) else f"{text} …"
            short = structs.replace(line, text=text, cost=self._account.count(f"- {text}\n"))
            short.terms, short.place = terms_of(text), -1
            if short.cost < LEAST_PART:
                return None
            if self._price(short) <= room and _is_balanced(text):
                self._made.append(short)
                self._parted.add(id(short))
                return short
        return None

    def _gain(self, line: Line) -> float:
        if self._novel(line) < self._least_new(line, 0.2) or self._is_given(line):
            return 0.0
        new = self._account.weight(line.terms - self._said)
        worth = line.worth
        if self._account.expected is not None and id(line) in self._account.words:
            return self._expected_gain(line)
        small = self._ceiling < SMALL_TEXT if line.release == "state" else not self._titled
        if small and line.release in ("state", "request", "goal"):
            worth = min(worth, STATE_OF_SMALL)
        return worth * new / (line.cost + OVERHEAD)

    def _expected_gain(self, line: Line) -> float:
        expected = self._account.expected
        assert expected is not None
        words = self._account.words[id(line)]
        new = 0.0
        here: Counter[str] = Counter()
        for word in words:
            tails = expected.words.get(word, ())
            at = self._mentions[word] + here[word]
            new += tails[at] if at < len(tails) else 0.0
            here[word] += 1
        for pair in set(pairwise(words)) - self._pairs:
            new += expected.pairs.get(pair, 0.0)
        return line.worth * new / (line.cost + OVERHEAD)

    def text(self) -> str:
        """The chosen lines by section, within the ceiling."""
        self._without_repeats()
        chosen = list(self._chosen)
        content = self._rendered(chosen)
        while chosen and self._account.count(content) > self._ceiling:
            chosen.pop()
            content = self._rendered(chosen)
        return self._with_names(content) if content else self._beginning()

    def _with_names(self, content: str) -> str:
        """The content with one last line of other names, in the tokens that no line can use."""
        count = self._account.count
        also = ALSO if self._titled else ""
        begun = self._titled and content.rpartition("\n")[2].startswith(ALSO)
        room = self._ceiling - count(content) - (0 if begun else count(f"\n{also}"))
        if self._titled:
            room = min(room, int(NAMES_SHARE * self._ceiling))
        if room < (8 if self._titled else 3) or not self._account.lists_names:
            return content
        lower = content.lower()
        kept: list[str] = []
        for name in self._account.names:
            cost = count(f", {name}")
            if len(kept) == MOST_LISTED:
                break
            if cost <= room and name.rpartition("/")[2].lower() not in lower:
                kept.append(name)
                room -= cost
                lower += f" {name.lower()}"
        joint = ", " if begun else f"\n{also}"
        found = f"{content}{joint}{', '.join(kept)}" if kept else content
        return found if count(found) <= self._ceiling else content

    def _beginning(self) -> str:
        """Where no line fits: the beginning of the one that is needed most."""
        ranked = sorted(self._account.lines, key=lambda line: -line.worth)
        for line in ranked[:5]:
            words, joint = _pieces(line.text)
            low, high = 0, min(len(words), self._ceiling)
            while low < high:
                middle = (low + high + 1) // 2
                fits = self._account.count(joint.join(words[:middle]) + " …") <= self._ceiling
                low, high = (middle, high) if fits else (low, middle - 1)
            if low:
                return joint.join(words[:low]) + (" …" if low < len(words) else "")
        return ""

    def _rendered(self, chosen: Sequence[Line]) -> str:
        out: list[str] = []
        names = [
            name for name in self._names if not any(name in fold(line.text) for line in chosen)
        ]
        for section in Section:
            inside = sorted(
                (line for line in chosen if line.section is section), key=lambda line: line.order
            )
            if not inside:
                continue
            if self._titled:
                out.append(f"{section.value}:")
            bullet = "- " if self._titled else ""
            before: Line | None = None
            for line in inside:
                follows = (
                    before is not None
                    and before.turn == line.turn
                    and line.place == before.place + 1 > 0
                    and len(out[-1]) + len(line.text) < LONGEST_BULLET
                    and out[-1].endswith((".", "!", "?"))
                    and not line.text.startswith("A sub-agent")
                )
                in_list = (
                    before is not None
                    and before.turn == line.turn
                    and line.place == before.place + 1 > 0
                    and before.lead == line.lead != ""
                )
                if in_list:
                    out[-1] += f"; {line.text.removeprefix(line.lead)}"
                elif follows:
                    name = self._account.name_of(line.turn)
                    out[-1] += f" {line.text.removeprefix(f'{name}: ') if name else line.text}"
                else:
                    out.append(f"{bullet}{line.text}")
                before = line
        if names:
            out.append(f"{ALSO if self._titled else ''}{', '.join(names)}")
        return "\n".join(out)
