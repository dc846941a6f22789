"""The costly events of a session: failures with their fixes, refusals, corrections.

Works on events alone: calls, results and speakers, in any language. Memory is bounded: a few calls,
and a few lines per kind of failure, however long the session.
"""

from __future__ import annotations

import posixpath
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Any

from msgspec import Struct, structs

from reviewer.sessions.checks import check_kind, covers, only_shows
from reviewer.sessions.replacements import composed
from reviewer.sessions.signatures import (
    HEAD,
    TAIL,
    Failing,
    failing_lines,
    is_environment,
    is_of_the_day,
    names_in,
    normalised,
)
from reviewer.sources.calls import POLLING
from reviewer.sources.events import (
    Act,
    Call,
    Event,
    Message,
    Notice,
    NoticeKind,
    Origin,
    Outcome,
    Result,
    Speaker,
)
from reviewer.sources.results import command_outcomes
from reviewer.sources.shell import GROUPS, Command, only_looks
from reviewer.text.clip import clip
from reviewer.text.secrets.values import without_secrets

REACH = 25
"""Calls after a failure within which its fix is searched."""
OPEN = 30
"""Maximum failures followed at a time."""
MOST = 1_000
"""Maximum different findings of one session."""
LINES = 4
"""Maximum evidence lines of one finding."""
SHOWN = 300
"""Maximum characters of a text, a change or an evidence line."""
WORDS = 1_200
"""Maximum characters of a correction; a longer message is a task."""
UNSOLVED = 2
"""Minimum cost, in calls, of a failure that was never fixed."""
IN_ITS_FILE, NAMED = 1, 2
"""How strong the link between a change and a failure is: same file, or mentioned in the failing
line."""
CODE = 8
"""Minimum characters of a changed line to look up in the code below a failing line."""


class Kind(StrEnum):
    FAILURE = "failure"
    ENVIRONMENT = "environment"
    REFUSAL = "refusal"
    CORRECTION = "correction"


class Evidence(Struct, frozen=True):
    """A quote as evidence of a finding, and its record. `line`: of the file (0-based)."""

    line: int
    text: str
    record: str = ""
    """Key of the record."""
    bytes: tuple[int, int] = (0, 0)
    sha256: str = ""
    at: str = ""

    @classmethod
    def of(cls, origin: Origin, text: str) -> Evidence:
        """A quote from a record."""
        return cls(
            origin.line_start,
            text[:SHOWN],
            origin.key,
            (origin.byte_start, origin.byte_end),
            origin.sha256,
            origin.at or "",
        )


class Finding(Struct, frozen=True, kw_only=True):
    """One costly thing in one session."""

    kind: Kind
    signature: str
    text: str
    """The failing line, or the refused or corrected call."""
    command: str = ""
    """Program and subcommand of the failed part; empty if uncertain."""
    session: str = ""
    times: int = 1
    cost: int = 1
    """Calls from the first failure (included) to the pass."""
    first: str = ""
    last: str = ""
    passed: bool = False
    """The same command passed later."""
    fix: str = ""
    """The change or command that fixed it."""
    words: str = ""
    """The person's words."""
    evidence: tuple[Evidence, ...] = ()


_Change = tuple[str, str, str]
"""Path, old and new text."""
_Part = tuple[str, Command]
"""A command and its name."""


class _Call(Struct):
    number: int
    tool: str
    act: Act
    text: str
    path: str
    origin: Origin
    parts: tuple[_Part, ...]
    changes: tuple[_Change, ...] = ()
    outcome: Outcome = Outcome.UNKNOWN


_Edit = tuple[_Call, _Change]


class _Open(Struct, kw_only=True):
    """A failure that has not passed yet."""

    finding: Finding
    failing: Failing
    call: _Call
    acts: Sequence[_Part]
    """What failed: one command, or all those of its line that may have."""
    shared: int
    """Number of failures in the same call."""
    shown: str
    """The lines below the failing one, where linters and compilers print the code."""
    last: int
    """Number of the last call with this failure."""


class Findings:
    """Collects the findings of one file: `add` every event, then `close`."""

    def __init__(self) -> None:
        self._lanes: dict[tuple[str | None, bool], _Lane] = {}

    def add(self, event: Event) -> None:
        origin = event.origin
        lane = self._lanes.get((origin.session, origin.sidechain))
        if lane is None:
            lane = self._lanes[origin.session, origin.sidechain] = _Lane(origin.session or "")
        lane.add(event)

    def close(self) -> list[Finding]:
        """The findings, masked; each kind of failure once per session."""
        found = [each for lane in self._lanes.values() for each in lane.close()]
        return without_secrets(found, list[Finding])


