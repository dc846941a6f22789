"""The shape of a summary: which lines a range has to offer, and which of them fit.

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
from math import fsum, log2

from msgspec import Struct, structs

from reviewer.compression.anchor_types import AnchorType, Section
from reviewer.compression.offline.events import Event, Kind, Message, Moment, Voice, read_moments
from reviewer.compression.offline.state import (
    WorkState,
    command_lines,
    done_lines,
    file_line,
    next_lines,
    now_lines,
    read_state,
    rejected,
    short_paths,
)
from reviewer.compression.offline.statements import (
    WIDE,
    About,
    intent,
    is_announcement,
    is_deferred,
    is_instruction,
    person_words,
    plain,
    statements,
)
from reviewer.compression.offline.traffic import looked_at
from reviewer.compression.values import AnchorPoint, Turn
from reviewer.compression.words import FUNCTION_WORDS
from reviewer.text.identifiers import IdentifierKind, identifiers
from reviewer.text.normalise import fold
from reviewer.text.secrets import mask

TITLED_FROM = 120
"""Tokens from which on a summary has headings."""
SECTION_OF = {
    About.DONE: Section.DONE,
    About.FOUND: Section.FOUND,
    About.CAUSE: Section.FOUND,
    About.DECISION: Section.DECISIONS,
    About.NEXT: Section.NEXT,
    About.INSTRUCTION: Section.INSTRUCTIONS,
    About.OFFER: Section.NEXT,
    About.LIST: Section.LISTS,
    About.TALK: Section.DONE,
}
WORTH = {
    About.CAUSE: 1.5,
    About.DECISION: 1.4,
    About.NEXT: 1.3,
    About.LIST: 1.3,
    About.INSTRUCTION: 1.6,
    About.DONE: 1.0,
    About.FOUND: 1.0,
    About.OFFER: 0.4,
    About.TALK: 0.3,
}
VOICES = {
    Voice.AGENT: 0.7,
    Voice.SUBAGENT: 0.35,
    Voice.SUMMARY: 0.7,
    Voice.SPEAKER: 1.0,
    Voice.NOTE: 1.0,
    Voice.PERSON: 1.2,
}
CLOSING = 1.1
"""Worth of an agent's last message before the person speaks; others have that of its voice."""
OLDEST, NEWEST = 0.6, 1.5
"""Factors for the first and the last message of the range."""
STILL_OPEN = 0.85
"""Place in the range, 0 to 1, from which on what "remains" is still open at its end."""
LONGEST_BULLET = 700
"""Characters up to which sentences that follow each other share a line."""
SHORT_ANSWER = 80
"""Characters up to which the person's words need the question that they answer."""


class Share(Struct, frozen=True):
    """A part of the first release: which lines it is for, and how much of the budget."""

    name: str
    of_budget: float


FIRST = (
    Share("request", 0.14),
    Share("state", 0.15),
    Share("commits", 0.12),
    Share("tail", 0.2),
    Share("words", 0.18),
    Share("goal", 0.1),
)
"""The first release, in this order; what a part leaves goes to the second release."""
BEFORE_ANCHORS = (Share("request", 0.1), Share("state", 0.06))
"""What is taken even before anchors, so that they have something to refer to."""


LEAST_REQUEST = 26
"""Tokens that the beginning of the latest request has at least."""


class Line(Struct):
    """A line that a summary may have. `release`: the part of the first release, or empty."""

    section: Section
    text: str
    order: float
    worth: float
    release: str = ""
    source: str = ""
    turn: int = -1
    place: int = -1
    """Which statement of its message it is; -1 for lines that are not statements."""
    terms: frozenset[str] = frozenset()
    cost: int = 0
    lead: str = ""
    """How the list begins of which the line is a part."""


_TERM = re.compile(r"[\w./#@-]*\w")


def terms_of(text: str) -> frozenset[str]:
    """The words of a text that carry something, in lower case; files by their names too."""
    found = set()
    for word in _TERM.findall(text.lower()):
        if len(word) > 2 and word not in FUNCTION_WORDS and not WIDE.search(word):
            found.add(word)
            if "/" in word:
                found.add(word.rpartition("/")[2])
    for run in WIDE.findall(text):
        found.update(run[at : at + 2] for at in range(len(run) - 1))
    return frozenset(found)


