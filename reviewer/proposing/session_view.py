"""A session as a reader needs it: dialogue in full, tool calls in one line, errors, decisions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from pathlib import Path

from msgspec import Struct, structs

from reviewer.proposing.values import LineRole, SessionView, Speaker, ViewLine
from reviewer.proposing.view_calls import (
    PLAN_TOOLS,
    QUESTION_TOOLS,
    SUBAGENT_TOOLS,
    TASK_TOOLS,
    TODO_TOOLS,
    Call,
    Shown,
    TodoLists,
    besides_commit,
    call_line,
    command_line,
    commit_made,
    commit_of,
    cut,
    error_line,
    read_call,
    result_note,
    tool_name,
)
from reviewer.proposing.view_pieces import Piece, label, pieces, view_text
from reviewer.proposing.view_words import REPORT_FENCE, inner_parts, parts, shortened
from reviewer.sources.events import Rewind
from reviewer.sources.open import open_blocks
from reviewer.sources.records import Block, Role, Use
from reviewer.text.secrets import mask

__all__ = ["Piece", "label", "pieces", "read_view", "view_text"]

_REFUSED = re.compile(
    r"The user doesn't want to (?:proceed with this tool use|take this action right now)"
    r"|User chose to stay in plan mode|User rejected|\[Request interrupted by user for tool use\]"
)
_SAID = re.compile(r"the user said:\s*\n?(.*)", re.DOTALL | re.IGNORECASE)
_AFTER_WORDS = re.compile(r"\n\nNote: The user's next message may contain.*", re.DOTALL)
_FORBIDDEN = re.compile(r"Permission to use \S+ .{0,400}?(?:has been denied|was denied)", re.DOTALL)
_FAILED = re.compile(
    r"\s*(?:Traceback \(most recent|(?:fatal|error|Error|ERROR)\b ?:|<tool_use_error>"
    r"|Exit code:? [1-9]|Process exited with code [1-9]|\{\"(?:error|Error)\")"
)
_SIBLING = "Sibling tool call errored"
_APPROVED_PLAN = re.compile(r"## Approved Plan[^\n]*:\s*\n(.*)", re.DOTALL)
_AFTER_PLAN = re.compile(
    r"\nIf you need specific details from before exiting plan mode.*", re.DOTALL
)
_CARRY_OUT = "Implement the following plan:"
_ANSWERS = re.compile(
    r"^(?:The user answered:|User has answered your questions:|Your questions have been answered:)"
    r"\s*(.*?)\.?\s*(?:You can now continue.*|Read the answers carefully.*)?$",
    re.DOTALL,
)
_REPORT_TRAILER = re.compile(r"\nagentId: \S.*", re.DOTALL)
_WAITED_FOR = re.compile(
    r"<task_type>local_agent</task_type>\s*<status>(\w+)</status>(?:.*?<output>(.*)</output>)?",
    re.DOTALL,
)
_CALLS_OF_REPORT = re.compile(r"^\[Tool: [^\n]*\n?", re.MULTILINE)
_LAUNCHED = ("Async agent launched", "Launching ", "Agent is running")
SYSTEM_CHARS = 600
"""Characters of a message of the harness that are shown."""
ANSWER_CHARS = 20_000
"""Characters of the person's answers to a form that are read."""
_NOTHING = frozenset({"", "(no content)", "No response requested."})
_GAP = re.compile(r"[ \t]{40,}")
_BLANKS = re.compile(r"(?<![ \t])[ \t]*+\n(?:[ \t]*+\n){2,}")


def read_view(
    path: Path,
    *,
    line_start: int = 0,
    line_end: int | None = None,
    session: str | None = None,
) -> SessionView:
    """The view of a session or note; lines are 0-based and half-open. `session`: only this one of
    a file that has several.

    Raises SourceError when the file cannot be read.
    """
    only = None if session is None else frozenset((session,))
    scan = open_blocks(path, line_start=line_start, line_end=line_end, sessions=only)
    writer = _Writer(scan.is_log)
    for block in scan.live():
        if isinstance(block, Rewind):
            writer.rewind(block)
        else:
            writer.add(block)
    tally = Counter(scan.tally) + writer.tally
    return SessionView(path, scan.format, writer.finished(), dict(tally), session or "")