class _Lane:
    """One session, or its sub-agents."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._number = 0
        self._calls: dict[str, _Call] = {}
        """Calls without a result."""
        self._recent: deque[_Call] = deque(maxlen=REACH + 5)
        self._open: list[_Open] = []
        self._found: dict[tuple[str, str, str], Finding] = {}
        self._refused: tuple[_Call, Origin] | None = None
        """A call refused or interrupted without comment, and where: a comment may follow."""
        self._before: list[_Call] = []
        """Calls since the person's last message."""
        self._message: Message | None = None
        """The last message, while it may still be a correction of the calls before it."""
        self._reviewed: Sequence[_Call] = ()
        """Calls before that message."""
        self._asked_at = 0

    def add(self, event: Event) -> None:
        if isinstance(event, Call):
            self._call(event)
        elif isinstance(event, Result):
            self._result(event)
        elif isinstance(event, Message) and event.speaker is Speaker.PERSON:
            self._person(event)
        elif isinstance(event, Notice) and event.kind is NoticeKind.INTERRUPTED:
            self._interrupted(event)

    def _interrupted(self, event: Notice) -> None:
        last = self._recent[-1] if self._recent else None
        # A call that succeeded was not interrupted: the person stopped the agent's message.
        if last is not None and last.outcome is not Outcome.OK and self._refused is None:
            self._refused = last, event.origin

    def close(self) -> Iterator[Finding]:
        for each in self._open:
            self._keep(_unsolved(each))
        self._open.clear()
        self._without_words()
        yield from self._found.values()
        self._found.clear()

    # Calls and results

    def _call(self, event: Call) -> None:
        self._without_words()
        self._number += 1
        call = _Call(
            self._number,
            event.tool,
            event.act,
            (event.command or event.text)[:WORDS],
            event.path,
            event.origin,
            tuple((_named(each), each) for each in event.commands[:40]),
            tuple(_changed(event)),
        )
        if event.id:
            self._calls[event.id] = call
            if len(self._calls) > MOST:
                del self._calls[next(iter(self._calls))]
        self._recent.append(call)
        if self._message is not None:
            self._correction(call)
            if self._number - self._asked_at > REACH:
                self._message = None

    def _result(self, event: Result) -> None:
        call = self._calls.pop(event.call, None) if event.call else None
        if call is None:
            if event.call or not self._recent:
                return
            call = self._recent[-1]
        call.outcome = event.outcome
        if event.outcome is Outcome.REFUSED:
            if event.words:
                self._keep(self._refusal(call, event.words, event.origin))
            else:
                self._refused = call, event.origin
        elif event.outcome is Outcome.INTERRUPTED:
            return
        elif call.act in (Act.RUN, Act.OTHER):
            self._ran(call, event)
        if event.outcome in (Outcome.OK, Outcome.UNKNOWN):
            self._before.append(call)
            del self._before[:-REACH]

    def _ran(self, call: _Call, event: Result) -> None:
        failed = event.outcome is Outcome.FAILED
        if not failed and call.act is Act.RUN and _looks(call):
            return
        if failed and call.tool.lower() in POLLING and (not call.parts or event.exit_code is None):
            return  # the poll itself, or an end that an earlier poll showed
        lines: Sequence[Failing] = ()
        if failed:
            lines = failing_lines(event.text)
        elif call.act is Act.RUN and _is_hidden(call, event):
            if lines := failing_lines(event.text, hidden=True):
                call.outcome = Outcome.FAILED
            elif any(name.partition(" ")[0].lower() in _FILTERS for name, _ in call.parts):
                call.outcome = Outcome.UNKNOWN
        elif call.act is Act.RUN:
            lines = failing_lines(event.text, plain=True)
        part = _failed_part(call, event, lines) if lines or failed else None
        blamed = call.parts if part is None else (part,)
        acts = [each for each in blamed if not only_looks(each[0].partition(" ")[0])]
        if blamed and not acts:
            return
        self._passes(call, lines)
        for line in lines:
            if any(each.failing.signature == line.signature for each in self._open):
                continue
            command = (part[0] if part else "") if call.parts else call.tool
            kind = Kind.ENVIRONMENT if is_environment(line.text) else Kind.FAILURE
            found = self._finding(kind, line.signature, line.text, event.origin, command=command)
            self._open.append(
                _Open(
                    finding=found,
                    failing=line,
                    call=call,
                    acts=acts,
                    shared=len(lines),
                    shown=_below(event.text, line),
                    last=call.number,
                )
            )
        while len(self._open) > OPEN or (self._open and call.number - self._open[0].last > REACH):
            self._keep(_unsolved(self._open.pop(0)))

    def _passes(self, call: _Call, lines: Sequence[Failing]) -> None:
        """Count open failures that a call repeats, and close those it no longer shows."""
        if not self._open:
            return
        signatures = {each.signature for each in lines}
        ruled = any(each.rule for each in lines)
        still: list[_Open] = []
        for each in self._open:
            if each.failing.signature in signatures:
                each.finding = structs.replace(
                    each.finding,
                    times=each.finding.times + 1,
                    last=call.origin.at or each.finding.last,
                )
                each.last = call.number
                still.append(each)
            elif not _is_again(each, call) and not _way_out(each, [call]):
                still.append(each)
            elif call.outcome is Outcome.OK or (ruled and each.failing.rule):
                self._keep(self._solved(each, call))
            else:
                still.append(each)
        self._open = still

    def _solved(self, each: _Open, passed: _Call) -> Finding:
        between = [one for one in self._recent if each.last < one.number < passed.number]
        lost = min(passed.number - each.call.number, REACH)
        fix, call = _fix(each, between, passed)
        evidence = (Evidence.of(call.origin, fix),) if call else ()
        return structs.replace(
            each.finding,
            passed=True,
            cost=max(1, round(lost / each.shared)),
            fix=fix[:SHOWN],
            evidence=each.finding.evidence + evidence,
        )

    def _finding(
        self, kind: Kind, signature: str, text: str, origin: Origin, **more: Any
    ) -> Finding:
        """A finding at a record, which by default is its evidence."""
        return Finding(
            kind=kind,
            signature=signature,
            text=text[:SHOWN],
            session=self._session,
            first=origin.at or "",
            last=origin.at or "",
            **{"evidence": (Evidence.of(origin, text),), **more},
        )

    def _keep(self, found: Finding) -> None:
        """Merge a finding into those of its kind."""
        key = (found.kind, found.signature, found.command)
        known = self._found.get(key)
        if known is not None:
            self._found[key] = _joined(known, found)
        elif len(self._found) < MOST:
            self._found[key] = found

    # The person

    def _person(self, message: Message) -> None:
        words = message.text.strip()
        if self._refused is not None and words:
            if len(words) <= WORDS:
                self._keep(self._refusal(self._refused[0], words, message.origin))
            self._refused = None
            self._before, self._message = [], None
            return
        for line in failing_lines(message.text, plain=True):
            self._keep(self._finding(Kind.FAILURE, line.signature, line.text, message.origin))
        self._message = message if words and len(words) <= WORDS else None
        self._asked_at = self._number
        self._reviewed, self._before = self._before[-8:], []

    def _refusal(self, call: _Call, words: str, origin: Origin) -> Finding:
        name = _name(call)
        quoted = words.strip()[:WORDS]
        return self._finding(
            Kind.REFUSAL,
            f"{name}: {normalised(quoted)}" if quoted else name,
            _act(call),
            origin,
            command=name if call.parts else "",
            words=quoted,
            evidence=(
                Evidence.of(call.origin, _act(call)),
                *([Evidence.of(origin, quoted)] if quoted else []),
            ),
        )

    def _without_words(self) -> None:
        """The person refused a call without comment."""
        if self._refused is not None:
            call, origin = self._refused
            if call.act is not Act.ASK and not _looks(call):
                self._keep(self._refusal(call, "", origin))
            self._refused = None

    def _correction(self, call: _Call) -> None:
        """Record a correction if a call after the person's message undoes earlier work."""
        message = self._message
        assert message is not None
        undone = _undone(call, self._reviewed, message.text)
        if undone is None:
            known = {path for each in self._reviewed for path, _, _ in each.changes}
            if any(path not in known for path, _, _ in call.changes):
                self._message = None  # the agent goes on to something else
            return
        words = message.text.strip()
        self._keep(
            self._finding(
                Kind.CORRECTION,
                normalised(words),
                _act(undone),
                message.origin,
                command=_name(undone) if undone.parts else "",
                fix=_act(call),
                words=words,
                evidence=(
                    Evidence.of(undone.origin, _act(undone)),
                    Evidence.of(message.origin, words),
                    Evidence.of(call.origin, _act(call)),
                ),
            )
        )
        self._message = None


