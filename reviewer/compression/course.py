"""The course of a session as pieces in its own order: the messages, and lines for the calls in
between. The weight of a piece depends on its place alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from reviewer.compression.pieces import (
    LEFT_OUT,
    NUMBERED,
    end_of,
    grouped,
    numbered_in,
    pieces,
    question_in,
)
from reviewer.compression.session import SessionFacts, Speech, Voice
from reviewer.compression.told import NO_RESULT, told_once
from reviewer.compression.words import terms
from reviewer.sources.claude_words import summary_words
from reviewer.text.clip import clip

ANSWER, LAST, CLOSING = 3.0, 1.6, 1.3
"""Weights of the first, last and other pieces of the message that ends an agent's turn: the answer
to the person. The last piece of the answer to a question weighs as much as the first."""
EARLIER, STEPS = 0.6, 0.8
"""`EARLIER`: a client's summary, or a sub-agent's report, after its first piece."""
REPORT = 6
"""Pieces of a sub-agent's report, which begins with its findings."""
MIN_TERMS = 2
"""Terms of a sentence that is informative by itself."""
SHORT = 120
"""Characters of a message that says little without the one before it."""
QUESTION, OPTIONS = 200, 300
"""Characters of a question that is quoted with its answer, also with its options."""
CHOICE = 4
"""Characters of an answer that says nothing without the question, or the options if it is a letter
or a number."""
_ENDS = ".:;,!?-。：；，！？"


class CourseLine(Struct, eq=False):
    """A line of the course. `message`: the number of its speech, or of the one before; `turn`: its
    record.
    """

    at: float
    kind: str
    text: str
    weight: float = 1.0
    message: int = -1
    turn: int = -1
    asked: str = ""
    """The question answered by a person's message."""
    needs: CourseLine | None = None
    """A line without which this one is not kept."""
    kept: bool = False


def course(session: SessionFacts, *, asked: bool, part: bool) -> Iterator[CourseLine]:
    """The pieces of a session in order. `asked`: short messages with the question they
    answer. `part`: missing results may be in a later part.
    """
    said, steps = session.speeches, session.steps
    places = [each.place for each in said]
    at = 0
    request: CourseLine | None = None
    for number in range(-1, len(said)):
        end = places[number + 1] if number + 1 < len(said) else float("inf")
        between = []
        while at < len(steps) and steps[at].place < end:
            between.append(steps[at])
            at += 1
        place = 0.0
        if number >= 0:
            place = places[number]
            for each in _spoken(session, number, request, asked=asked):
                request = each if each.kind == "person" else request
                yield each
        for together in grouped(step.line for step in told_once(between)):
            at_end = max(place, between[-1].place) + 0.9
            line = "; ".join(together)
            line = line.replace(NO_RESULT, "") if part else line
            yield CourseLine(at_end, "steps", line, STEPS, number)


def _spoken(
    session: SessionFacts, number: int, request: CourseLine | None, *, asked: bool
) -> Iterator[CourseLine]:
    said = session.speeches
    each = said[number]
    if each.voice is Voice.PERSON:
        before = said_before(said, number) if asked else None
        question = question_before(said, number) if asked else ""
        text = one_line(each.text)
        if before and len(text) <= CHOICE:
            letter = len(text) == 1 and text.isalpha()
            again = letter and any(each.text == said[at].text for at in range(number))
            if not again and (letter or not question or not text.isalpha()):
                question = end_of(one_line(before.text), OPTIONS)
        yield CourseLine(each.place, "person", text, 1.0, number, turn=each.turn, asked=question)
        return
    kind = {Voice.AGENT: "agent", Voice.EARLIER: "earlier"}.get(each.voice, each.name or "note")
    text = each.text
    if kind == "earlier":
        later = any(s.asks or s.voice is Voice.EARLIER for s in said[number + 1 :])
        committed = max((commit.line for commit in session.state.commits), default=-1)
        worked_on = later or committed > each.turn + session.before
        text = summary_words(text, worked_on=worked_on)
    is_last = all(later.voice is not Voice.AGENT for later in said[number + 1 :])
    parts = pieces(text, whole=kind == "agent" and is_last)
    if each.kind == "report" and parts[REPORT:]:
        *parts, end = parts[:REPORT]
        parts.append(end._replace(text=f"{end.text} {LEFT_OUT}"))
    closes = kind == "agent" and (is_last or said[number + 1].voice is not Voice.AGENT)
    is_short = request is not None and len(request.text) <= QUESTION
    last = ANSWER if request is not None and "?" in request.text else LAST
    lines: list[CourseLine] = []
    for place, piece in enumerate(parts):
        at_end = place == len(parts) - 1
        weight = 1.0
        if len(terms(piece.text)) < MIN_TERMS and parts[1:]:
            weight = 0.0
        elif kind == "earlier" or each.kind == "report":
            weight = EARLIER if place else ANSWER
        elif closes:
            weight = ANSWER if place == 0 else last if at_end else CLOSING
        place_in_all = each.place + place / (len(parts) + 1)
        line = CourseLine(place_in_all, kind, piece.text, weight, number, each.turn)
        if closes and place == 0 and asked and is_short:
            line.needs = request
        lines.append(line)
    for line, piece in zip(lines, parts, strict=True):
        if piece.needs >= 0 and kind == "agent":  # parts of a summary or report are self-contained
            line.needs = lines[piece.needs]
    if each.kind == "report" and lines[1:]:  # its opening says nothing by itself
        lines[0].needs = lines[1]
    yield from lines


def said_before(said: Sequence[Speech], number: int) -> Speech | None:
    """The agent's message just before one of the person."""
    before = said[number - 1] if number else None
    return before if before is not None and before.voice is Voice.AGENT else None


def question_before(said: Sequence[Speech], number: int) -> str:
    """What the agent asked before a short message of the person, or one of numbered answers."""
    before = said_before(said, number)
    if before is None:
        return ""
    question = question_in(before.text, QUESTION)
    if question and NUMBERED.match(said[number].text):
        items = [clip(item, SHORT) for item in numbered_in(before.text)]
        return "; ".join(items) or question
    return question if len(said[number].text) < SHORT else ""


def one_line(text: str) -> str:
    """A message in one line, with its lines kept apart, but not those of a wrapped sentence."""
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("```")]
    joined = ""
    for line in lines:
        apart = ";" if joined and joined[-1] not in _ENDS and not line[0].islower() else ""
        joined += f"{apart} {line}"
    return joined.lstrip()
