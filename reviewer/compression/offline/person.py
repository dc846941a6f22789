"""What the person said, a line each: requests, instructions, answers, questions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reviewer.compression.anchor_types import Section
from reviewer.compression.offline.events import ANSWERS, Event, Kind, Message, Moment, Voice
from reviewer.compression.offline.items import numbered
from reviewer.compression.offline.line import Line, changes, is_of, is_person, shortened, terms_of
from reviewer.compression.offline.statements import (
    LONGEST_WORDS,
    WIDE,
    is_announcement,
    is_order,
    person_words,
    plain,
    statements,
    tells_of,
)

THEN = "Then: "
"""Before what the person said after the latest request that sets to work."""
STARTED = "Started with: "
"""Before a short command or choice near the beginning that set to work."""
REPLY_TO = " - to: "
"""Between the person's words and what they answer."""
LONGEST_REQUEST = 6_000
"""Characters of the first and the latest request, of which as much is told as there is room for."""
SHORT_ANSWER = 80
"""Characters up to which the person's words need the question that they answer."""


_ANSWER = re.compile(
    r"\W*(?:y(?:es|eah|ep|up)?|no(?:pe)?|ok(?:ay)?|sure|go (?:ahead|on|for)|do (?:it|that)|let'?s"
    r"|both|all|the (?:first|second|third|last)|(?:option )?[\d#a-c]\b|(?:i )?agree|sounds|please"
    r"|continue|proceed|correct|right|exactly|fine|perfect|great|fix (?:it|that))\b",
    re.IGNORECASE,
)


def person_lines(moments: Sequence[Moment]) -> list[Line]:
    """The person's words: the first and latest request, instructions, answers, other requests."""
    spoken = [
        (at, each)
        for at, each in enumerate(moments)
        if isinstance(each, Message) and each.voice is Voice.PERSON
    ]
    refusing = _order_of_refusal(moments, spoken)
    spoken = [(at, each) for at, each in spoken if not _after_refusal(moments, at)]
    lines: list[Line] = [refusing] if refusing else []
    for place, (_, each) in enumerate(spoken):
        if each.name == ANSWERS:
            lines += _choices(each, 1.2 + place / len(spoken))
    chosen = {line.turn for line in lines if line.section is Section.DECISIONS}
    spoken = [(at, each) for at, each in spoken if each.turn not in chosen]
    if not spoken:
        return lines
    resumed = _begins_with_summary(moments)
    real = _real_requests(moments, spoken)
    first, latest = (real[0], _latest(moments, spoken, real)) if real else (-1, len(spoken))
    newest = max(
        (
            number
            for number, (_, each) in enumerate(spoken)
            if number > latest and _sets_to_work(person_words(each.text))
        ),
        default=latest,
    )
    several = len(real) > 1 or any(number > latest for number in range(len(spoken)))
    for number, (at, message) in enumerate(spoken):
        age = number / max(len(spoken) - 1, 1)
        worth = 1.2 + age
        order = float(message.turn)
        question = question_before(moments, at)
        quoted = (number == first and not resumed) or number >= latest
        words = person_words(message.text, LONGEST_REQUEST if quoted else LONGEST_WORDS)
        turn, source = message.turn, message.text
        worked = _works_before_next_words(moments, at)
        if not words:
            continue
        early = number < EARLY and (number < latest or not real) and number != first
        if early and (started := _starts_work(words, moments, at)):
            text = f"{STARTED}{started}" if number else started
            lines.append(Line(Section.REQUEST, text, order, 4.0, "goal", source, turn))
            continue
        if number > latest and not has_content(words) and not question.endswith(("?", "？", "؟")):
            continue
        if quoted:
            label = THEN if number > newest else "Latest: " if number == newest else "Before: "
            if number == newest and (short := _short_answers_after(spoken, number)) > 1:
                label = f"Latest in words of their own ({short} short answers since): "
            if refusing and number == newest:
                label = "First: " if number == first else "Before: "
            label = "First: " if number < latest else label
            label = label if several or resumed or refusing else ""
            answered = (
                question if (number != first or resumed) and is_answer(words, question) else ""
            )
            text = f"{label}{_with_question(words, answered)}"
            release = "request" if number >= latest else "goal"
            lines.append(Line(Section.REQUEST, text, order, 4.0, release, source, turn))
            continue
        pairs = numbered_answers(message.text, moments, at)
        if pairs:
            for place, text in enumerate(pairs):
                where = order + place / 100
                lines.append(Line(Section.DECISIONS, text, where, worth, "words", "", turn))
        elif not has_content(words) and not question.endswith(("?", "？", "؟")):
            continue
        elif is_answer(words, question) and (
            question.endswith(("?", "？", "؟")) or not is_order(words)
        ):
            option = deciding_option(words, moments, at)
            if _UNCLEAR.fullmatch(words) and not option:
                continue
            text = _with_option(words, option, question)
            if question and _settles(words, question):
                lines.append(
                    Line(Section.DECISIONS, text, order, worth * 0.8, "words", source, turn)
                )
            elif has_content(words):
                answer = "" if worked else _reply_to(moments, at)
                lines.append(_asked(words, order, worth * 0.8, source, turn, worked, answer))
        elif is_order(words):
            text = _with_question(words, question if is_answer(words, question) else "")
            lines.append(Line(Section.INSTRUCTIONS, text, order, worth, "words", source, turn))
        elif ruled := _ruled(message.text, words):
            text = _with_question(ruled, question)
            lines.append(Line(Section.DECISIONS, text, order, worth, "words", source, turn))
            if words.endswith(_QUESTION_MARKS):
                answer = "" if worked else _reply_to(moments, at)
                rest = words.removeprefix(ruled).strip()
                lines.append(_asked(rest, order + 0.01, worth, source, turn, worked, answer))
        else:
            answer = "" if worked else _reply_to(moments, at)
            lines.append(_asked(words, order, worth, source, turn, worked, answer))
    return lines


