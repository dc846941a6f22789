"""Call results: outcome, exit code, and the person's words.

Only structural marks count: flags in the formats, and the fixed texts that agents put in place of a
result. Everything else in a result is data.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from reviewer.sources.calls import POLLING
from reviewer.sources.claude_words import INTERRUPTION
from reviewer.sources.events import Act, Call, Outcome
from reviewer.sources.parts import Part
from reviewer.sources.shell import Command

EXACT = frozenset(
    ["claude-code", "claude-stream", "codex", "codex-app-server", "openhands", "pi", "kimi"]
)
"""Formats that mark every command with a non-zero exit code as failed."""
HEAD, TAIL = 400, 300
"""Characters at the ends of a result in which agents report the outcome."""

_REFUSED = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "User rejected",
    "User chose to stay in plan mode",
    "Claude requested permissions to",
    "Permission to use ",
    "exec command rejected by user",
    "patch rejected by user",
    "The user rejected permission to use this specific tool call",
    "The user has specified a rule which prevents you from using this specific tool call",
    "The user dismissed this question",
    "[Operation Cancelled] Reason: User",
    "The tool call required approval from the user, but the user rejected it",
    "The user denied this operation",
    "The user rejected this tool call",
    "Tool execution rejected by user",
    "The tool call is rejected by the user",
    "User denied permission",
    "user denied permission",
    "The user has declined to run this tool",
)
_INTERRUPTED = (
    INTERRUPTION,
    "Interrupted by user",
    "Tool execution aborted",
    "Command aborted",
    "aborted by user",
    "command timed out after",
    "Command timed out",
    "Operation cancelled by user",
    "Tool execution was interrupted",
)
NOT_RUN = "<tool_use_error>"
"""How Claude Code begins the result of a call that it did not make."""
_FAILED = (
    NOT_RUN,
    "apply_patch verification failed",
    "failed in sandbox",
    "Your proposed edit has introduced new syntax error",
    "## SearchReplaceNoExactMatch",
    "ERROR:\nNo replacement was performed",
    "ERROR:\nParameter",
    "ERROR:\nInvalid",
    "Could not find the exact text in",
    "old_string not found",
    "old_string appears",
)
_CODE = re.compile(
    r"(?:Error: )?Exit code:? (-?\d+)|Process exited with code (-?\d+)"
    r"|failed in sandbox[^\n]{0,120}? exit[ _]code: (-?\d+)"
    r"|<returncode>\s*(-?\d+)|Error: Command failed \(exit code: (\d+)\)"
    r"|<status>(?!killed)\w+</status>\s*<exit_code>(-?\d+)"
)
"""An exit code at the start of a result."""
_CODE_AT_END = re.compile(
    r"^(?:Exit code|Command exited with code|Command failed with exit code:) (-?\d+)\.?$"
    r"|<(?:shellId: \S+ )?(?:completed|exited) with exit code (-?\d+)>$"
    r'|"exitCode": ?(-?\d+)\}$'
)
"""In the last line of a result."""
_CODE_OF_GEMINI = re.compile(r"^Exit Code: (-?\d+)$", re.M)
_TASK = re.compile(
    r"Command running in background with ID: ([\w-]+)"
    r"|Process running with session ID (\d+)"
    r"|<command with shellId: (\S+) is still running"
    r"|Async agent launched[^\n]*\n(?:agentId: ([\w-]+))?"
)
_SAID = re.compile(
    r"the user said:\s*\n|with the following feedback: |User feedback: |<feedback>\s*"
)
_AFTER_WORDS = re.compile(r"\n\nNote: The user's next message|</feedback>")
_ANSWERS = re.compile(
    r"(?:Your questions have been answered|User has answered your questions|The user answered"
    r"|User responded|User selected): ?"
)
_NOBODY = "User responded: The user is not available to respond"
"""The start of Copilot CLI's answer if nobody answers."""
_AFTER_ANSWERS = re.compile(r"\.? You can now continue\b|\. Read (?:it as|the answers) ")


class ResultReading(NamedTuple):
    """What a result says about its call."""

    outcome: Outcome
    exit_code: int | None = None
    words: str = ""
    task: str = ""


