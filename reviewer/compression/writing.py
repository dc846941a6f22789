"""A session in a number of tokens, without a model: the hand-over, Brief and Detailed.

First the person's latest request, then the course of the session in its own order, the plan, the
state, and the latest code changes. Nothing is added that the session does not say.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Sequence, Set
from math import log1p

from reviewer.compression.course import (
    QUESTION,
    SHORT,
    CourseLine,
    course,
    one_line,
    question_before,
)
from reviewer.compression.pieces import LEFT_OUT, NUMBERED, question_in
from reviewer.compression.session import SessionFacts, Voice
from reviewer.compression.state_lines import change_lines, plan_lines, state_lines
from reviewer.compression.values import HandoverSection
from reviewer.compression.words import is_name, terms
from reviewer.text.clip import clip, largest

PLAN, STATE, CODE = 0.16, 0.22, 0.1
"""Maximum shares of the room; the course has the rest, and any leftovers."""
PERSON, FINAL, LAST = 0.3, 0.5, 0.2
"""Shares of the course: the person's messages, the agent's last message, and those before it with
their steps. The rest goes to the most informative pieces."""
ALONE = 0.65
"""Share of the person's messages without titles, from `SMALL` on."""
SMALL = 40
TITLED_FROM = 160
"""Minimum tokens of a text with titles."""
WANTED, MARKED = 100.0, 5.0
"""Weight added to a piece for a wanted text; factor for a marked turn."""
ONE_CHANGE = 115
"""Tokens for the code of the latest change, in a short text."""
MAX_LAST = 4
"""Final messages of the agent that are kept whole while there is room."""
EARLY, LATE = 0.4, 1.6
"""Weights of a place at the start and at the end of the session."""
SAID_AGAIN = 0.2
"""Weight of a word that a kept piece already has."""
NAME_WORTH, MAX_COUNTED = 2.0, 20
LINE = 4
"""Tokens of a line beside its text."""
LENGTH = 16
"""Tokens added to the cost of each piece, so that short ones have no advantage."""
REQUEST = 0.12
"""Maximum share of the room for the request and the message that it answers."""
MAX_OF_REQUEST = 120
"""Tokens of the request at the start."""
OPENING = 60
"""Characters of a message that is left out, so that no answer stands under another question."""
MIN_CUT = 60
"""Minimum tokens of a cut message."""
ABOVE = "the request above."
ASKED_BELOW = "The agent's last question below has no answer yet."
_STOP = re.compile(r"[.!?;](?= )|[。！？；]")
"""The end of a sentence in a line."""
_MARKS = {"person": "Person: ", "steps": "  → ", "earlier": "Earlier summary: ", "agent": "Agent: "}
"""The speaker of a line; `- ` for more of the same."""

Count = Callable[[str], int]
Part = tuple[str, list[str]]
"""A title and the lines under it."""


def write_session(
    session: SessionFacts,
    room: int,
    count: Count,
    wanted: Sequence[str] = (),
    important: Set[int] = frozenset(),
    *,
    only: str = "",
    part: bool = False,
) -> str:
    """The session in at most `room` tokens. `wanted`: texts that take precedence. `important`:
    turns marked by a person. `only`: this kind of line of the course. `part`: open points at its
    end may be settled later, so they are not mentioned.
    """
    return _Writing(session, room, count, wanted, important, only=only, part=part).run()


