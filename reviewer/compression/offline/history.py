"""Turns as what was said and what was done: messages with their speakers, and calls as events."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from reviewer.compression.offline.calls import (
    ASKING,
    DECLARED,
    LISTS,
    PATHS,
    POLLED,
    POLLING,
    REPORTING,
    Change,
    changes_of,
    command_of,
    is_pull_request,
    outside_change,
    questions_of,
    todo_items,
)
from reviewer.compression.offline.events import (
    ANSWERS,
    COMMAND_CHARS,
    COMMENT,
    ENDS,
    FAILED,
    LINE_NUMBER,
    LISTED,
    LOOKED_AT,
    MADE,
    MAKES,
    NO_OUTPUT,
    PLAN,
    SCRATCH,
    SCRIPT_RUN,
    Event,
    Kind,
    Message,
    Moment,
    Voice,
    command_events,
    conflict_sides,
    conflicts_in,
    ids_made,
    pieces_of,
    read_outcome,
)
from reviewer.compression.offline.line import is_person
from reviewer.compression.offline.taken_back import mark_interrupted, without_withdrawn
from reviewer.compression.values import Turn
from reviewer.proposing.view_calls import (
    PLAN_TOOLS,
    SUBAGENT_TOOLS,
    TASK_TOOLS,
    Call,
    cut,
    read_call,
)
from reviewer.proposing.view_words import inner_parts

SUMMARY_START = "This session is being continued from a previous conversation"
CODEX_SUMMARY = "Another language model started to solve this problem"
_NOTIFICATION = ("<task-notification>", "<agent-notification>", "<teammate-message")
_CLIENT = re.compile(
    r"<(?:system-reminder|local-command|command-(?:name|message|args)|bash-(?:stdout|stderr|input)"
    r"|user-prompt-submit-hook|ide_|system_notification)|Caveat: The messages below"
    r"|\[Request interrupted by user"
    r"|(?:Stop|PreToolUse|PostToolUse|SessionStart|UserPromptSubmit)\w* hook|API Error: "
    r"|No response requested|\[(?:image|document)\]$|Base directory for this skill"
)
"""Words that the client or a hook wrote, which are nobody's."""
_REFUSED = re.compile(
    r"The user doesn't want to (?:proceed with this tool use|take this action right now)"
    r"|User rejected|\[Request interrupted by user for tool use\]"
)
_SAID = re.compile(r"the user said:\s*\n?(.*)", re.DOTALL | re.IGNORECASE)
_NOTE = re.compile(r"\n\nNote: The user's next message may contain.*", re.DOTALL)
_ANSWERED = re.compile(
    r"^(?:The user answered:|User has answered your questions:|Your questions have been answered:)"
    r"\s*+(.*)",
    re.DOTALL,
)
_LAUNCHED = ("Async agent launched", "Launching ", "Agent is running")
_AGENT_ID = re.compile(r"\nagentId: \S.*", re.DOTALL)
_UPDATED = re.compile(
    r"(?:The file|File) (\S{1,300}) (?:has been|was|is) (?:\w+ )?(updated|created|edited|modified)"
)
"""How a result names the file that a call changed whose arguments are not known."""
_PUBLISHED = re.compile(
    r"[^\n]{0,300}\b(?:[Pp]ublished|[Dd]eployed|[Uu]ploaded|[Ss]hared|[Aa]vailable)\b[^\n]{0,300}?"
    r"(https?://[^\s\"'<>)\]]{4,300})"
)
_HITS = re.compile(r"^((?:[\w.@~-]*/)*[\w.@-]+\.\w{1,8})(?=:\d|:|$)", re.MULTILINE)
"""Files at the beginning of lines, as searches list them."""
_SHOWN = re.compile(r"^((?:[\w.@~-]*/)*[\w.@-]+\.\w{1,8}):(\d+)[:-](.*)$", re.MULTILINE)
"""A line of a file as searches show it."""
MOST_HITS = 3
WITHIN_CHARS = 20_000
"""How far above a line its function is looked for."""
MOST_SEARCHES = 200
MOST_READ = 60
FILE_CHARS = 200_000
"""What is kept of files that were read, to say where things are."""
_STARTED = re.compile(
    r"\b(?:in (?:the )?background|running) with (?:shell |session )?ID:? ?([\w-]+)", re.IGNORECASE
)
"""How a result says that its command still runs, and under which id."""
_TOOL_LINE = re.compile(r"^\[Tool: \w+\] .*\n?", re.MULTILINE)
POLLED_MOMENTS = 200
"""How far back a command is looked for whose output is fetched."""
MOST_OPEN = 40
"""Calls that wait for a result at a time."""


