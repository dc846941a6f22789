"""What agents, sub-agents, speakers and earlier summaries said, a line for each statement."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct, structs

from reviewer.compression.anchor_types import Section
from reviewer.compression.offline.events import PLAN, Event, Kind, Message, Moment, Voice
from reviewer.compression.offline.line import VOICES, Line, changes, is_edit, recency_of, terms_of
from reviewer.compression.offline.person import has_content
from reviewer.compression.offline.plans import findings_in, is_title, titled_items
from reviewer.compression.offline.state import short_paths
from reviewer.compression.offline.statements import (
    About,
    Statement,
    is_deferred,
    is_order,
    person_words,
    plain,
    purpose,
    statements,
    straight,
)

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


CLOSING = 1.1
"""Worth of an agent's last message before the person speaks; others have that of its voice."""
OVERTAKEN = 0.6
"""Factor for a message that asked the person something, once there is an answer."""
OLD_LIST = 0.5
"""Factor for a list after which the person has spoken twice."""
STILL_OPEN = 0.85
"""Place in the range, 0 to 1, from which on what "remains" is still open at its end."""


_UNTOLD = frozenset({Kind.TODO, Kind.REFUSED, Kind.SIDES})
_TRIED = frozenset({Kind.RUN, Kind.BRANCH, Kind.PUSH, Kind.EDIT, Kind.WRITE})


def is_edit_of(failed: Event, events: Sequence[Event]) -> bool:
    """Whether a failed change of a file was followed by one that worked."""
    return any(each.what == failed.what and is_edit(each) for each in events)


def told(events: Sequence[Event], *, is_now: bool = True) -> str:
    """Events in words, those of one file together: `edited data.go (2 times); ran ...: passed`.

    A check that ran again later is left out, and what failed, unless that is how it is now.
    """
    parts: dict[str, str] = {}
    times: Counter[str] = Counter()
    for event in events:
        if event.kind in _UNTOLD or not event.what or event.superseded:
            continue
        if event.failed and is_edit_of(event, events):
            continue
        if event.kind is Kind.COMMIT and event.failed is False:
            continue  # commits have lines of their own
        if not is_now and event.failed and event.kind in _TRIED:
            continue
        if event.kind is Kind.RUN and event.outcome and not event.failed:
            continue  # so has what was made in other systems
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
            why = f" ({len(event.conflicts)} files conflict)" if event.conflicts else ""
            why = why or (" (failed)" if event.failed else "")
            parts[f"run {what}"] = f"{what}{why}"
        else:
            where = f" in `{event.within}`" if event.within else ""
            more = f" ({', '.join(event.names)})" if event.names else where
            more = " (failed)" if event.failed else more
            parts[f"{event.kind} {what}"] = f"{event.kind} {what}{more}"
        times[f"{event.kind} {what}"] += 1
    return "; ".join(
        f"{text} ({times[key]} times)" if times[key] > 1 else text for key, text in parts.items()
    )


class Surroundings(Struct, frozen=True):
    """What comes before and after a message, as far as it decides what of it still matters."""

    events: Sequence[Event]
    """What was done after it; where it is the last before the person speaks, before it."""
    position: float
    """Its place among the messages, 0 to 1."""
    closing: bool
    """Whether it is the agent's last message before the person speaks."""
    in_tail: bool
    """Whether it comes after the person's last words, or near the end of a long silence."""
    is_now: bool
    """Whether it says where the work is at the end."""
    answered: bool
    """Whether the person's next message answers it."""
    rounds: int
    """How many of the person's last two messages come after it."""
    later: int
    """How many changes, checks and commits come after it."""
    finished: bool
    """Whether the range ends with a report."""
    hedged: bool = False
    """Whether the agent has said more since, so that its guesses are settled or given up."""
    edited: tuple[str, ...] = ()
    """Of a message that says where the work is: the files that were edited after it."""


