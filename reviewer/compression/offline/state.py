"""What is true at the end of a range, read off its events: nobody has to say it.

Edited since the last check, not committed, failing, conflicts left, branch, pull request, the
to-do list, the checks that are usually run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from reviewer.compression.offline.edits import MOST_PLACES, NewCode, places_told
from reviewer.compression.offline.events import (
    NOT_RUN,
    SCRATCH,
    Event,
    Kind,
    Message,
    Moment,
    Voice,
)
from reviewer.compression.offline.line import is_person

CHANGES = frozenset({Kind.EDIT, Kind.WRITE})
DONE_ITEMS = frozenset({"completed", "done", "cancelled"})


class File(Struct):
    """A file that was changed. Turns are those of the last change, check and commit after it."""

    path: str
    edits: int = 0
    created: bool = False
    first: int = 0
    last: int = 0
    at: int = 0
    """Which event changed it last."""
    committed: bool = False
    commit: int = 0
    """The number of the commit that has the last change, from 1."""
    names: tuple[str, ...] = ()
    new: NewCode = msgspec.field(default_factory=NewCode)
    """What was put in since the last commit."""


class Check(Struct):
    """A command that checks the work, with its latest result."""

    command: str
    times: int = 0
    turn: int = 0
    failed: bool | None = None
    outcome: str = ""
    how: str = "no result"
    at: int = 0
    """Which event ran it last."""
    event: Event | None = None


_RUNNING = ("no result", "in background")


class WorkState(Struct):
    """Where the work is at the end. Lists are in order of time."""

    files: dict[str, File]
    checks: dict[str, Check]
    commits: list[Event]
    branch: str = ""
    pull_request: str = ""
    unpushed: bool = False
    pushed: int = 0
    """How many of the commits were pushed."""
    pushes: bool = False
    """Whether commits were pushed before."""
    merged: str = ""
    """The pull request that was merged: its number, or words for it."""
    stashed: bool = False
    conflicts: tuple[str, ...] = ()
    resolved: tuple[str, ...] = ()
    merging: str = ""
    by_name: dict[str, list[str]] = {}
    """The paths of files by their names."""
    last_of_kind: dict[tuple[str, ...], Check] = {}
    """The check of each kind that ran last."""
    sides: dict[str, tuple[str, ...]] = {}
    """The conflicts of a file as it was read, by path."""
    branch_of_request: str = ""
    """The branch on which the pull request was opened."""
    moved: dict[str, str] = {}
    """The new paths of files that were moved."""
    todo: tuple[tuple[str, str], ...] = ()
    last_check: Check | None = None
    events: int = 0
    restrained: set[str] = set()
    """Kinds of steps that the person does not want, such as `build`."""
    asked: set[str] = set()
    """Kinds of steps that the person has asked for and not got since."""
    ordered: set[str] = set()
    """Those of them that the person gave as an order of its own: `commit and push`."""
    given: set[str] = set()
    """Kinds of steps that were done since the person spoke last."""
    commits_on_request: bool = False
    """Whether the last commit was made because the person asked for it."""
    pushes_on_request: bool = False
    for_agents: dict[str, None] = {}
    """Texts that were written for other agents, such as the orders of workers."""

    def checks_of(self, file: File) -> list[Check]:
        """The checks that ran after the last change of a file, each kind with its last run."""
        return [each for each in self.last_of_kind.values() if each.at > file.at]

    def verdict(self, file: File) -> str:
        """What the checks say of a file as it is: passed, failed, unclear, or nothing."""
        checks = [each for each in self.checks_of(file) if not self.is_overtaken(each)]
        hows = {each.how for each in checks}
        if "failed" in hows:
            return "failed"
        latest = max(checks, key=lambda each: each.at, default=None)
        runs_still = latest is not None and latest.how in _RUNNING
        if "passed" in hows and not hows & {"killed", "timed out"} and not runs_still:
            return "passed"
        return "unclear" if hows else ""

    def is_overtaken(self, failing: Check) -> bool:
        """Whether a check failed and a similar one passed later."""
        return failing.how == "failed" and any(
            _passed_since(each, failing) for each in self.checks.values()
        )

    @property
    def unchecked(self) -> list[File]:
        """Files that no check has passed or failed since they were changed."""
        return [f for f in self.files.values() if self.verdict(f) in ("", "unclear")]

    @property
    def uncommitted(self) -> list[File]:
        """Files changed since the last commit."""
        return [each for each in self.files.values() if not each.committed]

    @property
    def pending(self) -> list[tuple[str, str]]:
        """The items of the to-do list that are not done."""
        return [each for each in self.todo if each[0] not in DONE_ITEMS]

    @property
    def usual_checks(self) -> list[Check]:
        """The checks run most, and the latest."""
        found = sorted(self.checks.values(), key=lambda each: (-each.times, -each.turn))
        return found[:4]


def read_state(moments: Sequence[Moment]) -> WorkState:
    """The state after these moments."""
    state = WorkState({}, {}, [])
    for each in moments:
        if isinstance(each, Event):
            _apply(state, each)
        elif each.voice is Voice.PERSON:
            _heard(state, each.text)
    return state


_STEPS = {
    "build": re.compile(r"\b(?:re-?)?build(?:ing|s)?\b", re.IGNORECASE),
    "test": re.compile(r"\b(?:run(?:ning)? (?:the |any |all )*tests?|testing)\b", re.IGNORECASE),
    "lint": re.compile(r"\b(?:lint(?:er|ing)?|format(?:ter|ting)?)\b", re.IGNORECASE),
    "commit": re.compile(r"\bcommit(?:s|ting|ted)?\b", re.IGNORECASE),
    "push": re.compile(r"\bpush(?:es|ing|ed)?\b", re.IGNORECASE),
    "open the pull request": re.compile(r"\b(?:pull request|PR)\b", re.IGNORECASE),
}
"""Steps that end a piece of work, by their kinds."""
_NOT_TO = re.compile(
    r"\b(?:do(?:es)? not|don'?t|never|no need to|without|stop|not to|avoid|instead of)\b"
    r"[^.;,:!?\n]{0,40}$",
    re.IGNORECASE,
)
_ORDERED = re.compile(
    r"(?:^\W*|[.,;:!?]\s*|\b(?:and|then|please|now|also|just|let'?s|you can|can you|could you"
    r"|go ahead and)\s+)"
    r"(?:commit|push|(?:open|create|make|raise) (?:\w+ ){0,2}(?:PR|pull request))$",
    re.IGNORECASE,
)
"""A sentence up to the verb with which it orders a commit."""
_NAMES = re.compile(
    r"\b(?:the|an?|th(?:at|is|ese|ose)|last|first|next|your|my|our|their|its|of|for|before|after"
    r"|did|does|you|i|we|was|is|each|every|per|pre|in)\W*$",
    re.IGNORECASE,
)
"""What comes before a step that is only named: `the push failed`."""
VERY_SHORT = 60
"""Characters of a message that is an order if it names a step: `push directly to main`."""
SHORT_ORDER = 240
"""Characters of a message that may be such an order; longer ones name commits for other reasons."""
_RULED = 400
"""Characters of a sentence in which a person says what to do; longer ones are pasted."""


def _heard(state: WorkState, text: str) -> None:
    """What a person's words ask for, and what they forbid; later words win."""
    state.asked -= state.given
    if state.ordered & state.given:
        state.ordered.clear()  # what is left of an older order is not said again
    state.given.clear()
    for sentence in re.split(r"(?<=[.!?])\s+|\n+", text):
        if len(sentence) > _RULED:
            continue
        for kind, pattern in _STEPS.items():
            for found in pattern.finditer(sentence):
                if _NOT_TO.search(sentence[: found.start()]):
                    state.restrained.add(kind)
                    state.asked.discard(kind)
                    state.ordered.discard(kind)
                else:
                    state.restrained.discard(kind)
                    state.asked.add(kind)
                    if _is_ordered(text, sentence, found):
                        state.ordered.add(kind)


