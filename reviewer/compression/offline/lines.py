"""Which lines a range has to offer: what was said, what was done, where the work is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from reviewer.compression.anchor_types import Section
from reviewer.compression.offline.calls import CHECKBOX
from reviewer.compression.offline.events import Event, Kind, Message, Moment, Voice
from reviewer.compression.offline.history import Places
from reviewer.compression.offline.items import (
    Fate,
    Item,
    items_of,
    latest_items,
    latest_points,
    names_in,
)
from reviewer.compression.offline.line import (
    Line,
    changes,
    is_edit,
    is_of,
    is_person,
    recency_of,
    shortened,
    terms_of,
)
from reviewer.compression.offline.messages import (
    OF_THE_MOMENT,
    Surroundings,
    is_specific,
    message_lines,
    summary_lines,
)
from reviewer.compression.offline.person import ANSWER, is_answer, person_lines, question_before
from reviewer.compression.offline.plans import Titled, agreed_plan, latest_findings, settled
from reviewer.compression.offline.state import (
    WorkState,
    command_lines,
    done_lines,
    edit_lines,
    file_line,
    is_own,
    next_lines,
    now_lines,
    refused,
    short_paths,
)
from reviewer.compression.offline.statements import (
    intent,
    is_announcement,
    is_order,
    person_words,
    plain,
    purpose,
    statements,
)
from reviewer.compression.offline.traffic import looked_at
from reviewer.compression.values import Turn


def lines_of(moments: Sequence[Moment], state: WorkState, places: Places) -> list[Line]:
    """Every line that these moments have to offer."""
    lines = [*person_lines(moments), *_state_lines(moments, state, places)]
    last = max(_last_words(moments), _tail_start(moments))
    now = _now_start(moments, last)
    messages = [each for each in moments if isinstance(each, Message)]
    positions = {id(each): at / max(len(messages) - 1, 1) for at, each in enumerate(messages)}
    places_of = {id(each): at for at, each in enumerate(messages)}
    spoken = [at for at, m in enumerate(moments) if is_person(m)]
    later = _changes_after(moments)
    edited = _last_edits(moments)
    committed = max((at for at, m in enumerate(moments) if _is_commit(m)), default=-1)
    for at, moment in enumerate(moments):
        if isinstance(moment, Message):
            if moment.voice is Voice.SUMMARY:
                if not any(_is_summary(later) for later in moments[at + 1 :]):
                    heard = any(map(is_person, moments[:at]))
                    lines += summary_lines(moment, moments[at + 1 :], heard=heard)
            elif moment.voice is not Voice.PERSON:
                number = places_of[id(moment)]
                closing = moment.voice is Voice.AGENT and _closes(moments, at)
                events = _round_before(moments, at) if closing else _events_after(moments, at)
                around = Surroundings(
                    events,
                    positions[id(moment)],
                    closing=closing,
                    in_tail=at > last,
                    is_now=at > now,
                    answered=closing and _answered(moments, at),
                    rounds=sum(place > at for place in spoken[-2:]),
                    later=later[at],
                    hedged=len(messages) - number > GUESSES_SETTLED,
                    edited=_files_edited(moments[at + 1 :]) if at > now else (),
                    finished=now == len(moments) - 2,
                )
                found = message_lines(moment, around)
                if closing and _told_by_files(events, state):
                    for line in found:
                        line.current = line.current and line.section is not Section.DONE
                if moment.voice is Voice.AGENT:
                    _mark_changed(found, at, edited, committed)
                lines += found
    lines += _about_to(moments)
    answers = {line.text.partition(ANSWER)[2] for line in lines if ANSWER in line.text}
    lines = [line for line in lines if line.text not in answers]
    return _once(_said_last(_without_points(lines, latest_points(moments))))


def _said_last(lines: list[Line]) -> list[Line]:
    """The lines without those that say where the work is and are said again later."""
    said = [line for line in lines if line.section is Section.NOW and line.place >= 0]
    for line in said:
        line.terms = terms_of(line.text)
    again = {
        id(line)
        for at, line in enumerate(said)
        for other in said[at + 1 :]
        if len(line.terms & other.terms) >= SAID_AGAIN * len(line.terms)
    }
    return [line for line in lines if id(line) not in again]


SAID_AGAIN = 0.6
"""Share of a statement's words that a later one has, which says it again."""


