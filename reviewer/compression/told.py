"""Descriptions of calls in a few words: their action and their outcome."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from msgspec import Struct

from reviewer.sessions.signatures import failing_lines
from reviewer.sessions.work_state import Check, checks_among, command_ends
from reviewer.sessions.working_tree import commits_made, is_aside, runs_git
from reviewer.sources.calls import POLLING
from reviewer.sources.events import Act, Call, Change, Outcome, Result
from reviewer.sources.results import NOT_RUN
from reviewer.sources.shell import Command
from reviewer.text.clip import clip

_BOOKS = POLLING | {"report_intent"}
"""Tools that do not affect the work."""
SHORT = 110
"""Characters of a call."""
NAMES = 4
"""Names introduced by an edit."""
NO_RESULT = ": no result seen"
MAX_COMPARED = 2_000
"""Lines of a change that are compared line by line, which takes a second from some 4,000 on."""
DECLARED = re.compile(
    r"^[^\S\n]{0,12}(?:(?:export|default|public|private|static|async|pub|abstract|final) )*"
    r"(?:def|class|func|function|fn|interface|struct|enum|type|trait|impl|module|const|test"
    r"|CREATE TABLE|ALTER TABLE) +"
    r"(?:\([^)\n]{0,80}\) *)?([A-Za-z_]\w*)[^\n]*",
    re.MULTILINE,
)
"""A declaration, in most languages; its group is the name."""


class ToldCall(Struct, frozen=True):
    """A call of the agent. `line`: in a few words."""

    place: int
    line: str
    key: object
    """Equal for calls of which only the last matters: the same command, or the same checks."""
    only_looks: bool = False


def told(call: Call, result: Result | None, place: int) -> ToldCall | None:
    """A call with its result; None for one that does not affect the work."""
    if call.act is Act.PLAN or (call.tool.lower() in _BOOKS and not call.command):
        return None
    key: object = without_cd(call) or place
    ends = command_ends(call, result) if result else []
    final_output = result.text if result and not result.task else ""
    checks = checks_among(call, final_output, ends, result.exit_code) if result else []
    checking = [command for command, _ in checks]
    only_checks = all(each in checking or each.only_looks for each in call.commands)
    if checks and only_checks:
        key = tuple((each.folder, each.words) for each in checking)
    looks = call.act in (Act.READ, Act.SEARCH) or call.only_looks
    return ToldCall(place, _line(call, result, checks, alone=only_checks), key, looks)


def how_it_ended(check: Check) -> str:
    """`passed`, `failed (exit 1): 2 failed` or `exit code not seen, output ends: ...`."""
    if check.outcome is Outcome.OK:
        return "passed"
    if check.outcome is Outcome.FAILED:
        code = f" (exit {check.exit_code})" if check.exit_code is not None else ""
        return f"failed{code}" + (f": {check.said}" if check.said else "")
    if check.outcome is Outcome.INTERRUPTED:
        return "interrupted"
    said = f', output ends: "{check.said}"' if check.said else ""
    return f"exit code not seen{said}"


def _line(
    call: Call, result: Result | None, checks: Sequence[tuple[Command, Check]], *, alone: bool
) -> str:
    outcome = result.outcome if result is not None else None
    ends = [(check.command, how_it_ended(check)) for _, check in checks]
    if call.changes:
        words = _changed(call, done=outcome is not Outcome.REFUSED)
    elif call.act is Act.RUN:
        words = _ran(call, result, ends, alone=alone)
    elif call.act is Act.READ:
        words = f"read {_name(call, call.path) or clip(call.query, 60)}"
    elif call.act is Act.SEARCH:
        words = f"searched `{clip(call.query, 60)}`"
    else:
        words = f"{call.tool.split('__')[-1]} {clip(call.query, SHORT)}".strip()
    if result is None:
        return f"{words}{NO_RESULT}"
    if outcome is Outcome.REFUSED:
        return f"refused: {words}"
    if outcome is Outcome.INTERRUPTED:
        return f"{words}: interrupted"
    if result.text.startswith(NOT_RUN) and call.act is Act.RUN:
        return f"{words}: not run"
    if outcome is Outcome.FAILED and not ends:
        failed = f"{words}: exit {result.exit_code}" if result.exit_code else f"{words}: failed"
        said = [clip(each.text, SHORT) for each in failing_lines(result.text)[:1]]
        return ": ".join([failed, *said])
    return words


def _changed(call: Call, *, done: bool) -> str:
    told, names = [], added_names(call.changes)[:NAMES]
    for change in call.changes[:4]:
        verbs = ("deleted", "delete") if change.deleted else ("edited", "edit")
        verbs = ("wrote", "write") if change.created else verbs
        told.append(f"{verbs[0] if done else verbs[1]} {_name(call, change.path)}")
    more = f" and {len(call.changes) - 4} more files" if len(call.changes) > 4 else ""
    return ", ".join(told) + more + (f" ({', '.join(names)})" if names else "")


def _ran(call: Call, result: Result | None, ends: Sequence[tuple[str, str]], *, alone: bool) -> str:
    """`alone`: the checks that ended so are all that the call does."""
    committing = [each for each in call.commands if runs_git(each, "commit")]
    if result is not None and any(
        not is_aside(each.folder, call.origin.cwd) for each in committing
    ):
        found = reversed(commits_made(call, result.text))
        if made := [f"{number} {subject}" for _, number, subject in found]:
            return f"committed {clip('; '.join(made), SHORT)}"
    words = f"`{clip(without_cd(call), SHORT)}`"
    if not ends:
        return words
    if alone and len({end for _, end in ends}) == 1:
        return f"{words}: {ends[0][1]}"
    return f"{words}: " + "; ".join(f"`{clip(command, 40)}` {end}" for command, end in ends)


def _name(call: Call, path: str) -> str:
    """A file with its folder below the session's, as several files may have its name; or its path
    elsewhere.
    """
    below = path.removeprefix(f"{call.origin.cwd}/")
    return path if path.startswith("/") and below == path else "/".join(below.split("/")[-2:])


def without_cd(call: Call) -> str:
    """A shell line without the initial change to the session's folder."""
    line = call.command.strip().removesuffix("2>&1").rstrip()
    first, joint, rest = line.partition("&&")
    if joint and first.strip() == f"cd {call.origin.cwd}":
        line = rest
    return line.strip()