def _is_ordered(text: str, sentence: str, found: re.Match[str]) -> bool:
    """Whether a sentence of a message orders a step, and does not only name it."""
    verb = re.fullmatch(r"commit|push|(pull request|PR)", found[0], re.IGNORECASE)
    if verb is None:
        return False
    alone = len(text) <= VERY_SHORT and not sentence.rstrip().endswith("?")
    alone = alone and not verb[1] and _NAMES.search(sentence[: found.start()]) is None
    short = len(text) <= SHORT_ORDER
    return alone or (short and _ORDERED.search(sentence[: found.end()]) is not None)


def _apply(state: WorkState, event: Event) -> None:
    state.events += 1
    if event.kind in CHANGES and not event.failed:
        _changed(state, event.what, event)
    elif event.kind is Kind.CHECK:
        _checked(state, event)
    elif event.kind is Kind.COMMIT and event.failed is False:
        _committed(state, event)
    elif event.kind is Kind.PUSH and event.failed is False:
        state.unpushed, state.pushes = False, True
        state.pushed = len(state.commits)
        state.pushes_on_request = "push" in state.asked
        state.given.add("push")
    elif event.kind is Kind.PULL_REQUEST and event.failed is False:
        state.pull_request = f"{event.what} ({event.outcome})" if event.outcome else event.what
        state.unpushed = False
        state.merged = ""
        state.branch_of_request = state.branch
        state.given |= {"push", "open the pull request"}
    elif event.kind is Kind.BRANCH and not event.failed:
        state.branch = event.what
    elif event.kind is Kind.MERGE:
        if event.what:
            state.merging = event.what if event.conflicts else ""
        if event.conflicts and event.what:
            state.resolved = tuple(p for p in state.resolved if p not in event.conflicts)
            state.conflicts = event.conflicts
        elif event.conflicts:  # a status also lists what was edited and not staged
            state.conflicts = tuple(p for p in event.conflicts if p not in state.resolved)
    elif event.kind is Kind.SIDES:
        state.sides[event.what] = event.names
    elif event.kind is Kind.TODO:
        state.todo = event.items
    elif event.kind is Kind.RUN and not event.failed:
        for path in event.edits:
            _resolve(state, path)
        _ran(state, event)


