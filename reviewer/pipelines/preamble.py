"""The text that a fresh session begins with, in each fidelity mode.

Budgets (`CEILINGS` in `pipelines/values.py`) limit the text, counted with the real encoding: the
oldest entries go first, then long notes are summed up, and long values are shortened with a mark
that says how much is missing. Secrets are masked.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any

import msgspec
from msgspec import Struct

from reviewer.errors import ReviewerError
from reviewer.pipelines.digest import digest
from reviewer.pipelines.values import (
    CEILINGS,
    MODES,
    Outcome,
    Pipeline,
    Preamble,
    RunHistory,
    Stage,
    ToolCall,
)
from reviewer.text.numerals import count as counted

CHARACTERS_A_TOKEN = 16
"""More than real text has, so that text beyond this many can never fit."""

_CORRECTIONS = 8


def build_preamble(
    mode: str,
    pipeline: Pipeline,
    history: RunHistory,
    node: str,
    *,
    room: int | None = None,
    runs: Mapping[str, int] | None = None,
) -> Preamble:
    """The preamble of a mode for `node`, given the run so far.

    `room`: tokens that the model has for it, where those may be fewer than the mode's ceiling.
    `runs`: how often each node has run, from a caller that counts them as they end.
    In `full` mode the text is empty, as the session continues. Every other mode but `truncate`
    names the newest stage, if there is room. Raises ReviewerError for an unknown mode.
    """
    if mode not in MODES:
        raise ReviewerError(f"There is no fidelity mode {mode!r}. Modes: {', '.join(MODES)}.")
    if mode == "full":
        return Preamble(mode, "", 0, 0)
    ceiling, count = CEILINGS[mode], _count
    budget = ceiling if room is None else min(ceiling, max(room, 0))
    facts = facts_of(pipeline, history, node, runs)
    whole = BUILDERS[mode](facts, budget, count, budget)
    tokens = count(whole.text)
    values_missing = whole.values_left_out and mode in WITH_VALUES
    if tokens <= budget and not (whole.shortened or whole.left_out or values_missing):
        return _preamble(mode, whole, tokens, budget)
    left = budget
    # The tokens of parts do not add up exactly to those of the whole, so the whole is counted.
    for _ in range(_CORRECTIONS):
        draft = BUILDERS[mode](facts, left, count, left // GOAL_SHARE)
        tokens = count(draft.text)
        if tokens <= budget:
            return _preamble(mode, draft, tokens, budget)
        left -= tokens - budget + 1
    text = shorten(draft.text, budget, count)  # the names alone exceed the ceiling
    cut = msgspec.structs.replace(draft, text=text, shortened=draft.shortened + 1)
    return _preamble(mode, cut, count(text), budget)


_SHORT = 256
"""Characters of a text whose tokens are remembered."""


def _count(text: str) -> int:
    return _count_again(text) if len(text) > _SHORT else _count_once(text)


def _count_again(text: str) -> int:
    from reviewer.text.tokens import counter  # late: tiktoken takes long to load

    return counter().count(text)


# Most names of a preamble were in the preamble of the stage before.
_count_once = lru_cache(maxsize=1 << 16)(_count_again)


def _preamble(mode: str, draft: Draft, tokens: int, budget: int) -> Preamble:
    return Preamble(
        mode,
        draft.text,
        tokens,
        budget,
        draft.left_out,
        draft.shortened,
        draft.values_left_out,
    )


# The modes (`docs/design.md`, Pipelines)


class Draft(Struct, frozen=True):
    """A text that should fit; the caller counts its tokens as a whole."""

    text: str
    left_out: int = 0
    shortened: int = 0
    values_left_out: int = 0


_STAGES_SHARE = 0.6
"""Of the room, for stages, if stages and values do not both fit whole."""
_LONG_NAME = 24
GOAL_SHARE = 5
"""The goal gets at most a fifth of the room if not everything fits."""
_NOTE_TOKENS = 24
"""Tokens of a line that says what is left out."""


def truncate(facts: Facts, room: int, count: Count, most: int) -> Draft:
    """Only pipeline, goal, run and stage. The goal gets the room that the names leave."""
    head, shortened = _header(facts, room // 5, count)
    frame = f"Pipeline: {head.name}\nGoal: \nRun ID: {head.run_id}\nCurrent stage: {head.stage}"
    goal = shorten(facts.goal, max(room - count(frame) - 1, 0), count)
    text = frame.replace("\nGoal: \n", f"\nGoal: {goal}\n", 1)
    return Draft(text, left_out=len(facts.stages), shortened=shortened + (goal != facts.goal),
                 values_left_out=len(facts.values))  # fmt: skip


def compact(facts: Facts, room: int, count: Count, most: int) -> Draft:
    """Bullet points: which stages ran with which outcome, and values of the context."""
    head, shortened = _header(facts, room // 6, count)
    goal = shorten(facts.goal, most, count)
    latest = facts.stages[0] if facts.stages else None
    before = f"## Pipeline State\n\n- Pipeline: {head.name}\n- Goal: {goal}\n- Completed stages: "
    after = f"\n- Current stage: {head.stage}"
    left = room - count(before + after) - 1
    stages = _fit_names(facts, left // 2, count, with_outcome=True)
    left -= count(_names(stages))
    note = Fitted()
    if latest is not None and latest.notes:
        entry = next(stage_entries(facts, whole=False))
        bare = Entry("\n- Latest notes: ", entry.body, length=entry.length, brief=entry.brief)
        note = fit([bare], 1, left // 4, left // 4, count)
    left -= sum(count(text) for text in note.texts) + _NOTE_TOKENS
    values = fit(
        value_entries(facts, head="  - {}: ", quoted=True),
        len(facts.values),
        left,
        left // 8,
        count,
    )  # fmt: skip
    text = before + _names(stages) + after + "".join(note.texts)
    text += _block("\n- Key context values:", values, "  - … {} older values left out")
    return Draft(text, stages.left_out,
                 shortened + (goal != facts.goal) + note.shortened + values.shortened,
                 values.left_out)  # fmt: skip


def low(facts: Facts, room: int, count: Count, most: int) -> Draft:
    """Names of stages, counts, the last outcome."""
    head, shortened = _header(facts, room // 6, count)
    goal = shorten(facts.goal, most, count)
    before = (
        f'Pipeline "{head.name}" stage {facts.number} of {facts.total}. '
        f"Goal: {goal.rstrip('.')}.\nCompleted: "
    )
    last = facts.stages[0].outcome if facts.stages else "none"
    after = f". Last outcome: {last}."
    if facts.stages:
        after += f"\nEvents: {counted(len(facts.stages), 'stage')} run, {outcomes(facts.stages)}"
        after += f"; {counted(len(facts.retries), 'node')} retried." if facts.retries else "."
    left = room - count(before + after)
    names = _fit_names(facts, left, count, with_outcome=False)
    return Draft(before + _names(names) + after, names.left_out,
                 shortened + (goal != facts.goal), len(facts.values))  # fmt: skip


def medium(facts: Facts, room: int, count: Count, most: int) -> Draft:
    """Recent outcomes with what was noted, and the active context."""
    parts = _Parts(facts, room, count, most, "## Pipeline Progress")
    stages = partial(stage_entries, facts, whole=False)
    values = partial(value_entries, facts, head="- {}: ", quoted=False)
    shown, kept = parts.share(stages, values, least_stage=8, least_value=10)
    parts.add(_block("\n\n### Recent Activity", shown, _missing(facts, shown), first=True))
    parts.add(_block("\n\n### Active Context", kept, "- … {} older values left out"))
    return parts.draft(shown, kept)


def high(facts: Facts, room: int, count: Count, most: int) -> Draft:
    """Every stage with its notes, tools and duration, the context as JSON, the retries."""
    parts = _Parts(facts, room, count, most, "## Pipeline State (Comprehensive)")
    retried = [Entry(f"- {name}: {done}/{most}") for name, done, most in facts.retries]
    stages = partial(stage_entries, facts, whole=True)
    values = partial(value_entries, facts, head="  {}: ", tail=",", quoted=True)
    # the room belongs to the stages: where they need it, only the latest retries are listed
    share = 10 if parts.has_room_for(stages, values, room // 10) else 40
    retries = fit(retried, len(retried), room // share, 1, count)
    tail = _block("\n\n### Retry Information", retries, "- … {} more")
    parts.spend(count(tail) + 8)
    shown, kept = parts.share(stages, values, least_stage=4, least_value=10)
    parts.add(_block("\n\n### Execution History", shown, _missing(facts, shown), first=True))
    if kept.texts:
        lines = "\n".join(kept.texts[::-1]).removesuffix(",")
        rest = f"\n({kept.left_out:,} older values left out)" if kept.left_out else ""
        parts.add(f"\n\n### Full Context\n{{\n{lines}\n}}{rest}")
    parts.add(tail)
    return parts.draft(shown, kept)


BUILDERS: dict[str, Callable[[Facts, int, Count, int], Draft]] = {
    "truncate": truncate,
    "compact": compact,
    "summary:low": low,
    "summary:medium": medium,
    "summary:high": high,
}
assert BUILDERS.keys() == CEILINGS.keys()

WITH_VALUES = ("compact", "summary:medium", "summary:high")
"""Modes that show values of the context."""


class _Parts:
    """A header, and stages and values that share the rest of the room: the two larger modes."""

    def __init__(self, facts: Facts, room: int, count: Count, most: int, title: str) -> None:
        head, self._shortened = _header(facts, room // 10, count)
        goal = shorten(facts.goal, most, count)
        self._shortened += goal != facts.goal
        self._text = (
            f"{title}\n\nPipeline: {head.name}\nGoal: {goal}\n"
            f"Stage: {head.stage} ({facts.number}/{facts.total})"
        )
        self._stages, self._values = len(facts.stages), len(facts.values)
        self._count = count
        self._left = room - count(self._text) - 2 * _NOTE_TOKENS

    def has_room_for(
        self,
        stages: Callable[[], Iterator[Entry]],
        values: Callable[[], Iterator[Entry]],
        more: int,
    ) -> bool:
        """Whether all stages and values fit, and `more` tokens."""
        left = max(self._left - more, 0)
        used = needed(stages(), left, self._count) + needed(values(), left, self._count)
        return used <= left

    def spend(self, tokens: int) -> None:
        """Reserve tokens that stages and values may not use."""
        self._left -= tokens

    def share(
        self,
        stages: Callable[[], Iterator[Entry]],
        values: Callable[[], Iterator[Entry]],
        *,
        least_stage: int,
        least_value: int,
    ) -> tuple[Fitted, Fitted]:
        """Fit stages and values into the rest of the room; each may use what the other leaves."""
        left, count = max(self._left, 0), self._count
        for_stages = needed(stages(), left, count)
        for_values = needed(values(), left, count)
        if for_stages + for_values > left:
            for_stages = min(for_stages, max(int(left * _STAGES_SHARE), left - for_values))
        shown = fit(stages(), self._stages, for_stages, for_stages // least_stage, count)
        room = left - shown.tokens
        return shown, fit(values(), self._values, room, room // least_value, count)

    def add(self, text: str) -> None:
        """Append a section."""
        self._text += text

    def draft(self, shown: Fitted, kept: Fitted) -> Draft:
        """The whole text."""
        shortened = self._shortened + shown.shortened + kept.shortened
        return Draft(self._text, shown.left_out, shortened, kept.left_out)


class _Header(Struct, frozen=True):
    name: str
    stage: str
    run_id: str


def _header(facts: Facts, most: int, count: Count) -> tuple[_Header, int]:
    """The names, shortened where they have to be, and how many were."""
    whole = (facts.name, facts.stage, facts.run_id)
    cut = [shorten(text, max(most, _LONG_NAME), count) for text in whole]
    return _Header(*cut), sum(a != b for a, b in zip(whole, cut, strict=True))


def _fit_names(facts: Facts, room: int, count: Count, *, with_outcome: bool) -> Fitted:
    """The names of the newest stages that fit into a list."""
    entries = name_entries(facts, with_outcome=with_outcome)
    return fit(entries, len(facts.stages), room, 1, _listed(count))


def _listed(count: Count) -> Count:
    """Counts an entry of a list together with the comma before it."""
    return lambda text: count(", " + text)


def _names(fitted: Fitted) -> str:
    names = list(fitted.texts[::-1]) or ["none"]
    if fitted.left_out:
        names.insert(0, f"… {fitted.left_out:,} earlier")
    return ", ".join(names)


def _block(title: str, fitted: Fitted, missing: str, *, first: bool = False) -> str:
    """A titled list, oldest entry first. `missing` says what was left out, above or below it."""
    if not fitted.texts:
        return ""
    lines = list(fitted.texts[::-1])
    if fitted.left_out:
        lines.insert(0 if first else len(lines), missing.format(f"{fitted.left_out:,}"))
    return "\n".join([title, *lines])


def _missing(facts: Facts, shown: Fitted) -> str:
    earlier = facts.stages[len(facts.stages) - shown.left_out :] if shown.left_out else ()
    return f"- … {{}} earlier stages left out: {outcomes(earlier)}"


# The facts of a run


INTERNAL = ("internal.", "_")
"""Prefixes of the context's internal keys, which are not shown."""