# Which lines there are


def lines_of(moments: Sequence[Moment], state: WorkState) -> list[Line]:
    """Every line that these moments have to offer."""
    lines = [*_person_lines(moments), *_state_lines(moments, state)]
    last = max(_last_words(moments), _tail_start(moments))
    messages = [each for each in moments if isinstance(each, Message)]
    positions = {id(each): at / max(len(messages) - 1, 1) for at, each in enumerate(messages)}
    for at, moment in enumerate(moments):
        if isinstance(moment, Message):
            if moment.voice is Voice.SUMMARY:
                if not any(_is_summary(later) for later in moments[at + 1 :]):
                    lines += _summary_lines(moment)
            elif moment.voice is not Voice.PERSON:
                closing = moment.voice is Voice.AGENT and _closes(moments, at)
                events = _round_before(moments, at) if closing else _events_after(moments, at)
                lines += _message_lines(
                    moment,
                    closing,
                    positions[id(moment)],
                    events,
                    in_tail=at > last,
                    answered=closing and _answered(moments, at),
                )
    lines += _about_to(moments)
    return _once(lines)


_SUGGESTED = re.compile(
    r"\W*(?:\(?\d+[.)]\s*)?(?:fix|consider|suggest\w*|recommend\w*|propos\w*|plan|option|add|create"
    r"|update|remove|rename|replace|move|delete|implement|change|refactor|extract|inline|resolve"
    r"|switch|convert|clean|simplify|test|build|commit|push|merge|support|use"
    r"|we (?:can|could|should)|you (?:can|could|should)|should|could|would|may|might)\b",
    re.IGNORECASE,
)
"""How a statement begins that says what could be done, not what was."""


def _was_done(text: str, events: Sequence[Event]) -> bool:
    """Whether a report tells of something that was done in calls."""
    return any(not each.failed for each in events) and not _SUGGESTED.match(text)


def _is_summary(moment: Moment) -> bool:
    return isinstance(moment, Message) and moment.voice is Voice.SUMMARY


LONGEST_PLAN = 600
"""Characters of what the agent announced last, with what it said about it."""


def _about_to(moments: Sequence[Moment]) -> list[Line]:
    """What the agent announced last and did not finish, where the range ends in the middle."""
    for at in range(len(moments) - 1, max(len(moments) - 12, -1), -1):
        moment = moments[at]
        if isinstance(moment, Message):
            if moment.voice is not Voice.AGENT:
                return []
            said = [each.text for each in statements(moment)]
            place = max((n for n, each in enumerate(said) if is_announcement(each)), default=-1)
            text = intent(said[place]) if place >= 0 else ""
            if not text:
                return []
            for each in said[place + 1 :]:
                if len(text) + len(each) <= LONGEST_PLAN:
                    text = f"{text} {each}"
            order = moments[-1].turn + 1.5
            line = f"The agent was about to, or in the middle of this: {text}"
            return [Line(Section.NEXT, line, order, 3.0, "state", "", moment.turn)]
    return []


def _round_before(moments: Sequence[Moment], at: int) -> list[Event]:
    """What was done since the person spoke last, before a message that ends the turn."""
    found: list[Event] = []
    for each in reversed(moments[:at]):
        if isinstance(each, Message) and each.voice is Voice.PERSON:
            break
        if isinstance(each, Event):
            found.append(each)
    return found[::-1]


def _last_words(moments: Sequence[Moment]) -> int:
    """The place of the person's last message; -1 where there is none."""
    return max(
        (at for at, m in enumerate(moments) if isinstance(m, Message) and m.voice is Voice.PERSON),
        default=-1,
    )


TAIL_MESSAGES = 16
"""Messages of an agent at the end that say where it is, where the person has been silent longer."""


def _tail_start(moments: Sequence[Moment]) -> int:
    """The place after which the agent's last messages stand."""
    said = [at for at, m in enumerate(moments) if isinstance(m, Message) and m.voice is Voice.AGENT]
    return said[-TAIL_MESSAGES] - 1 if len(said) > TAIL_MESSAGES else -1


