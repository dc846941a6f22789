"""`reviewer propose`: a model writes statements from sessions, after an estimate of the cost."""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reviewer.cli.inputs import FILE, flag, option
from reviewer.cli.output import count, json_option, narrate, print_json, print_text, table
from reviewer.cli.progress import (
    SECONDS_BETWEEN_DRAWINGS,
    Interruption,
    ProgressLine,
    interruptible,
)
from reviewer.cli.session import FAILED, INTERRUPTED, Session, Verb, leave, pass_session
from reviewer.errors import ReviewerError, SourceError, StoreError

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.llm.model import ChatModel
    from reviewer.proposing.given import KnownText
    from reviewer.proposing.model_run import RunPlan, SessionDone
    from reviewer.proposing.statements import StatementWriter
    from reviewer.proposing.values import Proved
    from reviewer.settings import Settings


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
    """Have a model write statements from sessions, and queue those with their proof.

    The model comes from [model] in the settings, or else is an installed agent; --command names
    another. The cost is printed first, and nothing is sent before you agree. Every statement is
    checked against the session: its quotes, names and numbers, and whether it is already known.

    A folder is searched for sessions; SESSION is the id of an ingested one. Without either, every
    ingested session of the project is covered. Answers are cached, so nothing is paid for twice:
    after Ctrl-C, or at the limit of --max-tokens-in, run the same command to continue.
    """
    from reviewer.llm.open_model import context_tokens, open_model
    from reviewer.proposing.model_run import piece_tokens, run

    # --follow is for the screen: progress as JSON, and the end once its side of stdin is closed.
    session.refuse_all_projects()
    if newest is not None and paths:
        raise click.UsageError("--newest chooses the sessions itself: name none")
    settings = _settings(model, command, asks=dry_run or _has_terminal())
    chat = open_model(settings)
    files = _sessions(session, paths) if newest is None else _unread(session, newest)
    if not dry_run:
        _require_writable(session)
    line = _Follower() if follow else ProgressLine()
    limit = context_tokens(settings)
    writer, answer_tokens = _writer(chat, settings, limit)
    room = piece_tokens(writer, context_tokens=limit, answer_tokens=answer_tokens)
    plan = _plan(files, writer, room, *_known(session), line)
    if plan is None:
        narrate("Interrupted before anything was sent.")
        leave(INTERRUPTED)
    for path, reason in plan.unread:
        narrate(f"Skipped: {reason if str(path) in reason else f'{path}: {reason}'}")
    if not plan.pieces:
        narrate("There is no session to ask about.")
        leave(FAILED)
    cost = _cost_line(plan, settings, chat.name)
    if dry_run:
        if as_json:
            print_json(_cost(plan, settings, chat.name))
        else:
            print_text(cost)
        return
    narrate(cost)
    cut = _why_pieces(plan, limit) if plan.pieces > len(plan.sessions) else ""
    if cut:
        narrate(cut)
    sizes = [piece.tokens for each in plan.sessions for piece in each.pieces if not piece.cached]
    if max_tokens_in is not None and sizes and min(sizes) > max_tokens_in:
        raise ReviewerError(
            f"--max-tokens-in {max_tokens_in:,} allows no request: the smallest remaining piece "
            f"needs {min(sizes):,} tokens."
        )
    if not yes and plan.pieces == plan.cached:
        max_tokens_in = 0  # nobody agreed to second tries, so there are none
    elif not yes and not _agreed(max_tokens_in):
        narrate("Nothing was sent.")
        return
    account = _Account(plan, chat.name)
    with session.changing(create=True, new_outside=True) as engine, interruptible() as interruption:
        project = session.target(engine)
        known = engine.proposals.known(project)
        results = run(
            plan,
            writer,
            known=known,
            listed=known.listed,
            concurrency=settings.model.concurrency,
            spent=account.spent,
            max_tokens_in=max_tokens_in,
            cancelled=lambda: interruption() or account.stuck or line.left,
            progress=lambda text: line.show(text if follow else f"{text}  Ctrl-C stops"),
        )
        with closing(results):
            try:
                for done in results:
                    line.clear()
                    account.add(done, engine, project, as_json=as_json)
                if not (interruption() or line.left or account.failures or account.left):
                    line.show("Comparing the statements of all sessions", at_once=True)
                    account.compare(
                        writer,
                        engine,
                        project,
                        max_tokens_in,
                        lambda: interruption() or line.left,
                    )
            finally:
                line.clear()
    if isinstance(line, _Follower):
        line.end(account, cut)
    else:
        _close(account, interruption, max_tokens_in, as_json)


