"""The text that a model reads: a long range before it writes a hand-over, else a segment.

For a hand-over: words in full, calls with what they change, results as far as they fit. The latest
are in most detail, since old output has been put into words by now or is no longer true.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from enum import Enum

from msgspec import Struct, structs

from reviewer.compression.engine import SegmentAnalysis
from reviewer.compression.offline.calls import Change, changes_of, command_of, todo_items
from reviewer.compression.offline.events import ANSWERS, PLAN, Kind, Message, Voice
from reviewer.compression.offline.messages import told
from reviewer.compression.offline.state import next_lines, now_lines
from reviewer.compression.segments import full_text
from reviewer.compression.values import Turn
from reviewer.proposing.view_calls import COMMAND_TOOLS, Call, call_line, read_call
from reviewer.text.spans import without_spans

LONGEST_VIEW = 40_000
"""Tokens of a view, also where the model's context has room for more: beyond that, only outputs of
tools would be longer."""
MOST_CHARS_PER_TOKEN = 8
"""A text with more characters than this for each token that fits is not counted first."""
OLDEST = 0.15
"""Room of a part at the beginning of the range, as a share of that of one at its end."""
LEAST_BASE, MOST_BASE = 1.0, 60_000.0
"""Characters between which the room of a part of weight 1 at the end of the range is chosen."""
STEPS = 14
PERSONS_SHARE = 0.4
"""Share of the room for the person's words where not all that was said fits."""
PERSON = "person"
NAME_CHARS = 80
SHORTEST = 60
"""Characters below which a part of a text is not worth its line."""


class Weight(Enum):
    """A kind of part: its room beside the others, and the characters that are always left of it."""

    WORDS = (80.0, 300)
    REPORT = (25.0, 200)
    CALL = (10.0, 80)
    THOUGHT = (5.0, 0)
    FAILURE = (4.0, 100)
    OUTPUT = (2.0, 0)
    READ = (1.0, 0)


_SPOKEN = frozenset({Weight.WORDS, Weight.REPORT})
_RESULTS = frozenset({Weight.FAILURE, Weight.OUTPUT, Weight.READ})


class Part(Struct, frozen=True):
    """A part of a view. `position`: its place in the range, from 0 to 1."""

    speaker: str
    text: str
    weight: Weight
    position: float

    def limit(self, base: float) -> int:
        """The characters that are shown of it."""
        share, least = self.weight.value
        return max(round(base * share * (OLDEST + (1 - OLDEST) * self.position**2)), least)


class View(Struct, frozen=True):
    """The text for a model. `left_out`: characters of messages for which there was no room."""

    text: str
    left_out: int = 0


def handover_view(analysis: SegmentAnalysis, tokens: int, count: Callable[[str], int]) -> View:
    """The range in at most `tokens` (by `count`) and at most LONGEST_VIEW."""
    room = min(tokens, LONGEST_VIEW)
    parts = list(_parts(analysis))
    low, high = LEAST_BASE, MOST_BASE
    best: str | None = None
    base = high
    for _ in range(STEPS):
        text = _written(parts, base)
        if len(text) <= room * MOST_CHARS_PER_TOKEN and count(text) <= room:
            best, low = text, base
            if base == MOST_BASE:
                break
        else:
            high = base
        base = (low * high) ** 0.5
        if high / low < 1.03:
            break
    if best is None:
        return _latest(parts, room, count)
    left_out = sum(
        max(len(each.text) - each.limit(low), 0) for each in parts if each.weight in _SPOKEN
    )
    return View(best, left_out)


def _latest(parts: Sequence[Part], room: int, count: Callable[[str], int]) -> View:
    """As much as fits, as short as it can be: what the person said first, then the newest parts."""
    kept: set[int] = set()
    used = 0
    persons = [number for number, part in enumerate(parts) if part.speaker.startswith(PERSON)]
    for most, numbers in (
        (room * PERSONS_SHARE, [*persons[:1], *reversed(persons[1:])]),
        (room, reversed(range(len(parts)))),
    ):
        for number in numbers:
            if number in kept:
                continue
            cost = count(_written([parts[number]], LEAST_BASE)) + 2
            if used + cost > most:
                break
            used += cost
            kept.add(number)
    shown = [parts[number] for number in sorted(kept)]
    spoken = sum(len(each.text) for each in parts if each.weight in _SPOKEN)
    left = sum(
        min(len(each.text), each.limit(LEAST_BASE)) for each in shown if each.weight in _SPOKEN
    )
    return View(_written(shown, LEAST_BASE), spoken - left)


def _written(parts: Sequence[Part], base: float) -> str:
    """The parts, one below the other; lines after the first are indented, so that no text can
    begin a line as another speaker does.
    """
    lines = []
    for part in parts:
        limit = part.limit(base)
        if limit >= SHORTEST or len(part.text) <= limit:
            text = _shortened(part, limit).replace("\n", "\n  ")
            lines.append(f"{part.speaker}: {text}")
        elif part.weight in _RESULTS:
            lines.append(f"{part.speaker}: ({len(part.text):,} characters)")
    return "\n".join(lines)


