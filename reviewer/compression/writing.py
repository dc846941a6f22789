"""A session in a number of tokens, without a model: the hand-over, Brief and Detailed.

In this order, each part with its share of the room, and what one leaves goes to the next: the
request, what the person insisted on, the plan, the state, the course of the session in its own
order, the last results. Nothing is said that the session does not say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set

from reviewer.compression.choice import LINE, Chooser, Piece
from reviewer.compression.pieces import headings, pieces, question_in
from reviewer.compression.sections import Section
from reviewer.compression.session import Session, Speech, Voice
from reviewer.compression.state_lines import change_lines, plan_lines, state_lines
from reviewer.compression.told import Step, cut, told_together
from reviewer.compression.words import terms
from reviewer.sources.claude_words import summary_words
from reviewer.sources.events import Act

TITLED_FROM = 160
"""Tokens from which on the parts have titles."""
REQUEST, INSTRUCTIONS, PLAN, STATE, RESULTS, CODE = 0.14, 0.08, 0.08, 0.16, 0.07, 0.05
"""Shares of the room, at most."""
STATE_ALONE = 0.6
"""Share of the state where nobody said anything."""
PERSON, PERSON_ALONE, LAST = 0.4, 0.65, 0.3
"""Shares of the course: for the person's messages, and for what the agent said last."""
SMALL = 40
"""Tokens of a course below which the person's last message comes before everything else."""
EARLIER, STEPS = 0.35, 0.15
"""Shares of the course for earlier summaries, and for the calls between messages."""
FIRST_WEIGHT, LAST_WEIGHT, TURN_WEIGHT = 1.3, 1.6, 1.3
"""Of the first, the last and the other pieces of a message that ends a turn of the agent."""
EARLIER_WEIGHT, STEPS_WEIGHT, PAST_WEIGHT = 0.6, 0.8, 0.4
"""`PAST`: said while a check failed that has passed since."""
MOST_RESULTS = 6
MOST_GROUPS = 4
"""Messages of the agent at the end that are kept whole while there is room."""
SHORT = 120
"""Characters of a message that says little without what it answers."""
QUESTION = 200
LEAST_CUT = 60
"""Tokens below which no message is cut to fit."""
LEAST_BEGUN = 12
"""Tokens below which the beginning of a message says nothing."""
REPEATED = 200
"""Characters up to which a request also stands at its place in the course."""
OUTLINE, OUTLINE_FROM = 700, 5
ROUNDS = 4
_ENDS = ".:;,!?-"
_MARKS = {"person": "Person: ", "steps": "  → ", "earlier": "- ", "agent": "- "}


def write_session(
    session: Session,
    room: int,
    count: Callable[[str], int],
    wanted: Sequence[str] = (),
    insisted: Sequence[str] = (),
) -> str:
    """The session in at most `room` tokens.

    `wanted`: texts that have to stand in it, verbatim. `insisted`: sentences in which the person
    corrected or asked for something that holds on.
    """
    return _Writing(session, room, count, wanted, insisted).run()


def write_course(session: Session, room: int, count: Callable[[str], int]) -> str:
    """The pieces of a session that say most, in their order, in at most `room` tokens."""
    return _Writing(session, min(room, TITLED_FROM - 1), count, (), ()).run()


def write_essentials(
    session: Session, room: int, count: Callable[[str], int], insisted: Sequence[str] = ()
) -> str:
    """The request, what the person insisted on, the plan and the state; no course."""
    return _Writing(session, room, count, (), insisted).essentials()