def message_lines(message: Message, around: Surroundings) -> list[Line]:
    """The statements of a message; the last one with what was done after it."""
    closing, events = around.closing, around.events
    found = statements(message, closing=closing)
    if _steps_of(message) if message.name == PLAN else closing and findings_in(message.text):
        found = _outside_titles(found, message)
    done = "" if closing else told(events, is_now=around.is_now)
    files = _files_of(events, message.text) if closing else ""
    recency = recency_of(around.position)
    base = CLOSING if closing else VOICES[message.voice]
    label = _label(message)
    proposes = closing and any(each.about is About.OFFER for each in found)
    overtaken = proposes and not around.in_tail
    lines: list[Line] = []
    for at, each in enumerate(found):
        last = at == len(found) - 1
        about = each.about
        ahead = closing and (about is About.NEXT or _AHEAD.match(each.lead or each.text))
        if about is About.NEXT and not (
            around.in_tail or (closing and around.position > STILL_OPEN)
        ):
            late = (closing and around.rounds < SEVERAL_REQUESTS) or around.position > STILL_OPEN
            put_off = late and is_deferred(each.text)
            about = About.NEXT if put_off else About.FOUND
        if _SCENARIO.match(each.text):
            continue  # steps of a scenario say nothing without the others
        if about is About.DECISION and (overtaken or not _DECIDED.search(each.text)):
            about = About.FOUND  # what the person answers is the decision
        if about is About.NEXT and not (closing or around.is_now):
            about = About.FOUND
        over = message.voice is Voice.AGENT and (
            _is_over(each, about, around.later, around.in_tail and around.is_now)
            or (overtaken and around.later >= SEVERAL_CHANGES and _is_proposal(each, about))
            or (around.rounds > 0 and _RUNNING.search(each.text) is not None)
            or (not closing and _WAITS.search(each.text) is not None)
        )
        text = purpose(each.text) if about is About.TALK else each.text
        text = "" if over else text
        needed = bool(around.edited) and about is not About.TALK and _NEEDED.search(text)
        if text and needed and not closing:
            files = ", ".join(path.rpartition("/")[2] for path in around.edited[:4])
            text = f'Edited since ({files}), to be checked against: "{text}"'
        elif last and done and not closing:
            if around.is_now and _only_edits(events):
                if about is About.TALK:
                    continue  # the new text of the files has lines of its own
            else:
                text = _joined(text, done)
        if not text or (text == done and _only_edits(events)):
            continue
        if files and about in (About.DONE, About.FOUND, About.LIST, About.CAUSE):
            text, files = f"{text} {files}", ""
        if about is About.TALK and not (last and done):
            continue  # what the agent was about to do at the end has a line of its own
        if message.voice is Voice.SUBAGENT and (
            around.rounds
            or (around.finished and around.later)
            or not _of_the_work(text)
            or _CODE.search(text)
        ):
            continue
        remark = about in _REMARKS and text == each.text and message.voice is Voice.AGENT
        remark = remark and not (last and done)
        few = len(found) > 2 and len(terms_of(text)) < FEW_TERMS
        if remark and not is_specific(text) and (few or not closing):
            continue
        if about is About.DONE and len(terms_of(text)) < LITTLE_SAID:
            continue
        if about is About.DONE and not _was_done(each.text, events):
            about = About.FOUND
        if about is About.TALK and last and done:
            about = About.DONE
        worth = base * WORTH[about] * recency * (OVERTAKEN if overtaken else 1.0)
        if about is About.LIST and around.rounds > 1:
            worth *= OLD_LIST
        section = SECTION_OF[about]
        if closing and about is About.FOUND and any(map(_is_work, events)):
            section = Section.DONE  # it reports what was done
        if around.is_now and about is not About.LIST and message.voice is not Voice.SUBAGENT:
            section = Section.NOW
        if around.in_tail and around.is_now and ahead:
            section = Section.NEXT
        if about is About.OFFER:
            if _NAMELESS_OFFER.search(text):
                continue
            if around.answered or not (around.in_tail or around.position > STILL_OPEN):
                continue  # an answer brings its question along
            if around.rounds and around.later and not is_deferred(text):
                continue  # the person went on to other work
            reply = "not answered" if around.in_tail else "and not taken up"
            text = f"Offered{',' * around.in_tail} {reply}: {text}"
            worth *= 2.0 if around.in_tail else 1.0
            section = Section.NEXT
        release = "tail" if around.in_tail and message.voice is Voice.AGENT else ""
        place = -1 if text == done else at
        line = Line(
            section, label + text, each.order, worth, release, each.source, message.turn, place
        )
        line.lead = each.lead if line.text.startswith(each.lead) else ""
        if line.lead and lines and lines[-1].lead == line.lead:
            line.previous = lines[-1]
        line.guess = around.hedged and _HEDGED.search(text) is not None
        lines.append(line)
    if not found and done and not _only_edits(events):
        words = purpose(plain(message.text))[:200].rstrip(" :.")
        passing = around.later and not around.is_now and OF_THE_MOMENT.search(words)
        if passing or _WAITS.search(words):
            words = ""
        text = _joined(words, done) if len(words) > 12 else done
        worth = base * 0.4 * recency
        section = Section.NOW if around.is_now else Section.DONE
        release = "tail" if around.in_tail else ""
        lines.append(Line(section, text, message.turn + 0.5, worth, release, "", message.turn))
    return lines