class _Follower(ProgressLine):
    """Reports progress to the screen that started this, as one JSON object per line."""

    def __init__(self) -> None:
        super().__init__()
        self.left = False
        """The screen is gone, or asks to stop."""
        self._said = ""
        threading.Thread(target=self._wait, name="screen", daemon=True).start()

    def _wait(self) -> None:
        while os.read(sys.stdin.fileno(), 1 << 10):
            pass
        self.left = True

    def _due(self) -> bool:
        now = time.monotonic()
        due = now - self._drawn_at >= SECONDS_BETWEEN_DRAWINGS
        self._drawn_at = now if due else self._drawn_at
        return due

    def _draw(self, line: str) -> None:
        if line != self._said:
            self._said = line
            print_json({"progress": line})

    def clear(self) -> None:
        """There is no line to erase."""

    def end(self, account: _Account, remark: str) -> None:
        """The outcome; for a failure, its sentence with advice."""
        print_json(
            {
                "new": account.new,
                "joined": account.related.joined,
                "left": account.left,
                "tokens_in": account.spent.tokens_in,
                "tokens_out": account.spent.tokens_out,
                "problem": account.failures[0] if account.failures else "",
                "remark": remark,
            }
        )


def _require_writable(session: Session) -> None:
    """Raise for a read-only store or project before anything is sent."""
    path = session.store_path()
    if path.exists():
        with session.changing(new_outside=True) as engine:
            if engine.read_only:
                raise StoreError(
                    f"The store {path} is read-only, so no statement could be queued. Change its "
                    "permissions or name another with --db."
                )