_BACK = re.compile(r"HEAD(?:~(\d*)|(\^+))")
_PR_MERGED = re.compile(r"gh pr merge\b\s*(\d+)?")


def _ran(state: WorkState, event: Event) -> None:
    """What other commands change: commits undone, changes thrown away or stashed, merges."""
    what = event.what
    if what.startswith("git reset"):
        back = _BACK.search(what)
        if back:
            _undo_commits(state, int(back[1] or 1) if back[2] is None else len(back[2]))
        if "--hard" in what:
            state.files = {path: f for path, f in state.files.items() if f.committed}
    elif what.startswith("git stash"):
        state.stashed = not re.match(r"git stash (?:pop|apply|drop|clear|branch)\b", what)
    elif found := _PR_MERGED.match(what):
        state.merged = found[1] or "of the branch"
        state.unpushed = False
    if event.moved:
        _move(state, *event.moved)
    for path in event.dropped:
        _forget_checks(state, path)
        state.files = {
            known: file
            for known, file in state.files.items()
            if file.committed or not _is_in(known, path.strip("'\""))
        }


def _forget_checks(state: WorkState, path: str) -> None:
    """Checks that ran a script are not owed once it is removed."""
    name = path.strip("'\"").rpartition("/")[2]
    if "." in name.strip("."):
        gone = [each for each in state.checks if name in each.split()[-1]]
        for command in gone:
            kind = _kind(state.checks.pop(command))
            state.last_of_kind.pop(kind, None)