OF_THE_MOMENT = re.compile(
    r"\b(?:still|not yet|yet to|remain(?:s|ing)?|uncommitted|unpushed"
    r"|not (?:committed|pushed|tested|fixed|done)"
    r"|(?:are|is) (?:now )?(?:running|failing|waiting|out)\b|in progress|pending|waiting"
    r"|needs? to|needs? (?:adjusting|fixing|updating)|need fixing|todo|next(?:,| is| step)"
    r"|failing tests?|(?:test|build|lint)s? fail(?:s|ed)?|conflicts?\b|should|would be"
    r"|the fix (?:is|would|:)|i (?:also )?need|we need|first batch|second batch)\b",
    re.IGNORECASE,
)
"""What is true only until the next step."""
_PLANS = re.compile(
    r"\W*(?:(?:the |my |some |here(?:'s| are) (?:the )?)?(?:changes?|edits?|fix(?:es)?"
    r"|steps?|tasks?|things?|work|updates?|open (?:questions?|decisions?)|questions?|options?|plan"
    r"|proposed?|suggested|recommended|revised|remaining|next|current state)\b)"
    r"|.{0,60}\bto (?:create|modify|add|change|do|fix|implement|update)\b",
    re.IGNORECASE,
)
"""How a list begins of what is to be done or decided."""


_HEDGED = re.compile(
    r"\b(?:might|maybe|perhaps|probably|likely|possibly|suggests?|i (?:assumed|think|guess|suspect)"
    r"|smoking gun|could be|may be|seems?|appears?)\b",
    re.IGNORECASE,
)
"""What a guess has."""


def is_guess(text: str) -> bool:
    return _HEDGED.search(text) is not None


_NEEDED = re.compile(
    r"\b(?:needs? to|needs? (?:adjusting|fixing|updating)|should|has to|have to|must"
    r"|(?:the|a) fix (?:is|would|:)|we can|would be)\b",
    re.IGNORECASE,
)
"""How a statement asks for a change."""


_NAMELESS_OFFER = re.compile(
    r"^.{0,40}\b(?:want me to|shall i|should i|would you like me to) \w+ (?:that|this|it|so)\b"
    r".{0,12}$",
    re.IGNORECASE,
)
"""An offer that says nothing without what came before."""


def _steps_of(message: Message) -> bool:
    return bool(titled_items(message.text))


def _outside_titles(said: Sequence[Statement], message: Message) -> list[Statement]:
    """The statements before the first numbered title of a message; its items have lines."""
    first = next((at for at, line in enumerate(message.text.split("\n")) if is_title(line)), 0)
    before = "\n".join(message.text.split("\n")[:first])
    return [each for each in said if each.source in before]


def _is_work(event: Event) -> bool:
    """Whether an event changes files, or hands them over."""
    if is_edit(event):
        return "/.claude/" not in event.what
    return event.kind is Kind.COMMIT and event.failed is False


def _is_over(said: Statement, about: About, later: int, is_now: bool) -> bool:
    """Whether later work has overtaken what was true, or planned, when it was said."""
    if is_now or not later or is_deferred(said.text):
        return False
    if about in (About.FOUND, About.CAUSE, About.NEXT):
        return bool(OF_THE_MOMENT.search(said.text))
    return about is About.LIST and later >= SEVERAL_CHANGES and bool(_PLANS.match(said.text))