class Places(Struct):
    """Where things are, as far as files were read and searched. Paths as events have them."""

    files: dict[str, str]
    """The text of each file as it was read last, with the edits since."""
    first_lines: dict[str, int]
    """The number of the first line of each text."""
    searches: list[tuple[str, tuple[str, ...]]]
    """What was searched for, and the files that have it."""
    seen: dict[str, list[str]]
    """Functions and classes with the places in which searches show their declarations."""
    skills: list[str]
    """Skills of the agent that were loaded."""
    outside: str
    """The folder of all changed files, where that is not the one in which the session works."""
    published: list[str]
    """Addresses under which something was published."""

    def declared(self) -> dict[str, list[str]]:
        """The functions and classes of the files with every place that declares them."""
        found: dict[str, list[str]] = {}
        for path, text in self.files.items():
            line, at = self.first_lines.get(path, 1), 0
            for each in DECLARED.finditer(text):
                line, at = line + text.count("\n", at, each.start()), each.start()
                if each[1]:
                    found.setdefault(each[1], []).append(f"{path}:{line}")
        for name, places in self.seen.items():
            known = found.setdefault(name, [])
            known += [
                place
                for place in places
                if not any(each.startswith(f"{place.partition(':')[0]}:") for each in known)
            ]
        return found

    def of(self, name: str, declared: Mapping[str, Sequence[str]]) -> list[str]:
        """Where a function or class is declared, or else which files were found with its name."""
        if declared.get(name):
            return list(declared[name])
        hits = [paths for pattern, paths in self.searches if name in pattern and paths]
        return [f"named in {', '.join(hits[-1])}"] if hits else []

    def read(self, path: str, text: str) -> None:
        """Keep a file as a tool showed it, without the numbers of its lines."""
        numbered = LINE_NUMBER.match(text)
        if numbered:
            text = "\n".join(LINE_NUMBER.sub("", line, count=1) for line in text.split("\n"))
        self.files.pop(path, None)
        self.files[path] = text[:FILE_CHARS]
        self.first_lines[path] = int(numbered[1]) if numbered else 1
        if len(self.files) > MOST_READ:
            gone = next(iter(self.files))
            del self.files[gone]
            self.first_lines.pop(gone, None)

    def written(self, path: str, old: str, new: str, *, appends: bool = False) -> None:
        """Put an edit into the text of a file, as far as it is known."""
        text = self.files.get(path)
        if appends and text is not None:
            self.files[path] = f"{text}\n{new}"[:FILE_CHARS]
        elif not old.strip():
            self.read(path, new)
        elif text is not None:
            self.files[path] = text.replace(old, new, 1)

    def within(self, path: str, line: str) -> str:
        """The function, class or heading of a file that a line of it belongs to."""
        text = self.files.get(path, "")
        at = text.find(line) if line else -1
        if at < 0:
            return ""
        before = list(DECLARED.finditer(text, max(0, at - WITHIN_CHARS), at + len(line)))
        return (before[-1][1] or before[-1][2].lstrip("# ")) if before else ""


class History(Struct):
    """A range as it was read."""

    moments: list[Moment]
    places: Places
    interrupted: frozenset[int]
    """The turns of calls that the person interrupted."""
    folder: str
    """The folder of all changed files, where the records name none."""


def read_history(turns: Iterable[Turn]) -> History:
    """What was said and done, in order. Thoughts count where there is nothing else."""
    reader = _Reader()
    for number, turn in enumerate(turns):
        if turn.text.strip() or turn.kind == "tool_result":
            reader.add(number, turn)
    moments = reader.finished() if reader.moments else _thoughts(turns)
    return History(moments, reader.places, reader.interrupted, reader.folder)


def _thoughts(turns: Iterable[Turn]) -> list[Moment]:
    return [
        Message(number, Voice.AGENT, turn.text)
        for number, turn in enumerate(turns)
        if turn.kind == "thinking" and turn.text.strip()
    ]


_RECORD = re.compile(r"\s*[{\[]\s*[{\"][^\n]{0,80}\":")
"""How a text begins that is a record of a program, such as a copied log, and no words."""
_FILES = frozenset({Kind.EDIT, Kind.WRITE, Kind.SIDES})
_ABSOLUTE = re.compile(r"/|[A-Za-z]:[/\\]")
LEAST_PATHS = 3
LEAST_DEPTH = 3
"""Parts of a path that a folder of work has at least: an empty one, home, a person, a project."""