# Commands

_FILTERS = frozenset(["grep", "rg", "head", "sed", "awk", "cut", "uniq", "select-string"])
"""Programs that may filter out failing lines; not `tail`, because tools print their summary
last."""
_WITH_VALUE = frozenset(
    ["-C", "--filter", "-F", "--cwd", "--prefix", "--project", "-p", "-w", "--workspace", "-n",
     "--namespace", "-m", "--repo", "-R"]
)  # fmt: skip
"""Options with a value that may precede a subcommand."""
_BARE = re.compile(r"[A-Za-z][\w:-]*\Z")


def _named(command: Command) -> str:
    """A command as program with subcommands: `git push`, `npm run lint`, `python -m pytest`."""
    words = command.words
    name = [words[0].replace("\\", "/").rpartition("/")[2] if words else ""]
    at = 1
    while at < len(words) and (len(name) == 1 or name[-1] in GROUPS):
        word = words[at]
        if word == "-m" and name[0].startswith("python"):
            name += [word, *words[at + 1 : at + 2]]
            break
        if word.startswith("-"):
            at += 2 if word in _WITH_VALUE else 1
        elif _BARE.match(word):
            name.append(word)
            at += 1
        else:
            break
    return " ".join(name)


def _name(call: _Call) -> str:
    """The command of a call with effects, or its tool."""
    doing = [name for name, _ in call.parts if not only_looks(name)]
    return doing[0] if doing else call.parts[-1][0] if call.parts else call.tool