def _move(state: WorkState, old: str, new: str) -> None:
    """A file that was moved keeps what is known of it under its new path."""
    path = next((known for known in state.files if _is_same(known, old) or known == old), None)
    if path is None:
        return
    last = path.rpartition("/")[2]
    into = new.endswith("/") or "." not in new.rpartition("/")[2]
    file = state.files.pop(path)
    file.path = f"{new.rstrip('/')}/{last}" if into else new
    state.files[file.path] = file
    state.moved[path] = file.path
    state.by_name.setdefault(file.path.rpartition("/")[2], []).append(file.path)


def _is_same(known: str, path: str) -> bool:
    """Whether two paths are one file: the same, or one of them absolute and ending in the other."""
    if known == path:
        return True
    long, short = (known, path) if len(known) > len(path) else (path, known)
    whole = long.startswith("/") and not short.startswith("/")
    return whole and "/" in short and long.endswith(f"/{short}")


def _is_in(file: str, path: str) -> bool:
    """Whether a path names a file or a folder of it, as far as either is written out."""
    path = path.rstrip("/")
    same = f"/{file}".endswith(f"/{path}") or f"/{path}".endswith(f"/{file}")
    return path == "." or same or file.startswith(f"{path}/")


def _undo_commits(state: WorkState, number: int) -> None:
    """The last commits are taken back; what they had is uncommitted again."""
    del state.commits[max(len(state.commits) - number, 0) :]
    for file in state.files.values():
        if file.commit > len(state.commits):
            file.committed = False
    if not state.commits:
        state.unpushed = False


def _changed(state: WorkState, path: str, event: Event) -> None:
    if _FOR_AGENTS.search(path):
        state.for_agents[path] = None
        return
    if is_own(path):
        return
    named = state.by_name.setdefault(path.rpartition("/")[2], [])
    known = next((each for each in named if _is_same(each, path)), path)
    if known not in named:
        named.append(known)
    file = state.files.setdefault(known, File(known, first=event.turn))
    if event.kind is Kind.WRITE and not file.edits:
        file.created = True
    file.edits += 1
    gone = " ".join(old for old, _ in event.pairs)
    now = " ".join(new for _, new in event.pairs)
    file.names = tuple(
        dict.fromkeys(
            (*(name for name in file.names if name not in gone or name in now), *event.names)
        )
    )
    file.last = event.turn
    if event.appends:
        for _, text in event.pairs:
            file.new.append(text)
    else:
        file.new.apply(event.pairs, event.within)
    file.at = state.events
    file.committed = False
    _resolve(state, path)


def is_own(path: str) -> bool:
    """Whether a file is a plan or a scratch file of the agent, which is not the work."""
    return "/.claude/" in path or SCRATCH.match(path) is not None


_FOR_AGENTS = re.compile(
    r"(?:^|/)\.(?!github/)[\w-]+/(?:[^/]+/){0,20}"
    r"(?:prompts?|messages?|handoffs?|plans?|tmp)/[^/]+\.(?:md|txt)$",
    re.IGNORECASE,
)
"""Texts in hidden folders that agents write for each other."""


def _resolve(state: WorkState, path: str) -> None:
    """A conflicting file counts as resolved once it was edited, or one side was taken."""
    for conflict in state.conflicts:
        if path.endswith(conflict) or conflict.endswith(path):
            state.conflicts = tuple(p for p in state.conflicts if p != conflict)
            state.resolved = (*state.resolved, conflict)


def _checked(state: WorkState, event: Event) -> None:
    check = state.checks.setdefault(event.what, Check(event.what))
    check.times += 1
    check.turn, check.failed, check.outcome = event.turn, event.failed, event.outcome
    kind = _kind(check)
    before = state.last_of_kind.pop(kind, None)
    if before is not None and before.event is not None:
        before.event.superseded = True
    state.last_of_kind[kind] = check
    check.how, check.at, check.event = event.how, state.events, event
    state.last_check = check


