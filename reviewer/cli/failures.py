"""The one place where a failure becomes one line on stderr and an exit code."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence

import click

from reviewer.cli.output import narrate
from reviewer.cli.session import CheckKeymap, OpenScreen, Session
from reviewer.cli.streams import discard_output, stand_in_for_closed
from reviewer.errors import ReviewerError

DONE, COULD_NOT, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130

NOT_WRITTEN = "The last step was not written."
"""What holds whatever happened: an ingestion writes in many steps, a decision in one."""


def run(arguments: Sequence[str], open_screen: OpenScreen, check_keymap: CheckKeymap) -> int:
    """Run one call of the program and return its exit code.

    Nothing is raised for what a user or a file can cause; REVIEWER_DEBUG=1 shows the traceback.
    """
    stand_in_for_closed()
    _survive_odd_characters()
    from reviewer.cli.root import root

    session = Session(open_screen=open_screen, check_keymap=check_keymap)
    try:
        with root.make_context("reviewer", list(arguments), obj=session) as context:
            root.invoke(context)
        sys.stdout.flush()
        _tell_remark(session)
    except click.exceptions.Exit as leaving:
        code = _after_flushing(leaving.exit_code)
        if code == DONE:
            _tell_remark(session)
        return code
    except BrokenPipeError:
        discard_output(sys.stdout)
        return DONE
    except (Exception, KeyboardInterrupt) as problem:
        if os.environ.get("REVIEWER_DEBUG") and not isinstance(problem, click.ClickException):
            raise
        line, code = explain(problem)
        if isinstance(problem, click.exceptions.NoArgsIsHelpError):
            click.echo(line, err=True)
        else:
            complain(line)
        return _after_flushing(code)
    return DONE


def explain(problem: BaseException) -> tuple[str, int]:
    """The sentence and the exit code for a failure."""
    import sqlite3

    match problem:
        case click.exceptions.NoArgsIsHelpError():
            return problem.format_message(), WRONG_USAGE
        case click.UsageError():
            return _usage_line(problem), WRONG_USAGE
        case click.ClickException():
            return problem.format_message(), problem.exit_code
        case ReviewerError():
            return str(problem), COULD_NOT
        case click.Abort() | KeyboardInterrupt():
            return "Interrupted.", INTERRUPTED
        case sqlite3.Error():
            return f"The store answered: {problem}. {NOT_WRITTEN}", COULD_NOT
        case UnicodeError():
            return f"Something given is no text: {problem}. {NOT_WRITTEN}", COULD_NOT
        case OSError():
            return _os_line(problem), COULD_NOT
        case MemoryError():
            return f"The memory of this machine does not suffice. {NOT_WRITTEN}", COULD_NOT
    return (
        f"This is a defect of reviewer ({type(problem).__name__}: {problem}). "
        "REVIEWER_DEBUG=1 shows where.",
        COULD_NOT,
    )


def complain(line: str) -> None:
    """Write one line to stderr, made harmless for a terminal."""
    narrate(line)


def _tell_remark(session: Session) -> None:
    if session.remark:
        complain(session.remark)


def _usage_line(problem: click.UsageError) -> str:
    message = " ".join(problem.format_message().split())
    if problem.ctx is None:
        return message
    return f"{message.rstrip('.')}. See: {problem.ctx.command_path} --help"


def _os_line(problem: OSError) -> str:
    what = problem.strerror or str(problem)
    if problem.errno == errno.EBADF and problem.filename is None:
        return "Standard output is closed: there is nowhere to write to."
    where = f"{os.fsdecode(problem.filename)}: " if problem.filename is not None else ""
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{where}{what}. Make room and try again."
    if problem.errno == errno.EFBIG:
        return f"{where}A file would become larger than files may be here (see: ulimit -f)."
    return f"{where}{what}."


def _survive_odd_characters() -> None:
    """Names of files need not be text; what the terminal cannot show is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _after_flushing(code: int) -> int:
    try:
        sys.stdout.flush()
    except OSError as problem:
        discard_output(sys.stdout)
        if not isinstance(problem, BrokenPipeError) and code == DONE:
            line, code = explain(problem)
            complain(line)
    return code
