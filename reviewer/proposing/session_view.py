"""A session for a reader: full dialogue, one line per call, failure and decision."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import structs

from reviewer.proposing.shortened import ShownText, cut, ends, shortened
from reviewer.proposing.values import APPROVED, PLAN, LineRole, SessionView, ViewLine
from reviewer.sessions.findings import Findings
from reviewer.sources.calls import APPROVALS, POLLING
from reviewer.sources.claude_words import tags
from reviewer.sources.events import (
    Act,
    Call,
    Change,
    Compaction,
    Event,
    Message,
    Notice,
    NoticeKind,
    Origin,
    Outcome,
    Plan,
    PlanItem,
    Result,
    Rewind,
    Speaker,
    Thought,
)
from reviewer.sources.open import NOTE_FORMATS
from reviewer.sources.results import nobody_answered, report_in
from reviewer.sources.shell import Command
from reviewer.sources.stream import REWOUND, EventStream, read
from reviewer.text.secrets import mask

CALL_CHARS = 120
"""Maximum characters shown of a call's arguments."""
RESULT_LINES = 6
RESULT_CHARS = 160
"""Maximum characters of a result beside its call; twice as many if on two lines."""
NOTICE_CHARS = 600
LONG_NOTICE = 400
"""Longer texts that nobody wrote for this conversation get a line."""
BLANKED = 40
"""Run of blanks that marks harness text removed from a message."""

PERSON_SAID = "; the person said: "
"""In the line of a refused call, before the person's words."""
_CARRY_OUT = "Implement the following plan:"
_NOTHING = frozenset({"", "(no content)", "No response requested."})
_CANCELLED = "Sibling tool call errored"
_APPROVED_PLAN = "## Approved Plan"
_COMMITTED = re.compile(r"^\[[^\]\n]{1,120} [0-9a-f]{7,40}\]", re.MULTILINE)
_TRAILERS = re.compile(r"\n\n(?:[\w-]{1,40}: [^\n]*\n?)+\Z")
_GAP = re.compile(rf"[ \t]{{{BLANKED},}}")
_BLANKS = re.compile(r"(?<![ \t])[ \t]*+\n(?:[ \t]*+\n){2,}")
_MARKS = {"done": "[x]", "active": "[~]", "dropped": "[-]"}


def read_view(
    path: Path,
    *,
    line_start: int = 0,
    line_end: int | None = None,
    session: str | None = None,
) -> SessionView:
    """The view of a session or note; lines are 0-based and half-open. `session`: which one, in a
    file with several.

    Raises SourceError if the file cannot be read.
    """
    only = None if session is None else frozenset((session,))
    stream = read(path, line_start=line_start, line_end=line_end, sessions=only)
    return view_of(stream, session or "")


def view_of(
    stream: EventStream, session: str = "", *, findings: Findings | None = None
) -> SessionView:
    """The view of a file, in one pass; `findings` get its events, too."""
    writer = _Writer(stream)
    for event in stream:
        writer.add(event)
        if findings is not None:
            findings.add(event)
    tally = Counter(stream.tally) + writer.tally
    return SessionView(stream.path, stream.format, writer.finished(), dict(tally), session)


