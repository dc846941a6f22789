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
    from reviewer.promotion.triage import Done
    from reviewer.promotion.views import CandidateView
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
    """One pass over the queue."""

    def __init__(self, engine: Engine, project: str | None, after: str) -> None:
        self._engine = engine
        self._project = project
        self._after = after
        self._ids = self._waiting()
        self._at = 0
        self._promoted = self._rejected = 0

    def run(self) -> None:
        if not self._ids:
            print_text("Nothing is waiting. Read this project's sessions: reviewer ingest")
            return
        print_text(f"{count(len(self._ids), 'candidate')} to decide on. {_short(LETTERS)}")
        while self._at < len(self._ids):
            view = self._engine.queue.candidate(self._ids[self._at])
            if view.status != "candidate":
                self._at += 1
                continue
            for line in self._lines(view):
                print_text(line)
            if not self._decide(view):
                break
        else:
            print_text("That was the last one.")
        waiting = self._engine.queue.counts(self._project).waiting
        print_text(
            f"{self._promoted:,} kept, {self._rejected:,} rejected, {waiting:,} waiting."
            + (f" {self._after}" if self._promoted else "")
        )

    def _waiting(self) -> list[int]:
        from reviewer.promotion.views import QueueQuery

        return list(self._engine.ids(QueueQuery(project=self._project)))

    # what is read out

    def _lines(self, view: CandidateView) -> Iterator[str]:
        yield ""
        yield f"{self._at + 1} of {len(self._ids)}. {_kind(view)}."
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
            from reviewer.promotion.proof_words import ticks

            checks = ticks(view.proof)
            failed = [tick.text for tick in checks if not tick.met]
            met = [tick.text for tick in checks if tick.met]
            if failed:
                yield f"Proof, in doubt: {'; '.join(failed)}."
            if met:
                yield f"Proof: {'; '.join(met)}."
        if view.hand_authored:
            yield "Written by hand."
            return
        evidence = self._engine.queue.evidence(view.id, around=0)[0]
        record = evidence.record
        quote = record.text[evidence.span_start : evidence.span_end]
        when = f", {record.at[:10]}" if record.at else ""
        yield f"From {record.path}, line {evidence.line + 1}, {record.role}{when}."
        if " ".join(view.content.split()) not in " ".join(quote.split()):
            yield f"It says: {_one_line(quote)}"
        if view.seen > 1:
            yield f"Seen {view.seen} times in {count(view.sessions, 'session')}."

    # what is typed

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
                if self._do(letter, view):
                    return True
            except ReviewerError as problem:
                print_text(str(problem))

    def _do(self, letter: Letter, view: CandidateView) -> bool:
        """Do what a letter says; whether to go on from this candidate."""
        triage = self._engine.triage
        conflicts = self._engine.conflicts
        acts: dict[Letter, Callable[[], Done]] = {
            REJECT: lambda: triage.reject([view.id]),
            LATER: lambda: triage.defer([view.id]),
            LEFT: lambda: conflicts.supersede(view.id, conflicts.get(view.id).left.id),
            RIGHT: lambda: conflicts.supersede(view.id, conflicts.get(view.id).right.id),
            BOTH: lambda: conflicts.keep_both(view.id),
            DISMISS: lambda: conflicts.dismiss(view.id),
        }
        if letter is HELP:
            for each in OF_CONFLICTS if view.kind == "conflict" else LETTERS:
                print_text(f"{each.key}: {each.title}. Or type {each.words[0]}.")
            return False
        if letter is MORE:
            from reviewer.cli.candidate import show_candidate

            for line in show_candidate(self._engine, view.id):
                print_text(line)
            return False
        if letter is UNDO:
            return self._undo()
        if letter in (NEXT, BACK):
            self._at = self._at + 1 if letter is NEXT else max(self._at - 1, 0)
            return True
        if letter in (KEEP, REWORD):
            return self._keep(view, reword=letter is REWORD or view.is_excerpt)
        done = acts[letter]()
        self._rejected += letter in (REJECT, DISMISS)
        self._went_on(done)
        return True

    def _keep(self, view: CandidateView, *, reword: bool) -> bool:
        """Promote a candidate, first in other words where that is asked for."""
        if not reword:
            done = self._engine.triage.promote([view.id])
        else:
            hint = "Type the memory in one line. An empty line takes it as it is, a dot goes back."
            typed = _ask(hint)
            if typed is None or typed == ".":
                return False
            done = (
                self._engine.triage.edit(view.id, typed)
                if typed
                else self._engine.triage.promote([view.id])
            )
        self._promoted += 1
        self._went_on(done)
        return True

    def _went_on(self, done: Done) -> None:
        print_text(f"{done.title}. u takes it back.")
        self._at += 1
        if "conflict" in done.title:  # the conflict that a promotion has opened comes next
            known = set(self._ids)
            self._ids[self._at : self._at] = [one for one in self._waiting() if one not in known]

    def _undo(self) -> bool:
        undone = self._engine.history.undo()
        print_text(f"Undone: {undone.title}.")
        here = [number for number in undone.ids if number in self._ids]
        if here:
            self._at = self._ids.index(here[0])
            if undone.title.startswith("Promoted"):
                self._promoted -= 1
            elif undone.title.startswith("Rejected"):
                self._rejected -= 1
        return bool(here)


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
