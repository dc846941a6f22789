"""The last steps of a session: what the agent said, did and got, what others said, in order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct, field

from reviewer.compression.offline.call_told import Told, call_told, put_result
from reviewer.compression.offline.calls import ASKING, POLLING
from reviewer.compression.offline.dialogue import in_the_middle, is_assent, without_previews
from reviewer.compression.offline.events import ANSWERS, PLAN, Message, Moment, Voice
from reviewer.compression.offline.line import is_of, is_person, shortened, terms_of
from reviewer.compression.offline.messages import is_guess
from reviewer.compression.offline.shape import LAST_ROUNDS
from reviewer.compression.offline.statements import is_announcement, person_words, statements
from reviewer.compression.offline.tail import Tail
from reviewer.compression.offline.taken_back import INTERRUPTED
from reviewer.proposing.view_calls import SUBAGENT_TOOLS, Call, cut, read_call

LAST_CHARS = (2_400, 1_200, 500, 260)
"""Characters of the agent's last message: as many as there is room for."""
NEAR_CHARS, FAR_CHARS = 420, 220
"""Characters of the words of a step."""
PERSON_CHARS = 36
"""Characters by which a message of the person is recognised, which is described elsewhere."""
LEAST_CHARS = 100
"""Characters of the words of a step where there is no room for its calls."""
SHORT_CHARS = 160
"""Characters of a call where there is room for nothing else."""
MOST_CALLS = 5
"""Calls that are described in one line."""
LEAST_TERMS = 3
"""Words of a remark without calls from which on it says something."""
GUESSES_SETTLED = 4
"""Steps after a guess from which on it counts as settled."""
SAID_BEFORE = 0.35
"""Share of the words of a remark that have to be new, seen from the end."""


class Length(Struct, frozen=True):
    """How much of the words of steps is described.

    The last `near` steps and reports are described in `longest` characters, others in `FAR_CHARS`.
    """

    near: int
    longest: int = NEAR_CHARS


USUAL = Length(10)
LONGER = (Length(10_000), Length(10_000, 4 * NEAR_CHARS))
"""Where there is room for all steps."""


class _Done(Struct):
    """A call with its result put in as it comes."""

    turn: int
    call: Call
    told: Told
    id: str


class Step(Struct):
    """A message and the calls up to the next one."""

    turn: int
    voice: Voice
    words: str
    name: str = ""
    calls: list[_Done] = field(default_factory=list)
    closes: bool = False
    """Whether the person speaks next, or nobody."""


def steps_of(
    moments: Sequence[Moment],
    tail: Tail,
    interrupted: frozenset[int] = frozenset(),
    folder: str = "",
) -> list[Step]:
    """The steps of a tail, oldest first, with what was only asked again told once.

    `interrupted`: the turns of calls that the person interrupted. `folder`: where the work is,
    where the records name no folder.
    """
    messages = [each for each in moments if isinstance(each, Message)]
    first = next((each.number for each in tail), 0)
    said: dict[int, list[Message]] = {}
    for each in messages:
        if each.turn >= first and each.voice is not Voice.SUMMARY:
            said.setdefault(each.turn, []).append(each)
    roots = roots_of(tail, folder)
    steps: list[Step] = []
    waiting: list[_Done] = []
    has_results = False
    for numbered in tail:
        number, turn = numbered.number, numbered.turn
        for each in said.get(number, ()):
            steps.append(Step(number, each.voice, each.text, each.name))
        if turn.kind == "tool_use":
            call = read_call(turn.name, turn.text)
            told = call_told(number, call, roots)
            if told is not None:
                done = _Done(number, call, told, turn.call)
                if not steps or steps[-1].voice is not Voice.AGENT:
                    steps.append(Step(number, Voice.AGENT, ""))
                steps[-1].calls.append(done)
                waiting.append(done)
        elif turn.kind == "tool_result":
            done_now = _answered(waiting, turn.call, turn.name)
            if done_now is not None:
                put_result(done_now.told, number, done_now.call, turn.text, roots)
                has_results = True
    if has_results:
        _without_waiting(steps, waiting, messages)
    for done in waiting:
        if done.turn in interrupted:
            done.told.failed, done.told.result = True, INTERRUPTED
    for at, step in enumerate(steps):
        following = steps[at + 1] if at + 1 < len(steps) else None
        step.closes = not step.calls and (following is None or following.voice is Voice.PERSON)
    _once(steps)
    _tell_last_result(steps)
    return _that_matter([step for step in steps if step.words or step.calls])