def _without_points(lines: list[Line], points: Sequence[Item]) -> list[Line]:
    """The lines without those that only list the points again."""
    if not points:
        return lines
    firsts = [plain(each.text)[:40] for each in points]
    return [
        line
        for line in lines
        if line.order in (NOW_ITEMS, NEXT_ITEMS)
        or sum(first in line.text for first in firsts) < len(firsts)
    ]


def _is_summary(moment: Moment) -> bool:
    return isinstance(moment, Message) and moment.voice is Voice.SUMMARY


NEXT_IN_HAND, NEXT_ITEMS, NEXT_OWED = -3.0, -2.0, -1.0
"""Order of what is next: what is in hand, open items, checks and commits, then what was said."""
NOW_ITEMS = -2.0
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
            if at == len(moments) - 1 and place < len(said) - 1:
                return []  # the turn ended with a report
            text = intent(said[place]) if place >= 0 else ""
            if not text:
                return []
            for each in said[place + 1 :]:
                if len(text) + len(each) <= LONGEST_PLAN and not items_of(moment.text):
                    text = f"{text} {each}"
            line = _step_told(text, _events_after(moments, at), _points_are_open(moments))
            if place > 0 and len(line) + len(said[place - 1]) <= LONGEST_PLAN:
                line = f"{line.rstrip('. ')} - having found: {said[place - 1]}"
            return [Line(Section.NEXT, line, NEXT_IN_HAND, 3.0, "state", "", moment.turn)]
    return []


def _step_told(text: str, events: Sequence[Event], more: bool) -> str:
    """The step that the agent announced last with what it did for it. `more`: points are open."""
    paths = list(dict.fromkeys(each.what for each in events if is_edit(each)))
    if paths and not more:
        names = ", ".join(path.rpartition("/")[2] for path in paths)
        runs = [each for each in events if each.kind is Kind.CHECK]
        after = f"`{runs[-1].what}`: {runs[-1].how}" if runs else "not verified"
        return f"Finish or confirm the last step (edited for it: {names}; {after}): {text}"
    begun = any(changes(each) for each in events)
    return f"The agent was {'in the middle of this' if begun else 'about to do this'}: {text}"


def _points_are_open(moments: Sequence[Moment]) -> bool:
    return any(each.is_open for each in latest_points(moments))


def _round_before(moments: Sequence[Moment], at: int) -> list[Event]:
    """What was done since the person spoke last, before a message that ends the turn."""
    found: list[Event] = []
    for each in reversed(moments[:at]):
        if isinstance(each, Message) and each.voice is Voice.PERSON:
            break
        if isinstance(each, Event):
            found.append(each)
    return found[::-1]


GUESSES_SETTLED = 4
"""Messages after a guess from which on it counts as settled."""


def _told_by_files(events: Sequence[Event], state: WorkState) -> bool:
    """Whether all files of a round were edited again later, and are shown in their last state."""
    rounds = {each.what: each.turn for each in events if is_edit(each)}
    open_files = {each.path: each for each in state.uncommitted}
    rounds = {state.moved.get(path, path): turn for path, turn in rounds.items()}
    return bool(rounds) and all(
        path in open_files and open_files[path].last > turn for path, turn in rounds.items()
    )


def _is_commit(moment: Moment) -> bool:
    return isinstance(moment, Event) and moment.kind is Kind.COMMIT and moment.failed is False


def _last_words(moments: Sequence[Moment]) -> int:
    """The place of the person's last message; -1 where there is none."""
    return max(
        (at for at, m in enumerate(moments) if isinstance(m, Message) and m.voice is Voice.PERSON),
        default=-1,
    )


TAIL_MESSAGES = 16
"""Messages of an agent at the end that say where it is, where the person has been silent longer."""


def _tail_start(moments: Sequence[Moment]) -> int:
    """The place after which the agent's last messages are."""
    said = [at for at, m in enumerate(moments) if isinstance(m, Message) and m.voice is Voice.AGENT]
    return said[-TAIL_MESSAGES] - 1 if len(said) > TAIL_MESSAGES else -1