def _answered(moments: Sequence[Moment], at: int) -> bool:
    """Whether the person's next message answers this one."""
    after = moments[at + 1] if at + 1 < len(moments) else None
    if not isinstance(after, Message):
        return False
    return _is_answer(person_words(after.text), _question_before(moments, at + 1))


def _closes(moments: Sequence[Moment], at: int) -> bool:
    """Whether no event and no other message of the agent comes before the person speaks again."""
    after = moments[at + 1] if at + 1 < len(moments) else None
    return after is None or (isinstance(after, Message) and after.voice is Voice.PERSON)


def _events_after(moments: Sequence[Moment], at: int) -> list[Event]:
    """What was done after a message and before the next one."""
    found: list[Event] = []
    for each in moments[at + 1 :]:
        if isinstance(each, Message):
            break
        found.append(each)
    return found


def told(events: Sequence[Event]) -> str:
    """Events in words, those of one file together: `edited data.go (2 times); ran ...: passed`."""
    parts: dict[str, str] = {}
    times: Counter[str] = Counter()
    for event in events:
        if event.kind in (Kind.TODO, Kind.REFUSED) or not event.what:
            continue
        what = event.what.split("\n", 1)[0][:160]
        if event.kind is Kind.CHECK:
            why = f" ({event.outcome})" if event.outcome else ""
            how = "" if event.how == "ran" else f": {event.how}{why}"
            parts[f"ran {what}"] = f"ran `{what}`{how}"
        elif event.kind is Kind.COMMIT:
            made = f" [{event.outcome}]" if event.outcome else ""
            verb = "was about to commit" if event.failed is None else "committed"
            verb = "failed to commit" if event.failed else verb
            parts[f"commit {what}"] = f"{verb}{made}: {what}"
        elif event.kind in (Kind.RUN, Kind.MERGE):
            why = f" (conflicts: {', '.join(event.conflicts[:8])})" if event.conflicts else ""
            why = why or (" (failed)" if event.failed else "")
            parts[f"run {what}"] = f"{what}{why}"
        else:
            more = f" ({', '.join(event.names)})" if event.names else ""
            more = " (failed)" if event.failed else more
            parts[f"{event.kind} {what}"] = f"{event.kind} {what}{more}"
        times[f"{event.kind} {what}"] += 1
    return "; ".join(
        f"{text} ({times[key]} times)" if times[key] > 1 else text for key, text in parts.items()
    )


def _message_lines(
    message: Message,
    closing: bool,
    position: float,
    events: Sequence[Event],
    *,
    in_tail: bool,
    answered: bool,
) -> list[Line]:
    """The statements of a message; the last one with what was done after it."""
    found = statements(message, closing=closing)
    done = "" if closing else told(events)
    files = _files_of(events, message.text) if closing else ""
    recency = OLDEST + (NEWEST - OLDEST) * position**2
    base = CLOSING if closing else VOICES[message.voice]
    label = _label(message)
    lines: list[Line] = []
    for at, each in enumerate(found):
        last = at == len(found) - 1
        about = each.about
        if about is About.NEXT and not (in_tail or (closing and position > STILL_OPEN)):
            put_off = (closing or position > STILL_OPEN) and is_deferred(each.text)
            about = About.NEXT if put_off else About.FOUND
        text = intent(each.text) if about is About.TALK else each.text
        if last and done and not closing:
            text = f"{text} -> {done}" if text else done
        if not text or (text == done and not in_tail and _only_edits(events)):
            continue
        if files and about in (About.DONE, About.FOUND, About.LIST, About.CAUSE):
            text, files = f"{text} {files}", ""
        if about is About.TALK and not (last and done):
            continue  # what the agent was about to do at the end has a line of its own
        if about is About.DONE and not _was_done(each.text, events):
            about = About.FOUND
        if about is About.TALK and last and done:
            about = About.DONE
        worth = base * WORTH[about] * recency
        section = Section.NOW if in_tail and about is not About.LIST else SECTION_OF[about]
        if about is About.OFFER:
            if answered or not (in_tail or position > STILL_OPEN):
                continue  # an answer brings its question along
            text = f"Offered{', not answered' if in_tail else ' and not taken up'}: {text}"
            worth *= 2.0 if in_tail else 1.0
            section = Section.NEXT
        release = "tail" if in_tail and message.voice is Voice.AGENT else ""
        place = -1 if text == done else at
        line = Line(
            section, label + text, each.order, worth, release, each.source, message.turn, place
        )
        line.lead = each.lead if line.text.startswith(each.lead) else ""
        lines.append(line)
    if not found and done and (in_tail or not _only_edits(events)):
        words = intent(plain(message.text))[:200].rstrip(" :")
        text = f"{words} -> {done}" if len(words) > 12 else done
        worth = base * 0.4 * recency
        section = Section.NOW if in_tail else Section.DONE
        release = "tail" if in_tail else ""
        lines.append(Line(section, text, message.turn + 0.5, worth, release, "", message.turn))
    return lines