def _without_waiting(
    steps: Sequence[Step], waiting: Sequence[_Done], messages: Sequence[Message]
) -> None:
    """Leave out the calls at the end that have no result, which `waiting_of` tells."""
    spoken = max((each.turn for each in messages), default=-1)
    for done in waiting:
        if done.turn >= spoken:
            for step in steps:
                step.calls = [each for each in step.calls if each is not done]


def _tell_last_result(steps: Sequence[Step]) -> None:
    """Tell more of the last result, where nothing was said or done after it."""
    if steps and steps[-1].calls and (told := steps[-1].calls[-1].told).whole:
        told.result = f"failed: {told.whole}" if told.failed else told.whole


def _that_matter(steps: list[Step]) -> list[Step]:
    """The steps without what was only asked and looked at before the last rounds.

    Where nothing was changed at all, everything matters.
    """
    spoken = [
        at for at, step in enumerate(steps) if step.voice is Voice.PERSON and not _assents(step)
    ]
    if len(spoken) <= LAST_ROUNDS or not any(map(_works, steps)):
        return steps
    start = spoken[-LAST_ROUNDS]
    bounds = [0, *(at for at in spoken if 0 < at <= start)]
    kept: list[Step] = []
    for first, end in pairwise(bounds):
        if any(map(_works, steps[first:end])):
            kept += steps[first:end]
    return [*kept, *steps[start:]]


def _works(step: Step) -> bool:
    """Whether a step changes or checks something."""
    return any(each.told.changes or each.told.checks for each in step.calls)


def _answered(waiting: list[_Done], call: str, name: str) -> _Done | None:
    """The call to which a result belongs, which waits no longer."""
    for at, each in enumerate(waiting):
        if (each.id == call) if call else (each.call.tool == name or not name):
            return waiting.pop(at)
    return None


def _is_whole(folder: str) -> bool:
    """Whether a folder is named from its root on."""
    return len(folder) > 1 and re.match(r"[/\\]|[A-Za-z]:", folder) is not None


_CHANGED_FOLDER = re.compile(r"\bcd (/[^\s;&|\"']{3,})")


def roots_of(tail: Tail, folder: str = "") -> list[str]:
    """The folders in which the session works, by its records, or else by its commands."""
    folders = dict.fromkeys([*(each.turn.folder for each in tail), folder])
    known = {each: None for each in folders if _is_whole(each)}
    if not known:
        calls = (each.turn.text for each in tail if each.turn.kind == "tool_use")
        known = dict.fromkeys(found for text in calls for found in _CHANGED_FOLDER.findall(text))
    return list(known)


def _once(steps: Sequence[Step]) -> None:
    """Tell a call that is made again and again, while nothing is changed, only where it is last."""
    last: dict[str, _Done] = {}
    for step in steps:
        if step.voice is Voice.PERSON:
            last.clear()
        for each in step.calls:
            if each.told.changes:
                last.clear()
            elif key := each.told.polls:
                earlier = last.get(key)
                if earlier is not None:
                    each.told.times += earlier.told.times
                    earlier.told.times = 0
                last[key] = each
    for step in steps:
        had = bool(step.calls)
        step.calls = [each for each in step.calls if each.told.times]
        if had and not step.calls and _only_now(step.words):
            step.words = ""


_OF_NOW = re.compile(r"\b(?:still|waiting|polling|monitoring|active|again|continu\w+|wait)\b", re.I)


def _only_now(words: str) -> bool:
    """Whether words only say that something goes on."""
    return len(words) < FAR_CHARS and bool(_OF_NOW.search(words) or is_announcement(words))