class _Open(Struct):
    """A call whose result has not come: its turn, and the event that tells it."""

    turn: int
    call: Call
    event: Event | None
    id: str


class _Reader:
    def __init__(self) -> None:
        self.moments: list[Moment] = []
        self._branch = ""
        self._written: set[str] = set()
        self._open: list[_Open] = []
        self._tasks: dict[str, tuple[str, str]] = {}
        self._roots: list[str] = []
        self.folder = ""
        self._running: list[_Open] = []
        self._plan = ""  # as its file has it
        self._polled: dict[str, _Open] = {}
        self._answering: set[str] = set()
        """Tools of which a result was seen."""
        self.places = Places({}, {}, [], {}, [], "", [])

    @property
    def interrupted(self) -> frozenset[int]:
        """The turns of calls without a result before the person's last words, of tools that have
        given results to other calls.
        """
        spoken = max((each.turn for each in self.moments if is_person(each)), default=-1)
        return frozenset(
            each.turn
            for each in self._open
            if each.turn < spoken and each.call.tool in self._answering
        )

    def finished(self) -> list[Moment]:
        """The moments. A call without a result succeeded silently; not a check, not the last, not
        one that the person interrupted.
        """
        mark_interrupted(self.moments, self.interrupted)
        for each in self.moments[:-1]:
            if isinstance(each, Event) and each.failed is None and each.kind is not Kind.CHECK:
                each.failed = False
        self._shorten()
        return without_withdrawn(self.moments)

    def _shorten(self) -> None:
        """Leave out the folder that all changed files have in common, where no folder is known, or
        where all of them lie outside the known one.
        """
        changes = [e for e in self.moments if isinstance(e, Event) and e.kind in _FILES]
        work = [e for e in changes if not SCRATCH.match(e.what) and "/.claude/" not in e.what]
        paths = {e.what for e in work if _ABSOLUTE.match(e.what)}
        if len(paths) < LEAST_PATHS or (self._roots and any(e.what not in paths for e in work)):
            return
        parts = [path.replace("\\", "/").split("/")[:-1] for path in paths]
        common = []
        for names in zip(*parts, strict=False):
            if len(set(names)) > 1:
                break
            common.append(names[0])
        length = len("/".join(common)) + 1
        if len(common) <= LEAST_DEPTH:
            return
        if self._roots:
            self.places.outside = "/".join(common)
        else:
            self.folder = "/".join(common)
        for each in changes:
            if each.what in paths:
                each.what = each.what[length:]
        self.places.files = {
            path[length:] if path in paths else path: text
            for path, text in self.places.files.items()
        }

    def add(self, number: int, turn: Turn) -> None:
        text = turn.text.strip()
        known = any(turn.folder.startswith(root) for root in self._roots)
        if _ABSOLUTE.match(turn.folder) and not known:
            self._roots.append(turn.folder)
        if turn.branch and turn.branch not in (self._branch, "HEAD"):
            self._branch = turn.branch
            self._tell(Event(number, Kind.BRANCH, turn.branch, failed=False))
        if text.startswith(_NOTIFICATION):
            told = inner_parts(text)
            said = told.get("result") or ("" if told else re.sub(r"<[^<>]*>", " ", text).strip())
            self._say(number, Voice.SUBAGENT, said, told.get("summary", ""))
        elif turn.kind == "tool_use":
            self._call(number, turn)
        elif turn.kind == "tool_result":
            self._result(number, turn)
        elif turn.kind == "text" and turn.role == "user" and (command := command_called(text)):
            self._say(number, Voice.PERSON, command)
        elif turn.kind == "text" and not _CLIENT.match(text):
            self._say(number, _voice(turn), text, turn.name if turn.role == "user" else "")

    def _say(self, number: int, voice: Voice, text: str, name: str = "") -> None:
        if text.strip() and not (voice is not Voice.PERSON and _RECORD.match(text)):
            self.moments.append(Message(number, voice, text.strip(), name))

    def _tell(self, event: Event) -> Event:
        event.call = event.turn
        if event.kind is Kind.WRITE:
            self._written.add(event.what.rpartition("/")[2])
        self.moments.append(event)
        return event

    def _call(self, number: int, turn: Turn) -> None:
        call = read_call(turn.name, turn.text)
        event: Event | None = None
        command = command_of(call)
        if call.kind in LISTS:
            event = self._tell(Event(number, Kind.TODO, "", items=todo_items(call)))
        elif call.kind in TASK_TOOLS:
            event = self._task(number, call)
        elif call.kind in PLAN_TOOLS:
            self._say(number, Voice.AGENT, call.words("plan") or self._plan, PLAN)
        elif call.kind in ASKING:
            self._say(number, Voice.AGENT, questions_of(call))
        elif call.kind in REPORTING:
            self._say(number, Voice.AGENT, call.words("summary", "result", "message"))
        elif changes := changes_of(call):
            for change in changes:
                event = self._tell(self._changed(number, change))
        elif command:
            found = list(command_events(number, command)) or self._own_script(number, command)
            for event in found:
                event.what = self._short(event.what)
                event.edits = tuple(map(self._short, event.edits))
                event.dropped = tuple(map(self._short, event.dropped))
                event.moved = tuple(map(self._short, event.moved))
                self._tell(event)
                for old, new in event.pairs:
                    self.places.written(event.what, old, new, appends=event.appends)
        elif is_pull_request(call):
            event = self._tell(Event(number, Kind.PULL_REQUEST, call.words("title")))
        elif what := outside_change(call):
            event = self._tell(Event(number, Kind.RUN, what))
        self._open.append(_Open(number, call, event, turn.call))
        del self._open[:-MOST_OPEN]

    def _own_script(self, number: int, command: str) -> list[Event]:
        """The run of a script that was written in this range, which is how some agents check."""
        for piece in pieces_of(command[:COMMAND_CHARS]):
            ran = SCRIPT_RUN.fullmatch(piece)
            if ran and ran[1].rpartition("/")[2] in self._written:
                return [Event(number, Kind.CHECK, cut(ENDS.sub("", piece), 120).text)]
        return []

    def _changed(self, number: int, change: Change) -> Event:
        path = self._short(change.path)
        if change.deleted:
            return Event(number, Kind.RUN, f"deleted {path}", edits=(path,))
        event = Event(number, Kind.WRITE if change.created else Kind.EDIT, path)
        event.names, event.pairs = change.names, change.pairs
        old = change.pairs[0][0] if change.pairs else ""
        event.within = _declared_first(old) or self.places.within(path, change.old)
        for before, after in change.pairs:
            self.places.written(path, before, after)
        if _PLAN_FILE.search(path):
            for old, new in change.pairs:
                self._plan = self._plan.replace(old, new, 1) if old else new
        return event

    def _short(self, text: str) -> str:
        """A path or command without the folder in which the session works."""
        for found in re.finditer(r"\bcd (/[^\s;&|\"']+)", text):
            if not any(found[1].startswith(root) for root in self._roots):
                self._roots.append(found[1])
        text = re.sub(r"\bcd /\S+ *(?:&&|;) *", "", text)
        for root in sorted(self._roots, key=len, reverse=True):
            text = text.replace(f"{root}/", "").replace(f"{root}\\", "")
        return text

    def _task(self, number: int, call: Call) -> Event | None:
        """Lists whose items have calls of their own."""
        if call.kind == "taskcreate":
            self._tasks[f"new {number}"] = ("pending", _line(call.words("subject")))
        else:
            key = str(call.given.get("taskId", ""))
            status = call.words("status")
            if not status or key not in self._tasks:
                return None
            self._tasks[key] = (status, self._tasks[key][1])
        return self._tell(Event(number, Kind.TODO, "", items=self._task_items()))

    def _task_items(self) -> tuple[tuple[str, str], ...]:
        return tuple(
            (status, subject if key.startswith("new") else f"#{key} {subject}")
            for key, (status, subject) in self._tasks.items()
            if status != "deleted"
        )

    def _answered(self, turn: Turn) -> _Open | None:
        """The call to which a result belongs: the oldest of its tool that waits for one."""
        if turn.call:
            place = next((at for at, e in enumerate(self._open) if e.id == turn.call), None)
        else:
            place = next(
                (at for at, e in enumerate(self._open) if e.call.tool == turn.name),
                0 if self._open and not turn.name else None,
            )
        return None if place is None else self._open.pop(place)

    def _result(self, number: int, turn: Turn) -> None:
        asked = self._answered(turn)
        text = turn.text.strip()
        if _REFUSED.match(text):
            self._refused(number, text, asked)
            return
        if asked is None:
            return
        call, event = asked.call, asked.event
        self._answering.add(call.tool)
        if event is None:
            self._read(call, text)
        if call.kind == "skill" and (skill := call.words("skill", "name", "command")):
            self.places.skills.append(skill)
        if (address := _PUBLISHED.match(text)) and address[1] not in self.places.published:
            self.places.published.append(address[1])
        if call.kind in SUBAGENT_TOOLS:
            if not text.startswith(_LAUNCHED) and not FAILED.match(text):
                name = _line(call.words("description", "name"))
                self._say(number, Voice.SUBAGENT, _AGENT_ID.sub("", text), name)
        elif call.kind in ASKING:
            answers = _ANSWERED.match(text[:LOOKED_AT])
            said = text[:LOOKED_AT]
            if answers:
                said = _GO_ON.split(answers[1], maxsplit=1)[0].rstrip().removesuffix(".")
            self._say(number, Voice.PERSON, said, ANSWERS)
        elif call.kind == "taskcreate":
            created = re.search(r"Task #(\d+) created", text)
            if (
                created
                and event is not None
                and (found := self._tasks.pop(f"new {asked.turn}", None))
            ):
                self._tasks[created[1]] = found
                event.items = self._task_items()
        elif call.kind in POLLING:
            self._more_output(number, call, text)
        elif event is not None:
            if call.command:
                self._started(asked, text)
            for each in self.moments[-40:]:
                if isinstance(each, Event) and each.call == asked.turn:
                    read_outcome(each, text)
            self._name_commits(asked.turn, text)
            self._name_made(call, asked.turn, text)
        elif call.command:
            self._started(asked, text)
            found_conflicts = conflicts_in(text)
            if found_conflicts:
                self._tell(Event(number, Kind.MERGE, "", conflicts=found_conflicts, failed=True))
        elif updated := _UPDATED.match(text):
            kind = Kind.WRITE if updated[2] == "created" else Kind.EDIT
            self._tell(Event(number, kind, self._short(updated[1]), failed=False))
        elif (path := call.words(*PATHS)) and (sides := conflict_sides(text)):
            self._tell(Event(number, Kind.SIDES, self._short(path), names=sides, failed=False))

    def _read(self, call: Call, text: str) -> None:
        """Keep what a call has read of a file, or which files its search has found."""
        path = self._short(call.words(*PATHS).strip('"'))
        pattern = call.words("pattern", "query", "regex")
        if pattern:
            found = _HITS.findall(text[:LOOKED_AT])
            for hit in _SHOWN.finditer(text[:LOOKED_AT]):
                if (one := DECLARED.match(hit[3])) and one[1]:
                    place = f"{self._short(hit[1])}:{hit[2]}"
                    self.places.seen[one[1]] = [*self.places.seen.get(one[1], []), place][
                        -MOST_HITS:
                    ]
            paths = dict.fromkeys(self._short(each) for each in found)
            if not paths and path and LINE_NUMBER.match(text):
                paths = {path: None}
            self.places.searches.append((pattern, tuple(paths)[:MOST_HITS]))
            del self.places.searches[:-MOST_SEARCHES]
        elif path and not FAILED.match(text):
            self.places.read(path, text)

    def _name_commits(self, call: int, text: str) -> None:
        """Give the commits of a call the hashes under which its result lists their subjects."""
        hashes = {subject.strip(): name for name, subject in LISTED.findall(text[:LOOKED_AT])}
        where = {found[3].strip(): f"{found[1]} {found[2]}" for found in MADE.finditer(text)}
        for each in self.moments[-40:]:
            if isinstance(each, Event) and each.call == call and each.kind is Kind.COMMIT:
                subject = each.what.split("\n", 1)[0].strip()
                each.outcome = where.get(subject) or each.outcome or hashes.get(subject, "")

    def _name_made(self, call: Call, turn: int, text: str) -> None:
        """Give what a call has made in another system the id under which its result names it.

        Where a command makes several things, it has to name as many ids, which are in their order.
        """
        made = [
            each
            for each in self.moments[-40:]
            if isinstance(each, Event) and each.call == turn and each.kind is Kind.RUN
            if not each.failed and _makes(call, each)
        ]
        ids = ids_made(text, by_name=made[0].what.startswith("bd ")) if made else []
        if len(made) == 1 or len(made) == len(ids):
            for event, known in zip(made, ids, strict=False):
                event.outcome = known

    def _started(self, asked: _Open, text: str) -> None:
        """Keep a command whose output may come later, when the agent fetches it."""
        if found := _STARTED.search(text[:400]):
            self._polled[found[1]] = asked
        else:
            self._running.append(asked)
            del self._running[:-MOST_OPEN]

    def _more_output(self, number: int, call: Call, text: str) -> None:
        """Read the output that was fetched of a command. Where no result names the id of a
        command, it is that of the last command."""
        key = next((str(call.given[name]) for name in POLLED if name in call.given), "")
        asked = self._polled.get(key)
        if asked is None and self._running and "session_id" in call.given:
            asked = self._polled[key] = self._running.pop()
        if "<output>" in text and text.rstrip().endswith("</output>"):
            head, _, rest = text.partition("<output>")
            text = rest.rstrip().removesuffix("</output>").strip()
            if "<status>completed" not in head:
                return
            if "<task_type>local_agent" in head:
                report = _TOOL_LINE.sub("", text).strip()
                self._say(number, Voice.SUBAGENT, report)
                return
            if code := re.search(r"<exit_code>([1-9]\d*)<", head):
                text = f"Exit code {code[1]}\n{text}"
        if asked is None or asked.event is None or NO_OUTPUT.match(text):
            return
        for each in reversed(self.moments[-POLLED_MOMENTS:]):
            if isinstance(each, Event) and each.call == asked.turn:
                known = each.how
                read_outcome(each, text)
                if each.kind is Kind.CHECK and each.how == "ran" and known == "failed":
                    each.how, each.failed = known, True

    def _refused(self, number: int, text: str, asked: _Open | None) -> None:
        said = _SAID.search(text)
        words = _NOTE.sub("", said[1]).strip() if said else ""
        what = ""
        if asked is not None:
            what = command_of(asked.call) or asked.call.words(*PATHS, "plan", "prompt")
            what = (
                f"{asked.call.tool}: {self._short(cut(what, 160).text)}"
                if what
                else asked.call.tool
            )
            self.moments = [
                each
                for each in self.moments
                if not (isinstance(each, Event) and each.call == asked.turn)
                and not (each.turn == asked.turn and asked.call.kind in PLAN_TOOLS)
            ]
        self._tell(Event(number, Kind.REFUSED, what, failed=True))
        self._say(number, Voice.PERSON, words)