def read_result(call: Call | None, part: Part, text: str, format_name: str) -> ResultReading:
    """The outcome of a call. `text`: that of the part, without recalled memories."""
    head, error = text[:HEAD].lstrip(), part.error
    if part.feedback or head.startswith(_REFUSED):
        return ResultReading(Outcome.REFUSED, words=part.feedback.strip() or _said(text))
    act = call.act if call else Act.OTHER
    if started := _TASK.search(head):
        task = next(filter(None, started.groups()), "")
        return ResultReading(Outcome.UNKNOWN, task=task)
    if call is not None and call.background and not error:
        return ResultReading(Outcome.UNKNOWN)
    is_poll = call is not None and call.tool.lower() in POLLING
    ran = act is Act.RUN or is_poll
    code = part.code if ran else None
    if ran and code is None:
        code = _code(text)
    if code is not None and "Command timed out" in head:
        return ResultReading(Outcome.INTERRUPTED, code)
    if head.startswith(_INTERRUPTED) or (ran and text[-60:].rstrip().endswith(_INTERRUPTED)):
        return ResultReading(Outcome.INTERRUPTED)
    if code is not None:
        return ResultReading(Outcome.FAILED if code else Outcome.OK, code)
    if error or head.startswith(_FAILED):
        return ResultReading(Outcome.FAILED)
    if ran:
        exact = format_name in EXACT and not is_poll
        return ResultReading(Outcome.OK, 0) if exact else ResultReading(Outcome.UNKNOWN)
    if act is Act.ASK and (answers := _ANSWERS.match(head)):
        if nobody_answered(text):
            return ResultReading(Outcome.OK)
        words, *_ = _AFTER_ANSWERS.split(text.lstrip()[answers.end() :], maxsplit=1)
        return ResultReading(Outcome.OK, words=words.strip())
    return ResultReading(Outcome.OK if format_name in EXACT or text.strip() else Outcome.UNKNOWN)


def nobody_answered(text: str) -> bool:
    return text.lstrip().startswith(_NOBODY)


def report_in(text: str) -> str:
    """A sub-agent's report, without the client's instructions for continuing."""
    return f"\n{text}".partition("\nagentId: ")[0].strip()


def _code(text: str) -> int | None:
    """The exit code at the start or end of a result."""
    head, last = text[:HEAD].lstrip(), text[-TAIL:].rstrip().rpartition("\n")[2]
    found = _CODE.match(head) or _CODE_AT_END.search(last)
    if found is None and head.startswith(("Command: ", "Output: ")):
        found = _CODE_OF_GEMINI.search(text[-TAIL:])
    return int(next(filter(None, found.groups()))) if found else None


def _said(text: str) -> str:
    """The person's words in the result of a refused call."""
    _, *after = _SAID.split(text, maxsplit=1)
    return _AFTER_WORDS.split(after[0], maxsplit=1)[0].strip() if after else ""


def command_outcomes(
    commands: Sequence[Command], reading: Outcome, exit_code: int | None, proved: int = -1
) -> tuple[Outcome, ...]:
    """The outcome of each command of a line, as far as its exit code shows.

    Commands up to `proved` must have run, judging by the output.
    """
    if reading in (Outcome.REFUSED, Outcome.FAILED) and exit_code is None:
        return (Outcome.REFUSED,) * len(commands)  # none of them ran
    found = [Outcome.UNKNOWN] * len(commands)
    if not commands:
        return ()
    first = max(
        (at for at, each in enumerate(commands) if at and each.joined_by in (";", "&")), default=0
    )
    pipelines = [
        at
        for at in range(len(commands))
        if at + 1 == len(commands) or commands[at + 1].joined_by != "|"
    ]
    """The last command of each pipeline, which sets the pipeline's exit code."""
    joins = [each.joined_by for each in commands[first + 1 :]]
    begun = _chain_start(commands, proved)
    for at in pipelines:  # the commands required by a later one have succeeded
        if begun <= at <= proved and commands[at].certain:
            found[at] = Outcome.OK
    if proved >= 0:
        found[proved] = Outcome.OK
    if "||" in joins or exit_code is None or reading is Outcome.INTERRUPTED:
        return tuple(found)
    if any(each.joined_by == "&" for each in commands[first:]):
        return tuple(found)
    last = [at for at in pipelines if at >= first]
    if exit_code == 0:
        for at in last:
            if commands[at].certain:
                found[at] = Outcome.OK
    elif len(left := [at for at in last if at > proved]) == 1 and commands[left[0]].certain:
        found[left[0]] = Outcome.FAILED
    return tuple(found)


def _chain_start(commands: Sequence[Command], at: int) -> int:
    """Start of the `&&` chain that contains a command."""
    while at > 0 and commands[at].joined_by in ("&&", "|"):
        at -= 1
    return max(at, 0)
