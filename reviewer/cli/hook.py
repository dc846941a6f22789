"""`reviewer hook`: what agents run at events of a session. Whatever happens, the agent goes on."""

from __future__ import annotations

import gc
import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reviewer.cli.output import narrate
from reviewer.cli.run import explain
from reviewer.cli.session import DONE, FAILED, Session, Verb, pass_session
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

    It reads one object of JSON on stdin, and answers on stdout where there is something to say. At
    the start and after a compaction it gives the packet of the project; before a compaction it
    says what must be kept, where the agent can be told; at the end the session is noted, and read
    by another process. What fails is a line in a log beside the store, and the exit code is 0; only
    an AGENT or EVENT that does not exist, or wrong options, are errors, with exit code 1.
    """
    from reviewer.agents.background import inside_own_call
    from reviewer.agents.hook_events import COMPACTIONS, UnknownEventError, answer, read_event
    from reviewer.agents.hooks import Hooks

    if inside_own_call(os.environ):
        return
    gc.disable()  # it takes a tenth of the time, and the process ends soon
    hooks = Hooks(session.store_path(), project=session.project)

    seconds = MOST_SECONDS_COMPACTION if event in COMPACTIONS else MOST_SECONDS

    def give_up() -> None:
        _log(hooks, f"{agent} {event}: it took longer than {seconds:g} seconds.")
        os._exit(DONE)

    timer = threading.Timer(seconds, give_up)
    timer.daemon = True
    timer.start()
    try:
        data = sys.stdin.buffer.read(MOST_INPUT + 1)
        if len(data) > MOST_INPUT:
            raise ReviewerError(f"stdin has more than {MOST_INPUT // 1_000_000} MB: too large.")
        told = read_event(agent, event, data)
        text = hooks.carry_out(told)
        if text:
            sys.stdout.write(answer(told, text) + "\n")
            sys.stdout.flush()
        hooks.finish(told)
    except UnknownEventError:
        raise  # somebody mistyped it: an agent is told what `connect` wrote
    except Exception as problem:
        if os.environ.get("REVIEWER_DEBUG"):
            raise
        _log(hooks, f"{agent} {event}: {explain(problem)[0]}")
    finally:
        timer.cancel()
        timer.join()
        gc.enable()


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
@click.argument("folder", type=click.Path(path_type=Path))
@pass_session
def make_packet_ready(session: Session, folder: Path) -> None:
    """Make the packet of a folder, and measure its entries, so that hooks answer sooner.

    A hook starts this in a process of its own, and so does a decision where an agent is connected.
    """
    from reviewer.agents.agent_files import AgentFiles
    from reviewer.agents.hooks import PacketMaker

    with AgentFiles(session.store_path()).lock("ready", wait=False) as mine:
        if not mine:
            narrate("Another process does it.")
            return
        maker = PacketMaker(session.store_path(), project=session.project)
        project = maker.make_ready(folder)
    narrate(f"Ready for {project}." if project else f"Nothing is known of {folder}.")


def _log(hooks: Hooks, line: str) -> None:
    """A line in the log, or on stderr where the log cannot be written."""
    try:
        hooks.log(line)
    except OSError as problem:
        narrate(f"{line} The log cannot be written: {problem.strerror}.")