class _Writing:
    def __init__(
        self,
        session: SessionFacts,
        room: int,
        count: Count,
        wanted: Sequence[str],
        important: Set[int],
        *,
        only: str,
        part: bool,
    ) -> None:
        self._session, self._room, self._count, self._part = session, room, count, part
        self._titled = room >= TITLED_FROM
        lines = course(session, asked=self._titled, part=part)
        self._pieces = [each for each in lines if only in ("", each.kind)]
        places = [each.at for each in self._pieces] or [0.0]
        self._first, self._span = places[0], max(places[-1] - places[0], 1.0)
        self._costs: dict[str, int] = {}
        self._terms: dict[int, set[str]] = {}
        self._worths: dict[str, float] = {}
        self._said: set[str] = set()
        self._texts: set[str] = set()
        self._before: list[Part] = []
        self._asks = ""  # the end of the agent's open question
        for piece in self._pieces:
            if piece.turn in important:
                piece.weight *= MARKED
        for each in map(one_line, wanted):
            having = [piece for piece in self._pieces if each in piece.text]
            for piece in sorted(having, key=self._cost)[:1]:
                piece.weight += WANTED

    def run(self) -> str:
        room, session = self._room, self._session
        if room <= 0:
            return ""
        after: list[Part] = []
        if self._titled:
            if not self._part:  # a part has it in its course
                self._before = [(HandoverSection.REQUEST, self._request())]
            plan = plan_lines(session, part=self._part)
            after.append((HandoverSection.PLAN, self._within(plan, room * PLAN)))
        lines = [*state_lines(session, place=self._titled and not self._part, part=self._part)]
        share = STATE if session.speeches else 1.0
        now = self._within(lines, room * share, cut_last=self._titled)
        after.append((HandoverSection.THEN if self._part else HandoverSection.NOW, now))
        for _, lines in (*self._before, *after):
            self._said.update(*map(terms, lines))
        one = 0 if self._part else min(room * LAST, ONE_CHANGE)
        code = round(max(room * CODE, one)) if self._titled and session.changes else 0
        self._keep(room - code - self._count(_text([*self._before, *after], self._titled)))
        parts = after
        changed = change_lines(session, part=self._part) if code else []
        for most in (code, room):  # leftovers of the course are for more code
            left = room - self._count(self._written(after)) - LINE * 2
            changes = self._code_within(changed, min(most, left))
            parts = [*after, (HandoverSection.CHANGES, changes)]
            self._fill(room - self._count(self._written(parts)))  # it costs less than estimated
        return self._fitted(parts)

    def _request(self) -> list[str]:
        """The latest request, which the course repeats only if it is cut here; the question that it
        or a later answer replies to, and that answer; and the agent's progress on it.
        """
        said = self._session.speeches
        asked = [n for n, each in enumerate(said) if each.asks]
        if not asked:
            return []
        number, lines = asked[-1], []
        if question := question_before(said, number):
            lines.append(f'The agent had asked: "{question}"')
        plain = [n for n in asked if not said[n].kind]
        if plain and said[number].kind == "answer":
            lines.append(f"The person answered: {clip(said[number].text, QUESTION)}")
            number = plain[-1]
        most = min(round(self._room * REQUEST), MAX_OF_REQUEST)
        whole = one_line(said[number].text)
        text = cut_in_the_middle(whole, most, self._count)
        if SHORT <= len(whole) == len(text):
            for piece in self._pieces:
                if (piece.kind, piece.message) == ("person", number):
                    piece.text = ABOVE
        if said[number].kind != "refusal":  # which begins with the call
            text = f'"{text}"'
        lines = [text, *self._within(lines, self._room * REQUEST - self._count(text))]
        return [*lines, self._standing()]

    def _standing(self) -> str:
        """The agent's progress on the latest request."""
        both = (Voice.PERSON, Voice.AGENT)
        last = next(each for each in reversed(self._session.speeches) if each.voice in both)
        if last.wordless:
            return "The person refused the agent's last call without a word."
        working = self._session.last_call > last.place
        if last.voice is Voice.PERSON:
            return "The agent had begun to work on it." if working else "It has no answer yet."
        if working:
            return "The agent was still at work on it."
        if question := question_in(last.text, QUESTION):
            self._asks = question[-SHORT:]
            return f'The agent asks, without an answer yet: "{question}"'
        return "The agent had the last word."

    def _within(self, lines: Sequence[str], room: float, *, cut_last: bool = False) -> list[str]:
        """The lines that fit, in their order. `cut_last`: with the beginning of an overlong one."""
        kept: list[str] = []
        for line in lines:
            if cut_last and room > MIN_CUT // 2:
                line = begun(line, int(room) - 1, self._count)
            cost = self._count(line) + 1
            if cost <= room:
                kept.append(line)
                room -= cost
        return kept

    def _code_within(self, changes: Sequence[str], room: float) -> list[str]:
        """The latest changes that fit; the last one without the lines that do not, and without a
        removal whose replacement is among these.
        """
        kept: list[str] = []
        for change in changes:
            lines = change.split("\n")
            while lines and self._count("\n".join(lines)) + LINE > room:
                lines.pop()
                while lines and not lines[-1].startswith("  + "):
                    lines.pop()
            text = "\n".join(lines)
            if text != change:
                return [*kept, f"{text}\n  ..."] if text else kept
            kept.append(text)
            room -= self._count(text) + 1
        return kept

    # The kept part of the course

    def _keep(self, room: int) -> None:
        """The request, wanted texts, the person's words, the last words and steps, and then the
        most informative pieces. In a part that has room for all the person's words, these first.
        """
        said = [each for each in self._pieces if each.kind == "person"]
        others = sum(self._cost(each) for each in self._pieces if each.kind != "person")
        share = round(room * (PERSON if self._titled else ALONE if room >= SMALL else 1.0))
        share = max(share, room - others)
        whole = self._part and sum(map(self._cost, said)) <= room
        if whole:
            share = room
        marked = [each for each in said if each.weight > 1]
        first = [*marked[:1], *said[-1:]]
        wanted = [each for each in self._pieces if each.weight > WANTED]
        spent = 0 if whole else self._fill(room, wanted)
        most = share // 2 if said[1:] and room >= SMALL and not whole else share
        begun_with = self._keep_person(first, min(share, room - spent), most, 0)
        spent += begun_with
        order = [*marked, *said[:1], *reversed(said[1:])]
        left = min(share - begun_with, room - spent)
        most = _even([self._cost(each) for each in said if not each.kept], left)
        spent += self._keep_person(order, left, max(MIN_CUT, most))
        spent += self._fill(room - spent, wanted)
        ending = self._last_pieces()
        final = [each for each in ending if each.message == ending[-1].message]
        for part, pieces in ((FINAL, final), (LAST, ending)):
            spent += self._fill(min(round(room * part), room - spent), pieces)
        self._fill(room - spent)

    def _keep_person(
        self, pieces: Sequence[CourseLine], room: int, most: int, least: int = MIN_CUT
    ) -> int:
        """Keep messages, each in at most `most` tokens, without its middle if need be, but not in
        fewer than `least`.
        """
        left = room
        for piece in pieces:
            limit = min(most, left - LINE)
            if piece.kept or (limit < least and self._cost(piece) > left):
                continue
            text = cut_in_the_middle(piece.text, limit, self._count)
            if not text and limit > LINE:
                text = begun(piece.text, limit, self._count)
            if text:
                piece.text = text
                if self._is_repeated(piece):
                    continue
                left -= self._keep_piece(piece)
        return room - left

    def _last_pieces(self) -> list[CourseLine]:
        """The agent's last message, and the calls after it."""
        mine = [each for each in self._pieces if each.kind in ("agent", "steps")]
        messages = list(dict.fromkeys(each.message for each in reversed(mine)))[:MAX_LAST]
        return [each for each in mine if each.message in messages]

    def _fill(self, room: int, pieces: Sequence[CourseLine] | None = None) -> int:
        """Keep the most informative pieces for their length; returns their cost."""
        spent = 0
        waiting = [e for e in (self._pieces if pieces is None else pieces) if not e.kept]
        heap = [(-self._value(each), number) for number, each in enumerate(waiting)]
        heapq.heapify(heap)
        while heap and room - spent >= LINE:
            _, number = heapq.heappop(heap)
            piece = waiting[number]
            value = self._value(piece)
            if heap and value < -heap[0][0] - 1e-9:
                heapq.heappush(heap, (-value, number))
                continue
            together = self._with_needed(piece)
            cost = sum(map(self._cost, together))
            if value <= 0 or spent + cost > room or self._is_repeated(piece):
                continue
            spent += sum(map(self._keep_piece, together))
        return spent

    def _with_needed(self, piece: CourseLine) -> list[CourseLine]:
        """A piece after those that it needs and that are not kept yet."""
        found = [piece]
        while (needed := found[0].needs) is not None and not self._is_repeated(needed):
            found.insert(0, needed)
        return found

    def _keep_piece(self, piece: CourseLine) -> int:
        piece.kept = True
        self._texts.add(piece.text)
        self._said |= self._terms_of(piece)
        return self._cost(piece)

    def _is_repeated(self, piece: CourseLine) -> bool:
        told = piece.kind != "person" or len(piece.text) > SHORT
        return piece.kept or (told and piece.text in self._texts)

    def _cost(self, piece: CourseLine) -> int:
        if piece.text not in self._costs:
            self._costs[piece.text] = self._count(f"{piece.text} {piece.asked}") + LINE
        return self._costs[piece.text]

    def _value(self, piece: CourseLine) -> float:
        """The information of a piece for its length, including the pieces it needs."""
        together = self._with_needed(piece)
        cost = sum(map(self._cost, together))
        return sum(map(self._said_by, together)) / (cost + LENGTH)

    def _said_by(self, piece: CourseLine) -> float:
        gain = sum(
            self._worth(term) * (SAID_AGAIN if term in self._said else 1.0)
            for term in self._terms_of(piece)
        )
        late = EARLY + (LATE - EARLY) * (piece.at - self._first) / self._span
        return gain * piece.weight * late

    def _worth(self, term: str) -> float:
        if term not in self._worths:
            times = self._session.counts.get(term, 1)
            worth = log1p(min(times, MAX_COUNTED))
            self._worths[term] = worth * (NAME_WORTH if is_name(term) else 1.0)
        return self._worths[term]

    def _terms_of(self, piece: CourseLine) -> set[str]:
        if id(piece) not in self._terms:
            self._terms[id(piece)] = terms(f"{piece.text} {piece.asked}")
        return self._terms[id(piece)]

    # The text

    def _written(self, after: Sequence[Part]) -> str:
        lines, before = self._course_lines(), self._before
        if self._asks and lines and lines[-1].endswith(self._asks):
            before = [(title, [*said[:-1], ASKED_BELOW]) for title, said in before]
        return _text([*before, (HandoverSection.COURSE, lines), *after], self._titled)

    def _course_lines(self) -> list[str]:
        lines: list[str] = []
        said = ""  # since the person's last message
        last: CourseLine | None = None
        cut_from = -1  # the message whose beginning is left out
        dropped = ""
        for piece in self._pieces:
            same = last is not None and (piece.kind, piece.message) == (last.kind, last.message)
            if not piece.kept:
                if piece.kind == "person":
                    dropped = clip(piece.text, OPENING) if self._titled else ""
                is_sign = not piece.weight and not piece.text.endswith(LEFT_OUT)
                if is_sign or piece.kind in ("person", "steps") or self._is_repeated(piece):
                    continue
                if not same:
                    cut_from = piece.message
                elif not lines[-1].endswith(LEFT_OUT):
                    lines[-1] += f" {LEFT_OUT}"
                continue
            if dropped and piece.kind != "person":
                lines.append(f"{_MARKS['person']}{dropped}")
                last = None
            dropped = ""
            mark = _MARKS.get(piece.kind, f"{piece.kind}: ")
            if last is not None and piece.kind not in ("person", "steps"):
                mark = "- " if piece.kind == last.kind else mark
            if piece.message == cut_from and piece.kind != "steps" and not same:
                mark += f"{LEFT_OUT} "
            is_item = mark == "- " and NUMBERED.match(piece.text)
            asked = piece.asked if piece.asked[-SHORT:] not in said else ""
            answer = f' (asked: "{asked}")' if asked else ""
            is_code = mark == "- " and piece.text.startswith("\n")
            text = piece.text if is_item else f"{mark}{piece.text}{answer}"
            lines.append(piece.text[1:] if is_code else text)
            said = "" if piece.kind == "person" else said + lines[-1]
            last = piece
        return lines

    def _fitted(self, after: Sequence[Part]) -> str:
        """The text within the room, without the least informative pieces, the person's last."""
        best = max(self._pieces, key=self._value, default=None)
        if best is not None and not any(each.kept for each in self._pieces):
            if not any(lines for _, lines in after):
                return begun(best.text, self._room, self._count)
            # The state alone does not describe the work.
            left = self._room - self._count(self._written(after)) - LINE * 2
            best.text = begun(best.text, left, self._count)
            best.kept = bool(best.text)
        while self._count(text := self._written(after)) > self._room:
            kept = [each for each in self._pieces if each.kept]
            if not kept:
                return cut_in_the_middle(text, self._room, self._count)
            needed = {id(each.needs) for each in kept}
            kept = [each for each in kept if id(each) not in needed]
            least = min(kept, key=lambda each: (each.kind == "person", each.weight, each.at))
            least.kept = False
        return text