class _Writing:
    def __init__(
        self,
        session: Session,
        room: int,
        count: Callable[[str], int],
        wanted: Sequence[str],
        insisted: Sequence[str],
    ) -> None:
        self._session, self._room, self._count = session, room, count
        self._wanted = [" ".join(each.split()) for each in wanted]
        self._insisted = [" ".join(each.split()) for each in insisted]
        self._titled = room >= TITLED_FROM
        last = _last_steps(session) if self._titled else []
        self._results = [f"- {step.long_line}" for step in last]
        self._pieces = list(_course(session, {step.place for step in last}))
        places = [each.at for each in self._pieces] or [0.0]
        self._choose = Chooser(session.counts, count, places[0], places[-1])
        self._quoted: dict[int, str] = {}
        """Messages of the person that stand whole above the course, and how they are called."""

    def run(self) -> str:
        room = self._room
        if room <= 0:
            return ""
        before: list[tuple[str, list[str]]] = []
        after: list[tuple[str, list[str]]] = []
        state = self._session.state
        if self._titled:
            before = [
                (Section.REQUEST, self._request(round(room * REQUEST))),
                (Section.INSTRUCTIONS, self._instructions(round(room * INSTRUCTIONS))),
                (Section.PLAN, self._within(plan_lines(state), room * PLAN)),
            ]
            results = self._within(self._results, room * RESULTS)[::-1]
            code = self._within(change_lines(self._session.changes, state), room * CODE)
            after = [(Section.RESULTS, [*results, *code])]
        share = STATE if self._session.speeches else STATE_ALONE
        lines = state_lines(state, place=self._titled)
        now = self._within(lines, room * share, cut_last=self._titled)
        before.append((Section.NOW, now))
        fixed = [*before, *after]
        spent = sum(self._count("\n".join([f"{t}:", *lines])) + 2 for t, lines in fixed if lines)
        for _, lines in fixed:
            self._choose.said.update(*map(terms, lines))
        return self._with_course(before, after, room - spent)

    def essentials(self) -> str:
        """What must not be lost, without the course."""
        room, state = self._room, self._session.state
        parts = [
            (Section.REQUEST, self._request(round(room * 0.35))),
            (Section.INSTRUCTIONS, self._instructions(round(room * 0.2))),
            (Section.PLAN, self._within(plan_lines(state), room * 0.15)),
        ]
        spent = sum(self._count("\n".join([f"{t}:", *lines])) + 2 for t, lines in parts if lines)
        left = room - spent - LINE
        parts.append((Section.NOW, self._within(state_lines(state), left)))
        return "\n".join(line for title, lines in parts if lines for line in (f"{title}:", *lines))

    # The parts above and below the course

    def _request(self, room: int) -> list[str]:
        """The latest request verbatim, with what it answers, and the first one."""
        said = self._session.speeches
        asked = [n for n, each in enumerate(said) if each.voice is Voice.PERSON]
        if not asked:
            return []
        last = asked[-1]
        lines = [self._quote("Latest", last, round(room * 0.65))]
        if len(said[last].text) < SHORT:
            if answered := _answered(said, last):
                lines.append(f'To the agent\'s question: "{answered}"')
            longer = [n for n in asked[1:-1] if len(said[n].text) >= SHORT]
            if longer:
                lines.append(self._quote("Before it", longer[-1], round(room * 0.35)))
        left = room - sum(self._count(line) for line in lines)
        if asked[0] != last and left > LINE * 3:
            lines.append(self._quote("First", asked[0], left))
        if said[-1].voice is Voice.AGENT:
            working = any(step.place > said[-1].place for step in self._session.steps)
            lines.append(
                "The agent was still at work on it." if working else "The agent had the last word."
            )
        return lines

    def _quote(self, name: str, number: int, room: int) -> str:
        text = clipped(_one_line(self._session.speeches[number].text), room, self._count)
        self._quoted[number] = "earlier" if name == "Before it" else name.lower()
        return f"{name}: {text}"

    def _instructions(self, room: int) -> list[str]:
        """Refusals with the person's words, and what they insisted on, in order."""
        said = self._session.speeches
        whole = " ".join(_one_line(said[number].text) for number in self._quoted)
        found = {
            number: f"Refused: {each.text.removeprefix('(refused: ').replace(')', ':', 1)}"
            for number, each in enumerate(said)
            if each.kind == "refusal" and not each.text.endswith(")")
        }
        lines: list[tuple[int, str]] = list(found.items())
        for sentence in self._insisted:
            place = next((n for n, s in enumerate(said) if sentence in _one_line(s.text)), -1)
            if place >= 0 and place not in found and sentence not in whole:
                lines.append((place, f'"{sentence}"'))
        kept: list[tuple[int, str]] = []
        for place, line in sorted(lines, reverse=True):  # the newest hold
            line = clipped(_one_line(line), room, self._count)
            cost = self._count(line) + LINE
            if line and cost <= room:
                kept.append((place, line))
                room -= cost
        return [f"- {line}" for _, line in sorted(kept)]

    def _within(self, lines: Iterable[str], room: float, *, cut_last: bool = False) -> list[str]:
        """The lines that fit, in their order. `cut_last`: of a longer one its beginning."""
        kept: list[str] = []
        for line in lines:
            if cut_last and room > LEAST_CUT // 2:
                line = begun(line, int(room) - 1, self._count)
            cost = self._count(line) + 1
            if cost <= room:
                kept.append(line)
                room -= cost
        return kept

    # The course

    def _with_course(
        self,
        before: list[tuple[str, list[str]]],
        after: list[tuple[str, list[str]]],
        room: int,
    ) -> str:
        spent = self._keep_wanted(room)
        share = PERSON if self._titled else PERSON_ALONE if room >= SMALL else 1.0
        spent += self._keep_person(min(round(room * share), room - spent))
        spent += self._keep_last(min(round(room * LAST), room - spent))
        limits = {"earlier": round(room * EARLIER), "steps": round(room * STEPS)}
        limits = limits if self._session.speeches else {}
        for _ in range(ROUNDS):  # what is written costs less than was reckoned
            if room - spent < LINE:
                break
            spent += self._choose.fill(self._pieces, room - spent, limits)
            spent = room - (self._room - self._count(self._written(before, after)))
        if not any(each.kept for each in self._pieces) and not any(ls for _, ls in before):
            return self._shortest()
        while (text := self._written(before, after)) and self._count(text) > self._room:
            kept = [each for each in self._pieces if each.kept]
            if not kept:
                return clipped(text, self._room, self._count)
            least = min(kept, key=lambda each: (each.weight, each.at))
            least.kept = False
        return text

    def _shortest(self) -> str:
        """The beginning of what says most, where no piece fits."""
        if not self._pieces:
            return ""
        wanted = [p for p in self._pieces if any(each in p.text for each in self._wanted)]
        best = self._choose.best(wanted or self._pieces)
        text = f"{_MARKS.get(best.kind, '') if best.kind == 'person' else ''}{best.text}"
        return begun(text, self._room, self._count)

    def _keep_wanted(self, room: int) -> int:
        """Keep the pieces that have a text which has to stand in the summary."""
        spent = 0
        for wanted in self._wanted:
            if any(each.kept and wanted in each.text for each in self._pieces):
                continue
            having = [each for each in self._pieces if wanted in each.text]
            piece = min(having, key=self._choose.cost, default=None)
            alone = not spent and not self._titled
            if piece is not None and alone and self._choose.cost(piece) > room:
                piece.text = begun(piece.text, room - LINE, self._count)
            if piece is not None and spent + self._choose.cost(piece) <= room:
                piece.weight += 10
                spent += self._choose.keep(piece)
        return spent

    def _keep_person(self, room: int) -> int:
        """The person's messages, the newest first and the first always; long ones cut."""
        said = [each for each in self._pieces if each.kind == "person"]
        for piece in said:
            if piece.group in self._quoted and len(piece.text) > REPEATED:
                piece.text = f"(the {self._quoted[piece.group]} request, above)"
                piece.kept = True
        said = [each for each in said if not each.kept]
        each_room, left = max(60, room // 4) if self._titled else room, room
        for piece in dict.fromkeys([*said[-1:], *said[:1], *reversed(said[1:-1])]):
            most = each_room * 2 if piece is said[-1] else each_room
            if left < LEAST_CUT and piece is not said[-1] and self._choose.cost(piece) > left:
                continue
            text = clipped(piece.text, min(most, left - LINE), self._count)
            if not text and piece is said[-1] and not self._titled and left > LEAST_BEGUN:
                text = begun(piece.text, left - LINE, self._count)
            if text and self._count(text) + LINE <= left:
                piece.text = text
                left -= self._choose.keep(piece)
        return room - left

    def _keep_last(self, room: int) -> int:
        """The last messages of the agent with the calls after each, whole while there is room."""
        left = room
        said = [p for p in self._pieces if p.kind == "agent" and p.weight > PAST_WEIGHT]
        groups = dict.fromkeys(each.group for each in reversed(said))
        for group in list(groups)[:MOST_GROUPS]:
            for piece in self._pieces:
                mine = piece.group == group and piece.kind in ("agent", "steps")
                if not mine or piece.kept or self._choose.is_repeated(piece):
                    continue
                if self._choose.cost(piece) <= left:
                    left -= self._choose.keep(piece)
        return room - left

    def _written(
        self, before: list[tuple[str, list[str]]], after: list[tuple[str, list[str]]]
    ) -> str:
        course = [f"{_mark(each)}{each.text}" for each in self._pieces if each.kept and each.text]
        lines: list[str] = []
        for title, below in [*before, (Section.COURSE, course), *after]:
            if below and self._titled:
                lines.append(f"{title}:")
            lines += below
        return "\n".join(lines)


def _mark(piece: Piece) -> str:
    mark = _MARKS.get(piece.kind, f"{piece.kind}: ")
    return "" if mark == "- " and piece.text[:1].isdigit() else mark


def _last_steps(session: Session) -> list[Step]:
    """The last calls that did something, the newest first, each file and command once."""
    last: dict[str, Step] = {}
    for step in reversed(session.steps):
        if step.act not in (Act.READ, Act.SEARCH):
            last.setdefault(step.path or step.line, step)
        if len(last) == MOST_RESULTS:
            break
    return list(last.values())


def _course(session: Session, told: Set[int]) -> Iterator[Piece]:
    """The session in its own order, without the steps that are told elsewhere."""
    said = session.speeches
    steps = [step for step in session.steps if step.place not in told]
    places = [each.place for each in said]
    first = [step for step in steps if not places or step.place < places[0]]
    if line := told_together(first):
        yield Piece(-1.0, "steps", line, STEPS_WEIGHT)
    at = len(first)
    for number, each in enumerate(said):
        yield from _spoken(session, number, each)
        end = places[number + 1] if number + 1 < len(places) else float("inf")
        between = []
        while at < len(steps) and steps[at].place < end:
            between.append(steps[at])
            at += 1
        if line := told_together(between):
            yield Piece(each.place + 0.9, "steps", line, STEPS_WEIGHT, number)


def _spoken(session: Session, number: int, each: Speech) -> Iterator[Piece]:
    if each.voice is Voice.PERSON:
        text = _one_line(each.text)
        if len(each.text) < SHORT and (asked := _answered(session.speeches, number)):
            text = f'{text} (to: "{asked}")'
        yield Piece(each.place, "person", text, group=number)
        return
    kind = {Voice.AGENT: "agent", Voice.EARLIER: "earlier"}.get(each.voice, each.name or "note")
    text = summary_words(each.text) if kind == "earlier" else each.text
    parts = pieces(text)
    closes = kind == "agent" and session.closes_turn(number)
    past = session.is_past(each.place) and not closes
    titles = headings(text) if closes else []
    if len(titles) >= OUTLINE_FROM:
        outline = cut(f"Outline: {'; '.join(titles)}", OUTLINE)
        yield Piece(each.place, kind, outline, TURN_WEIGHT, number)
    for place, piece in enumerate(parts):
        weight = 1.0
        if kind == "earlier":
            weight = EARLIER_WEIGHT
        elif past:
            weight = PAST_WEIGHT
        elif closes:
            weight = TURN_WEIGHT
            weight = FIRST_WEIGHT if place == 0 else weight
            weight = LAST_WEIGHT if place == len(parts) - 1 else weight
        yield Piece(each.place + place / (len(parts) + 1), kind, piece, weight, number)


def _answered(said: Sequence[Speech], number: int) -> str:
    """The question of the agent that a message of the person answers."""
    before = said[number - 1] if number else None
    if before is None or before.voice is not Voice.AGENT:
        return ""
    return question_in(before.text, QUESTION)


def _one_line(text: str) -> str:
    """A message in one line; its lines stay apart."""
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("```")]
    ends = ("" if line[-1] in _ENDS else ";" for line in lines)
    return " ".join(f"{line}{end}" for line, end in zip(lines, ends, strict=True)).rstrip(";")


def begun(text: str, room: int, count: Callable[[str], int]) -> str:
    """The beginning of a text, in whole words and at most `room` tokens."""
    if count(text) <= room:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if count(text[:middle].rstrip() + "...") <= room:
            low = middle
        else:
            high = middle - 1
    cut_at = text.rfind(" ", 0, low + 1)
    return f"{text[: cut_at if cut_at > 0 else low].rstrip()}..." if low else ""


def clipped(text: str, room: int, count: Callable[[str], int]) -> str:
    """At most `room` tokens of a text: a long one loses its middle."""
    if room < LINE * 3:
        return text if count(text) <= room else ""
    if count(text) <= room:
        return text
    low, high = 0, len(text) // 2
    best = ""
    while low < high:
        half = (low + high + 1) // 2
        first, last = text[: half * 3 // 2], text[len(text) - half // 2 :]
        first = first[: first.rfind(" ")] if " " in first else first
        short = f"{first.rstrip()} [...] {last[last.find(' ') + 1 :].lstrip()}"
        if len(short) < len(text) and count(short) <= room:
            best, low = short, half
        else:
            high = half - 1
    return best