def _now_start(moments: Sequence[Moment], last: int) -> int:
    """The place after which messages say where the work is now; those before say what was done.

    A report that ends the range says it alone. Else it is what came after the last commit or check.
    """
    final = moments[-1] if moments else None
    if isinstance(final, Message) and final.voice is Voice.AGENT:
        text = statements(final, closing=True)
        if text and not is_announcement(text[-1].text):
            return len(moments) - 2
    results = (
        at
        for at, each in enumerate(moments)
        if isinstance(each, Event)
        and each.failed is False
        and (each.kind is Kind.COMMIT or (each.kind is Kind.CHECK and each.how == "passed"))
    )
    said = [at for at, m in enumerate(moments) if isinstance(m, Message) and m.voice is Voice.AGENT]
    few = said[-NOW_MESSAGES] - 1 if len(said) > NOW_MESSAGES else -1
    return max(last, min(max(results, default=-1), said[-1] - 1 if said else -1), few)


NOW_MESSAGES = 8
"""Messages of an agent in the middle of its work that say where it is."""


def _last_edits(moments: Sequence[Moment]) -> dict[str, int]:
    """The functions and headings that were changed, with the place of the last change.

    The subject of a commit names what was changed too.
    """
    found: dict[str, int] = {}
    for at, each in enumerate(moments):
        if isinstance(each, Event) and is_edit(each):
            found.update((name, at) for name in (each.within, *each.names) if name)
        elif isinstance(each, Event) and each.kind is Kind.COMMIT and each.failed is False:
            found.update((name, at) for name in names_in(each.what.split("\n", 1)[0]))
    return found


_TELLS_EVENTS = re.compile(r" -> |: (?:edited|wrote|ran|switched|took) ")
_MARKED = frozenset({Section.FOUND, Section.NOW})
CHANGED = 0.7
"""Factor for what was found out about a function that was changed since."""


def _mark_changed(
    lines: Sequence[Line], at: int, edited: Mapping[str, int], committed: int
) -> None:
    """Say of what was found out about a function that it was changed since."""
    for line in lines:
        if line.section in _MARKED and line.place >= 0 and not _TELLS_EVENTS.search(line.text):
            names = [name for name in names_in(line.text) if edited.get(name, -1) > at]
            if names:
                line.text = f"Before `{names[0]}` was changed: {line.text}"
                line.lead, line.worth = "", line.worth * CHANGED
                line.current = edited[names[0]] > committed


def _files_edited(moments: Sequence[Moment]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(e.what for e in moments if isinstance(e, Event) and is_edit(e)))


def _changes_after(moments: Sequence[Moment]) -> list[int]:
    """How many changes, checks and commits come after each moment."""
    found, number = [], 0
    for each in reversed(moments):
        found.append(number)
        if isinstance(each, Event) and (changes(each) or each.kind is Kind.BRANCH):
            number += not each.failed
    return found[::-1]


def _answered(moments: Sequence[Moment], at: int) -> bool:
    """Whether the person's next message answers this one."""
    after = moments[at + 1] if at + 1 < len(moments) else None
    if not isinstance(after, Message):
        return False
    words = person_words(after.text)
    offered = moments[at]
    asked = terms_of(offered.text[-OFFER_CHARS:]) if isinstance(offered, Message) else frozenset()
    if len(asked & terms_of(words)) >= TAKEN_UP:
        return True
    return is_answer(words, question_before(moments, at + 1))


OFFER_CHARS = 500
"""Characters at the end of a message in which an offer or question is."""
TAKEN_UP = 3
"""Words of an offer with which the person's next words take it up, or turn it down."""


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


MOST_MADE = 8
"""What was made in other systems, such as issues, the latest of which are told."""
REPORTED = "The agent has reported and waits for the person's next words."
EDIT_CHECKED, EDIT_UNCHECKED = 1.2, 1.7
"""Worth of what is new in a file, as long as it is not committed."""


def has_reported(moments: Sequence[Moment]) -> bool:
    """Whether the agent spoke last, and not of what it is about to do."""
    return (
        bool(moments)
        and is_of(moments[-1], Voice.AGENT)
        and not _about_to(moments)
        and not _is_remark(moments)
    )