LONGEST_TEXT = max(CEILINGS.values()) * CHARACTERS_A_TOKEN
"""Characters of one text that are read; no ceiling has room for more."""

MOST_ENTRIES = 600
"""Stages or values that are read, the newest; no ceiling has room for more."""

_TOOLS = 6
_ARGUMENT = 48
_KEY = 160


class Facts(Struct, frozen=True):
    """A run as a preamble sees it before one of its nodes. Stages and values newest first."""

    name: str
    goal: str
    run_id: str
    stage: str
    number: int
    total: int
    stages: tuple[Stage, ...]
    runs: Mapping[str, int]
    """How often each node has run."""
    values: tuple[tuple[str, Any], ...]
    retries: tuple[tuple[str, int, int], ...]


def facts_of(
    pipeline: Pipeline, history: RunHistory, node: str, runs: Mapping[str, int] | None = None
) -> Facts:
    """The facts before `node` runs. Texts are masked when they become entries."""
    if runs is None:
        runs = Counter(map(attrgetter("node"), history.completed))
    done = runs.keys() & pipeline.nodes.keys()
    goal = goal_of(pipeline, history.context)
    return Facts(
        name=plain(pipeline.name),
        goal=plain(goal),
        run_id=plain(history.run_id) or "(none)",
        stage=plain(node),
        number=min(len(done - {node}) + 1, max(len(pipeline.nodes), 1)),
        total=max(len(pipeline.nodes), 1),
        stages=history.completed[::-1],
        runs=runs,
        values=tuple(
            (key, value)
            for key, value in reversed(history.context.items())
            if not key.startswith(INTERNAL) and not (key in _GOALS and value == goal)
        ),
        retries=tuple(
            (name, done, allowed) for name, (done, allowed) in history.retries.items() if done
        )[::-1],
    )