class _Writer:
    """Builds the lines of a view, event by event."""

    def __init__(self, stream: EventStream) -> None:
        self.lines: list[ViewLine] = []
        self.tally: Counter[str] = Counter()
        self._is_log = stream.is_log
        self._is_note = stream.format in NOTE_FORMATS
        self._called: dict[str, tuple[Call, int]] = {}
        """Calls without a result, with the position of their line."""
        self._plans: dict[bool, tuple[PlanItem, ...]] = {}
        self._reports: set[int] = set()
        """Final messages of sub-agents, which are repeated as reports."""
        self._roots: list[str] = []
        self._branch = ""
        self._ways: dict[type[Event], Callable[[Any], None]] = {
            Message: self._message,
            Thought: self._thought,
            Call: self._call,
            Result: self._result,
            Plan: self._plan,
            Compaction: self._compaction,
            Notice: self._notice,
        }

    def finished(self) -> tuple[ViewLine, ...]:
        lines = [line for line in self.lines if line.text]
        if self._is_log:  # a queued text is added once its fate is known
            lines.sort(key=lambda line: line.line)
        return tuple(lines)

    def add(self, event: Event) -> None:
        """Add the lines of one event, or remove rewound ones."""
        if not isinstance(event, Rewind):
            self._place(event.origin)
            self._ways[type(event)](event)
            return
        for at, line in enumerate(self.lines):
            if event.first <= line.line < event.end and line.text:
                self.lines[at] = structs.replace(line, text="")
                self.tally[REWOUND] += 1

    def _say(
        self, origin: Origin, role: LineRole, speaker: Speaker, shown: ShownText, subject: str = ""
    ) -> None:
        if shown.text.strip():
            span = None if self._is_note else (origin.byte_start, origin.byte_end)
            self.lines.append(
                ViewLine(
                    origin.line_start,
                    role,
                    speaker,
                    shown.text,
                    shown.left_out,
                    span,
                    origin.at or "",
                    subject,
                )
            )

    def _place(self, origin: Origin) -> None:
        """The session's working folder, which shortens its paths, and the branch."""
        folder = origin.cwd
        inside = f"{folder}/".replace("\\", "/")
        if folder and not any(inside.startswith(f"{root}/") for root in self._roots):
            shown = cut(f"working folder: {folder}", 300)
            self._say(origin, LineRole.EVENT, Speaker.HARNESS, shown)
            self._roots += dict.fromkeys((folder, folder.replace("\\", "/")))
            self._roots.sort(key=len, reverse=True)
        if origin.branch and origin.branch not in (self._branch, "HEAD"):
            self._branch = origin.branch
            shown = cut(f"branch: {origin.branch}", 200)
            self._say(origin, LineRole.EVENT, Speaker.HARNESS, shown)

    # Dialogue

    def _message(self, event: Message) -> None:
        text = _BLANKS.sub("\n\n", _GAP.sub(" ", event.text)).strip()
        by_person = event.speaker is Speaker.PERSON
        if by_person and text.startswith(_CARRY_OUT):
            self._say(event.origin, LineRole.USER, Speaker.PERSON, ShownText(_CARRY_OUT))
            plan = shortened(text.removeprefix(_CARRY_OUT).strip())
            self._say(event.origin, LineRole.USER, Speaker.AGENT, plan)
            return
        if event.origin.sidechain:
            self._reports.add(hash(text))
        shown = shortened(text, pasted=by_person and not self._is_note)
        to_agent = by_person or event.name == "agent"
        self._say(
            event.origin, LineRole.USER if to_agent else LineRole.ASSISTANT, event.speaker, shown
        )

    def _thought(self, event: Thought) -> None:
        self.tally["thinking"] += 1

    def _compaction(self, event: Compaction) -> None:
        summary = ShownText(mask(event.summary.strip()).text)
        self._say(event.origin, LineRole.SUMMARY, Speaker.HARNESS, summary)

    def _notice(self, event: Notice) -> None:
        origin, text = event.origin, event.text.strip()
        harness, found = Speaker.HARNESS, tags(text)
        if event.kind in (NoticeKind.DATA, NoticeKind.INTERRUPTED):
            self._say(origin, LineRole.EVENT, harness, ShownText(mask(text).text))
        elif event.kind is not NoticeKind.WRAPPER:
            self._left_out(origin, event.kind.value, text)
        elif event.speaker is Speaker.AGENT:
            if text not in _NOTHING:
                self._say(origin, LineRole.ERROR, harness, ends(text))
        elif event.speaker is Speaker.HARNESS:  # steps of an orchestrator
            self._say(origin, LineRole.EVENT, harness, cut(text, NOTICE_CHARS))
        elif name := found.get("command-name"):
            given = found.get("command-args", "")
            speaker = Speaker.PERSON if given else harness
            shown = shortened(f"{name} {given}".strip(), pasted=True)
            self._say(origin, LineRole.EVENT, speaker, shown)
        elif command := found.get("bash-input"):
            self._say(origin, LineRole.EVENT, harness, ShownText(f"! {mask(command).text}"))
        elif text.startswith(("<bash-stdout>", "<bash-stderr>", "<local-command-stdout>")):
            output = "\n".join(found.values()).strip()
            if output not in _NOTHING:
                shown = cut(f"-> {_note(output).text}", 2 * RESULT_CHARS)
                self._say(origin, LineRole.TOOL, harness, shown)
        elif inner := found.get("task-notification") or found.get("agent-notification"):
            elements = tags(inner)
            summary = elements.get("summary") or elements.get("status") or "notification"
            self._say(origin, LineRole.EVENT, harness, cut(summary, 300))
            self._report(origin, elements.get("result", ""))
        elif text.startswith("<teammate-message"):
            self._say(origin, LineRole.ASSISTANT, Speaker.SUBAGENT, shortened(text))
        else:
            self._left_out(origin, event.kind.value, text)

    def _left_out(self, origin: Origin, what: str, text: str) -> None:
        """Text that nobody wrote for this conversation: its first line and size."""
        self.tally[what] += 1
        if len(text) > LONG_NOTICE:
            first = cut(text.lstrip("<# ").split("\n", 1)[0], 80).text
            shown = ShownText(
                f"... {what} left out: {first} ({len(text):,} characters) ...", len(text)
            )
            self._say(origin, LineRole.EVENT, Speaker.HARNESS, shown)

    def _report(self, origin: Origin, text: str) -> None:
        """A sub-agent's final report; some are recorded twice."""
        text = report_in(text)
        if hash(text) not in self._reports:
            self._reports.add(hash(text))
            self._say(origin, LineRole.ASSISTANT, Speaker.SUBAGENT, shortened(text))

    # Calls and results

    def _call(self, event: Call) -> None:
        origin = event.origin
        made_by = Speaker.SUBAGENT if origin.sidechain else Speaker.AGENT
        if event.act is Act.ASK:
            what = PLAN if _is_plan(event) else "asks: "
            self._say(origin, LineRole.ASSISTANT, made_by, shortened(f"{what}{event.query}"))
        elif event.act is not Act.PLAN:
            started = () if event.tool.lower() in POLLING else event.commands
            commits = [each for each in map(_commit, started) if each]
            if not commits or any(each.words[0] not in ("git", "gh") for each in event.commands):
                speaker = Speaker.SUBAGENT if origin.sidechain else Speaker.HARNESS
                shown = self._line(event)
                self._say(origin, LineRole.TOOL, speaker, shown, _subject(event, shown.text))
            for commit in commits:
                self._say(origin, LineRole.EVENT, made_by, shortened(commit))
        if event.id:
            self._called[event.id] = event, len(self.lines) - 1

    def _line(self, call: Call) -> ShownText:
        """A call on one line: the tool, its action and its target."""
        found = _argument(call)
        text = found.text
        for root in self._roots:
            text = text.replace(f"cd {root} && ", "").replace(f"{root}/", "")
        shown = cut(text, CALL_CHARS)
        name = _tool(call.tool)
        line = f"{name}: {shown.text}" if shown.text else name
        return ShownText(line, shown.left_out + found.left_out)

    def _result(self, event: Result) -> None:
        call, at = self._called.pop(event.call, (None, -1))
        if event.outcome is Outcome.REFUSED:
            what = "the plan" if call and _is_plan(call) else self._line(call).text if call else ""
            said = f"{PERSON_SAID}{event.words}" if event.words else ""
            speaker = Speaker.PERSON if event.words else Speaker.HARNESS
            shown = ShownText(mask(f"refused: {what or event.tool}{said}").text)
            self._say(event.origin, LineRole.REJECTED, speaker, shown)
        elif event.outcome in (Outcome.FAILED, Outcome.INTERRUPTED):
            if _CANCELLED in event.text[:200]:
                self.tally["call cancelled with another"] += 1
                return
            shown = ends(event.text)
            shown = ShownText(f"{_tool(event.tool)}: {shown.text}", shown.left_out)
            self._say(event.origin, LineRole.ERROR, Speaker.HARNESS, shown)
        elif call is not None:
            self._succeeded(event, call, at)

    def _succeeded(self, event: Result, call: Call, at: int) -> None:
        if call.act is Act.DELEGATE and not event.task:
            self._report(event.origin, event.text)
        elif call.tool.lower() in POLLING and "<task_type>local_agent<" in event.text:
            elements = tags(event.text)
            status = elements.get("status", "")
            self._amend(at, f" -> {status}", len(event.text))
            if status == "completed":
                self._report(event.origin, elements.get("output", ""))
        elif _is_plan(call):
            plan = event.text.partition(_APPROVED_PLAN)[2].partition("\n")[2].strip()
            if plan and not call.query:
                shown = shortened(f"{PLAN}{plan}")
                self._say(event.origin, LineRole.ASSISTANT, Speaker.AGENT, shown)
            self._say(event.origin, LineRole.EVENT, Speaker.HARNESS, ShownText(APPROVED))
        elif call.act is Act.ASK and not nobody_answered(event.text):
            answer = ShownText(f"answered: {mask(event.words or event.text.strip()).text}")
            self._say(event.origin, LineRole.USER, Speaker.PERSON, answer)
        elif call.act not in (Act.PLAN, Act.EDIT, Act.WRITE, Act.DELEGATE):
            ran = call.act is Act.RUN and not self.lines[at].subject
            note = _note(event.text, ran=ran)
            made = _COMMITTED.search(event.text)
            if made and self.lines[at].role is LineRole.EVENT:
                self._amend(at, f" {mask(made[0]).text}", note.left_out, first=True)
            else:
                self._amend(at, f" -> {note.text}", note.left_out)

    def _amend(self, at: int, text: str, left_out: int, *, first: bool = False) -> None:
        """Add text to a line, or to the first line of it."""
        line = self.lines[at]
        head, mark, rest = line.text.partition("\n") if first else (line.text, "", "")
        self.lines[at] = structs.replace(
            line,
            text=head + text + mark + rest,
            left_out=line.left_out + left_out,
            subject=line.subject if left_out else "",
        )

    def _plan(self, event: Plan) -> None:
        """The full list if it is new, else the changed items."""
        before = self._plans.get(event.origin.sidechain, ())
        self._plans[event.origin.sidechain] = event.items
        known = {item.text for item in before}
        changed = [item for item in event.items if item not in before]
        fresh = sum(item.text not in known for item in changed)
        if fresh > 1 or not before:
            head, changed = "to-do list", list(event.items)
        else:
            done = sum(item.status == "done" for item in event.items)
            head = f"to-do ({done} of {len(event.items)} done)"
        listed = "; ".join(f"{_MARKS.get(item.status, '[ ]')} {item.text}" for item in changed)
        if listed:
            shown = ShownText(mask(f"{head}: {listed}").text)
            speaker = Speaker.SUBAGENT if event.origin.sidechain else Speaker.AGENT
            self._say(event.origin, LineRole.EVENT, speaker, shown)