def _is_remark(moments: Sequence[Moment]) -> bool:
    """Whether the agent's last message is one of those that it says on the way: on one line, and
    about as long as they are.
    """
    said: list[Message] = []
    for each in reversed(moments):
        if isinstance(each, Message):
            if each.voice is Voice.PERSON:
                break
            if each.voice is Voice.AGENT:
                said.append(each)
    if len(said) <= FEW_REMARKS:
        return False
    last, *others = (len(each.text.strip()) for each in said)
    return "\n" not in said[0].text.strip() and last <= LONGEST_REMARK * median(others)


FEW_REMARKS = 3
LONGEST_REMARK = 1.6
"""Length of a remark at most, of the usual one in its round."""


def _state_lines(moments: Sequence[Moment], state: WorkState, places: Places) -> list[Line]:
    """What events alone tell: state, next steps, commits, commands, files, refusals."""
    state.todo = settled(state.todo, moments)
    end = float(moments[-1].turn + 1) if moments else 0.0
    first = end if has_reported(moments) else -1.0
    lines = [
        Line(Section.NOW, text, first + at / 100, 3.0 - at / 10, "state")
        for at, text in enumerate(now_lines(state))
    ]
    lines += [
        Line(Section.NEXT, text, NEXT_OWED + at / 100, 3.0, "state")
        for at, text in enumerate(next_lines(state))
    ]
    if places.outside:
        text = f"The changed files are in {places.outside}/, not where the session works."
        lines.append(Line(Section.NOW, text, first, 3.2, "state"))
    edits = edit_lines(state)
    for at, (text, checked) in enumerate(edits):
        worth = EDIT_CHECKED if checked else EDIT_UNCHECKED
        worth *= recency_of((at + 1) / len(edits))
        lines.append(Line(Section.NOW, text, first + 0.5 + at / 1000, worth, "edits"))
    for turn, text in done_lines(state):
        worth = 0.9 * recency_of(turn / (moments[-1].turn + 1))
        lines.append(Line(Section.DONE, text, float(turn), worth, "commits", turn=turn))
    made = [e for e in moments if isinstance(e, Event) and e.kind is Kind.RUN and e.outcome]
    for event in [each for each in made if not each.failed][-MOST_MADE:]:
        worth = recency_of(event.turn / (moments[-1].turn + 1))
        text = f"{event.what} [{event.outcome}]"
        line = Line(Section.DONE, text, event.turn + 0.3, worth, turn=event.turn)
        line.lasting = True
        lines.append(line)
    for each in refused(moments):
        text = f"The person refused {each.what}" + (f': "{each.words}"' if each.words else "")
        binds = is_order(each.words) or not each.words
        where = Section.INSTRUCTIONS if binds else Section.DECISIONS
        lines.append(Line(where, text, each.turn, 1.8 if binds else 1.2, "words", turn=each.turn))
    lines += _item_lines(latest_items(moments), "items of the request", places)
    lines += _plan_lines(moments)
    lines += _checklist_lines(moments, state, places)
    lines += _finding_lines(moments)
    lines += _item_lines(latest_points(moments), "points that the agent listed", places)
    if commands := command_lines(state):
        lines.append(Line(Section.COMMANDS, "; ".join(commands), 0.0, 2.5, "state"))
    if skills := list(dict.fromkeys(places.skills)):
        lines.append(Line(Section.COMMANDS, f"Skills loaded: {', '.join(skills[-4:])}", 1.0, 1.5))
    for address in places.published[-2:]:
        lines.append(Line(Section.FILES, f"Published at {address}", 2e6, 2.0))
    if state.for_agents:
        text = f"Written for other agents: {', '.join(short_paths(list(state.for_agents)))}"
        lines.append(Line(Section.FILES, text, 1e6, 1.0))
    reasons = _reasons(moments)
    lines += [
        Line(Section.FILES, f"{path}: has conflicts to be resolved", -1.0, 1.2)
        for path in state.conflicts
    ]
    files = sorted(state.files.values(), key=lambda each: (each.committed, -each.last, each.path))
    for at, file in enumerate(files):
        text = file_line(file, reasons.get(file.path, ""))
        lines.append(Line(Section.FILES, text, float(at), 1.0 / (1 + at / 12), turn=-1))
    return lines