def added_names(changes: Sequence[Change]) -> list[str]:
    """Names declared by changes, in order."""
    old = "\n".join(old for change in changes for old, _ in change.pairs)
    new = "\n".join(new for change in changes for _, new in change.pairs)
    known = {match[1] for match in DECLARED.finditer(old)}
    names = (match[1] for match in DECLARED.finditer(new))
    return [name for name in dict.fromkeys(names) if name not in known]


class Hunk(NamedTuple):
    """Neighbouring lines that a replacement removes and adds, and the line above them."""

    above: str
    gone: list[str]
    added: list[str]


def hunks(old: str, new: str) -> Iterator[Hunk]:
    """The lines that a replacement changes, in order, without blank ones. Indents do not count
    where anything else changed.
    """
    before, after = ([line for line in each.split("\n") if line.strip()] for each in (old, new))
    plain = [*map(str.strip, before)], [*map(str.strip, after)]
    if plain[0] == plain[1]:
        plain = before, after
    places: Sequence[tuple[str, int, int, int, int]]
    if len(before) + len(after) > MAX_COMPARED:  # as one hunk, without the equal ends
        head = len(posixpath.commonprefix(plain))
        tail = len(posixpath.commonprefix([lines[head:][::-1] for lines in plain]))
        places = [("replace", head, len(before) - tail, head, len(after) - tail)]
    else:
        places = SequenceMatcher(_is_bracket, *plain).get_opcodes()
    for _, from_b, to_b, from_a, to_a in places:
        while from_b < to_b and from_a < to_a and plain[0][to_b - 1] == plain[1][to_a - 1]:
            to_b, to_a = to_b - 1, to_a - 1  # equal lines, also brackets that were not matched
        if from_b < to_b or from_a < to_a:
            above = next((line for line in after[:from_a][::-1] if not _is_bracket(line)), "")
            yield Hunk(above, before[from_b:to_b], after[from_a:to_a])


def _is_bracket(line: str) -> bool:
    """Whether a line has no letters, so that equal ones do not show that it is the same line."""
    return not any(map(str.isalnum, line))


def told_once(steps: Sequence[ToldCall]) -> list[ToldCall]:
    """The calls between two messages, repeated ones at their last place. Reads are included only if
    there is nothing else.
    """
    done = [step for step in steps if not step.only_looks] or steps
    last = {step.line: step for step in done}
    return sorted(last.values(), key=lambda step: step.place)
