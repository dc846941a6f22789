"""A model run over sessions: an estimate of its cost, then each session as it finishes.

Sessions are processed in order, a few pieces at a time. Answers are cached, so an interrupted run
resumes where it stopped.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct, structs

from reviewer.clock import TimeLeft
from reviewer.errors import SourceError
from reviewer.llm.model import CancelledError, ModelError
from reviewer.proposing.given import (
    MAX_TOKENS,
    KnownText,
    QuestionContext,
    given,
    known_near,
)
from reviewer.proposing.proof import prove
from reviewer.proposing.proof_index import ProofIndex
from reviewer.proposing.reader_view import reader_view
from reviewer.proposing.session_view import view_of
from reviewer.proposing.statements import (
    EXPECTED_ANSWER,
    BudgetReachedError,
    PieceStatements,
    Spent,
    StatementWriter,
)
from reviewer.proposing.values import LineRole, Proof, Proposal, Proved, SessionView
from reviewer.proposing.view_pieces import Piece, end_of, pieces
from reviewer.sessions.findings import Findings
from reviewer.sources.stream import read
from reviewer.text.numerals import count

LARGEST_PIECE = 60_000
"""Maximum tokens of a piece, whatever the model's context: readers miss the middle of longer
ones."""
SMALLEST_PIECE = 1_000
MARGIN = 200
"""Tokens kept free, because encodings differ."""
FAILURES = 3
"""Consecutive failures that end a run: the next question would fail too."""
POLL = 0.1


class PlannedQuestion(Struct, frozen=True):
    """A piece to ask about. `tokens`: of the question; `cached`: it costs nothing."""

    part: int
    piece: Piece
    tokens: int
    cached: bool
    given: QuestionContext
    given_tokens: int
    """Token budget for findings and known texts."""


class PlannedSession(Struct, frozen=True):
    view: SessionView
    pieces: tuple[PlannedQuestion, ...]
    end: int = 0
    """The offset in the file where the last line of the view ends; 0 if the file has several
    conversations, of which the newest may come first.
    """


class RunPlan(Struct, frozen=True):
    """The plan of a run. `unread`: files that are not sessions or cannot be read, with the
    reason.
    """

    sessions: tuple[PlannedSession, ...]
    unread: tuple[tuple[Path, str], ...] = ()
    nothing_new: tuple[PlannedSession, ...] = ()
    """Sessions of which another one has all, or without anything since they were read; they are in
    `unread`, too."""

    @property
    def pieces(self) -> int:
        return sum(len(each.pieces) for each in self.sessions)

    @property
    def cached(self) -> int:
        return sum(piece.cached for each in self.sessions for piece in each.pieces)

    @property
    def tokens_in(self) -> int:
        """Tokens of the questions not answered yet, without retries."""
        return sum(_unanswered_tokens(each.pieces) for each in self.sessions)

    @property
    def tokens_out(self) -> int:
        """Estimated tokens of the answers."""
        return EXPECTED_ANSWER * (self.pieces - self.cached)


class SessionDone(Struct, frozen=True):
    """The result for a session. `answered`: its pieces with an answer, of which `read` had
    something readable; `left`: those without.
    """

    path: Path
    proved: tuple[Proved, ...]
    dropped: Mapping[str, int]
    failures: tuple[str, ...]
    answered: int
    left: int
    read: int


def piece_tokens(writer: StatementWriter, *, context_tokens: int, answer_tokens: int) -> int:
    """Maximum tokens of a piece so that it fits into a context with prompt and answer.

    Raises ModelError if the context is too small.
    """
    room = context_tokens - answer_tokens - writer.prompt_tokens() - MARGIN
    room -= min(MAX_TOKENS, max(room, 0) // 3)  # for findings and known texts
    if room < SMALLEST_PIECE:
        needed = context_tokens - room + SMALLEST_PIECE
        raise ModelError(
            f"context_tokens under [model] is {context_tokens:,}, too small for the prompt, a part "
            f"of a session and an answer. At least {needed:,} are needed."
        )
    return min(room, LARGEST_PIECE)


def plan_run(
    paths: Sequence[Path],
    writer: StatementWriter,
    *,
    max_tokens: int,
    known: Sequence[KnownText] = (),
    recurring: Mapping[str, int] = {},
    read_to: Mapping[Path, int] = {},
    cancelled: Callable[[], bool] = lambda: False,
    progress: Callable[[str], None] = lambda _: None,
) -> RunPlan:
    """Read the sessions and estimate their cost. Sends no request.

    `known`: texts that questions may list as known; `recurring`: the number of sessions with a
    finding, by signature; `read_to`: the offset up to which a session was read before. Unreadable
    files are listed in the plan. Raises CancelledError.
    """
    sessions, unread, nothing_new = [], [], []
    said: set[object] = set()
    for number, path in enumerate(paths, 1):
        if cancelled():
            raise CancelledError("Stopped before the model was asked.")
        progress(f"Reading {number:,} of {len(paths):,}  {path}")
        try:
            stream, collector = read(path), Findings()
            whole = view_of(stream, findings=collector)
            findings = collector.close()
        except SourceError as problem:
            unread.append((path, str(problem)))
            continue
        if not whole.lines:
            unread.append((path, "nothing to read in it"))
            continue
        end = 0 if stream.several else max(map(end_of, whole.lines))
        own = _without_copy(whole, said)
        if not own.lines:
            unread.append((path, "another session has all of it"))
            nothing_new.append(PlannedSession(whole, (), end))
            continue
        first = own.lines[0].line
        view = reader_view(own, [f for f in findings if f.evidence and f.evidence[0].line >= first])
        cut = pieces(view, max_tokens=max_tokens, read_to=read_to.get(path, 0))
        if not cut:
            unread.append((path, "nothing new since it was read"))
            nothing_new.append(PlannedSession(whole, (), end))
            continue
        planned = []
        for part, piece in enumerate(cut, 1):
            room = min(MAX_TOKENS, max_tokens // 2)
            beside = given(piece.lines, findings, known, sessions=recurring, tokens=room)
            question = writer.question(piece, part=part, parts=len(cut), given=beside)
            kept = writer.is_cached(question)
            planned.append(PlannedQuestion(part, piece, question.tokens, kept, beside, room))
        sessions.append(PlannedSession(view, tuple(planned), end))
    return RunPlan(tuple(sessions), tuple(unread), tuple(nothing_new))


def _without_copy(view: SessionView, said: set[object]) -> SessionView:
    """The view without the beginning that another session of the run has, too: some agents copy a
    session when it is resumed or forked, and some give the copy new times. `said`: the messages of
    all views so far with their times, and hashes of all texts up to each of them.
    """
    copied, answered, is_copy = 0, False, True
    texts = 0
    new: set[object] = set()
    for number, line in enumerate(view.lines):
        if line.role not in (LineRole.USER, LineRole.ASSISTANT):
            continue
        texts = hash((texts, line.text))
        answered = answered or line.role is LineRole.ASSISTANT
        message = (line.at, line.text)
        same = bool(line.at) and message in said
        is_copy = is_copy and (same or texts in said)
        if is_copy and (same or answered):
            copied = number + 1
        new |= {texts, message}
    said |= new
    return structs.replace(view, lines=view.lines[copied:])


class _Open:
    """A session in progress."""

    def __init__(
        self, session: PlannedSession, number: int, known: Callable[[str], tuple[str, ...]]
    ) -> None:
        self.number = number
        self.path = session.view.path
        self.parts = len(session.pieces)
        self.waiting = self.parts
        self.written: dict[int, PieceStatements] = {}
        self.failures: list[str] = []
        self.left = 0
        self._index = ProofIndex(session.view)
        self._known = known

    def check(self, proposal: Proposal) -> Proof:
        return prove(proposal, self._index, known=self._known)

    def done(self) -> SessionDone:
        """The results, in session order."""
        written = [self.written[part] for part in sorted(self.written)]
        dropped: Counter[str] = Counter()
        for each in written:
            dropped.update(each.dropped)
        left = self.left + self.waiting
        return SessionDone(
            self.path,
            tuple(proved for each in written for proved in each.proved),
            dict(dropped),
            tuple(self.failures),
            self.parts - left,
            left,
            sum(each.read for each in written if each.problem is None),
        )


@dataclass
class ModelRun:
    """A run of a plan.

    `known` returns the places where a statement is already known; `listed` the statements that each
    question lists as known, extended by earlier sessions of the run. `spent` counts the tokens
    sent, and limits them. Three consecutive failures end the run.
    """

    plan: RunPlan
    writer: StatementWriter
    known: Callable[[str], tuple[str, ...]]
    listed: Callable[[], Sequence[KnownText]]
    concurrency: int
    spent: Spent
    cancelled: Callable[[], bool] = lambda: False
    progress: Callable[[str], None] = lambda _: None
    over: threading.Event = field(default_factory=threading.Event)
    failures: int = 0
    statements: int = 0
    began: float = field(default_factory=time.monotonic)
    time_left: TimeLeft = field(default_factory=TimeLeft)
    tokens_done: int = 0
    """Tokens of finished questions that needed a request."""

    def _cancelled(self) -> bool:
        return self.over.is_set() or self.cancelled()

    def results(self) -> Generator[SessionDone, None, None]:
        """The sessions as they finish; after a stop, the ones in progress come last. Closing the
        iterator cancels the requests.
        """
        running: dict[Future[PieceStatements], tuple[_Open, PlannedQuestion]] = {}
        open_sessions: list[_Open] = []
        tasks = self._tasks(open_sessions)
        with ThreadPoolExecutor(self.concurrency, thread_name_prefix="statements") as pool:
            try:
                while True:
                    if self._cancelled() or self.failures >= FAILURES:
                        tasks.close()
                    while len(running) < self.concurrency and (task := next(tasks, None)):
                        running[pool.submit(self._write, *task)] = task
                    if not running:
                        break
                    self._show(open_sessions)
                    done, _ = wait(running, timeout=POLL, return_when=FIRST_COMPLETED)
                    for each in done:
                        session, planned = running.pop(each)
                        self._note(each, session, planned.part)
                        self.tokens_done += _unanswered_tokens([planned])
                        if not session.waiting:
                            open_sessions.remove(session)
                            yield session.done()
                for session in open_sessions:
                    yield session.done()
            finally:
                self.over.set()

    def _tasks(
        self, open_sessions: list[_Open]
    ) -> Generator[tuple[_Open, PlannedQuestion], None, None]:
        for number, planned in enumerate(self.plan.sessions, 1):
            session = _Open(planned, number, self.known)
            open_sessions.append(session)
            for piece in planned.pieces:
                yield session, piece

    def _write(self, session: _Open, planned: PlannedQuestion) -> PieceStatements:
        return self.writer.write(
            session.path,
            planned.piece,
            part=planned.part,
            parts=session.parts,
            given=structs.replace(
                planned.given,
                known=known_near(
                    planned.piece.lines,
                    self.listed(),
                    planned.given.signatures,
                    planned.given_tokens,
                ),
            ),
            check=session.check,
            cancelled=self._cancelled,
            spent=self.spent,
        )

    def _note(self, future: Future[PieceStatements], session: _Open, part: int) -> None:
        problem: Exception | None = None
        try:
            written = future.result()
        except BudgetReachedError:
            session.left += 1
        except Exception as raised:  # whatever the error, keep the other pieces
            problem = raised
        else:
            problem = written.problem
            session.written[part] = written
            self.statements += len(written.proved)
        if isinstance(problem, CancelledError):
            return  # it stays in the queue
        if problem is not None:
            self.failures += 1
            session.left += 1
            session.failures.append(_failure(problem, session.path))
        elif part in session.written:
            self.failures = 0
        session.waiting -= 1

    def _show(self, open_sessions: Sequence[_Open]) -> None:
        """Report the first unfinished session and the overall progress."""
        if open_sessions:
            session = open_sessions[0]
            done, total = self.tokens_done, self.plan.tokens_in
            left = self.time_left.words(done, total)
            self.progress(
                f"Session {session.number:,} of {len(self.plan.sessions):,}, piece "
                f"{min(session.parts - session.waiting + 1, session.parts):,} of "
                f"{session.parts:,}  {left or f'{time.monotonic() - self.began:,.0f} s'}  "
                f"{count(self.statements, 'statement')}  {session.path.name}"
            )


def _unanswered_tokens(planned: Iterable[PlannedQuestion]) -> int:
    """Tokens of questions that need a request."""
    return sum(each.tokens for each in planned if not each.cached)


def _failure(problem: Exception, path: Path) -> str:
    if isinstance(problem, ModelError):
        return str(problem)  # concerns the model: the same for every session
    what = problem.strerror if isinstance(problem, OSError) else None
    return f"{path.name}: {what or f'{type(problem).__name__}: {problem}'}"