def _is_plan(call: Call) -> bool:
    """Whether a call asks the person to approve a plan."""
    return call.tool.lower() in APPROVALS


def _tool(name: str) -> str:
    """A tool's name; `server.tool` for MCP."""
    return cut(name.removeprefix("mcp__").replace("__", "."), 80).text or "tool"


def _argument(call: Call) -> ShownText:
    if call.command:
        lines = [line for line in call.command.strip().split("\n") if line.strip()]
        first = next((line for line in lines if not line.lstrip().startswith("#")), "")
        rest = len(call.command.strip()) - len(first)
        return ShownText(f"{first} (+{len(lines) - 1} lines)" if len(lines) > 1 else first, rest)
    if call.changes:
        first_change, *more = call.changes
        others = f", {len(more)} more files" if more else ""
        return ShownText(f"{first_change.path}{_size(first_change)}{others}")
    if call.path and call.query:
        return ShownText(f'"{call.query}" in {call.path}')
    return ShownText(call.path or call.query or call.text)


def _subject(call: Call, shown: str) -> str:
    """The line of a call that only looks, waits or edits, without the size of the change."""
    if call.tool.lower() in POLLING and not call.command:
        return _tool(call.tool)
    if call.act is Act.RUN:
        return shown if call.only_looks else ""
    if call.act not in (Act.READ, Act.SEARCH, Act.EDIT, Act.WRITE) or call.command:
        return ""
    return shown.replace(_size(call.changes[0]), "", 1) if call.changes else shown