_GOALS = ("goal", "graph.goal")


def goal_of(pipeline: Pipeline, context: Mapping[str, Any]) -> str:
    """The graph's goal, or the run's if the graph leaves it open (`goal="$goal"`)."""
    if pipeline.goal and not pipeline.goal.strip().startswith("$"):
        return pipeline.goal
    given = next((context[key] for key in _GOALS if isinstance(context.get(key), str)), "")
    return given or pipeline.goal or "(none given)"


def masked(text: str) -> str:
    """The beginning of a text, as much as a preamble could show, without secrets."""
    return _masked(text[:LONGEST_TEXT])


@lru_cache(maxsize=4096)
def _masked(text: str) -> str:
    # Most texts of a preamble were in the preamble of the stage before.
    from reviewer.text.for_agents import unframed
    from reviewer.text.secrets import mask

    return unframed(mask(text).text)


def plain(text: str) -> str:
    """A masked text on one line."""
    return " ".join(masked(text).split())


def outcomes(stages: tuple[Stage, ...]) -> str:
    """`44 success, 11 fail`."""
    counted = Counter(map(attrgetter("outcome"), stages))
    return ", ".join(f"{counted[each]:,} {each}" for each in Outcome if counted[each])


def name_entries(facts: Facts, *, with_outcome: bool) -> Iterator[Entry]:
    """Each node once, by its latest run: `implement (success)`, `implement x3 (success)`."""
    runs, named = facts.runs, set[str]()
    for stage in facts.stages:
        if stage.node in named:
            continue
        named.add(stage.node)
        if len(named) > MOST_ENTRIES:
            return
        yield Entry(
            _name(stage.node)
            + (f" x{runs[stage.node]}" if runs[stage.node] > 1 else "")
            + (f" ({stage.outcome})" if with_outcome else ""),
            covers=runs[stage.node],
        )


