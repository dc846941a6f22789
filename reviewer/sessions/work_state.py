"""The work state at any point of a session, computed from its events.

Every fact has a line as evidence. Facts that events leave ambiguous are unknown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from msgspec import Struct, structs

from reviewer.sessions.checks import check_kind, covers, shown
from reviewer.sessions.signatures import failing_lines
from reviewer.sessions.working_tree import (
    SWITCHED,
    ChangedFile,
    CommandRun,
    Commit,
    Conflict,
    WorkingTree,
    absolute,
    commits_made,
    git_words,
    is_inside,
    runs_git,
)
from reviewer.sources.calls import POLLING, STOPPING, task_of
from reviewer.sources.events import (
    Act,
    Call,
    Event,
    Message,
    Notice,
    NoticeKind,
    Origin,
    Outcome,
    Plan,
    PlanItem,
    Result,
    Speaker,
)
from reviewer.sources.results import HEAD, command_outcomes
from reviewer.sources.shell import Command
from reviewer.text.clip import clip
from reviewer.text.controls import without_escapes

_IS_WRAPPER = re.compile(
    r"</?[a-zA-Z][^<>]{0,200}>|<cwd>[^<>]*</cwd>|\((?:Bash completed with )?no output\)"
)
"""A line that the agent's client adds around a command's output, or prints instead of it."""
LINE, MAX_NAMED = 160, 2
"""Maximum characters of a check's output line, and number of failing lines."""
_NO_FOLDER = re.compile(
    r"\bcd: (?:([^:\n]+): No such file or directory|no such file or directory: (.+))"
)
_TASK_ID = re.compile(r"<task_id>([^<\s]+)</task_id>")
_ENDED = re.compile(r"<status>(?!running)|has (?:exited|completed|finished)|killed|stopped")


class Check(Struct, frozen=True):
    """The last run of a test, linter, formatter, build or type checker."""

    kind: str
    command: str
    outcome: Outcome
    line: int
    said: str = ""
    """For a failure, the failing lines; else the last line of the call's output, if it can only
    be from this check."""
    exit_code: int | None = None
    folder: str = ""
    stale: bool = False
    """Files were changed after it."""