def _size(change: Change) -> str:
    if change.deleted:
        return " (deleted)"
    old = sum(text.count("\n") + 1 for text, _ in change.pairs if text)
    new = sum(text.count("\n") + 1 for _, text in change.pairs if text)
    return f" (-{old} +{new} lines)" if old else f" ({new} lines)"


def _note(result: str, *, ran: bool = False) -> ShownText:
    """A successful result beside its call: in full if short, else its size or, for a command with
    effects, its last line: it may have failed unseen, as behind `| tail`.
    """
    text = result.strip()
    if not text:
        return ShownText("no output")
    lines = text.count("\n") + 1
    if lines <= (RESULT_LINES if ran else 2) and len(text) <= 2 * RESULT_CHARS:
        return cut(text.replace("\n", " | "), RESULT_CHARS * (1 + ran))
    size = f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
    if not ran or lines < 2:
        return ShownText(size, len(text))
    end = cut(text.rsplit("\n", 1)[-1], RESULT_CHARS // 2)
    return ShownText(f"… {end.text}", len(text) - len(end.text))


def _commit(command: Command) -> str:
    """The message of a commit or pull request made by a command; else nothing."""
    words = command.words
    if words[0] == "git" and "commit" in words[1:6]:
        given = _options(words, "-m", "--message", joined="m") or command.stdin
        message = _TRAILERS.sub("", given.strip())
        return f"git commit: {message or ' '.join(words)}"
    if words[:3] == ("gh", "pr", "create"):
        title, body = _options(words, "-t", "--title"), _options(words, "-b", "--body")
        return f"gh pr create: {title}\n\n{body}".strip()
    return ""


def _options(words: tuple[str, ...], short: str, long: str, *, joined: str = "") -> str:
    """An option's values, one paragraph each; `joined`: the end of several combined short
    options.
    """
    found: list[str] = []
    for at, word in enumerate(words):
        if word.startswith(f"{long}="):
            found.append(word.partition("=")[2])
        elif at + 1 < len(words) and (
            word in (short, long)
            or (joined and word[:1] == "-" and word[1:].isalpha() and word.endswith(joined))
        ):
            found.append(words[at + 1])
    return "\n\n".join(found)