def stage_entries(facts: Facts, *, whole: bool) -> Iterator[Entry]:
    """The stages with their notes; `whole`: on lines of their own, with tools and duration."""
    for stage in facts.stages[:MOST_ENTRIES]:
        notes = masked(stage.notes).strip() if whole else plain(stage.notes)
        yield Entry(
            f"- {_name(stage.node)}: {stage.outcome}",
            notes,
            _details(stage) if whole else "",
            _indented,
            len(notes) + max(len(stage.notes) - LONGEST_TEXT, 0),
            brief=partial(_brief, stage.notes, one_line=not whole),
        )


def value_entries(facts: Facts, *, head: str, tail: str = "", quoted: bool) -> Iterator[Entry]:
    """The values of the context; `head` has a place for the key. `quoted`: as JSON writes them."""
    for key, value in facts.values[:MOST_ENTRIES]:
        is_text = isinstance(value, str)
        raw = value if is_text else json.dumps(value, ensure_ascii=False, default=str)
        text = masked(raw)
        if is_text or len(raw) > LONGEST_TEXT:
            dress = _json_text if quoted else _one_line
        else:
            dress = _Json(text) if quoted else _one_line
        length = len(text) + max(len(raw) - LONGEST_TEXT, 0)
        name = _json_text(_name(key)) if tail else _name(key)
        if text:
            yield Entry(head.format(name), text, tail, dress, length)
        else:
            yield Entry(head.format(name) + ('""' if quoted else "(empty)"), tail=tail)