def _committed(state: WorkState, event: Event) -> None:
    if event.amends and state.commits:
        before = state.commits.pop()
        event.what = event.what or before.what
    state.commits.append(event)
    state.unpushed = True
    state.commits_on_request = "commit" in state.asked
    state.given.add("commit")
    state.conflicts = state.resolved = ()
    state.merging = ""
    state.sides = {}
    branch = event.outcome.rpartition(" ")[0]
    if branch and "detached" not in branch:
        state.branch = branch.removesuffix(" (root-commit)")
    for file in state.files.values():
        if not file.committed:
            file.committed, file.commit, file.new = True, len(state.commits), NewCode()


def short_paths(paths: Sequence[str]) -> list[str]:
    """Paths, those of one folder together: `cli/list/: data.go, tree.go`."""
    folders: dict[str, list[str]] = {}
    for path in paths:
        folder, slash, name = path.rpartition("/")
        folders.setdefault(folder + slash, []).append(name)
    return [
        f"{folder}{names[0]}" if len(names) == 1 else f"{folder}: {', '.join(names)}".lstrip(": ")
        for folder, names in folders.items()
    ]


def _counted(file: File, *, named: bool = True) -> str:
    times = f"{file.edits} edits" if file.edits > 1 else ""
    added = f"with {', '.join(file.names[-4:])}" if file.names and named else ""
    about = ", ".join(filter(None, ("new" if file.created else "", times, added)))
    return f"{file.path} ({about})" if about else file.path


def now_lines(state: WorkState) -> list[str]:
    """The state in sentences, the most needed first."""
    lines: list[str] = []
    if state.conflicts:
        total = len(state.conflicts) + len(state.resolved)
        by = f" ({state.merging})" if state.merging else ""
        done = ", ".join(short_paths(state.resolved))
        done = f"; already edited or resolved: {done}" if done else ""
        left = ", ".join(short_paths(state.conflicts))
        lines.append(
            f"Merge conflicts{by}: {len(state.conflicts)} of {total} remain to be resolved: "
            f"{left}{done}. The merge is not committed."
        )
        lines += _conflict_lines(state)
    elif state.resolved:
        number = len(state.resolved)
        all_of_them = f"All {number} merge conflicts are" if number > 1 else "The merge conflict is"
        names = ", ".join(short_paths(state.resolved))
        lines.append(f"{all_of_them} edited ({names}); the merge is not committed.")
    open_files = state.uncommitted
    waiting = [each for each in open_files if not state.verdict(each)]
    prose = [each for each in waiting if _PROSE.search(each.path)]
    if prose:
        shown = ", ".join(_counted(each, named=False) for each in prose[-12:])
        lines.append(f"Edited, not committed: {shown}.")
        waiting = [each for each in waiting if each not in prose]
    if waiting:
        shown = ", ".join(_counted(each) for each in waiting[-12:])
        after = f" since `{state.last_check.command}`" if state.last_check else ""
        lines.append(
            f"Edited{after} and not yet checked, tested or committed: {shown}."
            if state.commits or state.checks
            else f"Edited, not yet checked or committed: {shown}."
        )
    unclear = [each for each in open_files if state.verdict(each) == "unclear"]
    if unclear:
        shown = ", ".join(short_paths([each.path for each in unclear[-20:]]))
        ran = {
            each.command: each
            for file in unclear
            for each in state.checks_of(file)
            if each.how != "passed"
        }
        why = ", ".join(f"`{each.command}`: {each.how}" for each in list(ran.values())[-3:])
        lines.append(f"Edited and not verified ({why}), not yet committed: {shown}.")
    checked = [each for each in open_files if state.verdict(each) == "passed"]
    if checked:
        shown = ", ".join(short_paths([each.path for each in checked[-20:]]))
        partly = all(_only_chosen(state, each) for each in checked)
        how = "checked by chosen tests only" if partly else "checked"
        lines.append(f"Edited and {how}, not yet committed: {shown}.")
        passed = {
            check.command: None
            for file in checked
            for check in state.checks_of(file)
            if check.how == "passed"
        }
        by = ", ".join(f"`{command}`" for command in list(passed)[-MOST_PASSED:])
        lines.append(f"Passed since these edits: {by}.")
    broken = [each for each in open_files if state.verdict(each) == "failed"]
    for check in state.checks.values():
        if check.failed and state.last_of_kind[_kind(check)] is check:
            if state.is_overtaken(check):
                continue
            why = f": {check.outcome}" if check.outcome else ""
            edited = " (before the last edits)" if waiting else ""
            before = [each for each in broken if check in state.checks_of(each)]
            shown = ", ".join(short_paths([each.path for each in before[-20:]]))
            shown = f"; not yet committed: {shown}" if shown else ""
            lines.append(f"Failing at the last run: `{check.command}`{why}{edited}{shown}.")
    for check in state.checks.values():
        if check.how == NOT_RUN and state.last_of_kind[_kind(check)] is check:
            lines.append(f"Could not be run: `{check.command}`: {check.outcome}.")
    if state.commits and not open_files and not (state.conflicts or state.resolved):
        where = "committed but not pushed" if state.unpushed else "committed and pushed"
        lines.append(f"Everything edited is {where}.")
    elif state.commits and state.unpushed:
        subject = _subject(state.commits[-1])
        lines.append(f"The last commit is not pushed{f': {subject}' if subject else ''}.")
    if state.stashed:
        lines.append("Changes are stashed (`git stash`) and not restored.")
    worked = state.files or state.commits or state.checks or state.merging
    place = [f"branch {state.branch}"] if state.branch and worked else []
    if state.pull_request:
        merged = ", merged" if state.merged else ""
        other = state.branch_of_request not in ("", state.branch)
        of_branch = f" of branch {state.branch_of_request}" if other else ""
        place.append(f"pull request {state.pull_request}{of_branch}{merged}")
    elif state.merged:
        place.append(f"pull request {state.merged} is merged")
    if place:
        lines.append(f"On {'; '.join(place)}.")
    return lines