def _has_terminal() -> bool:
    """Whether a person can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _settings(model: str | None, command: str | None, *, asks: bool) -> Settings:
    """The settings with the command line's model. `asks`: the person has yet to agree, so an
    installed agent may be used. Raises ReviewerError.
    """
    import shlex

    from msgspec import structs

    from reviewer.llm.agents import AGENTS
    from reviewer.llm.command import agents_found
    from reviewer.llm.model import ModelError
    from reviewer.settings import load_settings

    settings = load_settings()
    chosen = settings.model
    if command is None and asks and not chosen.base_url and not chosen.command:
        found = agents_found()
        command = found[0].program if found else None
        if found[1:]:
            others = ", ".join(each.program for each in found[1:])
            narrate(f"Using {found[0].title}. Also installed, for --command: {others}")
    if command is not None:
        try:
            argv = (command,) if command in AGENTS else tuple(shlex.split(command))
        except ValueError as problem:
            raise click.UsageError(f"--command cannot be read: {problem}") from problem
        if not argv:
            raise click.UsageError("--command needs the name of an agent or program")
        name = chosen.name if chosen.command == argv else ""
        chosen = structs.replace(chosen, command=argv, base_url="", name=name)
    if model is not None:
        chosen = structs.replace(chosen, name=model)
    if not chosen.base_url and not chosen.command:
        programs = [each.program for each in agents_found()]
        offer = f"reviewer propose PATH --command {programs[0]}" if programs else ""
        named = ", ".join(programs)
        installed = f"Installed here: {named}; to use it: {offer}. " if programs else ""
        raise ModelError(
            f"No model is configured, and none is used unasked. {installed}For an endpoint set "
            "base_url and name under [model] in the settings (reviewer config show says where "
            "they are)."
        )
    return structs.replace(settings, model=chosen)


def _writer(chat: ChatModel, settings: Settings, limit: int) -> tuple[StatementWriter, int]:
    """The writer for a model, and the tokens of its answers."""
    from reviewer.llm.answer_cache import AnswerCache, answers_folder
    from reviewer.proposing.statements import ANSWER_TOKENS, StatementWriter
    from reviewer.proposing.values import Proposer
    from reviewer.settings import settings_path

    templates = settings_path().parent / "templates"
    answer_tokens = min(ANSWER_TOKENS, limit // 4)
    writer = StatementWriter(
        chat,
        templates=templates if templates.is_dir() else None,
        cache=AnswerCache(answers_folder()),
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
        found = engine.findings.all(project)
        sessions = {each.signature: each.sessions for each in found if each.sessions > 1}
        return engine.proposals.known(project).listed(), sessions


def _plan(
    files: Sequence[Path],
    writer: StatementWriter,
    room: int,
    known: Sequence[KnownText],
    recurring: Mapping[str, int],
    line: ProgressLine,
) -> RunPlan | None:
    """The questions; None if interrupted."""
    from reviewer.llm.model import CancelledError
    from reviewer.proposing.model_run import plan_run

    with interruptible() as interruption:
        try:
            return plan_run(
                files,
                writer,
                max_tokens=room,
                known=known,
                recurring=recurring,
                cancelled=lambda: interruption() or line.left,
                progress=lambda text: line.show(text),
            )
        except CancelledError:
            return None
        finally:
            line.clear()


def _sessions(session: Session, paths: Sequence[Path]) -> list[Path]:
    """The files to ask about. Raises SourceError for a path that is neither a file nor a session's
    id.
    """
    from reviewer.cli.handover import find_session
    from reviewer.cli.sources import ingested_sessions
    from reviewer.sources.open import is_session
    from reviewer.sources.walk import FoundFile, walk

    found = [] if paths else ingested_sessions(session)
    if not found and not paths:
        raise SourceError("No session was ingested into this project. Name one: propose PATH")
    for path in paths:
        if not os.path.lexists(path) and len(path.parts) == 1:
            found.append(find_session(session, str(path)).path)
            continue
        named = not path.is_dir()
        for each in walk([path.absolute()]):
            if isinstance(each, FoundFile) and (named or is_session(each.path)):
                found.append(each.path)
    return list(dict.fromkeys(found))


def _unread(session: Session, newest: int) -> list[Path]:
    """The newest sessions that no reader has read and that still exist. Raises SourceError."""
    found: list[Path] = []
    if session.store_path().exists():
        with session.reading() as engine:
            unread = engine.readings.unread(session.target(engine))
        found = [path for path in unread if path.is_file()][:newest]
    if not found:
        raise SourceError("Every ingested session of this project has already been read.")
    return found


def _cost(plan: RunPlan, settings: Settings, model: str) -> dict[str, Any]:
    return {
        "model": model,
        "sessions": len(plan.sessions),
        "pieces": plan.pieces,
        "cached": plan.cached,
        "tokens_in": plan.tokens_in,
        "tokens_out": plan.tokens_out,
        "price": _price(plan, settings),
    }


def _price(plan: RunPlan, settings: Settings) -> float | None:
    """In the unit of the settings; None without prices."""
    model = settings.model
    if not model.price_in and not model.price_out:
        return None
    return (plan.tokens_in * model.price_in + plan.tokens_out * model.price_out) / 1e6


def _cost_line(plan: RunPlan, settings: Settings, model: str) -> str:
    what = f"{count(len(plan.sessions), 'session')} in {count(plan.pieces, 'piece')}"
    kept = f" {plan.cached:,} of them already answered, at no cost;" if plan.cached else ""
    return (
        f"{what} for {model}:{kept} about {plan.tokens_in:,} tokens in and "
        f"{plan.tokens_out:,} out, {_paid_how(plan, settings)}. In addition: one retry for "
        "unproved statements, and one question that compares the sessions."
    )


def _why_pieces(plan: RunPlan, limit: int) -> str:
    """Why sessions are cut, and the remedy."""
    cut = sum(len(each.pieces) > 1 for each in plan.sessions)
    return (
        f"{count(cut, 'session')} did not fit into one request: the model takes {limit:,} tokens."
        " If it takes more, set context_tokens under [model]."
    )


def _paid_how(plan: RunPlan, settings: Settings) -> str:
    from reviewer.llm.agents import AGENTS, agent_of

    price = _price(plan, settings)
    if price is not None:
        return f"a price of {price:,.2f} at the prices under [model]"
    agent = agent_of(settings.model.command) if settings.model.command else None
    if agent is not None and agent in AGENTS.values():
        return f"on your {agent.title} plan"
    return "no prices are set (price_in and price_out under [model])"


def _agreed(max_tokens_in: int | None) -> bool:
    """Whether the person agrees. Raises UsageError without a terminal."""
    if not _has_terminal():
        raise click.UsageError("without a terminal nothing is sent unless --yes is given")
    limit = f", at most {max_tokens_in:,} tokens in" if max_tokens_in else ""
    return click.confirm(f"Ask now{limit}?", default=False, err=True)


class _Account:
    """The outcome of a run, session by session."""

    def __init__(self, plan: RunPlan, reader: str) -> None:
        from reviewer.promotion.rows.relations import Related
        from reviewer.proposing.statements import Spent

        self._reader = reader
        self._pieces = {each.view.path: len(each.pieces) for each in plan.sessions}
        self._views = {each.view.path: each.view for each in plan.sessions}
        self.left = plan.pieces
        """Pieces without an answer."""
        self.stuck = False
        """The store cannot be written, so nothing more is sent."""
        self.answered = self.read = 0
        self.new = self.seen = self.unproved = self.beyond_cap = 0
        self.related = Related()
        self._new: list[int] = []
        self._told: set[Path] = set()
        """Sessions with new statements."""
        self.spent = Spent()
        self.dropped: Counter[str] = Counter()
        self.failures: list[str] = []

    def add(self, done: SessionDone, engine: Engine, project: str, *, as_json: bool) -> None:
        """Queue the statements of a session, in one act, and count them.

        A failure is recorded with the session's name, and does not affect other sessions.
        """
        self.dropped.update(done.dropped)
        for failure in done.failures:
            if failure not in self.failures:
                self.failures.append(failure)
        try:
            self._queue(done, engine, project)
            if not done.left:
                self._note(done, engine, project)
        except Exception as problem:  # the other sessions' statements are still queued
            from reviewer.cli.run import explain

            self.failures.append(f"{done.path.name}: {explain(problem)[0]}")
            self.stuck = self.stuck or isinstance(problem, StoreError | sqlite3.Error | OSError)
            return
        answered = self._pieces[done.path] - done.left
        self.left -= answered
        self.answered += answered
        self.read += done.read
        if as_json:
            for each in done.proved:
                print_json(_row(each))

    def _queue(self, done: SessionDone, engine: Engine, project: str) -> None:
        if done.proved:
            title = f"Proposed statements of {done.path.name}"
            added = engine.proposals.add(
                project, done.proved, title=title, view_of=self._views.__getitem__
            )
            self.new += len(added.new)
            self._new += added.new
            self.related = self.related.plus(added.related)
            self._told.update([done.path] if added.new else [])
            self.seen += len(added.seen) + len(added.known)
            self.unproved += added.unproved
            self.beyond_cap += added.beyond_cap
            self.dropped.update(each.reason for each in added.dropped)

    def compare(
        self,
        writer: StatementWriter,
        engine: Engine,
        project: str,
        max_tokens_in: int | None,
        cancelled: Callable[[], bool],
    ) -> None:
        """Ask how the statements of several sessions relate to each other."""
        from reviewer.llm.model import CancelledError, ModelError
        from reviewer.proposing.over_sessions import LEAST, question_over, read_relations
        from reviewer.proposing.statements import BudgetReachedError

        sentences = engine.proposals.to_compare(project, self._new) if self._new else []
        if len(sentences) < LEAST or (len(self._told) < LEAST and len(sentences) <= len(self._new)):
            return
        question = question_over(writer, sentences)
        left = None if max_tokens_in is None else max_tokens_in - self.spent.tokens_in
        try:
            answer = writer.answer(
                question, lambda tokens: left is None or tokens <= left, cancelled
            )
        except CancelledError:
            return
        except BudgetReachedError:
            self.dropped["session comparison: token limit reached"] += 1
            return
        except (ModelError, OSError) as problem:
            self.failures.append(f"The sessions were not compared: {problem}")
            return
        if answer.paid:
            told = answer.completion
            self.spent.add(told.requests, told.prompt_tokens, told.completion_tokens)
        relations = read_relations(answer.completion.text, sentences)
        if relations != type(relations)():
            self.related = self.related.plus(engine.proposals.relate(project, relations))

    def _note(self, done: SessionDone, engine: Engine, project: str) -> None:
        """Record that the session was read to its end."""
        from reviewer.promotion.lists.readings import ReadingNote

        engine.readings.note(
            ReadingNote(
                project=project,
                path=os.path.abspath(done.path),
                bytes=done.path.stat().st_size if done.path.exists() else 0,
                reader=self._reader,
                at=engine.clock().isoformat(timespec="seconds"),
            )
        )

    def rows(self) -> Iterator[tuple[str, str]]:
        """The counts as lines of a table."""
        yield "statements", f"{self.new:,} new, {self.seen:,} seen again"
        if self.beyond_cap:
            yield "over the cap", f"{self.beyond_cap:,} (reviewer queue more)"
        if (found := self.related) != type(found)():
            joined = f"{found.joined:,} joined to others that say the same"
            untrue = f"{found.untrue:,} made untrue by later ones"
            yield "compared", f"{joined}, {untrue}, {count(found.contradictions, 'contradiction')}"
        yield "unproved", f"{self.unproved:,} that the session does not fully prove"
        for place, (reason, times) in enumerate(self.dropped.most_common()):
            yield "" if place else "dropped", f"{times:,} x {reason}"
        spent = self.spent
        requests = count(spent.requests, "request")
        yield "tokens", f"{spent.tokens_in:,} in, {spent.tokens_out:,} out, in {requests}"


def _row(proved: Proved) -> dict[str, Any]:
    from msgspec import to_builtins

    proposal = proved.proposal
    return {
        "statement": proposal.statement,
        "type": proposal.type.value,
        "kind": proposal.kind,
        "scope": proposal.scope,
        "speaker": proposal.speaker.value,
        "confidence": proposal.confidence,
        "path": str(proved.path),
        "quotes": to_builtins(proposal.quotes),
        "proof": {**to_builtins(proved.proof), "sound": proved.proof.sound},
    }


def _close(
    account: _Account,
    interruption: Interruption,
    max_tokens_in: int | None,
    as_json: bool,
) -> None:
    """Print the summary, and how the run ended."""
    for row in table(account.rows()):
        narrate(row) if as_json else print_text(row)
    for failure in account.failures:
        narrate(failure)
    left = count(account.left, "piece")
    same = "Run the same command to continue."
    if interruption.asked:
        narrate(f"Interrupted with {left} left. {same}")
        leave(INTERRUPTED)
    if account.failures:
        narrate(f"{left} left. Everything so far is queued. {same}")
        leave(FAILED)
    if account.left:
        narrate(f"Stopped at the limit of {max_tokens_in or 0:,} tokens with {left} left. {same}")
    if account.answered and not account.read:
        narrate(_nothing_read(account))
        leave(FAILED)
    if not as_json:
        narrate("Decide with: reviewer" if account.new else "Nothing new to decide on.")


def _nothing_read(account: _Account) -> str:
    """Why no answer had a result."""
    reason = next((each for each, _ in account.dropped.most_common(1)), "they are empty")
    answers = "the answer" if account.answered == 1 else f"any of {account.answered:,} answers"
    return f"Nothing could be read from {answers} ({reason}). The same command asks again."