def _makes(call: Call, event: Event) -> bool:
    """Whether a call makes something that has an id in another system, or changes it by a tool."""
    return not event.edits if not call.command else bool(MAKES.match(event.what))


_PLAN_FILE = re.compile(r"[/\\]plans[/\\][^/\\]+\.md$")


def _declared_first(text: str) -> str:
    """The function or class with which a text begins, after its remarks."""
    found = DECLARED.search(text[:FIRST_CHARS])
    if found is None or not found[1]:
        return ""
    before = (line.strip() for line in text[: found.start()].split("\n"))
    return found[1] if all(not line or COMMENT.match(line) for line in before) else ""


FIRST_CHARS = 2_000
_COMMAND = re.compile(r"<command-name>\s*/?([\w:.-]+)\s*</command-name>")
_GO_ON = re.compile(r"You can now continue|Read the answers carefully")
_ARGUMENTS = re.compile(r"<command-args>((?:(?!<command-args>).)*?)</command-args>", re.DOTALL)
_OF_THE_CLIENT = re.compile(
    r"add-dir|agents|bashes|bug|clear|compact|config|context|cost|doctor|exit|export|fast|feedback"
    r"|help|hooks|ide|init|install-github-app|login|logout|mcp|memory|model|output-style"
    r"|permissions|plugin|privacy-settings|quit|release-notes|rename|resume|rewind|skills|stats"
    r"|status|statusline|tasks|terminal-setup|theme|todos|upgrade|usage|vim"
)
"""Commands of the client itself, which ask the agent for nothing."""


def command_called(text: str) -> str:
    """A command that the person called, with what they wrote after it."""
    named = _COMMAND.search(text) if text.startswith("<command-") else None
    if named is None or _OF_THE_CLIENT.fullmatch(named[1]):
        return ""
    given = _ARGUMENTS.search(text)
    return f"/{named[1]} {given[1].strip() if given and given[1].strip() else '(a command)'}"


def _voice(turn: Turn) -> Voice:
    if turn.text.lstrip().startswith((SUMMARY_START, CODEX_SUMMARY)):
        return Voice.SUMMARY
    if turn.role == "assistant":
        return Voice.AGENT
    if turn.role == "user":
        return Voice.SPEAKER if turn.name else Voice.PERSON
    return Voice.NOTE


def _line(text: str) -> str:
    return " ".join(text.split())
