"""`reviewer hook`: run by agents at events of a session. It never stops the agent."""

from __future__ import annotations

import faulthandler
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import click

from reviewer.agents import call_hook
from reviewer.agents.events import CHILD, EVENTS, TIMEOUTS, is_call_event
from reviewer.agents.hooks import Hooks, SessionReader, UnknownEventError, answer, read_event
from reviewer.cli.output import narrate
from reviewer.cli.run import explain
from reviewer.cli.session import DONE, FAILED, Session, Verb, leave, pass_session
from reviewer.errors import ReviewerError
from reviewer.recall.event_kinds import START

MAX_INPUT = 8_000_000
"""Bytes of stdin; a compaction summary is a thousandth of that."""


class _WrongHookError(click.UsageError):
    exit_code = FAILED


class HookVerb(Verb):
    """A verb with exit code 1 for wrong usage: with 2, some agents would block the person."""

    def make_context(self, *args: Any, **settings: Any) -> click.Context:
        try:
            return super().make_context(*args, **settings)
        except click.UsageError as problem:
            raise _WrongHookError(problem.format_message(), problem.ctx) from problem


@click.command(cls=HookVerb, example="hook claude-code SessionStart")
@click.argument("agent")
@click.argument("event")
@pass_session
def hook(session: Session, agent: str, event: str) -> None:
    """Reads one JSON object on stdin, and answers on stdout if there is an answer. At the start and
    after a compaction it gives the project's packet; before a compaction, instructions for the
    summary, if the agent accepts them; at the end it notes the session, and another process reads
    it. With a prompt, a failed call or a guarded call it gives the memories that belong there. A
    failure is a line in a log beside the store, with exit code 0; only an unknown AGENT or EVENT,
    or wrong options, exit with 1.
    """
    if os.environ.get(CHILD):  # the agent answers a question of ours
        return
    if is_call_event(agent, event):
        call_hook.respond(str(session.store_path()), session.project, agent, event)
        return
    hooks = Hooks(session.store_path(), project=session.project)
    named = f"{agent} {event}"
    seconds = TIMEOUTS[EVENTS.get(agent, {}).get(event, START)]
    try:
        with within(
            seconds, lambda: _log(hooks, f"{named}: it took longer than {seconds} seconds.")
        ):
            data = sys.stdin.buffer.read(MAX_INPUT + 1)
            if len(data) > MAX_INPUT:
                raise ReviewerError(f"stdin has more than {MAX_INPUT // 1_000_000} MB: too large.")
            happened = read_event(agent, event, data)
            if text := hooks.carry_out(happened):
                sys.stdout.write(f"{answer(happened, text)}\n")
                sys.stdout.flush()
            hooks.finish(happened)
    except UnknownEventError as problem:  # the person should see a wrong `connect`
        narrate(str(problem))
        leave(FAILED)
    except Exception as problem:
        if os.environ.get("REVIEWER_DEBUG"):
            raise
        _log(hooks, f"{named}: {explain(problem)[0]}")


@contextmanager
def within(seconds: float, late: Callable[[], None]) -> Iterator[None]:
    """Call `late` and end the process if the block takes longer than `seconds`."""

    def end() -> NoReturn:
        late()
        os._exit(DONE)

    # A signal would wait for SQLite, which waits for a lock.
    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    with open(os.devnull, "w") as nowhere:
        # A thread runs between two steps of Python only: this ends a call that never returns.
        faulthandler.dump_traceback_later(seconds + 1, exit=True, file=nowhere)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()
            timer.cancel()


@click.command(cls=Verb)
@pass_session
def read_sessions(session: Session) -> None:
    """Started by a hook in its own process."""
    count = SessionReader(session.store_path(), project=session.project).read()
    narrate(f"Sessions read: {count}.")


def _log(hooks: Hooks, line: str) -> None:
    """A line in the log, or on stderr if the log cannot be written."""
    try:
        hooks.log(line)
    except OSError as problem:
        narrate(f"{line} The log cannot be written: {problem.strerror}.")