def _only_edits(events: Sequence[Event]) -> bool:
    """Whether files were changed and nothing else was done; the section on files says that."""
    return all(event.kind in (Kind.EDIT, Kind.WRITE, Kind.TODO) for event in events)


def _files_of(events: Sequence[Event], text: str) -> str:
    """The files changed in a turn that its last message does not name, in brackets."""
    changed = (e for e in events if e.kind in (Kind.EDIT, Kind.WRITE) and not e.failed)
    paths = dict.fromkeys(e.what for e in changed)
    unnamed = [path for path in paths if path.rpartition("/")[2] not in text]
    if not unnamed or len(paths) > 6:
        return ""
    return f"[in {', '.join(short_paths(unnamed))}]"


def _label(message: Message) -> str:
    if message.voice is Voice.SPEAKER:
        return f"{message.name}: "
    if message.voice is Voice.SUBAGENT:
        return "A sub-agent: "
    return ""


def _state_lines(moments: Sequence[Moment], state: WorkState) -> list[Line]:
    """What events alone tell: state, next steps, commits, commands, files, refusals."""
    end = float(moments[-1].turn + 1) if moments else 0.0
    lines = [
        Line(Section.NOW, text, end + at / 100, 3.0 - at / 10, "state")
        for at, text in enumerate(now_lines(state))
    ]
    lines += [
        Line(Section.NEXT, text, end + at / 100, 3.0, "state")
        for at, text in enumerate(next_lines(state))
    ]
    for turn, text in done_lines(state):
        worth = 0.9 * (OLDEST + (NEWEST - OLDEST) * (turn / (moments[-1].turn + 1)) ** 2)
        lines.append(Line(Section.DONE, text, float(turn), worth, "commits", turn=turn))
    for turn, text in rejected(moments):
        lines.append(Line(Section.INSTRUCTIONS, text, float(turn), 1.8, "words", turn=turn))
    if commands := command_lines(state):
        lines.append(Line(Section.COMMANDS, "; ".join(commands), 0.0, 2.5, "state"))
    reasons = _reasons(moments)
    files = sorted(state.files.values(), key=lambda each: (-each.last, each.path))
    for at, file in enumerate(files):
        text = file_line(file, reasons.get(file.path, ""))
        lines.append(Line(Section.FILES, text, float(at), 1.0 / (1 + at / 12), turn=-1))
    return lines


def _reasons(moments: Sequence[Moment]) -> dict[str, str]:
    """Changed files with what the agent said before the last change that it explained."""
    before: Message | None = None
    said: str | None = None
    found: dict[str, str] = {}
    for each in moments:
        if isinstance(each, Message):
            before, said = each, None
        elif each.kind in (Kind.EDIT, Kind.WRITE):
            if said is None:
                said = _explained(before)
            if said:
                found[each.what] = said
    return found


def _explained(message: Message | None) -> str:
    """What an agent says last in a message, as the reason of the edit that follows."""
    if message is None or message.voice is not Voice.AGENT:
        return ""
    texts = [each.text for each in statements(message)][-1:] or [plain(message.text)]
    return intent(texts[0])[:180]


_ANSWER = re.compile(
    r"\W*(?:y(?:es|eah|ep|up)?|no(?:pe)?|ok(?:ay)?|sure|go (?:ahead|on|for)|do (?:it|that)|let'?s"
    r"|both|all|the (?:first|second|third|last)|(?:option )?[\d#a-c]\b|(?:i )?agree|sounds|please"
    r"|continue|proceed|correct|right|exactly|fine|perfect|great|fix (?:it|that))\b",
    re.IGNORECASE,
)
_ITEM = re.compile(r"(?:^|\n)\s*\(?(\d{1,2})[.):]\s*")