def _shortened(part: Part, limit: int) -> str:
    """A text with a mark for the missing part; of outputs mostly the end is kept."""
    missing = len(part.text) - limit
    if missing <= SHORTEST // 2:
        return part.text
    from_end = part.weight in (Weight.OUTPUT, Weight.FAILURE)
    head = limit // 3 if from_end else limit * 2 // 3
    tail = part.text[len(part.text) - (limit - head) :]
    return f"{part.text[:head].rstrip()} [... {missing:,} characters left out ...] {tail.lstrip()}"


_FAILED = re.compile(
    r"\s*(?:Exit code:? [1-9]|Process exited with code [1-9]|<tool_use_error>"
    r"|(?:fatal|error)\b ?:|Traceback \(most recent)",
    re.IGNORECASE,
)
_FAILURES = re.compile(r"^[^\S\n]*+(?:-++ ?)?(?:FAIL\b|FAILED\b|panic: |CONFLICT \()", re.MULTILINE)
_REMINDER = re.compile("<system-reminder>")
_REMINDED = re.compile("</system-reminder>")
_NUMBERED = re.compile(r"^ +(\d+(?:→|\t))", re.MULTILINE)
_SIBLING = "Sibling tool call errored"
_LOOKED_AT = 4_000
_DONE = re.compile(r"(?:The file|File) \S+ (?:has been|was) |Todos have been modified|Updated task")
_SAID = {
    Voice.PERSON: PERSON,
    Voice.AGENT: "agent",
    Voice.SUBAGENT: "sub-agent",
    Voice.SUMMARY: "earlier summary",
    Voice.NOTE: "note",
}


def _parts(analysis: SegmentAnalysis) -> Iterator[Part]:
    turns = analysis.segment.turns
    account = analysis.account
    words: dict[int, list[Message]] = defaultdict(list)
    refused: dict[int, str] = {}
    for moment in account.moments:
        if isinstance(moment, Message):
            words[moment.turn].append(moment)
        elif moment.kind is Kind.REFUSED:
            refused[moment.turn] = moment.what
    results = _results(turns)
    answered = set(results.values())
    folder = branch = ""
    for number, turn in enumerate(turns):
        position = number / max(len(turns) - 1, 1)
        if turn.folder and turn.folder != folder:
            folder = turn.folder
            yield Part("working folder", folder, Weight.WORDS, position)
        if turn.branch and turn.branch != branch:
            branch = turn.branch
            yield Part("branch", branch, Weight.WORDS, position)
        if number in refused:
            yield Part("refused by the person", refused[number], Weight.WORDS, position)
        said = words.get(number, ())
        for message in said:
            weight = Weight.REPORT if message.voice is Voice.SUBAGENT else Weight.WORDS
            yield Part(_speaker(message), message.text, weight, position)
        if turn.kind == "thinking" and turn.text.strip():
            yield Part("agent thinks", turn.text.strip(), Weight.THOUGHT, position)
        elif turn.kind == "tool_use" and not said:
            yield from _call_parts(read_call(turn.name, turn.text), turn.folder, position)
            result = results.get(number)
            if result is not None and result not in words and result not in refused:
                call, answer = read_call(turn.name, turn.text), turns[result]
                yield from _result_parts(call, answer, result / max(len(turns) - 1, 1))
        elif turn.kind == "tool_result" and not said and number not in answered | refused.keys():
            yield from _result_parts(Call(turn.name, {}), turn, position)
    end = "\n".join([*now_lines(account.state), *next_lines(account.state)])
    if end:
        yield Part("state at the end, computed from the calls", end, Weight.WORDS, 1.0)


def _speaker(message: Message) -> str:
    name = " ".join(message.name.split())[:NAME_CHARS].replace(":", " ")
    if message.voice is Voice.SPEAKER:
        return name
    said = _SAID[message.voice]
    if message.name == PLAN:
        return f"{said}, plan"
    if message.name == ANSWERS:
        return f"{said}, answers"
    return f"{said} ({name})" if name else said


def _results(turns: Sequence[Turn]) -> dict[int, int]:
    """The turn of each call that has a result in the range, with the turn of the result."""
    found: dict[int, int] = {}
    waiting: list[int] = []
    for number, turn in enumerate(turns):
        if turn.kind == "tool_use":
            waiting.append(number)
        elif turn.kind == "tool_result":
            for at, asked in enumerate(waiting):
                call = turns[asked]
                if call.call == turn.call if turn.call else turn.name in ("", call.name):
                    found[waiting.pop(at)] = number
                    break
    return found