MOST_PASSED = 3
CHECKED_PLACES = 2
"""Places that are described of a file that was checked."""


def _places_of(state: WorkState, file: File) -> int:
    return CHECKED_PLACES if state.verdict(file) == "passed" else MOST_PLACES


def edit_lines(state: WorkState) -> list[tuple[str, bool]]:
    """What is new in the files that are not committed, and whether it was checked; last is last.

    A file's places are described in the order of their last edits.
    """
    return [
        (
            f"{file.path.rpartition('/')[2]} now: {told.rstrip('.')}.",
            state.verdict(file) == "passed",
        )
        for file in sorted(state.uncommitted, key=lambda each: each.at)
        for told in places_told(file.new, file.path, _places_of(state, file))
    ]


def _conflict_lines(state: WorkState) -> list[str]:
    """What the sides of the conflicts have that remain, a line for each file."""
    lines = []
    for conflict in state.conflicts:
        found = next((names for path, names in state.sides.items() if _is_in(path, conflict)), ())
        if not found and state.sides:
            lines.append(f"Conflict in {conflict}: its sides were not read in this session.")
        if found:
            lines.append(f"Conflict in {conflict}: {'. '.join(found)}.")
    return lines


def _passed_since(other: Check, failing: Check) -> bool:
    """Whether a similar check passed after this one failed."""
    these, those = other.command.split(), failing.command.split()
    places = {word for word in these if "/" in word} & {word for word in those if "/" in word}
    alike = these[:2] == those[:2] or (these[:1] == those[:1] and places)
    return bool(alike) and other.how == "passed" and other.at > failing.at


def _kind(check: Check) -> tuple[str, ...]:
    """What checks with other arguments have in common."""
    return tuple(_BEFORE.sub("", check.command).split()[:3])


_BEFORE = re.compile(r"^(?:[A-Z_][A-Z_0-9]*=\S+ +|(?:time|env|nice(?: -n ?\d+)?|timeout \S+) +)+")
"""What may come before a command without changing it."""


def _subject(commit: Event) -> str:
    title = commit.what.split("\n", 1)[0]
    made = commit.outcome.rpartition(" ")[2]
    return f"{made} {title}".strip()


