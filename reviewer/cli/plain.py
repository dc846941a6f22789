"""`reviewer --plain`: the queue line by line, for screen readers, pipes and simple terminals.

One candidate, its proof, and one letter. Nothing is drawn, coloured or overwritten.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from reviewer.cli.output import count, print_text
from reviewer.cli.progress import ProgressLine, interruptible
from reviewer.errors import ReviewerError

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.promotion.views import CandidateView, Done
    from reviewer.start import FoundProject, Start


class Letter(NamedTuple):
    """A letter with the words that mean the same."""

    key: str
    title: str
    words: tuple[str, ...]


KEEP = Letter("a", "keep it as a memory", ("accept", "approve", "keep", "promote", "yes"))
REJECT = Letter("x", "reject it", ("reject", "drop", "delete", "remove", "no"))
REWORD = Letter("e", "reword it and keep it", ("edit", "reword", "rewrite"))
LATER = Letter("s", "move it to the end of the queue", ("defer", "later", "snooze", "skip"))
NEXT = Letter("n", "leave it as it is and go on", ("next",))
BACK = Letter("b", "go back to the one before", ("back", "previous"))
UNDO = Letter("u", "take back the last decision", ("undo",))
MORE = Letter("p", "read where it comes from", ("proof", "evidence", "source", "more"))
HELP = Letter("?", "these letters", ("help", "h"))
LEAVE = Letter("q", "leave; everything decided is kept", ("quit", "leave", "exit"))
LETTERS = (KEEP, REJECT, REWORD, LATER, NEXT, BACK, UNDO, MORE, HELP, LEAVE)

LEFT = Letter("1", "keep the first, which replaces the second", ("first", "left"))
RIGHT = Letter("2", "keep the second, which replaces the first", ("second", "right"))
BOTH = Letter("3", "keep both", ("both",))
DISMISS = Letter("x", "it is no conflict", REJECT.words)
OF_CONFLICTS = (LEFT, RIGHT, BOTH, DISMISS, NEXT, BACK, UNDO, MORE, HELP, LEAVE)

NUMBERED_AT_MOST = 20


def choose_and_read(engine: Engine, start: Start) -> bool:
    """Offer what there is to read, and read one project; whether there is a queue to go on with.

    Raises as `Intake.ingest` does.
    """
    print_text("Looking where agents keep their sessions.")
    found = start.find()
    projects = found.projects
    if len(projects) > NUMBERED_AT_MOST:  # the last row stands for all of them
        projects = (*projects[: NUMBERED_AT_MOST - 1], projects[-1])
    if not projects:
        for sentence in found.nothing:
            print_text(sentence)
        return False
    for number, each in enumerate(projects, 1):
        print_text(_offer(number, each, len(projects)))
    print_text("Sessions are only read, and nothing leaves this machine.")
    numbers = "1" if len(projects) == 1 else f"1 to {len(projects)}"
    while (answer := _ask(f"Which one to read, {numbers}? enter reads 1, q leaves.")) is not None:
        if answer in ("", "y", "yes"):
            answer = "1"
        if answer in ("q", "n", "no", *LEAVE.words):
            return False
        if answer.isdecimal() and 1 <= int(answer) <= len(projects):
            _read(start, projects[int(answer) - 1])
            return True
    return False


def _offer(number: int, project: FoundProject, of: int) -> str:
    agents = ", ".join(f"{agent} {times:,}" for agent, times in project.agents)
    here = ", this folder" if project.here and of > 1 else ""
    return (
        f"{number}. {project.name}{here}: {count(project.sessions, 'session')},"
        f" {project.bytes / 1e6:,.1f} MB. {agents}."
    )


def _read(start: Start, project: FoundProject) -> None:
    start.begin(project)
    line = ProgressLine()
    with interruptible() as interruption:
        try:
            report = start.read(project, line, interruption)
        finally:
            line.clear()
    stopped = "Stopped; what was read is kept. " if report.stopped else ""
    print_text(f"{stopped}Read {count(report.files, 'file')}.")
    for sentence in report.left_out:
        print_text(f"Left out: {sentence}")


TO_AGENTS = "Give them to your agents: reviewer connect"


def triage(engine: Engine, project: str | None, *, after: str = TO_AGENTS) -> None:
    """Go through what waits, one candidate and one letter at a time, until the end or `q`.

    `after`: what to do with what was kept.
    """
    _Round(engine, project, after).run()


class _Round:
    """One pass over the queue: what was decided or passed over does not come again, unless it is
    undone or gone back to.
    """

    def __init__(self, engine: Engine, project: str | None, after: str) -> None:
        self._engine, self._project, self._after = engine, project, after
        self._passed: list[int] = []
        self._kept: set[int] = set()
        self._rejected: set[int] = set()

    def run(self) -> None:
        if not (left := self._left()):
            print_text("Nothing is waiting. Read this project's sessions: reviewer ingest")
            return
        print_text(f"{count(len(left), 'candidate')} to decide on. {_short(LETTERS)}")
        while left := self._left():
            view = self._engine.queue.candidate(left[0])
            number = len(self._passed) + 1
            print_text("")
            print_text(f"{number} of {number + len(left) - 1}. {_kind(view)}.")
            for line in self._lines(view):
                print_text(line)
            if not self._decide(view):
                break
        else:
            print_text("That was the last one.")
        waiting = self._engine.queue.counts(self._project).waiting
        print_text(
            f"{len(self._kept):,} kept, {len(self._rejected):,} rejected, {waiting:,} waiting."
            + (f" {self._after}" if self._kept else "")
        )

    def _left(self) -> list[int]:
        from reviewer.promotion.views import QueueQuery

        waiting = self._engine.ids(QueueQuery(project=self._project))
        return [number for number in waiting if number not in self._passed]

    def _lines(self, view: CandidateView) -> Iterator[str]:
        if view.kind == "conflict":
            conflict = self._engine.conflicts.get(view.id)
            yield "These two contradict each other."
            yield f"First: {_one_line(conflict.left.content)}"
            yield f"Second: {_one_line(conflict.right.content)}"
            return
        yield _one_line(view.content)
        if view.flags:
            yield f"Careful: {', '.join(view.flags)}."
        if view.proof is not None:
            from reviewer.promotion.lists.proof_words import ticks

            checks = ticks(view.proof)
            for met, head in ((False, "Proof, in doubt"), (True, "Proof")):
                if words := [tick.text for tick in checks if tick.met is met]:
                    yield f"{head}: {'; '.join(words)}."
        if view.hand_authored:
            yield "Written by hand."
            return
        evidence = self._engine.queue.evidence(view.id, around=0)[0]
        record = evidence.record
        quote = record.text[evidence.span_start : evidence.span_end]
        when = f", {record.at[:10]}" if record.at else ""
        yield f"From {record.path}, line {evidence.line + 1}, {record.role}{when}."
        if _one_line(view.content) not in _one_line(quote):
            yield f"It says: {_one_line(quote)}"
        if view.came_up > 1:
            yield f"Seen {view.came_up} times in {count(view.sessions, 'session')}."

    def _decide(self, view: CandidateView) -> bool:
        """Ask until something was done with a candidate; False to leave."""
        letters = OF_CONFLICTS if view.kind == "conflict" else LETTERS
        while True:
            typed = _ask(f"{', '.join(letter.key for letter in letters)}: ")
            if typed is None:
                return False
            letter = _meant(typed, letters)
            if letter is None:
                print_text(f"There is no letter {typed}. {_short(letters)}")
                continue
            if letter is LEAVE:
                return False
            try:
                if self._do(letter, view, letters):
                    return True
            except ReviewerError as problem:
                print_text(str(problem))

    def _do(self, letter: Letter, view: CandidateView, letters: tuple[Letter, ...]) -> bool:
        """Do what a letter says; whether to go on from this candidate."""
        triage, conflicts = self._engine.triage, self._engine.conflicts
        acts: dict[Letter, Callable[[], Done]] = {
            REJECT: lambda: triage.reject([view.id]),
            LATER: lambda: triage.defer([view.id]),
            LEFT: lambda: conflicts.supersede(view.id, conflicts.get(view.id).left.id),
            RIGHT: lambda: conflicts.supersede(view.id, conflicts.get(view.id).right.id),
            BOTH: lambda: conflicts.keep_both(view.id),
            DISMISS: lambda: conflicts.dismiss(view.id),
        }
        if letter is HELP:
            for each in letters:
                print_text(f"{each.key}: {each.title}. Or type {each.words[0]}.")
            return False
        if letter is MORE:
            from reviewer.cli.candidate import show_candidate

            for line in show_candidate(self._engine, view.id):
                print_text(line)
            return False
        if letter is UNDO:
            undone = self._engine.history.undo()
            print_text(f"Undone: {undone.title}.")
            self._passed = [number for number in self._passed if number not in undone.ids]
            self._kept.difference_update(undone.ids)
            self._rejected.difference_update(undone.ids)
            return True
        if letter is NEXT:
            self._passed.append(view.id)
            return True
        if letter is BACK:
            if self._passed:
                self._passed.pop()
            return True
        if letter in (KEEP, REWORD):
            done = self._keep(view, reword=letter is REWORD or view.is_excerpt)
            if done is None:
                return False
            self._kept.add(view.id)
        else:
            done = acts[letter]()
            if letter in (REJECT, DISMISS):
                self._rejected.add(view.id)
        print_text(f"{done.title}. u takes it back.")
        self._passed.append(view.id)
        return True

    def _keep(self, view: CandidateView, *, reword: bool) -> Done | None:
        """Promote a candidate, first in other words where that is asked for; None to go back."""
        typed: str | None = ""
        if reword:
            typed = _ask(
                "Type the memory in one line. An empty line takes it as it is, a dot goes back."
            )
        if typed is None or typed == ".":
            return None
        triage = self._engine.triage
        return triage.edit(view.id, typed) if typed else triage.promote([view.id])


def _ask(prompt: str) -> str | None:
    """What is typed after a prompt, without white space around it; None at the end of the input."""
    print_text(prompt)
    sys.stdout.flush()
    line = sys.stdin.readline()
    return line.strip() if line else None


def _meant(typed: str, letters: tuple[Letter, ...]) -> Letter | None:
    word = typed.casefold()
    for letter in letters:
        if word == letter.key or word in letter.words:
            return letter
    return None


def _short(letters: tuple[Letter, ...]) -> str:
    """The letters in one line."""
    return "Type a letter and enter: " + ", ".join(
        f"{letter.key} {letter.words[0]}" for letter in letters if letter.words
    )


def _kind(view: CandidateView) -> str:
    if view.kind == "conflict":
        return "Conflict"
    if view.is_excerpt:
        return "A place to look, to word a memory from"
    return f"{view.type.replace('_', ' ').capitalize()}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