def steps_told(
    steps: Sequence[Step], most: int | None = None, length: Length = USUAL
) -> Iterator[tuple[int, list[str]]]:
    """The steps from the last one backwards: the turn, and its text at several lengths.

    `most`: lines at most.
    """
    known: set[str] = set()
    last = max((at for at, step in enumerate(steps) if step.voice is Voice.AGENT), default=-1)
    told = 0
    for at in range(len(steps) - 1, -1, -1):
        step = steps[at]
        before = steps[at - 1] if at else None
        found: list[list[str]] = []
        if step.voice is Voice.PERSON:
            if at == len(steps) - 1 or steps[at + 1].voice is Voice.PERSON or not _assents(step):
                found = _person_told(step)
        elif step.voice is Voice.AGENT:
            found = _agent_told(step, last - at, known, length)
            if found and before is not None and _assents(before):
                words = person_words(before.words)
                found[0] = [f'After "{words}": {text}' for text in found[0]]
        else:
            found = _other_told(step, is_last=at == len(steps) - 1)
        for texts in reversed(found):
            known |= terms_of(texts[0])
            yield step.turn, texts
            told += 1
            if told == most:
                return


def _assents(step: Step) -> bool:
    """Whether a step is the person's "ok", which is described with what follows."""
    return step.voice is Voice.PERSON and is_assent(step.words)


def _person_told(step: Step) -> list[list[str]]:
    words = without_previews(person_words(step.words, 2_000))
    if not words:
        return []
    words = _cut(words, PERSON_CHARS)
    told = f"The person answered: {words}" if step.name == ANSWERS else f'The person: "{words}"'
    return [[told]]


def _agent_told(step: Step, behind: int, known: set[str], length: Length) -> list[list[str]]:
    """The lines about a step, each at several lengths."""
    done, *more = _chunks(step, whole=behind <= length.near)
    others = [[upper(each) for each in texts] for texts in more]
    if behind == 0 and step.words:
        whole = one_line(step.words)
        return [
            [
                *(_joined(in_the_middle(whole, each), done[0]) for each in LAST_CHARS),
                _joined(in_the_middle(whole, LAST_CHARS[-1]), done[-1]),
                _cut(whole, LEAST_CHARS),
            ],
            *others,
        ]
    longest = length.longest if behind <= length.near or step.closes else FAR_CHARS
    words = _words_of(step, longest, settled=behind >= GUESSES_SETTLED)
    terms = terms_of(words)
    silent = not done[0] and len(terms) < LEAST_TERMS
    if len(terms - known) < SAID_BEFORE * len(terms) or silent:
        words = ""
    if not words and not done[0]:
        return []
    short = _cut(words, FAR_CHARS)
    texts = [_joined(words, done[0]), _joined(short, done[0]), _joined(short, done[-1])]
    texts.append(_cut(words, LEAST_CHARS) or upper(done[-1]))
    return [list(dict.fromkeys(texts)), *others]


def _chunks(step: Step, *, whole: bool) -> list[list[str]]:
    """The calls of a step in parts of a line each, whole and shorter; one empty part for none."""
    parts = _calls_told(step, whole=whole)
    names = _calls_told(step, whole=False)
    found: list[list[str]] = []
    for at in range(0, len(parts), MOST_CALLS):
        left = max(0, len(parts[at : at + MOST_CALLS]) - 1)
        last = cut(names[min(at + MOST_CALLS, len(names)) - 1], SHORT_CHARS).text
        found.append(
            [
                "; ".join(parts[at : at + MOST_CALLS]),
                "; ".join(names[at : at + MOST_CALLS]),
                f"{left} call{'s' * (left > 1)}; {last}" if left else last,
            ]
        )
    return found or [[""]]