def next_lines(state: WorkState) -> list[str]:
    """What comes next as far as events tell it."""
    lines: list[str] = []
    started = [text for status, text in state.todo if status == "in_progress"]
    waiting = [text for status, text in state.pending if status != "in_progress"]
    done = sum(status in DONE_ITEMS for status, _ in state.todo)
    if started or waiting:
        parts = [f"in progress: {'; '.join(started)}"] if started else []
        parts += [f"pending: {'; '.join(waiting)}"] if waiting else []
        lines.append(f"To-do list ({done} of {len(state.todo)} done): {'. '.join(parts)}.")
    unchecked = _unverified(state)
    steps, after = [], []
    if state.conflicts:
        number = len(state.conflicts)
        steps.append(f"resolve the other conflicts ({number} file{'s' * (number > 1)})")
    ordered = state.ordered - state.given
    checked = bool(ordered) and not any(not state.verdict(each) for each in unchecked)
    if _owes_checks(state) and not checked and (commands := usual_commands(state)):
        code = [each for each in unchecked if not _PROSE.search(each.path)]
        names = ", ".join(each.path.rpartition("/")[2] for each in code[-6:])
        steps.append(f"run {commands} to verify the edits of {names}, which are not verified")
    if state.conflicts or state.resolved:
        steps.append("commit the merge")
    elif ordered:
        committed = "commit" not in ordered and state.uncommitted
        steps += ["commit"] * bool(committed)
        steps += [kind for kind in ("commit", "push", "open the pull request") if kind in ordered]
    elif state.commits and (unchecked or state.uncommitted):
        if _is_wanted(state, "commit", on_request=state.commits_on_request):
            steps.append("commit")
            if state.pushes and _is_wanted(state, "push", on_request=state.pushes_on_request):
                steps.append("push")
        elif "commit" not in state.restrained:
            after.append("The person asked for the last commit; none was asked for since.")
    if steps:
        lines.append(f"Still owed (not run yet): {', then '.join(steps)}, then report.")
    lines += after
    return lines


def _is_wanted(state: WorkState, kind: str, *, on_request: bool) -> bool:
    """Whether a step that was done before has to be done again: it was not only done on request,
    or it was asked for again, and nobody forbade it.
    """
    asked = kind in state.asked - state.given
    return kind not in state.restrained and (asked or not on_request)


def _unverified(state: WorkState) -> list[File]:
    """The edited files that are not committed, and that no check has seen, or not the whole one."""
    found = [each for each in state.unchecked if not each.committed]
    return found + [f for f in state.uncommitted if f not in found and _only_chosen(state, f)]


def _owes_checks(state: WorkState) -> bool:
    """Whether files have to be checked in a session that checks its files."""
    return bool(state.checks) and not all(_PROSE.search(f.path) for f in _unverified(state))


_PROSE = re.compile(r"\.(?:md|mdx|txt|rst|adoc)$", re.IGNORECASE)
"""Files that no check runs on."""


def _only_chosen(state: WorkState, file: File) -> bool:
    """Whether only chosen tests have passed since a file was changed, and not all of them."""
    passed = [each.command for each in state.checks_of(file) if each.how == "passed"]
    chosen = [each for each in passed if _CHOSEN.search(each)]
    return bool(chosen) and not any(_TESTS.search(each) for each in passed if each not in chosen)


def usual_commands(state: WorkState) -> str:
    """The commands that check this work, the usual ones first."""
    found = [
        each
        for each in sorted(
            state.checks.values(),
            key=lambda each: (each.how not in _RUNNING, -each.times, -each.turn),
        )
        if not _is_settled(state, each)
        and not any(_STEPS[kind].search(each.command) for kind in state.restrained & _CHECKING)
    ]
    whole = [each for each in found if not _CHOSEN.search(each.command)]
    tests = [each for each in whole if _TESTS.search(each.command)]
    shown = list({id(each): each for each in (*whole[: MOST_OWED - 1], *tests[:1])}.values())
    shown += [each for each in whole if each not in shown][: MOST_OWED - len(shown)]
    names = [f"`{each.command}`" for each in shown]
    chosen = [each for each in state.checks.values() if _CHOSEN.search(each.command)]
    if chosen and not tests:
        again = [f"`{each.command}`" for each in chosen if not _is_settled(state, each)]
        names = [*again[:1], *names[: MOST_OWED - 1]]
        names.append("the whole test suite (only some of the tests were run)")
    return ", ".join(names)