def _person_lines(moments: Sequence[Moment]) -> list[Line]:
    """The person's words: the first and latest request, instructions, answers, other requests."""
    spoken = [
        (at, each)
        for at, each in enumerate(moments)
        if isinstance(each, Message) and each.voice is Voice.PERSON
    ]
    spoken = [(at, each) for at, each in spoken if not _after_refusal(moments, at)]
    if not spoken:
        return []
    resumed = _begins_with_summary(moments)
    real = _real_requests(moments, spoken)
    first, latest = (real[0], real[-1]) if real else (-1, len(spoken))
    several = len(real) > 1 or any(number > latest for number in range(len(spoken)))
    lines: list[Line] = []
    for number, (at, message) in enumerate(spoken):
        age = number / max(len(spoken) - 1, 1)
        worth = 1.2 + age
        order = float(message.turn)
        question = _question_before(moments, at)
        words = person_words(message.text)
        turn, source = message.turn, message.text
        if not words:
            continue
        if number > latest and not has_content(words) and not question.endswith(("?", "？", "؟")):
            continue
        if (number == first and not resumed) or number >= latest:
            label = "Then: " if number > latest else "Latest: " if number == latest else "First: "
            label = label if several or resumed else ""
            answered = (
                question if (number != first or resumed) and _is_answer(words, question) else ""
            )
            text = f"{label}{_with_question(words, answered)}"
            release = "request" if number >= latest else "goal"
            lines.append(Line(Section.REQUEST, text, order, 4.0, release, source, turn))
            continue
        pairs = _numbered_answers(message.text, moments, at)
        if pairs:
            for place, text in enumerate(pairs):
                where = order + place / 100
                lines.append(Line(Section.DECISIONS, text, where, worth, "words", "", turn))
        elif not has_content(words) and not question.endswith(("?", "？", "؟")):
            continue
        elif _is_answer(words, question) and (
            question.endswith(("?", "？", "؟")) or not is_instruction(words)
        ):
            text = _with_question(words, question)
            if question:
                lines.append(
                    Line(Section.DECISIONS, text, order, worth * 0.8, "words", source, turn)
                )
            elif has_content(words):
                lines.append(_asked(words, order, worth * 0.8, source, turn))
        elif is_instruction(words):
            text = _with_question(words, question if _is_answer(words, question) else "")
            lines.append(Line(Section.INSTRUCTIONS, text, order, worth, "words", source, turn))
        else:
            lines.append(_asked(words, order, worth, source, turn))
    return lines


def _asked(words: str, order: float, worth: float, source: str, turn: int) -> Line:
    """A question or order between the first request and the latest."""
    text = f'Asked on the way: "{words}"'
    return Line(Section.REQUEST, text, order, worth, "words", source, turn)


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
        or not (asked := _question_before(moments, at))
        or not _is_answer(words, asked)
    ]
    return real or [number for number, _, _ in said]


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