def _text(parts: Sequence[Part], titled: bool) -> str:
    parts = [part for part in parts if part[1]]
    lines: list[str] = []
    for title, below in parts:
        lines += [f"{title}:"] if titled and parts[1:] else []
        lines += below
    return "\n".join(lines)


def _even(costs: Sequence[int], room: int) -> int:
    """The most that each may cost so that all fit."""
    for number, cost in enumerate(sorted(costs)):
        if cost * (len(costs) - number) > room:
            return room // (len(costs) - number)
        room -= cost
    return max(costs, default=0)


def begun(text: str, room: int, count: Count) -> str:
    """The beginning of a text, in whole words and at most `room` tokens."""
    if count(text) <= room:
        return text
    most = largest(0, len(text), lambda end: count(text[:end].rstrip() + "…") <= room)
    cut_at = text.rfind(" ", 0, most + 1)
    return f"{text[: cut_at if cut_at > 0 else most].rstrip()}…" if most else ""


def cut_in_the_middle(text: str, room: int, count: Count) -> str:
    """At most `room` tokens of a text: a long one loses its middle, between sentences if these are
    short enough.
    """
    if count(text) <= room:
        return text

    def short(half: int) -> str:
        first, last = text[: half * 3 // 2], text[len(text) - half // 2 :]
        stops = [at.end() for at in _STOP.finditer(first, len(first) // 2)]
        first = first[: stops[-1]] if stops else first.rpartition(" ")[0] or first
        _, blank, end = last.partition(" ")
        last = end if blank or last.isascii() else last  # Chinese has no blanks
        return f"{first.rstrip()} {LEFT_OUT} {last.lstrip()}".rstrip()

    def fits(half: int) -> bool:
        return len(short(half)) < len(text) and count(short(half)) <= room

    half = largest(0, len(text) // 2, fits) if room >= LINE * 3 else 0
    return short(half) if half else ""