def _order_of_refusal(
    moments: Sequence[Moment], spoken: Sequence[tuple[int, Message]]
) -> Line | None:
    """What the person said last, where that is what they want instead of a call they refused."""
    if not spoken or not _after_refusal(moments, spoken[-1][0]):
        return None
    at, message = spoken[-1]
    words = person_words(message.text, LONGEST_REQUEST)
    call = moments[at - 1]
    if len(terms_of(words)) < CLEAR_ORDER or not isinstance(call, Event):
        return None
    text = f'Latest, refusing {shortened(call.what or "a call", REFUSED_CHARS)}: "{words}"'
    turn = message.turn
    return Line(Section.REQUEST, text, turn, 4.0, "request", message.text, turn)


CLEAR_ORDER = 4
"""Words that carry something, from which on a refusal says what to do instead."""
REFUSED_CHARS = 80


def _short_answers_after(spoken: Sequence[tuple[int, Message]], number: int) -> int:
    """How many messages follow one, where all of them are answers such as "ok"; else 0."""
    later = [person_words(each.text) for _, each in spoken[number + 1 :]]
    short = all(len(each) <= SHORT_ANSWER // 4 and not each.endswith("?") for each in later)
    return len(later) if short else 0


def _sets_to_work(words: str) -> bool:
    """Whether a reply gives an order of its own: `go ahead with phase 1`."""
    asks = words.endswith(("?", "？", "؟"))
    return not asks and has_content(words) and bool(_ANSWER.match(words)) and words.count(" ") >= 2


_CHOICE = re.compile(r'"([^"\n]{1,600})"="([^"\n]{1,1200})"')


def _choices(message: Message, worth: float) -> list[Line]:
    """What the person answered to the questions of a call, a line each."""
    return [
        Line(
            Section.DECISIONS,
            f'"{plain(found[2])}" - to: "{plain(found[1])}"',
            message.turn + at / 100,
            worth,
            "words",
            found[2],
            message.turn,
        )
        for at, found in enumerate(_CHOICE.finditer(message.text))
    ]


LONGEST_CHOICE = 14
"""Words up to which what follows a question may be its answer without a yes or no."""


def _settles(words: str, question: str) -> bool:
    """Whether words decide something: an order or an answer, no remark and no question."""
    if words.endswith(("?", "？", "؟")):
        return False
    if _ANSWER.match(words):
        return True
    asked = question.endswith(("?", "？", "؟"))
    wide = sum(map(len, WIDE.findall(words)))
    several = 1 < len(words.split()) <= LONGEST_CHOICE or wide > 1
    return asked and (several or words.lower() in question.lower()) and not tells_of(words)


_RULING = re.compile(
    r"^\W*(?:no|nah|yes|yeah|ok(?:ay)?)\b.{12,}"
    r"|\b(?:this|that|it)(?:'s| is) (?:fine|ok(?:ay)?|enough)\b"
    r"|\btoo (?:much|risky|complex|complicated|big)\b|\blet'?s (?:not|keep|leave|skip|go with)\b"
    r"|\bleave (?:it|that|this)\b|\bnot worth\b|\bout of scope\b|\bi(?:'d| would) rather\b",
    re.IGNORECASE | re.DOTALL,
)
"""How the person settles something in free words."""
_QUESTION_MARKS = ("?", "？", "؟")
_BREAK = re.compile(r"(?<=[.!])\s+|\n\s*\n")


def _ruled(text: str, words: str) -> str:
    """The part of a message that settles something: all of it, or what comes before a question."""
    if not words.endswith(_QUESTION_MARKS):
        return words if _RULING.search(words) else ""
    parts = [person_words(each) for each in _BREAK.split(text)]
    first = next((n for n, each in enumerate(parts) if each.endswith(_QUESTION_MARKS)), 0)
    while first and _LEADS_TO_QUESTION.match(parts[first - 1]):
        first -= 1
    before = " ".join(filter(None, parts[:first]))
    return before if _RULING.search(before) and words.startswith(before) else ""


_LEADS_TO_QUESTION = re.compile(
    r"(?:clarif\w+|question|but|so|and|also|then|one (?:more )?thing)\b[^.]{0,80}$", re.IGNORECASE
)
ANSWER = " - answer: "
ANSWERED = 0.6
"""Factor for a question of the person to which the agent only gave an answer."""
LONGEST_REPLY = 220


def _reply_to(moments: Sequence[Moment], at: int) -> str:
    """How the agent's last message begins before the person speaks again."""
    reply = None
    for each in moments[at + 1 :]:
        if is_person(each):
            break
        if is_of(each, Voice.AGENT):
            reply = each
    if not isinstance(reply, Message):
        return ""
    said = [each.text for each in statements(reply, closing=True)]
    said = [each for each in said if not is_announcement(each)] or [plain(reply.text)]
    return said[0] if len(said[0]) <= LONGEST_REPLY else shortened(said[0], LONGEST_REPLY)


def _asked(
    words: str, order: float, worth: float, source: str, turn: int, worked: bool, answer: str
) -> Line:
    """A question or order between the first request and the latest, before what came of it."""
    if worked:
        return Line(Section.DONE, f'Asked: "{words}"', order, worth, "words", source, turn)
    text = f'Asked: "{words}"' + (f"{ANSWER}{answer}" if answer else "")
    return Line(Section.FOUND, text, order, worth * ANSWERED, "", source, turn)


_EMPTY_REPLY = re.compile(
    r"/[\w:-]+|(?:\W*\b(?:y|n|k|yes|yeah|yep|yup|no|nope|ok|okay|sure|go|on|ahead|for|it|continue|proceed"
    r"|please|thanks?|thank you|thx|great|good|nice|cool|perfect|fine|right|correct|exactly|done|do"
    r"|that|this|so|and|then|now|keep going|carry|resume|lgtm|hi|hello|hey|sounds|looks"
    r"|ja|nein|gut|weiter|bitte|danke|genau|mach|oui|non|continuez?|merci|d'accord|vas-y|si|sí|vale|gracias)\b)*\W*"
    r"|(?:\W*(?:好的?|是的?|继续|可以|行|对|谢谢|嗯|はい|続けて|نعم|لا|تابع|حسنا|شكرا))*\W*",
    re.IGNORECASE,
)


def has_content(words: str) -> bool:
    """Whether a person's message says more than "ok", "yes" or "continue"."""
    return _EMPTY_REPLY.fullmatch(words[:400]) is None


def _real_requests(moments: Sequence[Moment], spoken: Sequence[tuple[int, Message]]) -> list[int]:
    """Which messages of the person are requests: those with content that answer nothing."""
    said = [
        (number, at, person_words(each.text))
        for number, (at, each) in enumerate(spoken)
        if has_content(" ".join(each.text.split()))
    ]
    real = [
        number
        for number, at, words in said
        if len(terms_of(words)) >= 3
        or _works_before_next_words(moments, at, MUCH_WORK)
        or not (asked := question_before(moments, at))
        or not is_answer(words, asked)
    ]
    return real or [number for number, _, _ in said]


def _latest(
    moments: Sequence[Moment], spoken: Sequence[tuple[int, Message]], real: Sequence[int]
) -> int:
    """Which message is the latest request: not a question that was answered before others."""
    for number in reversed(real):
        at, message = spoken[number]
        asks = message.text.rstrip().endswith(("?", "？", "؟"))
        if number == len(spoken) - 1 or not asks or _works_before_next_words(moments, at):
            return number
    return real[-1]


MUCH_WORK = 6
"""Changes, checks and commits after a short reply that make it a request."""


def _works_before_next_words(moments: Sequence[Moment], at: int, least: int = 1) -> bool:
    """Whether that many changes were made after a message and before the person spoke again."""
    done = 0
    for each in moments[at + 1 :]:
        if is_person(each):
            break
        done += (isinstance(each, Event) and changes(each)) or is_of(each, Voice.SUBAGENT)
    return done >= least


def _begins_with_summary(moments: Sequence[Moment]) -> bool:
    """Whether an earlier compaction cut off the first request."""
    heard = (Voice.PERSON, Voice.SUMMARY)
    first = next((m for m in moments if isinstance(m, Message) and m.voice in heard), None)
    return first is not None and first.voice is Voice.SUMMARY


def _after_refusal(moments: Sequence[Moment], at: int) -> bool:
    before = moments[at - 1] if at else None
    return (
        isinstance(before, Event)
        and before.kind is Kind.REFUSED
        and before.turn == moments[at].turn
    )


_GREETING = re.compile(
    r"\b(?:how (?:can|may) i (?:help|assist)|what (?:can|may|shall) i (?:do|help)"
    r"|what would you like (?:me )?to (?:do|work on)|anything else|what(?:'s| is) next"
    r"|ready (?:to help|when you))\b",
    re.IGNORECASE,
)


def is_answer(words: str, question: str) -> bool:
    """Whether words are hard to understand without what was said before."""
    if _GREETING.search(question):
        return False
    if _ANSWER.match(words):
        asked = question.endswith(("?", "？", "؟"))
        return len(words) <= (200 if asked else SHORT_ANSWER) and not words.endswith("?")
    asked = question.endswith(("?", "？", "؟")) and not words.endswith(("?", "？", "؟"))
    length = len(words) + 2 * sum(map(len, WIDE.findall(words)))
    points = bool(_POINTS.search(words)) and not words.endswith("?")
    return length <= (SHORT_ANSWER if asked or points else SHORT_ANSWER // 4)


_POINTS = re.compile(r"\b(?:this|that|these|those|it|them|both|same)\b", re.IGNORECASE)
"""Words that need what was said before."""


def _with_option(words: str, option: str, question: str) -> str:
    """The person's choice with the words of the option, or else with the question."""
    return f'"{words}" ({option})' if option else _with_question(words, question)


def _with_question(words: str, question: str) -> str:
    whole = len(words) > 1 and words[0] == words[-1] == '"'
    quoted = words if whole else f'"{words}"'
    return f'{quoted}{REPLY_TO}"{question}"' if question else quoted


_BARE = re.compile(r"\W*([A-Za-z]{1,2}|\d{1,2})\W*")
"""A letter or a number by which the person chooses."""
_UNCLEAR = re.compile(
    r"\W*(?:oui et non|yes and no|ja und nein|sí y no|jein|[A-Za-z]{1,2}|\d{1,2})\W*", re.IGNORECASE
)
_GOES_ON = re.compile(
    r"\W*(?:continu|proceed|go on|next\b|save\b|accept\b|ok\b|weiter|enregistr|seguir|avan[cz])",
    re.IGNORECASE,
)
"""How an option begins that only goes on, which decides nothing."""
_NO_CHOICE = frozenset({"y", "n", "k", "ok", "no", "go", "ja", "si", "hi"})
LONGEST_OPTION = 90


def chosen_option(words: str, moments: Sequence[Moment], at: int) -> str:
    """What a bare letter or number stands for in the agent's last message; empty where unknown."""
    bare = _BARE.fullmatch(words)
    if bare is None or bare[1].lower() in _NO_CHOICE:
        return ""
    offers = re.compile(
        rf"(?:^|[\n\s])(?:[-*•] )?(?:\*\*|`)?"
        rf"(?:[\[(]{bare[1]}[\])]|{bare[1]}[.):])(?:\*\*|`)?[ \t]*[-–—:]?[ \t]*(\S[^\n]{{2,400}})",
        re.IGNORECASE,
    )
    for before in reversed(moments[max(0, at - CHOICE_BEFORE) : at]):
        if is_person(before):
            return ""
        if is_of(before, Voice.AGENT) and isinstance(before, Message):
            found = offers.search(before.text)
            return shortened(plain(found[1]), LONGEST_OPTION).strip('"') if found else ""
    return ""


def deciding_option(words: str, moments: Sequence[Moment], at: int) -> str:
    """The option that a bare letter or number chooses; empty for one that only goes on."""
    option = chosen_option(words, moments, at)
    return "" if _GOES_ON.match(option) else option


CHOICE_BEFORE = 6
_COMMAND = re.compile(r"/[a-z][\w:-]{1,40}(?:\s[^\n]{0,120})?")
EARLY = 3
"""Messages at the beginning among which a command or a choice may have started the work."""


def _starts_work(words: str, moments: Sequence[Moment], at: int) -> str:
    """A short command or a choice of the agent's menu, in words; empty for other messages."""
    if _COMMAND.fullmatch(words):
        return f'"{words}"'
    option = deciding_option(words, moments, at)
    return f'"{words}" ({option})' if option else ""


def question_before(moments: Sequence[Moment], at: int) -> str:
    """What the person answers, from the message before: the question that it ends with, or else
    the statement that has most of the person's words, or the last one.
    """
    for before in reversed(moments[max(0, at - 3) : at]):
        if isinstance(before, Message) and before.voice is Voice.AGENT:
            found = [each.text for each in statements(before, closing=True)]
            asked = [text for text in found if text.rstrip().endswith("?")]
            person = moments[at]
            words = terms_of(person.text) if isinstance(person, Message) else frozenset()
            shared = [len(terms_of(text) & words) for text in found]
            nearest = [text for text, n in zip(found, shared, strict=True) if n == max(shared) > 1]
            chosen = asked[-1:] or nearest[-1:] or found[-1:]
            if not chosen:
                return ""
            agrees = isinstance(person, Message) and _ANSWER.match(person.text) is not None
            whole = _with_antecedent(found, chosen[0], is_question=bool(asked), agrees=agrees)
            return shortened(whole, LONGEST_QUESTION).strip('"')
        if isinstance(before, Message):
            return ""
    return ""


LONGEST_QUESTION = 320
FEW_TERMS = 5
"""Words that carry something, up to which a question with "this" or "it" needs what is before."""
LEAST_BEFORE = 60
"""Characters of what comes before a question that are worth telling."""


def _with_antecedent(said: Sequence[str], text: str, *, is_question: bool, agrees: bool) -> str:
    """What the person answers, with what it points to: what comes before "Shall I do this?", and
    the rest of a proposal to which they agree.
    """
    at = len(said) - 1 - list(reversed(said)).index(text)
    if is_question:
        room = LONGEST_QUESTION - len(text) - 1
        points = _POINTS.search(text) is not None and len(terms_of(text)) <= FEW_TERMS
        if not points or at == 0 or room < LEAST_BEFORE or said[at - 1] in text:
            return text
        before = said[at - 1]
        return _sentences(before if len(before) < room else shortened(before, room - 2), text)
    for each in said[at + 1 :] if agrees else ():
        if len(text) + len(each) >= LONGEST_QUESTION:
            break
        text = _sentences(text, each)
    return text


def _sentences(first: str, second: str) -> str:
    return f"{first}{'.' * (first[-1:].isalnum() or first[-1:] in ')`')} {second}"


def numbered_answers(text: str, moments: Sequence[Moment], at: int) -> list[str]:
    """Numbered answers, each with the numbered question that it answers."""
    answers = numbered(text)
    if len(answers) < 2:
        return []
    for before in reversed(moments[max(0, at - 3) : at]):
        if isinstance(before, Message) and before.voice is Voice.AGENT:
            asked = numbered(before.text[-4_000:])
            shared = answers.keys() & asked.keys()
            questions = sum("?" in asked[number] for number in shared)
            if len(shared) < 2 or 2 * questions < len(shared):
                return []
            return [
                f'{number}. {plain(asked[number])[:260]} - the person: "{plain(said)[:300]}"'
                if number in asked
                else f'{number}. the person: "{plain(said)[:300]}"'
                for number, said in answers.items()
            ]
    return []