def _words_of(step: Step, longest: int, *, settled: bool) -> str:
    """What the words of a step say: a report itself, else its statements or what it announces.

    `settled`: whether enough was said since for its guesses to be settled or given up.
    """
    if step.closes:
        whole = one_line(step.words)
        question = _QUESTION.search(whole)
        if question is None or len(whole) <= longest:
            return _cut(whole, longest)
        asked = _cut(question[0].strip(), longest // 2)
        return f"{_cut(whole[: question.start()], longest - len(asked))} {asked}"
    message = Message(step.turn, Voice.AGENT, step.words)
    found = [each.text for each in statements(message)]
    if found and settled:
        found = [text for text in found if not is_guess(text)]
        if not found:
            return ""
    telling = [text for text in found if not is_announcement(text)] or found
    return _cut(" ".join(telling) or one_line(step.words), longest)


_QUESTION = re.compile(r"(?<=[.!?;:])\s[^.!?;]{6,300}[?\uff1f\u061f]\W*$")
"""The question with which a message ends."""


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else shortened(text, longest)


_FENCED = re.compile(r"^[^\S\n]*(```|~~~).*?(?:^[^\S\n]*\1[^\S\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"^\s*(?:#{1,6}\s+|>\s?|[-*+]\s+|\|\s?)")
_RULE = re.compile(r"^[\s|:+=─━*_-]*$")
_EMPHASIS = re.compile(r"\*\*(.+?)\*\*")


def one_line(text: str) -> str:
    """A message on one line: its parts joined by semicolons, blocks of code left out."""
    text = _FENCED.sub("\n", text)
    parts: list[str] = []
    for line in text.split("\n"):
        if _RULE.match(line):
            continue
        words = (
            _EMPHASIS.sub(lambda found: found[1], _MARK.sub("", line)).strip().rstrip("|").strip()
        )
        if parts and parts[-1][-1:] not in ".:;,?!":
            parts[-1] += ";"
        parts.append(words)
    return " ".join(parts)


def _joined(words: str, done: str) -> str:
    if not words or not done:
        return words or upper(done)
    return f"{words.rstrip(': ')} -> {done}"


def upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _calls_told(step: Step, *, whole: bool) -> list[str]:
    """The calls of a step: files that were read as one, and edits of a file that follow each other.

    `whole`: with what the edits change.
    """
    parts: list[str] = []
    group: list[Told] = []
    for each in [*step.calls, None]:
        told = each.told if each is not None else None
        if group and (told is None or _group_of(told) != _group_of(group[0])):
            parts += _group_told(group, whole=whole)
            group = []
        if told is not None:
            group.append(told)
    return parts


def _group_of(told: Told) -> object:
    """What calls that follow each other have in common where they are described as one."""
    if told.failed and told.verb not in ("edited", "wrote"):
        return id(told)
    if told.verb == "read":
        return "read"
    return (told.verb, told.what, told.failed) if told.verb in ("edited", "wrote") else id(told)


MOST_DETAILS = 4


def _group_told(group: Sequence[Told], *, whole: bool) -> list[str]:
    first = group[0]
    if len(group) == 1 and first.verb != "read":
        return [first.text(whole=whole)]
    if first.verb == "read" and not first.failed:
        return [_read_told([each.what for each in group])]
    if first.failed:
        return [f"{first.verb} {first.what} {len(group)} times, the last {group[-1].result}"]
    details = [change for each in group if (change := each.change(whole=whole))][-MOST_DETAILS:]
    told = f"{first.verb} {first.what} {len(group)} times"
    return [f"{told} ({'; '.join(dict.fromkeys(details))})" if details else told]


MOST_READ = 5


def _read_told(paths: Sequence[str]) -> str:
    names = list(dict.fromkeys(paths))
    more = f" and {len(names) - MOST_READ} more files" if len(names) > MOST_READ else ""
    return f"read {', '.join(names[:MOST_READ])}{more}"


def _other_told(step: Step, *, is_last: bool) -> list[list[str]]:
    """What a sub-agent or another speaker said; more of it where nobody has spoken since."""
    message = Message(step.turn, step.voice, step.words, step.name)
    found = [each.text for each in statements(message, closing=True)]
    whole = " ".join(found) or one_line(step.words)
    texts = [in_the_middle(whole, longest) for longest in LAST_CHARS] if is_last else []
    texts.append(shortened(whole, NEAR_CHARS))
    if not whole:
        return []
    if step.voice is Voice.SUBAGENT:
        who = f'The sub-agent "{shortened(step.name, 80)}"' if step.name else "A sub-agent"
        return [[f"{who} reported: {words}" for words in texts]]
    who = step.name if step.voice is Voice.SPEAKER else "Note"
    return [[f"{who}: {words}" for words in texts]]


def folder_of(tail: Tail, folder: str = "") -> str:
    """The folder in which the session works at the end. `folder`: as in `steps_of`."""
    for each in tail:
        folder = each.turn.folder if _is_whole(each.turn.folder) else folder
    return folder


def place_of(tail: Tail, folder: str = "") -> str:
    """Where the session works at the end: the folder and the branch. `folder`: as in `steps_of`."""
    branch = ""
    for each in tail:
        branch = each.turn.branch or branch
    place = folder_of(tail, folder)
    where = f"In {place}" if place else ""
    if branch:
        where = f"{where}, on branch {branch}" if where else f"On branch {branch}"
    return f"{where}." if where else ""


_ENDED = re.compile(
    r"Process exited with code|<status>(?:completed|failed|killed)|\bcompleted\b|exited with"
    r"|not found|no longer",
    re.IGNORECASE,
)


def waiting_of(moments: Sequence[Moment], tail: Tail, folder: str = "") -> str:
    """What was running or unanswered when the session was cut. `folder`: as in `steps_of`."""
    running: dict[str, str] = {}
    sent: dict[str, str] = {}  # sub-agents whose report is not there
    heard = max((each.turn for each in moments if is_person(each)), default=-1)
    command = ""
    open_calls: list[_Done] = []
    spoken = moments[-1].turn if moments else -1
    spoken = max((each.turn for each in moments if isinstance(each, Message)), default=spoken)
    roots = roots_of(tail, folder)
    for each in tail:
        turn = each.turn
        if turn.kind == "tool_use":
            call = read_call(turn.name, turn.text)
            if call.kind in ASKING:
                continue
            if told := call_told(each.number, call, roots):
                open_calls.append(_Done(each.number, call, told, turn.call))
                command = told.what if told.verb == "ran" else command
        elif turn.kind == "tool_result":
            done = _answered(open_calls, turn.call, turn.name)
            if done is not None:
                put_result(done.told, each.number, done.call, turn.text, roots)
                polled = done.told.polls.removeprefix("poll ")
                if done.call.kind in SUBAGENT_TOOLS and done.told.runs:
                    if done.turn > heard:
                        sent[done.told.runs] = done.told.what
                elif done.told.runs:
                    running.setdefault(done.told.runs, done.told.what)
                elif done.call.kind in POLLING and polled != done.told.polls:
                    if turn.text.strip():
                        running.pop(polled, None)
                    else:
                        running.setdefault(polled, command)
                elif _ENDED.search(turn.text):
                    for key in [key for key in running if key in str(done.call.given)]:
                        del running[key]
        elif turn.role == "user":
            for found in (running, sent):
                for key in [key for key in found if key in turn.text and _ENDED.search(turn.text)]:
                    del found[key]
    parts = [
        f"{each.told.text()} (no result yet)" for each in open_calls[-3:] if each.turn >= spoken
    ]
    parts += [f"no end was seen of: {what} (id {key})" for key, what in list(running.items())[-3:]]
    if sent:
        parts.append(f"no report was seen of the sub-agents {', '.join(sent.values())}")
    final = moments[-1] if moments else None
    worked = max((each.number for each in tail if each.turn.role != "user"), default=-1)
    if final is not None and is_person(final) and final.turn > worked:
        parts.append("the person's last message is not answered")
    elif final is not None and is_of(final, Voice.AGENT) and isinstance(final, Message):
        if final.name == PLAN:
            parts.append("the plan waits for the person's consent")
        elif final.text.rstrip(" *_)").endswith(("?", "？", "؟")):
            parts.append("the agent's question waits for an answer")
    return f"When it was cut: {'; '.join(parts)}." if parts else ""