class WorkState(Struct, frozen=True):
    """The work state at one point of a session. Lines are 0-based lines of the file."""

    folder: str = ""
    branch: str = ""
    branch_at_start: bool = False
    """The branch is that at the start of the session, and nothing names it later."""
    files: tuple[ChangedFile, ...] = ()
    """Files changed in the session and not known to be committed or undone, latest last."""
    unnamed_edits: int = 0
    """Edits to files that the session does not name."""
    checks: tuple[Check, ...] = ()
    """The last run of each command, latest last; without failures fixed by a later run."""
    commits: tuple[Commit, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    plan: tuple[PlanItem, ...] = ()
    plan_line: int = -1
    running: tuple[Call, ...] = ()
    """Calls started in the background whose end was not seen."""
    waiting: Call | None = None
    """A question or plan that awaits the person's answer."""
    interrupted: bool = False
    """The person interrupted the agent without a message since."""
    last_change: int = -1
    """Line of the last change to any file; -1 if there is none."""
    changed_by: str = ""
    """The file of that change, or the command."""
    last_delegated: int = -1
    """Line of the last trace of a sub-agent, whose changes may not be recorded."""

    @property
    def uncommitted(self) -> tuple[ChangedFile, ...]:
        return tuple(each for each in self.files if each.uncommitted)

    @property
    def open_items(self) -> tuple[PlanItem, ...]:
        return tuple(each for each in self.plan if each.status in ("open", "active"))

    @property
    def failing(self) -> tuple[Check, ...]:
        return tuple(each for each in self.checks if each.outcome is Outcome.FAILED)


class WorkTracker:
    """Follows a session event by event; `state` is available at any point."""

    def __init__(self) -> None:
        self._tree = WorkingTree()
        self._open: dict[str, Call] = {}
        """Calls without a result."""
        self._checks: dict[tuple[str, tuple[str, ...]], tuple[Check, int]] = {}
        """The last run of each command in a folder, and the number of changes before it."""
        self._running: dict[str, Call] = {}
        """Calls in the background, by task."""
        self._begun: dict[str, tuple[int, int]] = {}
        """Lines of tasks, each with the last command that it has run, judging by its output."""
        self._plan: Plan | None = None
        self._folder = self._given_branch = ""
        self._places: Counter[str] = Counter()
        """How many commands ran in each folder."""
        self._delegated: set[str] = set()
        """Background tasks of sub-agents."""
        self._is_live = False
        """The last record of the agent names its branch."""
        self._last_delegated = -1
        self._unnamed_edits = 0
        self._interrupted = False

    def add(self, event: Event) -> None:
        self._note_place(event.origin)
        if isinstance(event, Call):
            self._open[event.id] = event
        elif isinstance(event, Result):
            self._result(event)
        elif isinstance(event, Plan):
            if not event.origin.sidechain:
                self._plan = event
        elif isinstance(event, Notice):
            if event.kind is NoticeKind.INTERRUPTED:
                self._interrupted = True
            self._end_tasks(event.text, event.origin.line_start)
        elif isinstance(event, Message):
            if event.speaker is Speaker.PERSON:
                self._interrupted = False
            if event.speaker is Speaker.HARNESS:
                self._end_tasks(event.text, event.origin.line_start)

    def state(self) -> WorkState:
        tree = self._tree
        waiting = [
            call
            for call in self._open.values()
            if call.act is Act.ASK and not call.origin.sidechain
        ]
        plan, place = self._plan, self._place()
        seen = tree.branch_in(place)
        here = place == self._folder or is_inside(self._folder, place)
        return WorkState(
            folder=place,
            branch=seen or (self._given_branch if here else ""),
            branch_at_start=here and bool(self._given_branch) and not (seen or self._is_live),
            files=tree.files(),
            unnamed_edits=self._unnamed_edits,
            checks=tuple(
                structs.replace(check, stale=tree.changes > count)
                for check, count in self._checks.values()
            ),
            commits=tuple(tree.commits),
            conflicts=tuple(self._conflicts()),
            plan=plan.items if plan else (),
            plan_line=plan.origin.line_start if plan else -1,
            running=tuple(self._running.values()),
            waiting=waiting[-1] if waiting else None,
            interrupted=self._interrupted,
            last_change=tree.last_change,
            changed_by=tree.changed_by,
            last_delegated=self._last_delegated,
        )

    def _conflicts(self) -> Iterator[Conflict]:
        open_edits = {
            absolute(call.origin.cwd, change.path)
            for call in self._open.values()
            for change in call.changes
        }
        for conflict in self._tree.conflicts.values():
            pending = not conflict.touched and conflict.path in open_edits
            touched = "edited since, no result seen" if pending else conflict.touched
            yield structs.replace(conflict, touched=touched)

    def _place(self) -> str:
        """The session's folder; if the last change is elsewhere, the folder above it in which most
        commands ran.
        """
        changed = self._tree.last_path
        if is_inside(changed, self._folder):
            return self._folder
        above = [folder for folder in self._places if is_inside(changed, folder)]
        return max(above, key=self._places.__getitem__, default=self._folder)

    def _note_place(self, origin: Origin) -> None:
        if origin.sidechain:
            return
        self._folder = absolute("", origin.cwd) or self._folder
        self._tree.home = self._tree.home or self._folder
        if origin.cwd:
            self._is_live = bool(origin.branch)
        if origin.branch and origin.branch != self._given_branch:
            self._given_branch = origin.branch
            self._tree.branches.clear()

    def _result(self, result: Result) -> None:
        call = self._open.pop(result.call, None)
        if call is None or result.outcome is Outcome.REFUSED:
            return
        line = call.origin.line_start
        self._follow_tasks(call, result)
        if call.act is Act.DELEGATE or call.origin.sidechain:
            self._last_delegated = result.origin.line_start
            self._delegated.add(result.task)
        if result.outcome is Outcome.UNKNOWN and call.tool.lower() in POLLING:
            return
        if result.outcome is Outcome.FAILED and not call.commands:
            return
        if call.act in (Act.EDIT, Act.WRITE) and not call.changes and not call.path:
            self._unnamed_edits += 1
            self._tree.note_change(line, call.tool)
        for change in call.changes:
            path = absolute(call.origin.cwd, change.path)
            self._tree.changed(path, line, created=change.created, deleted=change.deleted)
        if call.commands:
            self._commands(call, result)

    def _commands(self, call: Call, result: Result) -> None:
        text, line = result.text, call.origin.line_start
        cwd = absolute("", call.origin.cwd) or self._folder
        ends = command_ends(call, result)
        later: list[ChangedFile] = []
        done = -1
        if begun := self._begun.pop(task_of(call), None):
            started, done = begun
            later = [each for each in self._tree.files() if each.line > started]
        if result.task:
            self._begun[result.task] = (line, _proved(call, text))
        self._tree.made = commits_made(call, text)
        for number, (command, outcome) in enumerate(zip(call.commands, ends, strict=True)):
            if outcome is Outcome.REFUSED or not command.words or number <= done:
                continue
            folder = absolute(cwd, command.folder) if command.folder else cwd
            self._places[folder] += 1
            alone = len(ends) == 1
            piped = not alone and [*call.commands, command][number + 1].joined_by == "|"
            ran = outcome is Outcome.OK or command.joined_by in ("", ";")
            printed = not piped and not command.writes
            whole = ran and printed and result.outcome is not Outcome.INTERRUPTED
            self._tree.ran(CommandRun(command, folder, outcome, text, line, alone, whole))
        for each in later:  # a task's commit does not contain changes made while it ran
            self._tree.follow(each)
        if switched := SWITCHED.findall(text):
            by = [each for each in call.commands if {"checkout", "switch"} & {*each.words}]
            *_, last = by or call.commands
            _, folder = git_words(last.words, absolute(cwd, last.folder))
            self._tree.note_branch(folder, switched[-1])
        final_output = "" if result.task else text
        self._note_checks(call, final_output, ends, result.exit_code)

    def _note_checks(
        self, call: Call, text: str, ends: Sequence[Outcome], exit_code: int | None
    ) -> None:
        for command, check in checks_among(call, text, ends, exit_code):
            folder = absolute(absolute("", call.origin.cwd) or self._folder, command.folder)
            words, passed = command.words, check.outcome is Outcome.OK
            for other, (earlier, _) in list(self._checks.items()):
                settled = passed or earlier.outcome is Outcome.UNKNOWN
                alike = (other[0], earlier.kind) == (folder, check.kind)
                if (alike and settled and covers(words, other[1])) or other == (folder, words):
                    del self._checks[other]
            run = structs.replace(check, folder=folder)
            self._checks[folder, words] = (run, self._tree.changes)

    def _follow_tasks(self, call: Call, result: Result) -> None:
        """Track starts and ends of background calls."""
        tool = call.tool.lower()
        if tool in POLLING or tool in STOPPING:
            told = _TASK_ID.search(result.text[:HEAD])  # some formats leave out the arguments
            task = task_of(call) or (told[1] if told else "")
            ended = result.exit_code is not None or _ENDED.search(result.text[:HEAD])
            if tool in STOPPING or ended:
                self._running.pop(task, None)
            return
        if call.command:
            again = [k for k, each in self._running.items() if each.command == call.command]
            for key in again:
                del self._running[key]
        begun = result.task or (call.background and result.outcome is not Outcome.FAILED)
        if begun and not call.only_looks:
            self._running[result.task or call.id] = call

    def _end_tasks(self, text: str, line: int) -> None:
        if any(task and task in text for task in self._delegated):
            self._last_delegated = line
        for task in [task for task in self._running if task and task in text]:
            if _ENDED.search(text):
                del self._running[task]


def checks_among(
    call: Call, text: str, ends: Sequence[Outcome], exit_code: int | None
) -> list[tuple[Command, Check]]:
    """The checks among a call's commands, with the commands; `ends`: how each of them ended."""
    found = []
    for number, (command, outcome) in enumerate(zip(call.commands, ends, strict=True)):
        kind = check_kind(command.words)
        if not kind or outcome is Outcome.REFUSED:
            continue
        alone = all(each.joined_by == "|" for each in call.commands[number + 1 :]) and not any(
            check_kind(each.words) for each in call.commands[:number]
        )
        said, code = last_line(text) if alone else "", None
        if outcome is Outcome.FAILED:
            code = exit_code
            said = "; ".join(clip(e.text, LINE) for e in failing_lines(text)[:MAX_NAMED]) or said
        line = call.origin.line_start
        found.append((command, Check(kind, shown(command), outcome, line, said, code)))
    return found


def command_ends(call: Call, result: Result) -> list[Outcome]:
    """The outcome of each command of a call, as far as the result shows it."""
    proved = _proved(call, result.text)
    ends = command_outcomes(call.commands, result.outcome, result.exit_code, proved)
    missing = tuple(filter(None, chain(*_NO_FOLDER.findall(result.text))))
    return [
        # A command in a folder that does not exist did not run.
        Outcome.REFUSED if missing and command.folder.endswith(missing) else end
        for command, end in zip(call.commands, ends, strict=True)
    ]


def _proved(call: Call, text: str) -> int:
    """Index of the last command that must have run, judging by the output; -1 if there is none."""
    proved: tuple[str, ...] = ("commit",) if commits_made(call, text) else ()
    if "\nCONFLICT (" in f"\n{text}":
        proved += ("merge", "pull", "rebase")
    ran = [n for n, each in enumerate(call.commands) if runs_git(each, *proved)]
    return max(ran, default=-1)


def last_line(text: str) -> str:
    lines = (line.strip() for line in reversed(without_escapes(text).splitlines()))
    printed = (line for line in lines if line and not _IS_WRAPPER.fullmatch(line))
    return clip(next(printed, ""), LINE)