def _brief(notes: str, room: int, count: Count, *, one_line: bool) -> str:
    """A summary of notes; empty if they have nothing that can be summed up."""
    text = digest(masked(notes).strip(), room, count)
    return _one_line(text) if one_line else text


def _name(name: str) -> str:
    """A node or key, masked, no longer than a line."""
    text = plain(name)
    return text if len(text) <= _KEY else text[: _KEY - 1] + "…"


def _details(stage: Stage) -> str:
    lines = []
    if stage.tools:
        shown = [_tool(call) for call in stage.tools[:_TOOLS]]
        more = len(stage.tools) - _TOOLS
        shown += [f"and {more:,} more"] if more > 0 else []
        lines.append(f"  Tools used: {', '.join(shown)}")
    if stage.duration_s:
        lines.append(f"  Duration: {stage.duration_s:.1f} s")
    return "".join(f"\n{line}" for line in lines)


def _tool(call: ToolCall) -> str:
    """`shell (pytest -q)`: a tool with the beginning of its first argument."""
    first = next(iter(call.arguments.values()), "")
    argument = plain(first if isinstance(first, str) else json.dumps(first, default=str))
    name = _name(call.name)
    if not argument:
        return name
    return f"{name} ({argument if len(argument) <= _ARGUMENT else argument[:_ARGUMENT] + '…'})"


def _indented(notes: str) -> str:
    """Notes behind a dash; their further lines cannot pass for headings or entries."""
    return " — " + "\n    ".join(line.rstrip() for line in notes.splitlines())


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _json_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


class _Json:
    """Leaves JSON as it is while it is whole, and makes a text of it once it is cut."""

    __slots__ = ("whole",)

    def __init__(self, whole: str) -> None:
        self.whole = whole

    def __call__(self, text: str) -> str:
        return text if text == self.whole else _json_text(text)


# The budget


Count = Callable[[str], int]


_TRIES = 12
_CLEAN_CUT = 24


class Entry(Struct, frozen=True):
    """A stage or a value: `head` and `tail` stay whole, `body` may be shortened.

    `dress` puts the body into its final form (quotes, indentation). `length` is that of the whole
    body. `covers` is the number of stages or values behind the entry.
    """

    head: str
    body: str = ""
    tail: str = ""
    dress: Callable[[str], str] = str
    length: int = 0
    covers: int = 1
    brief: Callable[[int, Count], str] | None = None
    """A summary of the body in a number of tokens, tried before the body is cut."""

    def text(self, body: str) -> str:
        """The entry with this body."""
        return f"{self.head}{self.dress(body) if body else ''}{self.tail}"