def _call_parts(call: Call, folder: str, position: float) -> Iterator[Part]:
    """A call with what it changes or runs."""
    name = f"agent calls {' '.join(call.tool.split())[:NAME_CHARS]}" if call.tool else "agent calls"
    if items := todo_items(call):
        listed = "\n".join(f"- {status}: {text}" for status, text in items)
        yield Part(name, f"to-do list\n{listed}", Weight.CALL, position)
    elif changes := changes_of(call):
        for change in changes:
            yield Part(name, _without(_changed(change), folder), Weight.CALL, position)
    elif command := command_of(call):
        yield Part(name, _without(command.strip(), folder), Weight.CALL, position)
    elif asked := call.words("prompt"):
        title = call.words("description", "name")
        yield Part(name, f"{title}\n{asked}".strip(), Weight.CALL, position)
    else:
        roots = (folder,) if folder else ()
        line = call_line(call, roots).text.removeprefix(f"{call.tool}: ")
        yield Part(name, line, Weight.CALL, position)


def _changed(change: Change) -> str:
    """A change of a file: the lines it takes away and adds, without those that stay around them."""
    verb = "deletes" if change.deleted else "writes" if change.created else "edits"
    lines = [f"{verb} {change.path}"]
    for old, new in change.pairs:
        before, after = old.split("\n") if old else [], new.split("\n") if new else []
        while before and after and before[0] == after[0]:
            before, after = before[1:], after[1:]
        while before and after and before[-1] == after[-1]:
            before, after = before[:-1], after[:-1]
        mark = "" if change.created and not before else "+ "
        lines += [*(f"- {line}" for line in before), *(f"{mark}{line}" for line in after)]
    return "\n".join(lines)


def _result_parts(call: Call, turn: Turn, position: float) -> Iterator[Part]:
    """The result of a call; nothing for a change that succeeded."""
    text = _NUMBERED.sub(r"\1", without_spans(turn.text, _REMINDER, _REMINDED)).strip()
    is_change = bool(changes_of(call) or todo_items(call))
    if not text or _SIBLING in text[:200] or (is_change and _DONE.match(text)):
        return
    ends = f"{text[:_LOOKED_AT]}\n{text[-_LOOKED_AT:]}"
    is_command = bool(call.command) or call.kind in COMMAND_TOOLS
    if _FAILED.match(text) or (is_command and _FAILURES.search(ends)):
        yield Part("failed", _without(text, turn.folder), Weight.FAILURE, position)
    elif not is_change:
        weight = Weight.OUTPUT if is_command else Weight.READ
        yield Part("result", _without(text, turn.folder), weight, position)


def _without(text: str, folder: str) -> str:
    """A text with the paths below the working folder relative to it."""
    if not folder or len(folder) < 2:
        return text
    text = re.sub(rf"\bcd {re.escape(folder)} *(?:&&|;) *", "", text)
    return text.replace(f"{folder}/", "").replace(f"{folder}\\", "")


def view_turns(analysis: SegmentAnalysis) -> Sequence[Turn]:
    """The segment as a model reads it: words in full, calls put into words, the state at the end.

    The output of tools is left out. A segment without tools is read as it is.
    """
    turns = analysis.segment.turns
    if all(turn.kind == "text" for turn in turns):
        return turns
    account = analysis.account
    view: list[Turn] = []
    for moment in account.moments:
        if isinstance(moment, Message):
            view.append(Turn(moment.name or str(moment.voice), moment.text, 0))
        elif done := told([moment]):
            view.append(Turn("event", done, 0))
    end = "\n".join([*now_lines(account.state), *next_lines(account.state)])
    if end:
        view.append(Turn("state at the end, computed from the calls", end, 0))
    return view or turns


def cut_text(turns: Sequence[Turn], tokens: int, count: Callable[[str], int]) -> str:
    """The turns in at most `tokens`; the longest are shortened first, with a mark."""
    whole = full_text(turns)
    if count(whole) <= tokens:
        return whole
    low, high = 0, max((len(turn.text) for turn in turns), default=0)
    best = ""
    while low < high - 8:
        limit = (low + high) // 2
        text = full_text([_shortened_turn(turn, limit) for turn in turns])
        if count(text) <= tokens:
            best, low = text, limit
        else:
            high = limit
    return best or _last_turns(turns, tokens, count)


def _shortened_turn(turn: Turn, limit: int) -> Turn:
    """The beginning and the end of a long text, with a mark for the characters between."""
    missing = len(turn.text) - limit
    if missing <= 0:
        return turn
    head = turn.text[: limit * 2 // 3]
    tail = turn.text[len(turn.text) - limit // 3 :] if limit >= 3 else ""
    return structs.replace(turn, text=f"{head} [... {missing:,} characters left out ...] {tail}")


def _last_turns(turns: Sequence[Turn], tokens: int, count: Callable[[str], int]) -> str:
    """The newest turns that fit, shortened to a line each."""
    kept: list[Turn] = []
    used = 0
    for turn in reversed(turns):
        short = _shortened_turn(turn, 80)
        used += count(full_text([short])) + 2
        if used > tokens:
            break
        kept.append(short)
    return full_text(reversed(kept))