SEVERAL_CHANGES = 3
_RUNNING = re.compile(
    r"\bagents?\b.{0,60}\b(?:running|launched|still out|in parallel|in the background)\b"
    r"|\b(?:launched|spawned|started)\b.{0,40}\bagents?\b|^\W*(?:task \w+ )?still running\b",
    re.IGNORECASE,
)
_SCENARIO = re.compile(
    r"(?:Given|When|Then|And|But|Étant donnée?s?|Quand|Lorsque|Alors|Et|Angenommen|Wenn|Dann|Und)"
    r"\s(?=[^.!?]*$)|As an? .{2,40}, I want\b|So that\b"
)
"""How a step of a scenario or of a user story begins."""
_WAITS = re.compile(
    r"\btaking (?:a (?:bit|while|little) )?long(?:er)?\b|\bappears? to be (?:still )?\w+ing\b"
    r"|\b(?:hasn['\u2019]t|has not|haven['\u2019]t) \w+ (?:\w+ ){0,3}yet\b|\bno done yet\b"
    r"|\bwaiting (?:for|on)\b|\b(?:is|are) (?:now |currently |next )?\w+ing \b.{0,80}\bnext\b"
    r"|\bstill (?:active|running|going|building|waiting|in progress|busy)\b|\banother interval\b"
    r"|\b(?:polling|waiting|checking) again\b|\bkeep(?:ing)? (?:polling|waiting)\b"
    r"|\bhand-?off now\b",
    re.IGNORECASE,
)
"""What an agent says while it waits."""
_PROPOSAL = re.compile(
    r"\b(?:recommend|suggest|propos|i'd|would (?:be|let|need)|could (?:be|also)|should|option"
    r"|approach|alternativ|we can|you can|instead of|rather than|if you)\w*\b",
    re.IGNORECASE,
)


def _is_proposal(said: Statement, about: About) -> bool:
    """Whether a statement of a message that the person has answered only proposes something."""
    return about is About.LIST or bool(_PROPOSAL.search(straight(said.text)))


def _joined(text: str, done: str) -> str:
    """What was said and what was done: `To fix the sites: edited a.py`, `It is wrong -> ...`."""
    text = text.rstrip(".: ")
    if not text:
        return done
    return f"{text}: {done}" if text.startswith("To ") else f"{text} -> {done}"


_DECIDED = re.compile(
    r"\bdecided\b|\bdecision (?:is|was)\b|\bchose\b|\bchosen\b|\bagreed\b"
    r"|\bby design\b|\bon purpose\b|\bdeliberate"
    r"|\b(?:we|i)(?:'ll| will|'ve| have)? (?:went with|go with|kept|keep|took|switched|used|use)\b"
    r"|^\W*(?:kept|took|went with|switched|replaced|moved|dropped|used)\b",
    re.IGNORECASE,
)
"""How a report tells of a choice that was made."""
_AHEAD = re.compile(
    r"\W*(?:(?:the |my |some )?(?:remaining|left|open|pending|outstanding|next|follow[- ]?ups?|todo"
    r"|to do|still (?:to do|open|missing)|not (?:yet )?(?:done|implemented|covered|verified)"
    r"|deferred|what(?:'s| is) (?:left|next|missing)|later|known (?:gaps|limitations))\b)",
    re.IGNORECASE,
)
"""How a list or sentence of a report begins that says what is ahead."""


def is_specific(text: str) -> bool:
    """Whether a remark made on the way names something, or else says a good deal."""
    foreign = sum(char > "\u02af" and char.isalpha() for char in text) > len(text) / 3
    return foreign or bool(_SPECIFIC.search(text)) or len(terms_of(text)) >= SPECIFIC_TERMS


def _of_the_work(text: str) -> bool:
    """Whether a sub-agent's sentence is about the work and not about its own report."""
    return _OWN_REPORT.match(text) is None


_CODE = re.compile(
    r"^(?:A sub-agent: )?\W*(?:(?:public|private|final|static|export|async|await|import|from|let"
    r"|var|const|struct|class|enum|func|def|fn|switch|case|return)\b|@\w+ ).*[{}()=;:]"
    r"|[{}]\s*$|; ?\}"
)
"""What code has and sentences have not."""
_OWN_REPORT = re.compile(
    r"\W*(?:i(?:'ve| have| will|'ll)|let me|here(?:'s| is| are)|perfect|now i|based on my"
    r"|this (?:report|document|summary|analysis)"
    r"|(?:key |main )?(?:findings|insights?|summary|conclusion)\b)"
    r"|verified correct\b|no (?:action|issues?)\b",
    re.IGNORECASE,
)
_SPECIFIC = re.compile(r"`|[\"\u201c]|\w[./_]\w|\d|[a-z][A-Z]|\w\(\)")
SPECIFIC_TERMS = 9
FEW_TERMS = 5
LITTLE_SAID = 2
_REMARKS = frozenset({About.FOUND, About.CAUSE, About.DECISION})


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