def _looks(call: _Call) -> bool:
    """Whether a call is read-only."""
    if call.act is not Act.RUN:
        return call.act not in (Act.EDIT, Act.WRITE)
    return all(only_looks(name) for name, _ in call.parts)


def _is_hidden(call: _Call, event: Result) -> bool:
    """Whether a command with effects may have failed although the shell line succeeded: the exit
    code is that of another one, as behind `| tail` or before `; echo done`.
    """
    if len(call.parts) == 1 and event.exit_code is not None:
        return False
    ends = _outcomes(call, event)
    return any(
        end is not Outcome.OK and not only_looks(name)
        for (name, _), end in zip(call.parts, ends, strict=True)
    )


def _outcomes(call: _Call, event: Result) -> Sequence[Outcome]:
    commands = [command for _, command in call.parts]
    return command_outcomes(commands, event.outcome, event.exit_code)


def _failed_part(call: _Call, event: Result, lines: Sequence[Failing]) -> _Part | None:
    """The failed part of a shell line, if certain."""
    if len(call.parts) == 1:
        return call.parts[0]
    if not call.parts:
        return None
    for line in lines[:1]:  # `sed: can't read x` starts with the program
        program = line.text.partition(":")[0].strip().rpartition("/")[2]
        named = [part for part in call.parts if part[0].split(" ")[0] == program]
        if named:
            return named[0]
    outcomes = _outcomes(call, event)
    failed = [part for part, end in zip(call.parts, outcomes, strict=True) if end is Outcome.FAILED]
    if len(failed) == 1:
        return failed[0]
    doing = [part for part in call.parts if not only_looks(part[0])]
    return doing[0] if len(doing) == 1 else None


def _repeats(now: Command, before: Command) -> bool:
    """Whether a command is an earlier one, or a check that covers it."""
    if now.words == before.words:
        return now.stdin == before.stdin
    return bool(check_kind(before.words)) and covers(now.words, before.words)


def _is_again(
    each: _Open, call: _Call, repeats: Callable[[Command, Command], bool] = _repeats
) -> bool:
    """Whether a call repeats all that failed."""
    if not each.acts:
        return (each.call.tool, each.call.text) == (call.tool, call.text)
    return all(any(repeats(now, before) for _, now in call.parts) for _, before in each.acts)


# Changes

_TOKEN = re.compile(r"\w[\w.-]*")
_IDENTIFIER = re.compile(r"[^\W\d]\w{2,}")


def _changed(event: Call) -> Iterator[_Change]:
    for change in event.changes[:20]:
        for old, new in change.pairs[:20]:
            yield change.path, old[:20_000], new[:20_000]


