"""Runs one call of the program; every failure becomes one line on stderr and an exit code."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence

import click
from click.shell_completion import shell_complete

from reviewer.cli.output import discard, narrate
from reviewer.cli.root import root
from reviewer.cli.session import (
    DONE,
    FAILED,
    INTERRUPTED,
    WRONG_USAGE,
    CheckKeymap,
    OpenScreen,
    Session,
)
from reviewer.errors import FilterError, ReviewerError
from reviewer.installation import missing_extra

COMPLETE = "_REVIEWER_COMPLETE"
"""Set by a shell that asks for completions, or by a person who wants their script."""
NOT_WRITTEN = "The last step was not written."
"""True of every failure: an ingestion writes in many steps, a decision in one."""


def run(arguments: Sequence[str], open_screen: OpenScreen, check_keymap: CheckKeymap) -> int:
    """Run one call of the program and return its exit code.

    Nothing that a user or a file can cause raises; REVIEWER_DEBUG=1 shows the traceback.
    """
    _replace_closed_streams()
    # Names of files need not be text; characters that cannot be printed are escaped.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if (asked := os.environ.get(COMPLETE)) is not None:
        return shell_complete(root, {}, "reviewer", COMPLETE, asked)
    session = Session(open_screen=open_screen, check_keymap=check_keymap)
    try:
        with root.make_context("reviewer", list(arguments), obj=session) as context:
            root.invoke(context)
        sys.stdout.flush()
        code = DONE
    except click.exceptions.Exit as leaving:
        code = _after_flushing(leaving.exit_code)
    except (Exception, KeyboardInterrupt) as problem:
        if os.environ.get("REVIEWER_DEBUG") and not isinstance(problem, click.ClickException):
            raise
        if isinstance(problem, BrokenPipeError) and _nobody_reads():
            return DONE
        line, code = explain(problem)
        if isinstance(problem, click.exceptions.NoArgsIsHelpError):
            click.echo(line, err=True)
        else:
            narrate(line)
        return _after_flushing(code)
    if code == DONE and session.remark:
        narrate(session.remark)
    return code


def explain(problem: BaseException) -> tuple[str, int]:
    """The sentence and the exit code for a failure."""
    import sqlite3

    from reviewer.llm.model import CancelledError

    match problem:
        case click.exceptions.NoArgsIsHelpError():
            return problem.format_message(), WRONG_USAGE
        case click.UsageError():
            return _usage_line(problem), problem.exit_code
        case click.ClickException():
            return problem.format_message(), problem.exit_code
        case click.Abort() | KeyboardInterrupt() | CancelledError():
            return "Interrupted.", INTERRUPTED
        case FilterError():
            return str(problem), WRONG_USAGE
        case ReviewerError():
            return str(problem), FAILED
        case sqlite3.Error():
            return f"The store failed: {problem}. {NOT_WRITTEN}", FAILED
        case UnicodeError():
            return f"Some of the input is not valid text: {problem}. {NOT_WRITTEN}", FAILED
        case ModuleNotFoundError() if missing := missing_extra(problem.name):
            return missing, FAILED
        case OSError():
            return _os_line(problem), FAILED
        case MemoryError():
            return f"This machine ran out of memory. {NOT_WRITTEN}", FAILED
    return (
        f"This is a defect of reviewer ({type(problem).__name__}: {problem}). "
        "REVIEWER_DEBUG=1 shows where.",
        FAILED,
    )


def flush_streams() -> None:
    """Flush stdout and stderr; discard what cannot be written (a closed terminal).

    Otherwise the interpreter would flush them at its end, fail, and replace the exit code with 120.
    """
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        if stream is None or stream.closed:
            continue
        try:
            stream.flush()
        except OSError:
            discard(stream)


def _usage_line(problem: click.UsageError) -> str:
    message = " ".join(problem.format_message().split())
    if problem.ctx is None:
        return message
    end = "" if message.endswith(("?", ".")) else "."
    return f"{message}{end} See: {problem.ctx.command_path} --help"


def _folder_is_gone() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def _os_line(problem: OSError) -> str:
    what = problem.strerror or str(problem)
    if problem.errno == errno.ENOENT and problem.filename is None and _folder_is_gone():
        return "The current folder no longer exists: change to another one with cd."
    where = f"{os.fsdecode(problem.filename)}: " if problem.filename is not None else ""
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{where}{what}. Free some space and try again."
    if problem.errno == errno.EFBIG:
        return f"{where}The file would exceed the size limit (see: ulimit -f)."
    return f"{where}{what}."


def _nobody_reads() -> bool:
    """Whether the reader of stdout is gone; the remaining output is discarded."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        discard(sys.stdout)
        return True
    return False


def _after_flushing(code: int) -> int:
    try:
        sys.stdout.flush()
    except OSError as problem:
        discard(sys.stdout)
        if not isinstance(problem, BrokenPipeError) and code == DONE:
            line, code = explain(problem)
            narrate(line)
    return code


def _replace_closed_streams() -> None:
    """The null device in place of each standard stream closed by the caller (`reviewer >&-`),
    before a file of ours could get its number.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