class Fitted(Struct, frozen=True):
    """The entries that fit, newest first, and how many do not."""

    texts: tuple[str, ...] = ()
    left_out: int = 0
    shortened: int = 0
    tokens: int = 0


def mark(missing: int) -> str:
    """The mark in place of missing characters."""
    return f"… [{missing:,} more characters]"


def shorten(
    text: str,
    most: int,
    count: Count,
    *,
    dress: Callable[[str], str] = str,
    length: int | None = None,
) -> str:
    """`text`, or its beginning and a mark that says how much is missing, in `most` tokens.

    `dress` is applied for counting, not to the result. `length`: of the whole text, if `text` is
    only its beginning. Empty if not even the mark fits.
    """
    length = len(text) if length is None else length
    if most <= 0:
        return text if not length else ""
    near = text[: most * CHARACTERS_A_TOKEN]
    if len(near) == length and count(dress(text)) <= most:
        return text
    low, high, best = 0, len(near), ""
    guess = min(high, most * 4)
    for _ in range(_TRIES):
        candidate = _cut(near, guess)
        shortened = candidate + mark(length - len(candidate))
        if count(dress(shortened)) <= most:
            low, best = guess, shortened
        else:
            high = guess - 1
        if low >= high:
            break
        guess = (low + high + 1) // 2
    return best


def _cut(text: str, at: int) -> str:
    """The first characters, up to the end of a word if one is near."""
    kept = text[:at]
    if at < len(text):
        space = kept.rfind(" ", max(len(kept) - _CLEAN_CUT, 0))
        kept = kept[:space] if space > 0 else kept
    return kept.rstrip()


def fit(entries: Iterable[Entry], total: int, room: int, least: int, count: Count) -> Fitted:
    """The newest of the entries in `room` tokens.

    `entries`: newest first, and taken only as long as they fit. `total`: what all of them, and
    older ones, stand for. `least`: tokens that a shortened entry gets at least, unless it needs
    fewer; as many entries are kept as fit at that size, and the rest of the room is shared out
    evenly. The newest is always kept, if only its head.
    """
    room = max(room, 0)
    kept: list[Entry] = []
    whole: list[int] = []
    spent = 0
    for entry in entries:
        size = _size(entry, room, count)
        cost = min(size, max(least, count(entry.text(""))))
        if whole and spent + cost > room:
            break
        kept.append(entry)
        whole.append(size)
        spent += cost
    limit = _level(whole, room)
    texts: list[str] = []
    shortened = 0
    for entry, size in zip(kept, whole, strict=True):
        if size <= limit:
            texts.append(entry.text(entry.body))
            continue
        body = _shortened(entry, limit, count)
        shortened += 1
        texts.append(entry.text(body))
    return Fitted(
        tuple(texts),
        total - sum(entry.covers for entry in kept),
        shortened,
        sum(min(size, limit) for size in whole),
    )


def needed(entries: Iterable[Entry], room: int, count: Count) -> int:
    """Tokens of all entries, whole; just some number above `room` if they take more."""
    total = 0
    for entry in entries:
        total += _size(entry, room, count)
        if total > room:
            break
    return total


def _size(entry: Entry, room: int, count: Count) -> int:
    """Tokens of the whole entry with its line end; any number above `room` if it is larger."""
    near = entry.body[: room * CHARACTERS_A_TOKEN]
    size = count(entry.text(near)) + 1
    return size if len(near) == max(entry.length, len(entry.body)) else max(size, room + 1)


def _shortened(entry: Entry, limit: int, count: Count) -> str:
    def dress(body: str) -> str:
        return entry.text(body) + "\n"

    if entry.brief is not None:
        room = limit - count(entry.text(""))
        for _ in range(_CORRECTIONS):
            if not (summary := entry.brief(room, count)):
                break
            over = count(dress(summary)) - limit
            if over <= 0:
                return summary
            room -= over
    length = max(entry.length, len(entry.body))
    return shorten(entry.body, limit, count, dress=dress, length=length)


def _level(sizes: Sequence[int], room: int) -> int:
    """The size limit of an entry at which all together stay within `room`."""
    left, limit = room, room
    for number, size in enumerate(sorted(sizes)):
        limit = left // (len(sizes) - number)
        if size > limit:
            return limit
        left -= size
    return max(sizes, default=room)