def _is_answer(words: str, question: str) -> bool:
    """Whether words are hard to understand without what was said before."""
    if _ANSWER.match(words):
        asked = question.endswith(("?", "？", "؟"))
        return len(words) <= (200 if asked else SHORT_ANSWER) and not words.endswith("?")
    asked = question.endswith(("?", "？", "؟")) and not words.endswith(("?", "？", "؟"))
    length = len(words) + 2 * sum(map(len, WIDE.findall(words)))
    return length <= (SHORT_ANSWER if asked else SHORT_ANSWER // 4)


def _with_question(words: str, question: str) -> str:
    quoted = words if words.startswith('"') else f'"{words}"'
    return f'{quoted} - to: "{question}"' if question else quoted


def _question_before(moments: Sequence[Moment], at: int) -> str:
    """What the person answers: the question, or else the last statement, of the message before."""
    for before in reversed(moments[max(0, at - 3) : at]):
        if isinstance(before, Message) and before.voice is Voice.AGENT:
            found = statements(before, closing=True)
            asked = [each.text for each in found if each.text.rstrip().endswith("?")]
            chosen = asked[-1:] or [each.text for each in found[-1:]]
            return chosen[0][-260:].strip().strip('"') if chosen else ""
        if isinstance(before, Message):
            return ""
    return ""


def _numbered_answers(text: str, moments: Sequence[Moment], at: int) -> list[str]:
    """Numbered answers, each with the numbered question that it answers."""
    answers = _numbered(text)
    if len(answers) < 2:
        return []
    for before in reversed(moments[max(0, at - 3) : at]):
        if isinstance(before, Message) and before.voice is Voice.AGENT:
            asked = _numbered(before.text[-4_000:])
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


def _numbered(text: str) -> dict[str, str]:
    """The last list of numbered items in a text: number -> first paragraph."""
    found: dict[str, str] = {}
    matches = list(_ITEM.finditer(text))
    for at, match in enumerate(matches):
        end = matches[at + 1].start() if at + 1 < len(matches) else len(text)
        if match[1] == "1":
            found = {}
        found[match[1]] = text[match.end() : end].strip().split("\n\n", 1)[0]
    return found


_AFTER_SUMMARY = re.compile(
    r"(?:If you need specific details from before compaction|Please continue the conversation from"
    r" where|Continue the conversation from where).*",
    re.DOTALL,
)
_PART = re.compile(r"^\s*(\d{1,2})\.\s+([A-Z][^\n:]{3,60}):?[ \t]*$", re.MULTILINE)
_PARTS: tuple[tuple[str, Section, float], ...] = (
    ("primary request", Section.REQUEST, 1.4),
    ("user message", Section.INSTRUCTIONS, 0.5),
    ("pending", Section.NEXT, 1.3),
    ("next step", Section.NEXT, 0.9),
    ("current work", Section.DONE, 1.2),
    ("error", Section.FOUND, 1.1),
    ("problem", Section.FOUND, 1.1),
    ("file", Section.FOUND, 0.7),
    ("concept", Section.FOUND, 0.7),
)


def _summary_lines(message: Message) -> list[Line]:
    """The statements of an earlier summary under the sections that they belong to."""
    text = message.text
    head = re.search(r"^\s*Summary:\s*$", text, re.MULTILINE)
    text = text[head.end() :] if head else text
    text = _AFTER_SUMMARY.sub("", text)
    parts = list(_PART.finditer(text))
    bounds = [(text[: parts[0].start()] if parts else text, "")]
    bounds += [
        (text[part.end() : parts[at + 1].start() if at + 1 < len(parts) else len(text)], part[2])
        for at, part in enumerate(parts)
    ]
    lines = []
    for number, (body, title) in enumerate(bounds):
        section, factor = next(
            ((s, f) for name, s, f in _PARTS if name in title.lower()), (None, 0.7)
        )
        if not title and parts:
            continue
        for each in statements(structs.replace(message, text=body)):
            order = message.turn + number / 100 + (each.order - message.turn) / 200
            where = section or SECTION_OF[each.about]
            worth = VOICES[Voice.SUMMARY] * factor * (1.2 if where is Section.NEXT else 1.0)
            release = "goal" if where is Section.REQUEST else ""
            text = f"At the earlier compaction: {each.text}" if where is Section.NEXT else each.text
            lines.append(Line(where, text, order, worth, release, each.source, message.turn))
    return lines


def _once(lines: Iterable[Line]) -> list[Line]:
    """The lines without those that repeat another word by word; the latest is kept."""
    found: dict[str, Line] = {}
    for line in lines:
        line.terms = terms_of(line.text)
        key = line.text.lower()
        known = found.pop(key, None)
        if known is not None and known.release and not line.release:
            line.release = known.release
        found[key] = line
    return list(found.values())


# Which lines are chosen

_NAMES = frozenset({IdentifierKind.PATH, IdentifierKind.CODE, IdentifierKind.NAME})
MOST_NAMES = 400
NAMES_SHARE = 0.12
"""Share of a summary that names may have at its end, where no line fits any more."""
ALSO = "Also named: "


LITTLE = 3
"""Lines up to which what was only looked at is worth a line too."""


TRAFFIC = 0.1
"""Worth of a line about what was only looked at."""


def _traffic_lines(turns: Iterable[Turn]) -> list[Line]:
    lines = [
        Line(Section.DONE, text, float(turn), TRAFFIC, turn=turn) for turn, text in looked_at(turns)
    ]
    for line in lines:
        line.terms = terms_of(line.text)
    return lines


class Account:
    """The lines of some turns, and summaries of any size made of them. `count` counts tokens."""

    def __init__(self, turns: Iterable[Turn], count: Callable[[str], int]) -> None:
        self.count = count
        self.moments = read_moments(turns)
        self.state = read_state(self.moments)
        self.lines = lines_of(self.moments, self.state)
        if len(self.lines) < LITTLE:
            self.lines += _traffic_lines(turns)
        for line in self.lines:
            line.text = mask(line.text).text if "[masked" not in line.text else line.text
            line.cost = count(f"- {line.text}\n")
        self._weights = _weights(self.lines)

    @cached_property
    def names(self) -> list[str]:
        """The names in what was said and done, those that are used most first."""
        found: Counter[str] = Counter()
        for moment in self.moments:
            if isinstance(moment, Message):
                named = {each.text for each in identifiers(moment.text) if each.kind in _NAMES}
                for name in named:
                    found[name] += 1 if moment.voice is Voice.SUBAGENT else 2
            elif moment.kind in (Kind.EDIT, Kind.WRITE):
                found[moment.what] += 2
        return [name for name, _ in found.most_common(MOST_NAMES) if " " not in name]

    def write(self, max_tokens: int, required: Sequence[AnchorPoint] = ()) -> str:
        """A summary of at most `max_tokens`; anchors of `required` verbatim as far as they fit."""
        if max_tokens <= 0:
            return ""
        draft = _Draft(self, max_tokens)
        if max_tokens >= TITLED_FROM:
            draft.release(BEFORE_ANCHORS)
        draft.require(required)
        draft.release(FIRST)
        draft.second_release()
        draft.rest()
        return draft.text()

    def weight(self, terms: Iterable[str]) -> float:
        return fsum(self._weights.get(term, 0.0) for term in terms)  # sets have no order


def _weights(lines: Sequence[Line]) -> dict[str, float]:
    """What a term is worth: more the more often it comes, names more than words."""
    counts = Counter(term for line in lines for term in line.terms)
    return {
        term: log2(1 + times) * (1.4 if re.search(r"[\d_./#-]", term) else 1.0)
        for term, times in counts.items()
    }


def _pieces(text: str) -> tuple[list[str], str]:
    """A text in pieces at which it may be cut, and what joins them: its words, or characters."""
    if sum(map(len, WIDE.findall(text))) > len(text) / 3:
        return list(text), ""
    return text.split(" "), " "


class _Draft:
    """The lines that were chosen for one summary, within its tokens."""

    def __init__(self, account: Account, ceiling: int) -> None:
        self._account, self._ceiling = account, ceiling
        self._titled = ceiling >= TITLED_FROM
        self._chosen: list[Line] = []
        self._taken: set[int] = set()
        self._spent = 0
        self._said: set[str] = set()
        self._sections: set[Section] = set()
        self._names: list[str] = []

    def _price(self, line: Line) -> int:
        title = 4 if self._titled and line.section not in self._sections else 0
        return line.cost + title

    def _take(self, line: Line) -> bool:
        price = self._price(line)
        if id(line) in self._taken or self._spent + price > self._ceiling:
            return False
        self._chosen.append(line)
        self._taken.add(id(line))
        self._spent += price
        self._said |= line.terms
        self._sections.add(line.section)
        return True

    def require(self, anchors: Sequence[AnchorPoint]) -> None:
        """Take the lines that hold the anchors; anchors in no line are lines of their own."""
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
        for line in list(self._chosen):
            if any(line.text in fold(e.text) for e in self._chosen if e is not line):
                self._chosen.remove(line)
                self._spent -= line.cost

    def _holding(self, anchor: AnchorPoint, wanted: str) -> Line:
        """The shortest line with the anchor in it, where that is not much longer than itself."""
        alone = Line(anchor.type.section, wanted, anchor.turn + 0.5, 2.0, turn=anchor.turn)
        alone.terms = terms_of(wanted)
        alone.cost = self._account.count(f"- {wanted}\n")
        around = [
            line
            for line in self._account.lines
            if line.turn == anchor.turn and wanted in fold(line.text)
        ]
        best = min(around, key=lambda line: line.cost, default=alone)
        longest = self._ceiling * 0.16 if best.release else 2 * alone.cost + 24
        return best if best.cost <= longest else alone

    def release(self, shares: Sequence[Share]) -> None:
        """Lines for each share of the budget, the newest first where that matters."""
        for share in shares:
            room = int(share.of_budget * self._ceiling)
            if share.name == "request" and self._titled:
                room = max(room, LEAST_REQUEST)
            waiting = [line for line in self._account.lines if line.release == share.name]
            newest_first = share.name in ("tail", "words", "request", "commits")
            if newest_first:
                waiting.sort(key=lambda line: (-line.order, -line.worth))
            for line in waiting:
                price = self._price(line)
                if price <= room and self._take(line):
                    room -= price
                elif share.name in ("request", "goal") and room > 20:
                    room -= self._take_beginning(line, room)

    def _take_beginning(self, line: Line, room: int) -> int:
        """Take as much of a line as fits, and return what it cost."""
        if id(line) in self._taken or self._spent + room > self._ceiling:
            return 0
        words, joint = _pieces(line.text)
        low, high = 0, min(len(words), room)
        while low < high:
            middle = (low + high + 1) // 2
            fits = self._account.count(f"- {joint.join(words[:middle])} …\n") + 4 <= room
            low, high = (middle, high) if fits else (low, middle - 1)
        if low < 4:
            return 0
        text = f"{joint.join(words[:low])} …"
        if line.text.startswith(('"', "First:", "Latest:", "Then:")):
            text += '"'
        short = structs.replace(line, text=text, cost=self._account.count(f"- {text}\n"))
        short.terms = terms_of(text)
        price = self._price(short)
        self._taken.add(id(line))
        return price if self._take(short) else 0

    def _novel(self, line: Line) -> float:
        """The share of a line that is not said yet."""
        whole = self._account.weight(line.terms)
        return self._account.weight(line.terms - self._said) / whole if whole else 0.0

    def second_release(self) -> None:
        """The other lines, by what they add for their length."""
        heap: list[tuple[float, int]] = []
        lines = self._account.lines
        for number, line in enumerate(lines):
            if id(line) not in self._taken:
                heap.append((-self._gain(line), number))
        heapify(heap)
        while heap:
            _, number = heappop(heap)
            line = lines[number]
            if self._spent + line.cost > self._ceiling:
                continue
            now = -self._gain(line)
            if heap and now > heap[0][0] + 1e-9:
                if now < 0:
                    heappush(heap, (now, number))
                continue
            if now < 0:
                self._take(line)

    def rest(self) -> None:
        """Where room is left: what says little that is new, the most needed first."""
        for line in sorted(self._account.lines, key=lambda each: (-each.worth, -each.order)):
            if self._novel(line) > 0.0:
                self._take(line)

    def _gain(self, line: Line) -> float:
        if self._novel(line) < 0.2:
            return 0.0
        new = self._account.weight(line.terms - self._said)
        return line.worth * new / (line.cost + 6)

    def text(self) -> str:
        """The chosen lines by section, within the ceiling."""
        chosen = list(self._chosen)
        content = self._rendered(chosen)
        while chosen and self._account.count(content) > self._ceiling:
            chosen.pop()
            content = self._rendered(chosen)
        return self._with_names(content) if content else self._beginning()

    def _with_names(self, content: str) -> str:
        """The content with one last line of other names, in the tokens that no line can use."""
        count = self._account.count
        room = self._ceiling - count(content) - count(f"\n{ALSO}")
        room = min(room, int(NAMES_SHARE * self._ceiling))
        if not self._titled or room < 8:
            return content
        lower, kept = content.lower(), []
        for name in self._account.names:
            cost = count(f", {name}")
            if cost <= room and name.rpartition("/")[2].lower() not in lower:
                kept.append(name)
                room -= cost
                lower += f" {name.lower()}"
        found = f"{content}\n{ALSO}{', '.join(kept)}" if kept else content
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
            if section is Section.FILES and names:
                inside.append(Line(section, ", ".join(names), 1e9, 0.0))
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
                    out[-1] += f" {line.text}"
                else:
                    out.append(f"{bullet}{line.text}")
                before = line
        return "\n".join(out)
