"""Statements composed from what was done in sessions, not quoted from what was said.

Only what is run before nearly every commit is proposed. Read blind, the other episodes were mostly
thrown away: offers that the person accepted, words on refused calls, deferrals, sentences with
"always" or "never", errors and the call that worked next, and what the person says again in another
session.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct

from reviewer.extraction.candidates import MemoryType
from reviewer.proposing.session_events import Event, EventKind
from reviewer.proposing.values import Proposal, Proposer, Quote, Speaker

COMMITS = 2
"""Commits that a check must have preceded, in one session or in several together."""
SHARE = 0.66
"""Share of the commits that a check must have preceded."""
MOST_CHECKS = 4

_CHECK = re.compile(
    r"(?:(?:mise|npm|pnpm|yarn|bun|just|task|make|uv|poetry|hatch|nox|tox|cargo|go|dotnet|gradle"
    r"|\./gradlew|mvn|bundle exec|rake|composer|npx|deno|zig|swift|mix)\s+(?:run\s+|exec\s+)?)?"
    r"(?:gofmt|golangci-lint|pytest|mypy|ruff|black|eslint|prettier|tsc|clippy|rubocop|vet"
    r"|(?:[\w-]+:)?(?:fmt|format|lint|test|tests|check|typecheck|type-check|verify)(?:[:-][\w-]+)*)"
    r"(?:\s.*)?"
)
_ONE_FILE = re.compile(
    r"\s[\w./-]*\.\w{1,5}\b|\s-(?:run|k|bench|update)\b|[\"'`$*(]|::|/\w+/(?!\.)"
)
_SEPARATORS = re.compile(r"&&|\|\||;|\n")
_REDIRECTED = re.compile(r"(?<!\s)\s*+(?:\d?>(?:&\d|\s*+\S+)|\|.*$)")


Place = TypeVar("Place")
"""What names a session."""


class Step(Struct, frozen=True):
    """One simple command of a call that succeeded, and the line of the call."""

    line: int
    text: str


class Habits:
    """The checks of one session: how many commits each preceded, and where it was first run."""

    def __init__(self) -> None:
        self.commits = 0
        self.counts: Counter[str] = Counter()
        self.first: dict[str, Step] = {}
        """In the order in which they were run."""
        self._since: dict[str, Step] = {}
        self._waiting: dict[str, Event] = {}

    def watch(self, events: Iterable[Event]) -> Iterator[Event]:
        """The same events; each is taken into account as it passes."""
        for event in events:
            self.add(event)
            yield event

    def add(self, event: Event) -> None:
        """Take an event into account; sub-agents do not count, nor do calls that failed."""
        if event.kind is EventKind.CALL and not event.sidechain:
            self._waiting[event.call] = event
        elif event.kind is EventKind.FAILED:
            self._waiting.pop(event.call, None)
        elif event.kind is EventKind.DONE and (call := self._waiting.pop(event.call, None)):
            for step in steps(call):
                self._add(step)

    def proposals(self) -> Iterator[Proposal]:
        """What the session shows by itself."""
        usual = _usual(self.counts, self.commits)
        yield from self.naming([text for text in self.first if text in usual])

    def naming(self, checks: Sequence[str]) -> Iterator[Proposal]:
        """The proposal of these checks, proved by those that this session ran."""
        quotes = [
            Quote(line=self.first[text].line, text=text) for text in checks if text in self.first
        ]
        if not quotes:
            return
        named = [f"`{text}`" for text in checks[:MOST_CHECKS]]
        listed = " and ".join(filter(None, [", ".join(named[:-1]), named[-1]]))
        yield Proposal(
            statement=f"Before a commit, run {listed}.",
            type=MemoryType.PROJECT,
            quotes=tuple(quotes[:MOST_CHECKS]),
            speaker=Speaker.AGENT,
            proposer=Proposer.EPISODE,
            rule="episode.checks",
            kind="convention",
        )

    def _add(self, step: Step) -> None:
        if step.text.startswith("git commit"):
            self.commits += 1
            self.counts.update(self._since.keys())
            for text, each in self._since.items():
                self.first.setdefault(text, each)
            self._since.clear()
        elif _is_check(step.text):
            self._since.pop(step.text, None)
            self._since[step.text] = step


def common_habits(sessions: Mapping[Place, Habits]) -> Iterator[tuple[Place, Proposal]]:
    """What several sessions of a project show only together: one statement, a proposal for each.

    Nothing if one of them already shows a habit by itself.
    """
    if any(any(True for _ in habits.proposals()) for habits in sessions.values()):
        return
    counts: Counter[str] = Counter()
    commits = 0
    order: dict[str, None] = {}
    for habits in sessions.values():
        counts.update(habits.counts)
        commits += habits.commits
        order.update(dict.fromkeys(habits.first))
    usual = _usual(counts, commits)
    checks = [text for text in order if text in usual]
    for place, habits in sessions.items():
        if usual and usual <= set(habits.first):
            for proposal in habits.naming(checks):
                yield place, proposal


def steps(call: Event) -> Iterator[Step]:
    """The simple commands of a call, in order, without their redirections."""
    for part in _SEPARATORS.split(call.text.split("<<", 1)[0]):
        command = _REDIRECTED.sub("", part.strip()).strip()
        if command:
            yield Step(call.line, command)


def _usual(counts: Counter[str], commits: int) -> set[str]:
    return {text for text, count in counts.items() if count >= max(COMMITS, SHARE * commits)}


def _is_check(command: str) -> bool:
    """Whether a command checks the whole project, not one file or one test."""
    return bool(_CHECK.fullmatch(command)) and not _ONE_FILE.search(command)