def _fix(each: _Open, between: Sequence[_Call], passed: _Call) -> tuple[str, _Call | None]:
    """The fix of a failed command, if it can be determined, and its call."""
    line = each.failing
    made = [call for call in between if call.outcome in (Outcome.OK, Outcome.UNKNOWN)]
    edits = [(call, change) for call in made for change in call.changes]
    if line.rule and line.path:  # linter errors are fixed in the file that they name
        edits = [(call, change) for call, change in edits if _is_same_file(change[0], line.path)]
    edits = _without_drafts(edits)
    grounds = [_grounds(line, each.shown, change) for _, change in edits]
    best = max(grounds, default=(0,))
    acted = [call for call in between if call.act is Act.RUN and not _looks(call)]
    done = [call for call in acted if call.outcome is Outcome.OK and not _is_again(each, call)]
    if best[0] or is_of_the_day(line) or not done:
        likely = [edit for edit, ground in zip(edits, grounds, strict=True) if ground == best]
        texts = {_change_text(change) for _, change in likely}
        # Of several changes it is unknown which one helped, and a new file does not show what was
        # wrong.
        if len(texts) == 1 and likely[-1][1][1]:
            return texts.pop(), likely[-1][0]
    if is_of_the_day(line):  # another command line does not fix errors in code
        return "", None
    if not line.path and (not edits or each.finding.kind is Kind.ENVIRONMENT):
        way_out = _way_out(each, [*acted, passed])
        if way_out is not None:
            return f"`{_act(way_out)}`", way_out
    named = [call for call in [*done, passed] if line.path and _names_its_file(each, call)]
    done = named or [call for call in done if not _checks(call)]
    if edits or len(done) != 1 or any("<<" in call.text for call in acted):
        return "", None
    return f"`{_act(done[0])}`", done[0]


def _names_its_file(each: _Open, call: _Call) -> bool:
    """Whether a call does more than the failed one with the file in the failing line."""
    return any(
        _is_same_file(word, each.failing.path)
        for _, command in call.parts
        if not any(_repeats(command, before) for _, before in each.acts)
        for word in command.words
    )


def _checks(call: _Call) -> bool:
    """Whether a call runs a check other than a formatter."""
    return any(check_kind(command.words) not in ("", "format") for _, command in call.parts)


def _without_drafts(edits: Sequence[_Edit]) -> list[_Edit]:
    """The edits, with one that changes what an earlier one wrote joined to it."""
    found: list[_Edit] = []
    for call, (path, old, new) in edits:
        for at, (_, (place, before, draft)) in enumerate(found):
            if place == path and (both := composed((before, draft), (old, new))):
                found[at] = call, (path, *both)
                break
        else:
            found.append((call, (path, old, new)))
    return found


def _change_text(change: _Change) -> str:
    path, old, new = change
    return f"{_file_name(path)}: {_difference(old, new)}"


def _grounds(line: Failing, shown: str, change: _Change) -> tuple[int, ...]:
    """How strongly a change is linked to a failing line: it is in that file, contains a name from
    the line, or mentions the rule or changes the code shown. Ties go to changes that do not only
    remove, then to more names in common.
    """
    path, old, new = change
    there = IN_ITS_FILE if _is_same_file(path, line.path) else 0
    before, after = _stripped(old), _stripped(new)
    words = set(_IDENTIFIER.findall("\n".join(before ^ after)))
    gone = (text for text in before - after if shown and len(text) >= CODE)
    ruled = there and words.intersection(_IDENTIFIER.findall(line.rule))
    names = names_in(line)
    shared = names & words
    if ruled or any(text in shown for text in gone):
        ground = there + NAMED + 1
    elif shared and (there or len(shared) > 1 or shared == names):
        ground = there + NAMED
    else:
        return (there,)
    return ground, bool(after - before), len(shared)


def _is_same_file(path: str, named: str) -> bool:
    """Whether a path is the one in a failing line, which may be relative to another folder."""
    name = _file_name(named)
    return bool(name) and _file_name(path) == name


def _file_name(path: str) -> str:
    return posixpath.basename(path.replace("\\", "/"))


def _below(output: str, line: Failing) -> str:
    """What an output shows of the code below a failing line: a linter one line, a compiler that
    names the file there, too, up to an empty line.
    """
    at = output.find(line.text, 0, HEAD)
    if at < 0 and (at := output.find(line.text, -TAIL)) < 0:
        return ""
    _, *below = output[at : at + 4 * SHOWN].partition("\n\n")[0].split("\n")
    return "\n".join(below[: 1 if line.path else None])[:SHOWN].strip()


def _stripped(text: str) -> set[str]:
    return {line.strip() for line in text.splitlines()[:400]}