def _plan_lines(moments: Sequence[Moment]) -> list[Line]:
    """The plan that was agreed on, whole, with what became of each step."""
    plan = agreed_plan(moments)
    if plan is None or not plan.open:
        return []
    steps = "; ".join(f"{each.number}) {_step_state(each)}" for each in plan.steps)
    text = f"The agreed plan ({len(plan.open)} of {len(plan.steps)} steps open): {steps}."
    return [Line(Section.NEXT, text, NEXT_ITEMS + 0.5, 3.2, "state", turn=plan.turn)]


_LISTS_WORK = re.compile(r"task|todo|plan|checklist|progress|roadmap", re.IGNORECASE)
LEAST_BOXES = 3
MOST_BOXES = 8
"""Open items of a list in a file that are told."""
BOX_CHARS = 140


def _checklist_lines(moments: Sequence[Moment], state: WorkState, places: Places) -> list[Line]:
    """What is open of the list of tasks in a file that the work goes by."""
    ticked = {
        each.what
        for each in moments
        if isinstance(each, Event) and is_edit(each)
        if any(CHECKBOX.search(new) and "[ ]" in old for old, new in each.pairs)
    }
    for file in sorted(state.files.values(), key=lambda each: -each.last):
        name = file.path.rpartition("/")[2]
        if file.path not in ticked and not (file.created and _LISTS_WORK.search(name)):
            continue
        boxes = CHECKBOX.findall(places.files.get(file.path, ""))
        left = [text for mark, text in boxes if mark == " "]
        if len(boxes) < LEAST_BOXES or not left:
            continue
        shown = "; ".join(shortened(plain(text), BOX_CHARS) for text in left[:MOST_BOXES])
        more = f"; and {len(left) - MOST_BOXES} more" if len(left) > MOST_BOXES else ""
        done = len(boxes) - len(left)
        text = f"Open in {name} ({done} of {len(boxes)} done): {shown}{more}."
        return [Line(Section.NEXT, text, NEXT_ITEMS + 0.6, 3.0, "state", turn=file.last)]
    return []


def _step_state(step: Item) -> str:
    if step.is_open:
        note = "begun" if step.fate is Fate.LOOKED_AT else "open"
        return f"{step.text.rstrip('. ')} - {note}"
    how = f"{step.fate} {step.told}" if step.fate is Fate.COMMITTED else f"{step.fate}"
    return f"{shortened(step.text, ITEM_WORDS)} - {how}"


def _finding_lines(moments: Sequence[Moment]) -> list[Line]:
    """The findings that the agent listed last, a line for each heading that they are under."""
    turn, findings = latest_findings(moments)
    lines: list[Line] = []
    for heading in dict.fromkeys(titled.heading for titled, _ in findings):
        told = "; ".join(
            _finding_told(titled, item, whole=len(findings) <= FEW_FINDINGS)
            for titled, item in findings
            if titled.heading == heading
        )
        text = f"{heading}: {told}" if heading else told
        line = Line(Section.LISTS, text, turn + len(lines) / 100, 1.3, turn=turn)
        line.lasting = any(item.is_open for titled, item in findings if titled.heading == heading)
        lines.append(line)
    return lines


FEW_FINDINGS = 6
"""Findings up to which each is described with how its text begins; else with its file alone."""


def _finding_told(titled: Titled, item: Item, *, whole: bool) -> str:
    if not item.is_open and (item.fate is not Fate.FINE or item.named):
        return f"{titled.number}) {titled.title} - {item.fate}"
    told = titled.detail if whole else titled.where
    detail = f" [{told}]" if told else ""
    return f"{titled.number}) {titled.title}{detail}"


def _item_lines(items: Sequence[Item], what: str, places: Places) -> list[Line]:
    """What became of the items of a list that the work goes by, and which are open."""
    if not items:
        return []
    closed = "; ".join(_item_told(each) for each in items if not each.is_open)
    declared = places.declared()
    wheres = [(each, _places_of(each, places, declared)) for each in items if each.is_open]
    left = "; ".join(_item_told(each, where) for each, where in wheres)
    lines: list[Line] = []
    if closed:
        text = f"Of the {len(items)} {what}: {closed}."
        lines.append(Line(Section.NOW, text, NOW_ITEMS, 3.4, "state"))
    if left:
        lines.append(Line(Section.NEXT, f"Open {what}: {left}.", NEXT_ITEMS, 3.5, "state"))
    return lines


