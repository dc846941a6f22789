"""The preamble of a fresh session, in each fidelity mode.

`CEILINGS` limit the whole text, counted with the real encoding. It is fitted in two steps: first
the oldest stages and values are left out, then long texts are shortened, with a mark for the
missing part. Secrets are masked.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from reviewer.errors import ReviewerError
from reviewer.pipelines.values import (
    CEILINGS,
    MODES,
    Pipeline,
    Preamble,
    RunHistory,
    Stage,
    StageOutcome,
    ToolCall,
)
from reviewer.text.clip import clip, largest
from reviewer.text.numerals import count as counted

CHARACTERS_A_TOKEN = 16
"""An upper bound: longer text can never fit."""
BEYOND = 8_000
"""Characters beyond a cut that are masked, too: a secret may begin before it."""
LONGEST_TEXT = max(CEILINGS.values()) * CHARACTERS_A_TOKEN
"""Maximum characters read of one text; no ceiling has room for more."""
MAX_ENTRIES = 600
"""Maximum stages or values read, newest first; no ceiling has room for more."""
MIN_SHARE = 10
"""A text gets 1/n of the budget, in characters, before older ones are left out for it."""

_INTERNAL = ("internal.", "_")
"""Prefixes of internal context keys, which are hidden."""
_GOALS = ("goal", "graph.goal")
_TOOLS = 6
_ARGUMENT = 48
_NAME = 160


def build_preamble(
    mode: str, pipeline: Pipeline, history: RunHistory, node: str, *, room: int | None = None
) -> Preamble:
    """The preamble of a mode for `node`, given the run so far.

    `room`: the model's room in tokens, if it may be less than the mode's ceiling. In `full` mode
    the text is empty, because the session continues. All other modes except `truncate` include
    the newest stage, if there is room. Raises ReviewerError for an unknown mode.
    """
    if mode not in MODES:
        raise ReviewerError(f"Unknown fidelity mode {mode!r}. Modes: {', '.join(MODES)}.")
    if mode == "full":
        return Preamble(mode, "", 0, 0)
    budget = CEILINGS[mode] if room is None else min(CEILINGS[mode], max(room, 0))

    def page(newest: int, cut: int) -> _Page:
        return _Page(mode, pipeline, history, node, newest, cut)

    def fits(newest: int, cut: int) -> bool:
        return _fits(page(newest, cut).text, budget)

    newest, cut = MAX_ENTRIES, LONGEST_TEXT
    if not fits(newest, cut):
        least = budget // MIN_SHARE
        newest = largest(1, MAX_ENTRIES, lambda number: fits(number, least))
        least = least if fits(newest, least) else 0
        cut = largest(least, LONGEST_TEXT, lambda most: fits(newest, most))
    found = page(newest, cut)
    text = found.text
    if not _fits(text, budget):  # the names alone exceed the budget
        most = largest(0, len(text), lambda cut: _fits(shortened(found.text, cut), budget))
        text = shortened(text, most)
        text = text if _fits(text, budget) else ""
        found.shortened += 1
    return Preamble(
        mode,
        text,
        count_tokens(text),
        budget,
        found.stages_left_out,
        found.shortened,
        found.values_left_out,
    )


def _fits(text: str, budget: int) -> bool:
    return len(text) <= budget * CHARACTERS_A_TOKEN and count_tokens(text) <= budget


def count_tokens(text: str) -> int:
    from reviewer.text.tokens import counter  # late: tiktoken is slow to load

    return counter().count(text)


def shortened(text: str, most: int, length: int | None = None) -> str:
    """A text; if too long, its beginning and end, with a mark for the missing part.

    `length`: the length of the whole text, if `text` already lacks its middle.
    """
    length = len(text) if length is None else length
    tail = most // 4
    start, end = text[: most - tail].rstrip(), text[len(text) - tail :].lstrip()
    marked = f"{start} … [{length - len(start) - len(end):,} more characters] {end}".strip()
    return text if length <= max(most, len(marked)) else marked


# The modes


class _Page:
    """The preamble of a mode with the `newest` stages and values, and `cut` characters of each
    text. Its facts are newest first.
    """

    def __init__(
        self,
        mode: str,
        pipeline: Pipeline,
        history: RunHistory,
        node: str,
        newest: int,
        cut: int,
    ) -> None:
        goal = goal_of(pipeline, history.context)
        self.newest, self.cut, self.shortened = newest, cut, 0
        self.name = self.short(plain(pipeline.name))
        self.goal = self.short(plain(goal) or "(none given)")
        self.run_id, self.stage = plain(history.run_id) or "(none)", plain(node)
        self.completed = history.completed[::-1]
        self.runs = Counter(stage.node for stage in history.completed)
        self.total = max(len(pipeline.nodes), 1)
        done = self.runs.keys() & pipeline.nodes.keys() - {node}
        self.number = min(len(done) + 1, self.total)
        self.context = [
            (key, value)
            for key, value in reversed(history.context.items())
            if not key.startswith(_INTERNAL) and not (key in _GOALS and value == goal)
        ]
        self.retries = [
            f"- {_name(name)}: {done}/{allowed}"
            for name, (done, allowed) in reversed(history.retries.items())
            if done
        ]
        self.stages_left_out, self.values_left_out = len(self.completed), len(self.context)
        self.text = _WRITERS[mode](self)

    def short(self, text: str, length: int | None = None) -> str:
        """The text, shortened if too long."""
        short = shortened(text, self.cut, length)
        self.shortened += short != text
        return short

    def head(self, title: str) -> str:
        """The beginning of the long modes."""
        return (
            f"{title}\n\nPipeline: {self.name}\nGoal: {self.goal}\n"
            f"Stage: {self.short(self.stage)} ({self.number}/{self.total})"
        )

    def stages(self, entry: Callable[[Stage], str]) -> str:
        """The newest stages, oldest first."""
        earlier = self.completed[self.newest :]
        self.stages_left_out = len(earlier)
        lines = [entry(stage) for stage in self.completed[: self.newest]]
        if earlier:
            lines.append(f"- … {len(earlier):,} earlier stages left out: {_outcomes(earlier)}")
        return "\n".join(reversed(lines))

    def names(self, *, with_outcome: bool) -> str:
        """Each node once, by its latest run: `implement (success)`, `implement x3 (success)`."""
        runs, latest = self.runs, dict[str, Stage]()
        for stage in self.completed:
            latest.setdefault(stage.node, stage)
        self.stages_left_out = sum(runs[name] for name in list(latest)[self.newest :])
        names = [
            _name(name)
            + (f" x{runs[name]}" if runs[name] > 1 else "")
            + (f" ({latest[name].outcome})" if with_outcome else "")
            for name in list(latest)[: self.newest]
        ]
        if self.stages_left_out:
            names.append(f"… {self.stages_left_out:,} earlier")
        return ", ".join(reversed(names)) or "none"

    def values(self, entry: Callable[[str, str], str], *, quoted: bool) -> list[str]:
        """The newest values of the context, oldest first. `quoted`: as JSON."""
        self.values_left_out = max(len(self.context) - self.newest, 0)
        lines: list[str] = []
        for key, value in self.context[: self.newest]:
            is_text = isinstance(value, str)
            raw = value if is_text else json.dumps(value, ensure_ascii=False, default=str)
            text = masked(raw)
            short = self.short(text, _length(text, raw))
            if quoted and (is_text or short != text or len(raw) > LONGEST_TEXT):
                short = json.dumps(short, ensure_ascii=False)
            lines.append(entry(_name(key), short))
        return lines[::-1]

    def older_values(self, before: str = "- … ") -> str:
        """A line about the values left out; empty if there are none."""
        older = self.values_left_out
        return f"\n{before}{older:,} older values left out" if older else ""

    def entry(self, stage: Stage, *, whole: bool) -> str:
        """A stage with its notes; `whole`: with line breaks, indented so as not to look like
        entries.
        """
        text = masked(stage.notes).strip() if whole else plain(stage.notes)
        short = self.short(text, _length(text, stage.notes))
        notes = "\n    ".join(line.rstrip() for line in short.splitlines())
        return f"- {_name(stage.node)}: {stage.outcome}{' — ' if notes else ''}{notes}"


def _truncate(page: _Page) -> str:
    """Pipeline, goal, run and stage only."""
    return (
        f"Pipeline: {page.name}\nGoal: {page.goal}\n"
        f"Run ID: {page.short(page.run_id)}\nCurrent stage: {page.short(page.stage)}"
    )


def _compact(page: _Page) -> str:
    """Bullet points: stages with outcomes, and values of the context."""
    lines = [
        "## Pipeline State\n",
        f"- Pipeline: {page.name}",
        f"- Goal: {page.goal}",
        f"- Completed stages: {page.names(with_outcome=True)}",
        f"- Current stage: {page.short(page.stage)}",
    ]
    if page.completed and (notes := page.short(plain(page.completed[0].notes))):
        lines.append(f"- Latest notes: {notes}")
    values = page.values(lambda key, text: f"  - {key}: {text}", quoted=True)
    if values:
        lines += ["- Key context values:", *values]
    return "\n".join(lines) + page.older_values("  - … ")


def _low(page: _Page) -> str:
    """Stage names, counts, the last outcome."""
    last = page.completed[0].outcome if page.completed else "none"
    text = (
        f'Pipeline "{page.name}" stage {page.number} of {page.total}. '
        f"Goal: {page.goal.rstrip('.')}.\n"
        f"Completed: {page.names(with_outcome=False)}. Last outcome: {last}."
    )
    if page.completed:
        retried = f"; {counted(len(page.retries), 'node')} retried" if page.retries else ""
        text += f"\nEvents: {counted(len(page.completed), 'stage')} run, "
        text += f"{_outcomes(page.completed)}{retried}."
    return text


def _medium(page: _Page) -> str:
    """Recent outcomes with notes, and the active context."""

    def value(key: str, text: str) -> str:
        return f"- {key}: {' '.join(text.split()) or '(empty)'}"

    parts = [page.head("## Pipeline Progress")]
    if stages := page.stages(lambda stage: page.entry(stage, whole=False)):
        parts.append(f"### Recent Activity\n{stages}")
    if values := page.values(value, quoted=False):
        lines = "\n".join(["### Active Context", *values])
        parts.append(lines + page.older_values())
    return "\n\n".join(parts)


def _high(page: _Page) -> str:
    """Every stage with its notes, tools and duration, the context as JSON, the retries."""

    def value(key: str, text: str) -> str:
        return f"  {json.dumps(key, ensure_ascii=False)}: {text}"

    def entry(stage: Stage) -> str:
        return page.entry(stage, whole=True) + _details(stage)

    parts = [page.head("## Pipeline State (Comprehensive)")]
    if stages := page.stages(entry):
        parts.append(f"### Execution History\n{stages}")
    if values := page.values(value, quoted=True):
        lines = ",\n".join(values)
        parts.append(f"### Full Context\n{{\n{lines}\n}}{page.older_values('')}")
    if page.retries:
        # stages have priority: a long run lists only the latest retries
        most = page.newest if page.newest == MAX_ENTRIES else page.newest // 20 + 1
        retries = page.retries[:most]
        more = len(page.retries) - len(retries)
        lines = "\n".join(["### Retry Information", *reversed(retries)])
        parts.append(lines + (f"\n- … {more:,} more" if more else ""))
    return "\n\n".join(parts)


_WRITERS: dict[str, Callable[[_Page], str]] = {
    "truncate": _truncate,
    "compact": _compact,
    "summary:low": _low,
    "summary:medium": _medium,
    "summary:high": _high,
}


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
    if not argument:
        return _name(call.name)
    return f"{_name(call.name)} ({clip(argument, _ARGUMENT)})"


def _outcomes(stages: Iterable[Stage]) -> str:
    """`44 success, 11 fail`."""
    found = Counter(stage.outcome for stage in stages)
    return ", ".join(f"{found[each]:,} {each}" for each in StageOutcome if found[each])


def goal_of(pipeline: Pipeline, context: Mapping[str, Any]) -> str:
    """The graph's goal, or the run's if the graph leaves it open (`goal="$goal"`)."""
    if pipeline.goal and not pipeline.goal.strip().startswith("$"):
        return pipeline.goal
    given = next((context[key] for key in _GOALS if isinstance(context.get(key), str)), "")
    return given or pipeline.goal


def masked(text: str) -> str:
    """A text without secrets; if too long for any preamble, its beginning and end."""
    if len(text) <= LONGEST_TEXT:
        return _masked(text)
    half = LONGEST_TEXT // 2  # of the masked text, so that no secret is cut in two
    begin, end = _masked(text[: half + BEYOND]), _masked(text[-half - BEYOND :])
    return begin[:half] + end[-half:]


def _length(text: str, raw: str) -> int:
    """The length of a masked text, including the part left out by `masked`."""
    return len(text) + max(len(raw) - LONGEST_TEXT, 0)


@lru_cache(maxsize=4096)
def _masked(text: str) -> str:
    # Most texts of a preamble were in the previous preamble.
    from reviewer.text.for_agents import unframed
    from reviewer.text.secrets import mask

    return unframed(mask(text).text)


def plain(text: str) -> str:
    return " ".join(masked(text).split())


def _name(name: str) -> str:
    """A node or key, masked, cut to one line."""
    return clip(masked(name), _NAME)
