"""`reviewer propose`: a model writes statements from sessions, after an estimate of the cost."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import click
from msgspec import structs, to_builtins

from reviewer.cli.handover import find_session
from reviewer.cli.inputs import FILE, flag, option
from reviewer.cli.output import (
    by_reason,
    count,
    emit,
    json_option,
    narrate,
    print_json,
    print_text,
    table,
)
from reviewer.cli.progress import ProgressLine, working
from reviewer.cli.session import FAILED, INTERRUPTED, Session, Verb, leave, pass_session
from reviewer.cli.sources import ingested_sessions
from reviewer.errors import ReviewerError, SourceError
from reviewer.llm.agents import AGENTS
from reviewer.llm.answer_cache import AnswerCache, answers_folder
from reviewer.llm.command import agents_found
from reviewer.llm.model import CancelledError, ChatModel, ModelError
from reviewer.llm.open_model import context_tokens, open_model
from reviewer.proposing.values import Proposer, Proved
from reviewer.settings import Settings, load_settings, settings_path

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.proposing.given import KnownText
    from reviewer.proposing.model_run import RunPlan, SessionDone
    from reviewer.proposing.statements import StatementWriter


@click.command(cls=Verb, example="propose ~/.claude/projects/-home-me-kiosk --command claude")
@click.argument("paths", type=FILE, nargs=-1, metavar="[PATH|SESSION]...")
@option("--model NAME", "The model, instead of name under [model].")
@option(
    "--command AGENT",
    "Ask claude, codex, gemini, opencode or any program, instead of the endpoint.",
)
@flag("--dry-run", "Only print the cost.")
@flag("--yes", "Do not ask before the first request.")
@option("--max-tokens-in N", "Send at most N tokens in this run.", least=1)
@option("--newest N", "Only the N newest sessions that no reader has read.", least=1)
@json_option("One JSON object per statement, on its own line.")
@flag("--follow", "Progress as JSON, for the screen.", hidden=True)
@pass_session
def propose(
    session: Session,
    paths: tuple[Path, ...],
    model: str | None,
    command: str | None,
    dry_run: bool,
    yes: bool,
    max_tokens_in: int | None,
    newest: int | None,
    as_json: bool,
    follow: bool,
) -> None:
    """The model comes from [model] in the settings, or else is an installed agent; --command names
    another. The cost is printed first, and nothing is sent before you agree. Every statement is
    checked against the session: its quotes, names and numbers, and whether it is already known.

    A folder is searched for sessions; SESSION is the id of an ingested one. Without either, every
    ingested session of the project is covered. Answers are cached, so nothing is paid for twice:
    after Ctrl-C, or at the limit of --max-tokens-in, run the same command to continue.
    """
    from reviewer.proposing.model_run import ModelRun, piece_tokens, plan_run

    session.refuse_all_projects()
    if newest is not None and paths:
        raise click.UsageError("--newest chooses the sessions itself: name none")
    settings = _settings(model, command, asks=dry_run or _has_terminal())
    chat = open_model(settings)
    read_to: dict[Path, int] = {}
    if newest is None:
        files = _sessions(session, paths)
    else:
        files, read_to = _unread(session, newest)
    shown = _Follower() if follow else ProgressLine()
    limit = context_tokens(settings)
    writer, answer_tokens = _writer(chat, settings, limit)
    known_texts, recurring = _known(session)
    with working(shown) as (line, interruption):
        plan = plan_run(
            files,
            writer,
            max_tokens=piece_tokens(writer, context_tokens=limit, answer_tokens=answer_tokens),
            known=known_texts,
            recurring=recurring,
            read_to=read_to,
            cancelled=interruption,
            progress=line.show,
        )
    if interruption():  # at the last file
        raise KeyboardInterrupt
    for path, reason in plan.unread:
        narrate(f"Skipped: {reason if str(path) in reason else f'{path}: {reason}'}")
    if not (plan.pieces or plan.nothing_new):
        raise SourceError("There is no session to ask about.")
    cost = _cost(plan, settings, chat.name)
    if dry_run:
        emit([cost], as_json, lines=lambda _: [_cost_line(cost, settings)])
        return
    if plan.pieces:
        narrate(_cost_line(cost, settings))
    cut = _why_pieces(plan, limit)
    if cut:
        narrate(cut)
    if not yes and plan.pieces == plan.cached:
        max_tokens_in = 0  # nobody agreed to second tries, so there are none
    else:
        _require_room(plan, max_tokens_in)
        if not yes and not _agreed(max_tokens_in):
            narrate("Nothing was sent.")
            return
    with (
        session.changing(create=True, new_outside=True) as engine,
        working(shown) as (line, interruption),
    ):
        project = session.target(engine)
        done = _Outcome(plan, chat.name, engine, project, max_tokens_in)
        for finished in plan.nothing_new:
            done.note_read(finished.view.path)
        known = engine.proposals.known(project)
        run = ModelRun(
            plan,
            writer,
            known=known,
            listed=known.listed,
            concurrency=settings.model.concurrency,
            spent=done.spent,
            cancelled=interruption,
            progress=lambda text: line.show(text if follow else f"{text}  Ctrl-C stops"),
        )
        with closing(run.results()) as results:
            for each in results:
                line.clear()
                done.add(each, as_json=as_json)
        if not (interruption() or done.failures or done.left):
            line.show("Comparing the statements of all sessions", at_once=True)
            done.compare(writer, interruption)
        done.count_deferred()
    if follow:
        print_json(done.for_screen(cut))
    else:
        done.report(as_json=as_json, interrupted=interruption())


class _Follower(ProgressLine):
    """Progress as one JSON object per line, for the screen that started this. The end of its side
    of stdin counts as Ctrl-C.
    """

    def __init__(self) -> None:
        super().__init__()
        self._shown = True
        Thread(target=self._wait, name="screen", daemon=True).start()

    def _wait(self) -> None:
        while os.read(sys.stdin.fileno(), 1 << 10):
            pass
        signal.raise_signal(signal.SIGINT)

    def _draw(self, line: str) -> None:
        print_json({"progress": line})

    def clear(self) -> None:
        """Nothing to erase."""


def _has_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _settings(model: str | None, command: str | None, *, asks: bool) -> Settings:
    """The settings with the command line's model. `asks`: the person has yet to agree, so an
    installed agent may be used. Raises ReviewerError.
    """
    settings = load_settings()
    chosen = settings.model
    if command is None and not chosen.base_url and not chosen.command:
        found = agents_found()
        programs = ", ".join(each.program for each in found)
        if not (asks and found):
            offer = f"reviewer propose PATH --command {found[0].program}" if found else ""
            installed = f"Installed here: {programs}; to use it: {offer}. " if found else ""
            raise ModelError(
                f"No model is configured, and none is used unasked. {installed}For an endpoint set "
                "base_url and name under [model] in the settings (reviewer config show says where "
                "they are)."
            )
        command = found[0].program
        if found[1:]:
            narrate(f"Using {found[0].title}. Installed, for --command: {programs}")
    if command is not None:
        try:
            argv = tuple(shlex.split(command))
        except ValueError as problem:
            raise click.UsageError(f"--command cannot be read: {problem}") from problem
        if not argv:
            raise click.UsageError("--command needs the name of an agent or program")
        name = chosen.name if chosen.command == argv else ""
        chosen = structs.replace(chosen, command=argv, base_url="", name=name)
    if model is not None:
        chosen = structs.replace(chosen, name=model)
    return structs.replace(settings, model=chosen)


def _writer(chat: ChatModel, settings: Settings, limit: int) -> tuple[StatementWriter, int]:
    from reviewer.proposing.statements import ANSWER_TOKENS, StatementWriter

    templates = settings_path().parent / "templates"
    answer_tokens = min(ANSWER_TOKENS, limit // 4)
    writer = StatementWriter(
        chat,
        AnswerCache(answers_folder()),
        templates=templates if templates.is_dir() else None,
        proposer=Proposer.COMMAND if settings.model.command else Proposer.MODEL,
        answer_tokens=answer_tokens,
    )
    return writer, answer_tokens


def _known(session: Session) -> tuple[list[KnownText], dict[str, int]]:
    """Known statements for the questions, and the number of sessions of each finding."""
    if not session.store_path().exists():
        return [], {}
    with session.changing(new_outside=True) as engine:
        project = session.target(engine)
        found = engine.findings(project)
        sessions = {each.signature: each.sessions for each in found if each.sessions > 1}
        return engine.proposals.known(project).listed(), sessions


def _sessions(session: Session, paths: Sequence[Path]) -> list[Path]:
    """The files to ask about. Raises SourceError for a path that is neither a file nor a session's
    id.
    """
    from reviewer.sources.open import is_session
    from reviewer.sources.walk import walk

    found = [] if paths else ingested_sessions(session)
    if not found and not paths:
        raise SourceError("No session was ingested into this project. Name one: propose PATH")
    for path in paths:
        if not os.path.lexists(path) and len(path.parts) == 1:
            found.append(find_session(session, str(path)).path)
            continue
        named = not path.is_dir()
        for each in walk([path.absolute()]):
            if not each.reason and (named or is_session(each.path)):
                found.append(each.path)
    return list(dict.fromkeys(found))


def _unread(session: Session, newest: int) -> tuple[list[Path], dict[Path, int]]:
    """The newest sessions that no reader has read and that still exist, and the offset up to which
    those that have grown were read. Raises SourceError.
    """
    found: list[Path] = []
    ends: dict[Path, int] = {}
    if session.store_path().exists():
        with session.reading() as engine:
            project = session.target(engine)
            unread, ends = engine.reader_log.unread(project), engine.reader_log.ends(project)
        found = [path for path in unread if path.is_file()][:newest]
    if not found:
        raise SourceError("No ingested session of this project is left to read.")
    return found, ends


def _cost(plan: RunPlan, settings: Settings, model: str) -> dict[str, Any]:
    """The estimate; `price` in the unit of the settings, None without prices."""
    prices = settings.model
    price = plan.tokens_in * prices.price_in + plan.tokens_out * prices.price_out
    return {
        "model": model,
        "sessions": len(plan.sessions),
        "pieces": plan.pieces,
        "cached": plan.cached,
        "tokens_in": plan.tokens_in,
        "tokens_out": plan.tokens_out,
        "price": price / 1e6 if prices.price_in or prices.price_out else None,
    }


def _cost_line(cost: dict[str, Any], settings: Settings) -> str:
    command = settings.model.command
    agent = AGENTS.get(command[0]) if len(command) == 1 else None
    if cost["price"] is not None:
        paid = f"a price of {cost['price']:,.2f} at the prices under [model]"
    elif agent is not None:
        paid = f"on your {agent.title} plan"
    else:
        paid = "no prices are set (price_in and price_out under [model])"
    what = f"{count(cost['sessions'], 'session')} in {count(cost['pieces'], 'piece')}"
    kept = f" {cost['cached']:,} of them already answered, at no cost;" if cost["cached"] else ""
    return (
        f"{what} for {cost['model']}:{kept} about {cost['tokens_in']:,} tokens in and "
        f"{cost['tokens_out']:,} out, {paid}. In addition: one retry for unproved statements, and "
        "one question that compares the sessions."
    )


def _why_pieces(plan: RunPlan, limit: int) -> str:
    """Why sessions are cut, and the remedy; empty if none is."""
    cut = sum(len(each.pieces) > 1 for each in plan.sessions)
    if not cut:
        return ""
    return (
        f"{count(cut, 'session')} did not fit into one request: the model takes {limit:,} tokens."
        " If it takes more, set context_tokens under [model]."
    )


def _require_room(plan: RunPlan, max_tokens_in: int | None) -> None:
    """Raise ReviewerError if the limit allows no request."""
    sizes = [piece.tokens for each in plan.sessions for piece in each.pieces if not piece.cached]
    if max_tokens_in is not None and sizes and min(sizes) > max_tokens_in:
        raise ReviewerError(
            f"--max-tokens-in {max_tokens_in:,} allows no request: the smallest remaining piece "
            f"needs {min(sizes):,} tokens."
        )


def _agreed(max_tokens_in: int | None) -> bool:
    """Whether the person agrees. Raises UsageError without a terminal."""
    if not _has_terminal():
        raise click.UsageError("without a terminal nothing is sent unless --yes is given")
    limit = f", at most {max_tokens_in:,} tokens in" if max_tokens_in else ""
    return click.confirm(f"Ask now{limit}?", default=False, err=True)


class _Outcome:
    def __init__(
        self, plan: RunPlan, reader: str, engine: Engine, project: str, max_tokens_in: int | None
    ) -> None:
        from reviewer.promotion.rows.relations import Related
        from reviewer.proposing.statements import Spent

        self._reader, self._engine, self._project = reader, engine, project
        self._views = {each.view.path: each.view for each in plan.sessions}
        self._ends = {each.view.path: each.end for each in (*plan.sessions, *plan.nothing_new)}
        self.left = plan.pieces
        """Pieces without an answer."""
        self._answered = self._read = 0
        self._seen = self._unproved = self._beyond_cap = 0
        self._related = Related()
        self._new: list[int] = []
        self._deferred = 0
        self._told: set[Path] = set()
        """Sessions with new statements."""
        self.spent, self._limit = Spent(max_tokens_in), max_tokens_in
        self._dropped: Counter[str] = Counter()
        self.failures: list[str] = []

    def add(self, done: SessionDone, *, as_json: bool) -> None:
        """Queue the statements of a session, in one act, and count them.

        Failures do not affect other sessions; but if the store fails, nothing more is sent. Raises
        StoreError.
        """
        self._dropped.update(done.dropped)
        self.failures += [each for each in done.failures if each not in self.failures]
        if done.proved:
            added = self._engine.proposals.add(
                self._project,
                done.proved,
                title=f"Proposed by {self._reader} from {done.path.name}",
                view_of=self._views.__getitem__,
            )
            self._new += added.new
            self._related = self._related.plus(added.related)
            self._told.update([done.path] if added.new else [])
            self._seen += len(added.seen) + len(added.unchanged)
            self._unproved += added.unproved
            self._beyond_cap += len(added.over_cap)
            self._dropped.update(each.reason for each in added.dropped)
        if not done.left and done.read == done.answered:
            self.note_read(done.path)
        self.left -= done.answered
        self._answered += done.answered
        self._read += done.read
        if as_json:
            for each in done.proved:
                print_json(_row(each))

    def note_read(self, path: Path) -> None:
        """Record that nothing of a session is left to read."""
        from reviewer.promotion.lists.reader_log import ReadSession

        self._engine.reader_log.note(
            ReadSession(
                project=self._project,
                path=os.path.abspath(path),
                bytes=path.stat().st_size if path.exists() else 0,
                reader=self._reader,
                at=self._engine.clock().isoformat(timespec="seconds"),
                end=self._ends.get(path, 0),
            )
        )

    def compare(self, writer: StatementWriter, cancelled: Callable[[], bool]) -> None:
        """Ask how the statements of several sessions relate to each other."""
        from reviewer.proposing.over_sessions import LEAST, question_over, read_relations
        from reviewer.proposing.statements import BudgetReachedError

        proposals = self._engine.proposals
        sentences = proposals.to_compare(self._project, self._new) if self._new else []
        if len(sentences) < LEAST or (len(self._told) < LEAST and len(sentences) <= len(self._new)):
            return
        try:
            answer = writer.answer(question_over(writer, sentences), self.spent, cancelled)
        except CancelledError:
            return
        except BudgetReachedError:
            self._dropped["session comparison: token limit reached"] += 1
            return
        except ModelError as problem:
            self.failures.append(f"The sessions were not compared: {problem}")
            return
        relations = read_relations(answer.text, sentences)
        if relations != type(relations)():
            self._related = self._related.plus(proposals.relate(self._project, relations))

    def count_deferred(self) -> None:
        """Count the new statements that do not wait, because their reader doubts them."""
        self._deferred = sum(row.deferred for row in self._engine.queue.rows(self._new))

    def for_screen(self, remark: str) -> dict[str, Any]:
        """The outcome as the screen reads it; `problem`: a failure's sentence with advice."""
        return {
            "new": len(self._new),
            "deferred": self._deferred,
            "joined": self._related.joined,
            "left": self.left,
            "tokens_in": self.spent.tokens_in,
            "tokens_out": self.spent.tokens_out,
            "problem": self.failures[0] if self.failures else self._unreadable,
            "remark": remark,
        }

    @property
    def _unreadable(self) -> str:
        """How many answers were in vain; empty if none was."""
        lost = self._answered - self._read
        if not lost:
            return ""
        of = count(self._answered, "answer")
        return f"Nothing could be read from {lost:,} of {of}: those sessions stay unread."

    def report(self, *, as_json: bool, interrupted: bool) -> None:
        """Print the counts and how the run ended, and exit as it did."""
        for row in table(self._rows()):
            narrate(row) if as_json else print_text(row)
        narrate(*self.failures)
        left = f"{count(self.left, 'piece')} left"
        same = "Run the same command to continue."
        if interrupted:
            narrate(f"Interrupted with {left}. {same}")
            leave(INTERRUPTED)
        if self.failures:
            narrate(f"{left}. Everything so far is queued. {same}")
            leave(FAILED)
        if self.left:
            narrate(f"Stopped at the limit of {self._limit or 0:,} tokens with {left}. {same}")
        if self._answered and not self._read:
            ((reason, _),) = self._dropped.most_common(1) or [("they are empty", 0)]
            narrate(
                f"Nothing could be read from the answers ({reason}). The same command asks again."
            )
            leave(FAILED)
        if not as_json:
            narrate("Decide with: reviewer" if self._new else "Nothing new to decide on.")

    def _rows(self) -> Iterator[tuple[str, str]]:
        yield "statements", f"{len(self._new):,} new, {self._seen:,} seen again"
        if self._deferred:
            doubted = f"{self._deferred:,} of the new ones, meant for once or doubted by the reader"
            yield "deferred", f"{doubted} (reviewer queue list --status deferred)"
        if self._beyond_cap:
            yield "not queued yet", f"{self._beyond_cap:,} (reviewer queue more)"
        if (found := self._related) != type(found)():
            joined = f"{found.joined:,} joined to others that say the same"
            untrue = f"{found.untrue:,} made untrue by later ones, {found.corrected:,} corrected"
            yield "compared", f"{joined}, {untrue}, {count(found.contradictions, 'contradiction')}"
        yield "unproved", f"{self._unproved:,} that the session does not fully prove"
        yield from by_reason("dropped", self._dropped)
        spent = self.spent
        requests = count(spent.requests, "request")
        yield "tokens", f"{spent.tokens_in:,} in, {spent.tokens_out:,} out, in {requests}"


def _row(proved: Proved) -> dict[str, Any]:
    proposal = proved.proposal
    return {
        "statement": proposal.statement,
        "type": proposal.type.value,
        "kind": proposal.kind,
        "speaker": proposal.speaker.value,
        "confidence": proposal.confidence,
        "path": str(proved.path),
        "quotes": to_builtins(proposal.quotes),
        "proof": {**to_builtins(proved.proof), "sound": proved.proof.sound},
    }