def _way_out(each: _Open, calls: Iterable[_Call]) -> _Call | None:
    """The command that replaced the failed one: most of its words are the same, and it does the
    same to the same things, unless it was a thing that was missing.
    """
    if each.call.act is not Act.RUN:
        return None
    failed = set(_TOKEN.findall(each.call.text))
    is_missing = each.finding.kind is Kind.ENVIRONMENT
    for call in calls:
        if call.outcome is not Outcome.OK or _act(call) == _act(each.call):
            continue
        words = set(_TOKEN.findall(call.text))
        alike = len(words & failed) / (len(words | failed) or 1)
        if alike >= 0.5 and (is_missing or _is_again(each, call, _with_other_options)):
            return call
    return None


def _with_other_options(now: Command, before: Command) -> bool:
    """Whether a command that is no check does the same to the same things with other options, each
    of which may have a value.
    """
    if _repeats(now, before):
        return True
    if now.words[:1] != before.words[:1] or check_kind(before.words) or only_shows(now.words):
        return False
    things = {word for word in before.words if not word.startswith("-")}
    after = zip(("", *now.words), now.words, strict=False)
    bare = {word for last, word in after if not last.startswith("-") and not word.startswith("-")}
    return bare <= things <= set(now.words)


def _difference(old: str, new: str) -> str:
    """A change reduced to its changed lines."""
    if not old:
        return "written anew"
    before = [line.strip() for line in old.splitlines()[:200]]
    after = [line.strip() for line in new.splitlines()[:200]]
    gone: list[str] = []
    come: list[str] = []
    for tag, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            gone += before[a:b]
            come += after[c:d]
    shown = [clip(" ".join(filter(None, lines)), SHOWN // 2 - 20) for lines in (gone, come)]
    if sorted(gone) == sorted(come):
        return f"moved `{shown[0]}`" if shown[0] else "white space"
    if not shown[1]:
        return f"removed `{shown[0]}`"
    return f"`{shown[0]}` → `{shown[1]}`" if shown[0] else f"added `{shown[1]}`"


def _undone(call: _Call, before: Sequence[_Call], words: str) -> _Call | None:
    """The call before a message that a later call undoes: newly written lines are replaced, or a
    command is rerun differently, in a way that the message mentions.
    """
    for path, old, new in call.changes:
        if not any(place == path for each in before for place, _, _ in each.changes):
            continue
        gone = {line for line in _stripped(old) - _stripped(new) if _is_distinctive(line)}
        for earlier in reversed(before):
            written = (_stripped(text) for place, _, text in earlier.changes if place == path)
            if any(lines & gone for lines in written):
                return earlier
    for name, command in call.parts:
        for earlier in reversed(before[-6:] if name and not only_looks(name) else ()):
            same = [act for other, act in earlier.parts if other == name]
            if same and not only_shows(same[-1].words):
                fresh = _tokens(command) - _tokens(same[-1])
                mentioned = {word for word in _TOKEN.findall(words) if len(word) > 3}
                return earlier if fresh & mentioned else None
    return None


def _tokens(command: Command) -> set[str]:
    """The words of a command; an argument with blanks is text, such as a message."""
    words = (word[:SHOWN] for word in command.words if " " not in word)
    return {token for word in words for token in _TOKEN.findall(word)}


def _is_distinctive(line: str) -> bool:
    return len(_TOKEN.findall(line)) > 2


# Findings


def _unsolved(each: _Open) -> Finding:
    cost = max(each.finding.times, UNSOLVED)
    return structs.replace(each.finding, cost=max(1, round(cost / each.shared)))


def _joined(known: Finding, new: Finding) -> Finding:
    """Merge two findings of one kind in a session; the latest fix wins, if possible a command, with
    its text, and its evidence comes first.
    """
    is_better = new.fix.startswith("`") or not known.fix.startswith("`")
    first, second = (new, known) if new.fix and is_better else (known, new)
    return structs.replace(
        known,
        text=first.text,
        times=known.times + new.times,
        cost=known.cost + new.cost,
        first=min(filter(None, (known.first, new.first)), default=""),
        last=max(known.last, new.last),
        passed=known.passed or new.passed,
        fix=first.fix,
        words=known.words or new.words,
        evidence=(first.evidence + second.evidence[:1])[:LINES],
    )


def _act(call: _Call) -> str:
    """A call on one line."""
    if call.act is Act.RUN:
        return clip(call.text.partition("<<")[0], SHOWN // 2)
    if call.changes:
        path, old, new = call.changes[0]
        return clip(f"{call.tool} {_file_name(path)}: {_difference(old, new)}", SHOWN)
    return clip(f"{call.tool} {call.path or call.text}", SHOWN // 2)
