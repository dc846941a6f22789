"""`reviewer hook`: what agents run at events of a session. Whatever happens, the agent goes on."""

from __future__ import annotations

import gc
import os
import signal
import sys
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from reviewer.cli.output import narrate
from reviewer.cli.run import STDOUT, explain, flush_streams
from reviewer.cli.session import DONE, FAILED, Session, Verb, leave, pass_session
from reviewer.errors import ReviewerError

if TYPE_CHECKING:
    from reviewer.agents.hooks import Hooks

MOST_SECONDS = 5.0
"""Before a hook gives up; `connect` allows it 10."""
MOST_SECONDS_COMPACTION = 9.0
"""The whole session is read, while the person waits for a compaction that takes longer anyway."""
MOST_INPUT = 8_000_000
"""Bytes of stdin; the summary of a compaction is a thousandth of that."""


class _WrongHookError(click.UsageError):
    exit_code = FAILED


class HookVerb(Verb):
    """A verb whose wrong usage has exit code 1: with 2 some agents would block the person."""

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
    """Answer an event of an agent's session; agents run this.

    It reads one JSON object on stdin, and answers on stdout when there is something to say. At the
    start and after a compaction it gives the project's packet; before a compaction it says what
    must be kept, where the agent can be told; at the end the session is noted, and another process
    reads it. With a prompt, a failed call or a guarded call it gives the memories that belong
    there. A failure is a line in a log beside the store, with exit code 0; only an unknown AGENT or
    EVENT, or wrong options, exit with 1.
    """
    from reviewer.agents import call_hook
    from reviewer.agents.background import inside_own_call
    from reviewer.agents.hook_events import COMPACTIONS, UnknownEventError, answer, read_event
    from reviewer.agents.hooks import Hooks

    if inside_own_call(os.environ):
        return
    if event in call_hook.EVENTS.get(agent, ()):
        call_hook.respond(str(session.store_path()), session.project, agent, event)
        return
    hooks = Hooks(session.store_path(), project=session.project)

    def carry_out() -> int:
        try:
            data = sys.stdin.buffer.read(MOST_INPUT + 1)
            if len(data) > MOST_INPUT:
                raise ReviewerError(f"stdin has more than {MOST_INPUT // 1_000_000} MB: too large.")
            happened = read_event(agent, event, data)
            text = hooks.carry_out(happened)
            hand_over(f"{answer(happened, text)}\n" if text else "")
            hooks.finish(happened)
        except UnknownEventError as problem:  # an agent is told what `connect` wrote
            narrate(str(problem))
            return FAILED
        except Exception as problem:
            if os.environ.get("REVIEWER_DEBUG"):
                raise
            _log(hooks, f"{agent} {event}: {explain(problem)[0]}")
        return DONE

    seconds = MOST_SECONDS_COMPACTION if event in COMPACTIONS else MOST_SECONDS
    gc.disable()  # it takes a tenth of the time, and the process ends soon
    try:
        code = within(seconds, carry_out)
    finally:
        gc.enable()
    if code is None:
        _log(hooks, f"{agent} {event}: it took longer than {seconds:g} seconds.")
    elif code:
        leave(code)


COMPLETE = b"\0"
"""Ends an answer that a child process has handed over whole."""


def within(seconds: float, work: Callable[[], int]) -> int | None:
    """Run `work` in a child process, and print what it hands over. Returns its exit code, or None
    if it took longer than `seconds`: then nothing of it is printed.

    The system ends the child, also inside a call of C that never returns. Where processes cannot be
    forked, `work` runs here, with nothing to stop it.
    """
    if not hasattr(os, "fork"):
        return work()
    sys.stdout.flush()
    sys.stderr.flush()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # ignored, it leaves nothing to wait for
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writing, STDOUT)
        os.close(reading)
        os.close(writing)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
        signal.setitimer(signal.ITIMER_REAL, seconds)
        code = FAILED
        try:
            code = work()
        except BaseException:
            traceback.print_exc()
        finally:
            flush_streams()
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        handed = pipe.read()
    if handed.endswith(COMPLETE):
        sys.stdout.write(handed[:-1].decode())
        sys.stdout.flush()
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return ended if ended >= 0 else None


def hand_over(text: str) -> None:
    """Hand a whole answer to the process that waits for it."""
    if not hasattr(os, "fork"):
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    sys.stdout.flush()
    data = text.encode() + COMPLETE
    while data:
        data = data[os.write(STDOUT, data) :]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, STDOUT)
    os.close(nowhere)


@click.command(cls=Verb)
@pass_session
def read_sessions(session: Session) -> None:
    """Read the sessions that hooks have noted.

    A hook starts this in a process of its own.
    """
    from reviewer.agents.hooks import SessionReader

    count = SessionReader(session.store_path(), project=session.project).read()
    narrate(f"Sessions read: {count}.")


@click.command(cls=Verb)
@pass_session
def update_call_hooks(session: Session) -> None:
    """Make memories ready for hooks at calls, and write guards.

    A decision starts this in a process of its own, where an agent is connected.
    """
    from reviewer.agents.agent_files import AgentFiles
    from reviewer.agents.hooks import bring_call_hooks_up_to_date
    from reviewer.clock import utc_now

    files = AgentFiles(session.store_path())
    with files.lock("guards", wait=True):
        for problem in bring_call_hooks_up_to_date(session.store_path()):
            files.log(utc_now(), problem)


def _log(hooks: Hooks, line: str) -> None:
    """A line in the log, or on stderr where the log cannot be written."""
    try:
        hooks.log(line)
    except OSError as problem:
        narrate(f"{line} The log cannot be written: {problem.strerror}.")