ITEM_WORDS = 100
"""Characters of an item where it is closed."""


def _places_of(item: Item, places: Places, declared: Mapping[str, Sequence[str]]) -> str:
    """Where the functions, classes and files are that an item names."""
    found = dict.fromkeys(
        place for name in names_in(item.text) for place in places.of(name, declared)
    )
    known = [place for place in found if place][:MOST_PLACES]
    return f" [{'; '.join(known)}]" if known else ""


MOST_PLACES = 3


def _item_told(item: Item, where: str = "") -> str:
    number = f"{item.number}) " if item.number else ""
    if item.is_open:
        note = f" ({item.fate})" if item.fate is Fate.LOOKED_AT else ""
        return f"{number}{item.text.rstrip('. ')}{where}{note}"
    how = f"{item.fate}"
    if item.files:
        how = f"{how} in {', '.join(short_paths(item.files))}" if item.fate is Fate.EDITED else how
    elif item.fate is Fate.FINE and item.told:
        how = f'{how}: "{item.told.rstrip(". ")}"'
    return f"{number}{shortened(item.text, ITEM_WORDS)} - {how}"


def _reasons(moments: Sequence[Moment]) -> dict[str, str]:
    """Changed files with what the agent said before the last change that it explained."""
    found: dict[str, str] = {}
    for at, each in enumerate(moments):
        if not is_of(each, Voice.AGENT) or not isinstance(each, Message):
            continue
        edits = [e for e in _events_after(moments, at) if e.kind in (Kind.EDIT, Kind.WRITE)]
        paths = dict.fromkeys(e.what for e in edits)
        said = _explained(each) if paths else ""
        for path in paths:
            stem = path.rpartition("/")[2].partition(".")[0]
            if said and (len(paths) == 1 or stem in said):
                found[path] = said
    return found


def _explained(message: Message | None) -> str:
    """What an agent says last in a message, as the reason of the edit that follows."""
    if message is None or message.voice is not Voice.AGENT:
        return ""
    texts = [each.text for each in statements(message)][-1:] or [plain(message.text)]
    why = purpose(texts[0])
    why = f"{why[:1].lower()}{why[1:]}" if why.startswith("To ") else why
    telling = is_specific(why) and not OF_THE_MOMENT.search(why) and ": 1) " not in why
    return shortened(why, LONGEST_REASON) if telling else ""


LONGEST_REASON = 180


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
    return _without_parts(list(found.values()))


def _without_parts(lines: list[Line]) -> list[Line]:
    """The lines without those that another line of their turn contains."""
    return [
        line
        for at, line in enumerate(lines)
        if not any(
            other.turn == line.turn
            and len(other.text) > len(line.text)
            and line.text.rstrip(".") in other.text
            for other in lines[max(0, at - 6) : at + 7]
        )
    ]


MOST_READ_LAST = 12
TRAFFIC = 0.1
"""Worth of a line about what was only looked at."""


def read_lines(places: Places, state: WorkState) -> list[Line]:
    """The files that were read last and not changed."""
    read = [
        path
        for path in reversed(places.files)
        if path not in state.files and path not in state.for_agents and not is_own(path)
    ][:MOST_READ_LAST]
    if not read:
        return []
    line = Line(Section.FILES, f"Read last: {'; '.join(short_paths(read))}", 1e6, 1.3)
    line.terms = terms_of(line.text)
    return [line]


def traffic_lines(turns: Iterable[Turn], *, with_names: bool = True, told: str = "") -> list[Line]:
    """What was only looked at and is not `told`; `with_names`: also names in the results."""
    lines = [
        Line(Section.DONE, text, float(turn), TRAFFIC, turn=turn)
        for turn, text in looked_at(turns, with_names=with_names, told=told)
    ]
    for line in lines:
        line.terms = terms_of(line.text)
    return lines