def read_views(path: Path, sessions: Collection[str]) -> dict[str, SessionView]:
    """The views of these sessions of a file that has several, which is read once.

    Raises SourceError when the file cannot be read.
    """
    scan = open_blocks(path, sessions=frozenset(sessions))
    writers = {session: _Writer(scan.is_log) for session in sessions}
    for block in scan.live():
        if not isinstance(block, Rewind):
            writers[block.session or ""].add(block)
            continue
        for writer in writers.values():
            writer.rewind(block)
    return {
        session: SessionView(path, scan.format, writer.finished(), dict(writer.tally), session)
        for session, writer in writers.items()
    }


def failed(result: Block) -> bool:
    """Whether the result of a call reports a failure."""
    return result.error or bool(_FAILED.match(result.text))


class _Pending(Struct):
    """A call whose result has not come yet: where its line is."""

    at: int
    call: Call


class _Writer:
    """Collects the lines of a view, block by block."""

    def __init__(self, is_log: bool) -> None:
        self.lines: list[ViewLine] = []
        self._is_log = is_log
        self.tally: Counter[str] = Counter()
        self._pending: dict[str, _Pending] = {}
        self._todos = TodoLists()
        self._reports: set[int] = set()
        self._roots: list[str] = []
        self._branch = ""

    def finished(self) -> tuple[ViewLine, ...]:
        lines = [line for line in self.lines if line.text]
        if self._is_log:  # a text that was queued comes when its fate is known
            lines.sort(key=lambda line: line.line)
        return tuple(lines)

    def rewind(self, rewind: Rewind) -> None:
        """Take back the lines that the person left."""
        for at, line in enumerate(self.lines):
            if rewind.first <= line.line < rewind.end and line.text:
                self.lines[at] = structs.replace(line, text="")
                self.tally["rewound"] += 1

    def add(self, block: Block) -> None:
        """Add the lines of one block."""
        if block.use is not Use.REWOUND:
            self._place(block)
        if block.use is Use.REWOUND:
            self.tally["rewound"] += 1
        elif block.kind == "thinking":
            self.tally["thinking"] += 1
        elif block.kind == "tool_use":
            self._call(block)
        elif block.kind == "tool_result":
            self._result(block)
        elif block.use is Use.SUMMARY:
            self._say(block, LineRole.SUMMARY, Speaker.HARNESS, mask(block.text.strip()).text)
        elif block.use is Use.WRAPPER:
            self._wrapper(block)
        elif block.use is Use.MESSAGE:
            self._words(block)
        else:
            self._left_out(block, block.use.value)

    def _place(self, block: Block) -> None:
        """The folder where the session works, which shortens its paths, and the branch."""
        if block.cwd and not any(block.cwd.startswith(root) for root in self._roots):
            self._event(block, Speaker.HARNESS, cut(f"working folder: {block.cwd}", 300))
            self._roots += dict.fromkeys((block.cwd, block.cwd.replace("\\", "/")))
            self._roots.sort(key=len, reverse=True)
        if block.branch and block.branch not in (self._branch, "HEAD"):
            self._branch = block.branch
            self._event(block, Speaker.HARNESS, cut(f"branch: {block.branch}", 200))

    def _say(
        self, block: Block, role: LineRole, speaker: Speaker, text: str, left_out: int = 0
    ) -> None:
        if text.strip():
            self.lines.append(ViewLine(block.line_start, role, speaker, text, left_out, block.span))

    def _event(self, block: Block, speaker: Speaker, shown: Shown) -> None:
        self._say(block, LineRole.EVENT, speaker, shown.text, shown.left_out)

    def _left_out(self, block: Block, what: str) -> None:
        """Text that nobody wrote for this conversation: its first line, and how much it is."""
        self.tally[what] += 1
        text = block.text.strip()
        if len(text) > 400:
            first = cut(text.lstrip("<# ").split("\n", 1)[0], 80).text
            shown = Shown(f"... {what} left out: {first} ({len(text):,} characters) ...", len(text))
            self._event(block, Speaker.HARNESS, shown)

    # Dialogue

    def _words(self, block: Block) -> None:
        # Reminders that were cut out of a message left blanks.
        text = _BLANKS.sub("\n\n", _GAP.sub(" ", block.text)).strip()
        cut_out = len(block.text) - len(text) if len(block.text) - len(text) > 40 else 0
        if block.role is Role.ASSISTANT or block.sidechain:
            task = block.name == "agent"
            if block.sidechain:
                self._reports.add(hash(text))  # its last message comes again as its report
            speaker = Speaker.SUBAGENT if block.sidechain and not task else Speaker.AGENT
            role = LineRole.USER if task else LineRole.ASSISTANT
            shown = shortened(text, pasted=False)
            self._say(block, role, speaker, shown.text, shown.left_out)
            return
        if text.startswith(_CARRY_OUT):
            self._say(block, LineRole.USER, Speaker.PERSON, _CARRY_OUT)
            plan = _AFTER_PLAN.sub("", text.removeprefix(_CARRY_OUT)).strip()
            shown = shortened(plan, pasted=False)
            self._say(block, LineRole.USER, Speaker.AGENT, shown.text, shown.left_out)
            return
        shown = shortened(text, pasted=block.role is Role.USER)
        self._say(block, LineRole.USER, Speaker.PERSON, shown.text, shown.left_out + cut_out)

    def _wrapper(self, block: Block) -> None:
        text = block.text.strip()
        if block.role is Role.ASSISTANT:
            if text not in _NOTHING:
                shown = error_line(text)
                self._say(block, LineRole.ERROR, Speaker.HARNESS, shown.text, shown.left_out)
            return
        if text.startswith("[Request interrupted by user"):
            self._event(block, Speaker.HARNESS, Shown(mask(text).text))
        elif text.startswith("<command-") and (name := parts(text).get("command-name")):
            given = parts(text).get("command-args", "").strip()
            speaker = Speaker.PERSON if given else Speaker.HARNESS
            self._event(block, speaker, shortened(f"{name} {given}".strip(), pasted=True))
        elif text.startswith("<bash-input>"):
            command = parts(text).get("bash-input", "")
            self._event(block, Speaker.HARNESS, Shown(f"! {mask(command).text}"))
        elif text.startswith(("<bash-stdout>", "<bash-stderr>", "<local-command-stdout>")):
            self._output(block, "\n".join(parts(text).values()).strip())
        elif text.startswith(("<task-notification>", "<agent-notification>")):
            self._notification(block, inner_parts(text))
        elif text.startswith("<teammate-message"):
            shown = shortened(text, pasted=False)
            self._say(block, LineRole.ASSISTANT, Speaker.SUBAGENT, shown.text, shown.left_out)
        elif text == "[image]" or text == "[document]":
            self._event(block, Speaker.HARNESS, Shown(text))
        elif block.role is Role.SYSTEM:  # steps of a harness, which tell what was tried and why
            self._event(block, Speaker.HARNESS, cut(text, SYSTEM_CHARS))
        else:
            self._left_out(block, Use.WRAPPER.value)

    def _output(self, block: Block, output: str) -> None:
        if output in _NOTHING:
            return
        call = Call("bash", {})
        shown = result_note(call, output)
        self._say(block, LineRole.TOOL, Speaker.HARNESS, f"-> {shown.text}", shown.left_out)

    def _notification(self, block: Block, told: dict[str, str]) -> None:
        summary = told.get("summary") or told.get("status") or "notification"
        self._event(block, Speaker.HARNESS, cut(summary, 300))
        if result := told.get("result"):
            self._report(block, result)

    def _report(self, block: Block, text: str) -> None:
        """The final report of a sub-agent; some are given twice."""
        text = _REPORT_TRAILER.sub("", text).strip()
        if hash(text) in self._reports:
            return
        self._reports.add(hash(text))
        shown = shortened(text, pasted=False, fence=REPORT_FENCE)
        self._say(block, LineRole.ASSISTANT, Speaker.SUBAGENT, shown.text, shown.left_out)

    # Calls and results

    def _call(self, block: Block) -> None:
        call = read_call(block.name, block.text)
        speaker = Speaker.SUBAGENT if block.sidechain else Speaker.AGENT
        if call.kind in TODO_TOOLS or call.kind in TASK_TOOLS:
            shown = self._todos.shown(call)
            self._event(block, speaker, Shown(mask(shown.text).text, shown.left_out))
        elif call.kind in PLAN_TOOLS:
            plan = call.words("plan")
            text = shortened(f"plan: {plan.strip()}" if plan else "", pasted=False)
            self._say(block, LineRole.ASSISTANT, speaker, text.text, text.left_out)
        elif call.kind in QUESTION_TOOLS:
            self._say(block, LineRole.ASSISTANT, speaker, mask(_questions(call)).text)
        elif (commit := commit_of(call.command)) is not None:
            if others := besides_commit(call.command):
                self._tool(block, Call(call.tool, {"command": others}))
            message = mask(commit.message).text
            what = message or command_line(call.command).text
            self._event(block, speaker, Shown(f"{commit.what}: {what}"))
        else:
            self._tool(block, call)
        if block.call:
            self._pending[block.call] = _Pending(len(self.lines) - 1, call)

    def _tool(self, block: Block, call: Call) -> None:
        shown = call_line(call, self._roots)
        made_by = Speaker.SUBAGENT if block.sidechain else Speaker.HARNESS
        self._say(block, LineRole.TOOL, made_by, shown.text, shown.left_out)

    def _result(self, block: Block) -> None:
        pending = self._pending.pop(block.call, None) if block.call else None
        call = pending.call if pending else Call(block.name, {})
        text = block.text
        if _REFUSED.match(text.lstrip()) or block.feedback:
            self._refused(block, call)
        elif block.error and (_FORBIDDEN.match(text)):
            shown = cut(text, 400)
            self._say(block, LineRole.REJECTED, Speaker.HARNESS, shown.text, shown.left_out)
        elif failed(block):
            if _SIBLING in text[:200]:
                self.tally["call cancelled with another"] += 1
                return
            shown = error_line(text)
            name = tool_name(call.tool)
            self._say(
                block, LineRole.ERROR, Speaker.HARNESS, f"{name}: {shown.text}", shown.left_out
            )
        elif pending is not None:
            self._succeeded(block, pending)

    def _refused(self, block: Block, call: Call) -> None:
        found = _SAID.search(block.text)
        words = block.feedback or (found[1] if found else "")
        words = _AFTER_WORDS.sub("", words).strip()
        what = call_line(call, self._roots).text if call.kind not in PLAN_TOOLS else "the plan"
        said = f"; the person said: {words}" if words else ""
        text = mask(f"refused: {what}{said}").text
        speaker = Speaker.PERSON if words else Speaker.HARNESS
        self._say(block, LineRole.REJECTED, speaker, text)

    def _succeeded(self, block: Block, pending: _Pending) -> None:
        call, text = pending.call, block.text
        if call.kind in TASK_TOOLS or call.kind in TODO_TOOLS:
            self._todos.answered(call, text)
        elif call.kind in SUBAGENT_TOOLS:
            if not text.lstrip().startswith(_LAUNCHED):
                self._report(block, text)
        elif call.kind in PLAN_TOOLS:
            if not call.words("plan") and (plan := _APPROVED_PLAN.search(text)):
                shown = shortened(f"plan: {plan[1].strip()}", pasted=False)
                self._say(block, LineRole.ASSISTANT, Speaker.AGENT, shown.text, shown.left_out)
            self._event(block, Speaker.HARNESS, Shown("approved the plan"))
        elif call.kind in QUESTION_TOOLS:
            answers = _ANSWERS.match(text.strip()[:ANSWER_CHARS])
            words = mask(answers[1] if answers else text.strip()[:ANSWER_CHARS]).text
            self._say(block, LineRole.USER, Speaker.PERSON, f"answered: {words}")
        elif (awaited := _WAITED_FOR.search(text[:400])) is not None:
            self._amend(pending.at, f" -> {awaited[1]}", left_out=len(text))
            if awaited[1] == "completed" and (whole := _WAITED_FOR.search(text)):
                self._report(block, _CALLS_OF_REPORT.sub("", whole[2] or ""))
        elif commit_of(call.command) is not None:
            if made := commit_made(text):
                self._amend(pending.at, f" [{mask(made).text}]", first=True)
        else:
            note = result_note(call, text)
            if note.text:
                self._amend(pending.at, f" -> {note.text}", left_out=note.left_out)

    def _amend(self, at: int, text: str, *, left_out: int = 0, first: bool = False) -> None:
        """Add a text to a line, or to the first line of it."""
        line = self.lines[at]
        head, mark, rest = line.text.partition("\n") if first else (line.text, "", "")
        self.lines[at] = structs.replace(
            line, text=head + text + mark + rest, left_out=line.left_out + left_out
        )


def _questions(call: Call) -> str:
    """What an agent asks with a form, and the answers it offers."""
    asked: list[str] = []
    questions = call.given.get("questions")
    for each in questions if isinstance(questions, list) else [call.given]:
        if isinstance(each, dict):
            options = each.get("options")
            labels = [
                str(option.get("label", "")) if isinstance(option, dict) else str(option)
                for option in (options if isinstance(options, list) else [])
            ]
            offered = f" ({' | '.join(labels)})" if labels else ""
            asked.append(f"asks: {each.get('question', '')}{offered}")
    return "\n".join(asked)