_AFTER_SUMMARY = re.compile(
    r"(?:If you need specific details from before compaction|Please continue the conversation from"
    r" where|Continue the conversation from where).*",
    re.DOTALL,
)
_PART = re.compile(
    r"^[^\S\n]*+(?:#{1,4}\s++)?(\d{1,2})\.\s++\**([A-Z][^\n:*]{3,60})\**:?\**[ \t]*$", re.MULTILINE
)
_PARTS: tuple[tuple[str, Section, float], ...] = (
    ("primary request", Section.REQUEST, 1.4),
    ("user message", Section.INSTRUCTIONS, 0.5),
    ("pending", Section.NEXT, 1.3),
    ("decision", Section.DECISIONS, 1.2),
    ("next step", Section.NEXT, 0.9),
    ("current work", Section.DONE, 1.2),
    ("error", Section.FOUND, 1.1),
    ("problem", Section.FOUND, 1.1),
    ("file", Section.FOUND, 0.7),
    ("concept", Section.FOUND, 0.7),
)


_OF_PERSON = frozenset({Section.REQUEST, Section.INSTRUCTIONS})


def summary_lines(message: Message, after: Sequence[Moment], *, heard: bool = False) -> list[Line]:
    """The statements of an earlier summary under the sections that they belong to.

    Of what was to be done, only what nobody has mentioned since. `heard`: the person's words
    before it are in the range too, so that it need not tell them.
    """
    since = [terms_of(each.text if isinstance(each, Message) else each.what) for each in after]
    asked = [each for each in after if isinstance(each, Message) and each.voice is Voice.PERSON]
    overtaken = sum(has_content(person_words(each.text)) for each in asked) >= SEVERAL_REQUESTS
    changed = any(isinstance(each, Event) and changes(each) for each in after)
    committed = any(
        isinstance(each, Event) and each.kind is Kind.COMMIT and not each.failed for each in after
    ) and any(has_content(person_words(each.text)) for each in asked)
    text = message.text
    head = re.search(r"^[^\S\n]*+Summary:\s*$", text, re.MULTILINE)
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
        if (not title and parts) or (heard and section in _OF_PERSON):
            continue
        if section is Section.INSTRUCTIONS and (quoted := _QUOTED_WORDS.findall(body)):
            for at, words in enumerate(quoted):
                order = message.turn + (number + at / len(quoted)) / 100
                text = " ".join(words.split())
                lines.append(_earlier_words(text, order, VOICES[Voice.SUMMARY] * factor, message))
            continue
        for each in statements(structs.replace(message, text=body)):
            if changed and OF_THE_MOMENT.search(each.text) and section is not Section.NEXT:
                continue
            order = message.turn + number / 100 + (each.order - message.turn) / 200
            where = section or SECTION_OF[each.about]
            worth = VOICES[Voice.SUMMARY] * factor * (1.2 if where is Section.NEXT else 1.0)
            release = "goal" if where is Section.REQUEST else ""
            text = each.text
            if where is Section.NEXT:
                steps = each.text.removeprefix(each.lead).split("; ")
                text = "; ".join(step for step in steps if not _has_come_up(step, since))
                if section is None or overtaken or not text:
                    continue
                text = f"Pending at the earlier compaction: {text}"
            if where is Section.REQUEST and asked:
                if overtaken or committed:
                    continue
                text = f"Before the earlier compaction: {text}"
            lines.append(Line(where, text, order, worth, release, each.source, message.turn))
    return lines


_QUOTED_WORDS = re.compile(
    r"^[^\S\n]*+(?:[-*+]|\d+[.)])?[^\S\n]*+[\"\u201c](.{8,2000}?)[\"\u201d][^\n\"]*$", re.M | re.S
)
"""A line of an earlier summary that quotes the person."""


ASKED_EARLIER = "Asked earlier: "


_QUOTED_IN = re.compile(r"\[[^\[\]]*\]")
"""What a summary puts in place of what the person pasted."""


def _earlier_words(words: str, order: float, worth: float, message: Message) -> Line:
    """What an earlier summary quotes of the person."""
    turn = message.turn
    if is_order(_QUOTED_IN.sub("", words)):
        return Line(Section.INSTRUCTIONS, f'"{words}"', order, worth, "", words, turn)
    return Line(Section.DONE, f'{ASKED_EARLIER}"{words}"', order, worth / 4, "", words, turn)


SEVERAL_REQUESTS = 2
"""Requests after an earlier summary from which on its next steps are overtaken."""


def _has_come_up(text: str, since: Sequence[frozenset[str]]) -> bool:
    """Whether a later message or event has half of the words of a step that was to be done."""
    terms = terms_of(text)
    return any(2 * len(terms & each) >= len(terms) for each in since)
