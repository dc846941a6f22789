"""How a session went at its end: the person's messages of the current task, and the last steps.

Both fill what the other sections of a hand-over leave of its room, and neither says again what
those quote. The output of a tool is no content; the line of it that decides is a result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reviewer.compression.anchor_types import Section
from reviewer.compression.offline.dialogue import message_entries
from reviewer.compression.offline.line import Line, is_person, terms_of
from reviewer.compression.offline.loop import repeating
from reviewer.compression.offline.shape import Account
from reviewer.compression.offline.steps import (
    LONGER,
    USUAL,
    Length,
    Step,
    folder_of,
    place_of,
    steps_of,
    steps_told,
    waiting_of,
)
from reviewer.compression.offline.tail import Tail
from reviewer.text.secrets import mask

SHAPE_SHARE = 0.6
"""Share of the room that the other sections may have before messages and steps get theirs."""
MESSAGES_SHARE = 0.5
"""Share of what is left that messages may have before the last steps get theirs."""
FULL = 0.03
"""Share of the room up to which it counts as filled."""
ROUNDS = 3
"""How often what other sections leave is given to messages and steps."""
OF_ONE = 0.5
"""Share of the room of messages that one of them may have, where it can be shortened."""
MOSTLY = 0.8
"""Share of the room of steps up to which they can be told at greater length."""
SMALL = 600
"""Tokens below which there is only room for a few last steps."""
SMALL_STEPS = 3
SMALL_SHARE = 0.3
_WORDS_OF_PERSON = frozenset(
    {Section.REQUEST, Section.INSTRUCTIONS, Section.DECISIONS, Section.DONE, Section.FOUND}
)
_FOLLOWING = ("Then: ", "Before: ")
"""How requests begin that messages tell in their order."""


class Course:
    """The messages and last steps of an account. `tail` has the turns at its end."""

    def __init__(self, account: Account, tail: Tail, count: Callable[[str], int]) -> None:
        self._account, self._count = account, count
        self._tail = tail
        self._steps: list[Step] = steps_of(
            account.moments, tail, account.interrupted, account.folder
        )
        self._folder = folder_of(tail, account.folder)
        self._loop = repeating(account.moments)

    def lines(self, room: int) -> list[Line]:
        """The lines for a hand-over of so many tokens.

        What the person says in them is taken out of the lines of the account.
        """
        if room < SMALL:
            return self._last_steps(int(room * SMALL_SHARE), SMALL_STEPS)
        before = self._account.lines
        messages = self._messages(room)
        self._leave_out(messages)
        least = room - int(room * SHAPE_SHARE)
        rest = max(least, room - self._count(self._account.write(room - least)))
        for _ in range(ROUNDS):
            self._account.lines = before
            steps_room = rest - min(self._cost(messages), int(rest * MESSAGES_SHARE))
            steps = self._last_steps(steps_room)
            messages = self._messages(rest - self._cost(steps))
            self._leave_out(messages)
            given = [*messages, *steps]
            left = room - self._count(self._account.write(room, given=given))
            if left < room * FULL:
                break
            rest += left
        return given

    def _cost(self, lines: Sequence[Line]) -> int:
        return sum(line.cost for line in lines)

    def _messages(self, room: int) -> list[Line]:
        """The person's messages since the task began, the latest first in line for the room."""
        quoted = [
            line
            for line in self._account.lines
            if line.section is Section.REQUEST and not line.text.startswith(_FOLLOWING)
        ]
        chosen: list[Line] = []
        for entry in reversed(message_entries(self._account.moments, quoted)):
            lines = [
                self._made(Section.MESSAGES, entry.told(longest), entry.turn)
                for longest in entry.lengths
            ]
            line = next((line for line in lines if line.cost <= room * OF_ONE), lines[-1])
            if line.cost > room:
                break
            room -= line.cost
            chosen.append(line)
        return chosen[::-1]

    def _leave_out(self, messages: Sequence[Line]) -> None:
        """Leave out of the account what the person says in these messages."""
        first = min((line.turn for line in messages), default=None)
        if first is None:
            return
        spoken = {each.turn for each in self._account.moments if is_person(each)}
        self._account.lines = [
            line
            for line in self._account.lines
            if line.section not in _WORDS_OF_PERSON
            or line.turn < first
            or line.turn not in spoken
            or (line.section is Section.REQUEST and not line.text.startswith(_FOLLOWING))
        ]

    def _last_steps(self, room: int, most: int | None = None) -> list[Line]:
        """The last steps; where there is room for all of them, at greater length."""
        told = self._steps_in(room, most, USUAL)
        for length in LONGER if most is None else ():
            if self._cost(told) >= room * MOSTLY:
                break
            told = self._steps_in(room, most, length)
        return told

    def _steps_in(self, room: int, most: int | None, length: Length) -> list[Line]:
        end = self._account.moments[-1].turn + 1 if self._account.moments else 0
        place = place_of(self._tail, self._account.folder)
        heads = (place, self._loop) if most is None else ()
        head = [self._made(Section.STEPS, text, -1) for text in heads if text]
        waits = waiting_of(self._account.moments, self._tail, self._account.folder)
        foot = [self._made(Section.STEPS, waits, end)] if waits else []
        room -= self._cost([*head, *foot])
        chosen: list[Line] = []
        for turn, texts in steps_told(self._steps, most, length):
            line = next(
                (
                    line
                    for line in (self._made(Section.STEPS, text, turn) for text in texts)
                    if line.cost <= room
                ),
                None,
            )
            if line is None:
                break
            room -= line.cost
            chosen.append(line)
        return [*head, *chosen[::-1], *foot] if chosen or foot else []

    def _made(self, section: Section, text: str, turn: int) -> Line:
        if turn >= 0 and self._folder:
            text = text.replace(f"{self._folder}/", "")
        text = mask(text).text
        line = Line(section, text, float(turn), 3.0, turn=turn)
        line.terms = terms_of(text)
        line.cost = self._count(f"- {text}\n")
        return line