def _is_settled(state: WorkState, check: Check) -> bool:
    """Whether a check passed after the last edit, or could not be run at all."""
    latest = max((f.at for f in _unverified(state) if not _PROSE.search(f.path)), default=0)
    return check.how == NOT_RUN or (check.how == "passed" and check.at > latest)


MOST_OWED = 3
_CHECKING = frozenset({"build", "test", "lint"})
_CHOSEN = re.compile(
    r" -run\b| -k\b|::|--(?:filter|grep|tests|testNamePattern|test-name-pattern)\b| -t\b"
    r"|test\S{0,200}\.(?:py|[cm]?[jt]sx?|rb|php|exs?|rs)\b|\b(?:cargo|dotnet)\b.* -p \w| --test \w"
)
"""What a command has that runs only some of the tests."""
_TESTS = re.compile(r"\btests?\b|pytest|jest|vitest|rspec|phpunit|ctest|tox|nox|\bcheck\b|\bci\b")


MANY_COMMITS = 4
"""Commits from which on each is described by its subject alone."""


def done_lines(state: WorkState) -> list[tuple[int, str]]:
    """Commits with their turns."""
    lines = []
    for number, commit in enumerate(state.commits):
        made = "Committed and pushed" if number < state.pushed else "Committed"
        title, _, body = commit.what.partition("\n")
        place = f" [{commit.outcome}]" if commit.outcome else ""
        first = next((line for line in body.split("\n") if line.strip()), "").strip()
        more = f" - {first}" if first else ""
        if len(state.commits) > MANY_COMMITS:
            more = ""
            place = f" [{commit.outcome.rpartition(' ')[2]}]" if commit.outcome else ""
        lines.append((commit.turn, f"{made}{place}: {title}{more}" if title else f"{made}{place}."))
    return lines


def file_line(file: File, why: str) -> str:
    """A changed file, what was added to it, and what for."""
    text = f"{_counted(file)}"
    return f"{text}: {why}" if why else text


def command_lines(state: WorkState) -> list[str]:
    """The commands that checked the work, and how they went the last time."""
    lines = []
    for check in state.usual_checks:
        if state.is_overtaken(check):
            continue
        how = f"{check.how} at the last run" if check.how in ("failed", "passed") else check.how
        times = f", run {check.times} times" if check.times > 1 else ""
        lines.append(f"`{check.command}` ({how}{times})")
    return lines


class Refusal(Struct, frozen=True):
    """A call that the person refused, and their words."""

    turn: int
    what: str
    words: str


def refused(moments: Sequence[Moment]) -> list[Refusal]:
    """Calls that the person refused. One without words counts until they speak again."""
    found = []
    last = max((m.turn for m in moments if is_person(m)), default=-1)
    for at, each in enumerate(moments):
        if isinstance(each, Event) and each.kind is Kind.REFUSED:
            after = moments[at + 1] if at + 1 < len(moments) else None
            words = ""
            if (
                isinstance(after, Message)
                and after.voice is Voice.PERSON
                and after.turn == each.turn
            ):
                words = " ".join(after.text.split())[:400]
            if "git push" in each.what and any(map(_is_push, moments[at + 1 :])):
                continue
            if words or each.turn >= last:
                found.append(Refusal(each.turn, each.what or "a call", words))
    return found


def _is_push(moment: Moment) -> bool:
    return isinstance(moment, Event) and moment.kind is Kind.PUSH and moment.failed is False
