"""What was done, as events: what an edit or a command line does, and what its result says of it.

The output of a tool is never content. Of a result only what it says about its call is read:
whether it failed, which tests failed, which commit it made, which files conflict.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from reviewer.compression.offline.calls import names_added
from reviewer.proposing.view_calls import commit_made, commit_of, cut


class Voice(StrEnum):
    """Who speaks in a message."""

    PERSON = "person"
    AGENT = "agent"
    SUBAGENT = "sub-agent"
    SPEAKER = "speaker"  # somebody with a name, as in a meeting
    SUMMARY = "earlier summary"
    NOTE = "note"


class Message(Struct, frozen=True):
    """Words in a turn. `name`: of a speaker, or the task of a sub-agent."""

    turn: int
    voice: Voice
    text: str
    name: str = ""


class Kind(StrEnum):
    """What an event is."""

    EDIT = "edited"
    WRITE = "wrote"
    CHECK = "ran"
    COMMIT = "committed"
    PUSH = "pushed"
    PULL_REQUEST = "opened a pull request"
    BRANCH = "switched to"
    MERGE = "merged"
    RUN = "did"
    REFUSED = "refused"
    TODO = "to-do list"
    SIDES = "read a conflict"


class Event(Struct):
    """Something done. `what`: path, command or message; `outcome`: what came of it, in words.

    `failed` is None where nobody knows.
    """

    turn: int
    kind: Kind
    what: str
    outcome: str = ""
    failed: bool | None = None
    conflicts: tuple[str, ...] = ()
    items: tuple[tuple[str, str], ...] = ()
    """A to-do list: status and text of each item."""
    edits: tuple[str, ...] = ()
    """Files that a command writes or takes one side of."""
    names: tuple[str, ...] = ()
    """What an edit adds: functions, classes, tests, headings."""
    pairs: tuple[tuple[str, str], ...] = ()
    """The texts that an edit replaces, each with what replaces it."""
    appends: bool = False
    """Whether its text comes after what the file has."""
    within: str = ""
    """The function or heading in which an edit is."""
    moved: tuple[str, ...] = ()
    """The old and the new path of a file that a command moves."""
    dropped: tuple[str, ...] = ()
    """Files whose changes a command throws away; `.` for all."""
    amends: bool = False
    """Whether a commit replaces the one before it."""
    superseded: bool = False
    """Whether a check of the same kind ran later."""
    call: int = -1
    """The turn of the call, which a result shares; -1 for none."""
    how: str = "no result"
    """How a check went, in words; "passed" only where its output says so."""


Moment = Message | Event
PLAN = "plan"
"""The name of a message in which the agent hands in a plan."""
ANSWERS = "answers"
"""The name of a message of the person that answers the questions of a call."""
SCRATCH = re.compile(
    r"/(?:private/)?(?:var/)?tmp/|/var/folders/|/dev/|\$TMP|[A-Za-z]:[/\\].*[/\\]Temp[/\\]"
    r"|(?:.*[/\\])?(?:\.?scratch(?:pad)?)[/\\]",
    re.IGNORECASE,
)
"""Folders whose files are not the work."""


# What a command line does

SPLIT = re.compile(r"&&|\|\||;|\n")
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1[^\n]*\n.*?\n\s*\2\b", re.DOTALL)
_RUNNERS = (
    r"mise|npm|pnpm|yarn|bunx?|npx|make|just|task|cargo|go|uv|uvx|poetry|pdm|hatch|python3?|gradle"
    r"|(?:\./)?gradlew|mvn|dotnet|swift|xcodebuild|bazel|rake|bundle|composer|deno|mix|sbt|stack"
    r"|cabal|zig|docker|nix|tox|nox|cmake|ctest|\./[\w./-]+|(?:bash|sh) [\w./-]+"
)
_CHECK = re.compile(
    rf"(?:[A-Z_]+=\S+ |nice (?:-n ?\d+ )?|time |timeout \S+ |env )*(?:(?:{_RUNNERS})\b[^|]*?"
    r"(?<![\w/.])(?:test|tests|test:\S+|lint|lint:\S+|fmt|format|vet|check|checks|typecheck"
    r"|build|verify"
    r"|pytest|mypy|ruff|clippy|tsc|jest|vitest|unittest|ci)\b"
    r"|(?:\S*/)?(?:pytest|mypy|ruff|tox|nox|eslint|prettier|tsc|jest|vitest|golangci-lint|gofmt"
    r"|shellcheck|phpunit|rspec|flake8|black|pylint|pyright|ctest|lint-imports)\b"
    r"|make(?: -\S+| all)*\s*(?:$|[|>&]|2>))"
)
_CHANGES = re.compile(
    r"(?:sudo )?(?:rm|mv|cp|mkdir|touch|chmod|ln|npm (?:install|i|publish)|pnpm (?:add|install)"
    r"|yarn add|pip3? install|uv (?:add|sync|pip)|go (?:get|mod)|cargo add|apt(?:-get)? install"
    r"|brew install|docker (?:build|run|push|compose)|kubectl (?:apply|delete)|terraform apply"
    r"|systemctl|kill|alembic|helm|bd (?:create|update|close|reopen|delete|dep (?:add|remove))"
    r"|glab (?:mr|issue) (?:create|update|close|reopen|merge|note)"
    r"|gh (?:pr|issue|release) (?:comment|merge|edit|review|close|ready"
    r"|create|reopen)|gh api .*(?:-X (?:POST|PATCH|PUT|DELETE)|--method (?:POST|PATCH|PUT|DELETE)"
    r"|-f |--field))\b"
)
_REMOVED = re.compile(r"(?:sudo )?rm\s+(?:-\w+\s+)*([^*?$|]+)$")
_MOVED = re.compile(r"(?:sudo )?(?:git )?mv (?:-\w+ )*(\S+) (\S+)")
_GIT = re.compile(r"git(?:\s+-[cC]\s+\S+)*\s+([a-z-]+)\s*(.*)", re.DOTALL)
_SED = re.compile(r"(?:g?sed|perl)\s+(?:-\S+\s+)*-\w*i\b.*?(\S+\.\w+)\s*$", re.DOTALL)
_REDIRECT = re.compile(
    r"(?:cat|tee|echo|printf)\b[^|\n]{0,400}?(?<![-=\d])>{1,2}\s*([\w./~-]+\.\w+)"
)
_EDITOR = re.compile(r"create ([\w./-]+\.\w{1,8})")
"""The command with which some agents create a file."""
ENDS = re.compile(
    r"(?<!\s)(?:\s*+(?:2>&1|\d?>\s*+/dev/null|\|\s*+(?:tail|head|grep|cat|tee)\b.*+)){1,6}+\s*+$"
)
_HELP = re.compile(r"\s(?:--help|-h)\b")
_BODY = re.compile(r"\s(?:--?(?:body|b|f|F|field|message|m)\b|\S*=\"|\"\$\()")
"""Where the text that a command sends begins."""
_FIELDS = re.compile(
    r"\s--?(?:acceptance|(?:append-)?notes|description|reason|type|priority|parent|[tpd])\b"
)
"""Where the fields of an item of a tracker begin."""
SCRIPT_RUN = re.compile(
    r"(?:python3?|node|ruby|perl|bash|sh|php|deno run|bun)\s+([\w./-]+\.\w{1,4})\b.*"
)
COMMAND_CHARS = 8_000
CHECK_CHARS = 220


def command_events(number: int, command: str) -> Iterator[Event]:
    """What a command line does, besides reading."""
    bodies = _written_bodies(command[:WRITTEN_CHARS])
    command = command[:COMMAND_CHARS]
    made = commit_of(command)
    messages = iter(_commit_messages(command))
    for path in _script_writes(command):
        yield Event(number, Kind.EDIT, path)
    for piece in pieces_of(_HEREDOC.sub(lambda found: found[0].split("\n", 1)[0], command)):
        git = _GIT.match(piece)
        if (found := _REDIRECT.match(piece)) and not found[1].startswith("/dev"):
            yield _redirected(number, found, bodies)
        elif git is not None:
            message = next(messages, "") if git[1] == "commit" else ""
            yield from _git_events(number, git[1], git[2], message)
        elif piece.startswith("gh pr create") and made is not None:
            yield Event(number, Kind.PULL_REQUEST, made.message.split("\n", 1)[0])
        elif _CHECK.match(piece):
            yield Event(number, Kind.CHECK, cut(ENDS.sub("", piece), CHECK_CHARS).text)
        elif written := _EDITOR.fullmatch(piece):
            yield Event(number, Kind.WRITE, written[1])
        elif sed := _SED.match(piece):
            yield Event(number, Kind.EDIT, sed[1])
        elif _CHANGES.match(piece) and not _HELP.search(piece):
            short = ENDS.sub("", piece)
            if short.startswith("bd "):
                short = _FIELDS.split(short)[0]
            elif short.startswith(("gh ", "glab ")):
                short = _BODY.split(short)[0]
            removed, moved = _REMOVED.match(short), _MOVED.fullmatch(short)
            yield Event(
                number,
                Kind.RUN,
                cut(short, 120).text,
                dropped=tuple(removed[1].split()) if removed else (),
                moved=moved.groups() if moved else (),
            )


def pieces_of(command: str) -> list[str]:
    """The commands of a command line; what is quoted is not split."""
    if command.count('"') % 2 or '\\"' in command:
        return [piece.strip() for piece in SPLIT.split(command)]
    pieces, start = [], 0
    for found in _QUOTED_OR_SPLIT.finditer(command):
        if found[1] is not None:
            pieces.append(command[start : found.start()].strip())
            start = found.end()
    return [*pieces, command[start:].strip()]


_QUOTED_OR_SPLIT = re.compile(rf"\"[^\"]*\"|(?<=[\s=(])'[^'\n]*'|({SPLIT.pattern})")


def _redirected(number: int, found: re.Match[str], bodies: Mapping[str, str]) -> Event:
    """A file that a command writes, or appends to, with the text where the command has it."""
    appends = ">>" in found[0]
    event = Event(number, Kind.EDIT if appends else Kind.WRITE, found[1], appends=appends)
    if body := bodies.get(found[1]):
        event.names, event.pairs = names_added("", body, found[1]), (("", body),)
    return event


WRITTEN_CHARS = 60_000
MOST_HEREDOCS = 30
"""Beginnings of texts in a command up to which the whole of it is searched for their ends."""


def _written_bodies(command: str) -> dict[str, str]:
    """The files that a command writes with the texts that it has for them."""
    found: dict[str, str] = {}
    if command.count("<<") > MOST_HEREDOCS:
        command = command[:COMMAND_CHARS]
    for text in _HEREDOC.finditer(command):
        head, _, body = text[0].partition("\n")
        line = command[command.rfind("\n", 0, text.start()) + 1 : text.start()] + head
        path = _REDIRECT.search(line)
        if path is not None:
            found[path[1]] = body.rpartition("\n")[0]
    return found


_COMMIT_CALL = re.compile(r"\bgit(?:\s++-[cC]\s++\S++){0,8}+\s++commit\b")


def _commit_messages(command: str) -> Iterator[str]:
    """The message of each commit in a command line."""
    places = [found.start() for found in _COMMIT_CALL.finditer(command)]
    for start, end in zip(places, [*places[1:], len(command)], strict=True):
        found = commit_of(command[start:end])
        yield found.message if found else ""


_SCRIPT = re.compile(
    r"\.write_text\(|\bopen\([^)\n]{1,200}, *(?:mode=)?['\"][wa]|\bwriteFileSync\("
)
_SCRIPT_PATH = re.compile(
    r"(?:\bPath\(|\bopen\(|\bwriteFileSync\()\s*r?['\"]([^'\"\n]{1,200}\.\w{1,8})['\"]"
)
MOST_WRITTEN = 8


def _script_writes(command: str) -> list[str]:
    """The files that a script in a command line names, where it writes files."""
    if not _SCRIPT.search(command):
        return []
    return list(dict.fromkeys(_SCRIPT_PATH.findall(command)))[:MOST_WRITTEN]


def _git_events(number: int, verb: str, rest: str, message: str) -> Iterator[Event]:
    words = [word for word in ENDS.sub("", rest).split() if not word.startswith("-")]
    if verb == "commit":
        yield Event(number, Kind.COMMIT, message.strip(), amends="--amend" in rest)
    elif verb == "push":
        yield Event(number, Kind.PUSH, " ".join(words[:2]))
    elif verb in ("merge", "rebase", "pull", "cherry-pick"):
        if "--abort" not in rest:
            yield Event(number, Kind.MERGE, f"git {verb} {ENDS.sub('', rest)}".strip()[:120])
    elif verb in ("checkout", "restore") and re.search(r"--(?:ours|theirs)\b", rest):
        side = "theirs" if "--theirs" in rest else "ours"
        files = tuple(words)
        yield Event(
            number,
            Kind.RUN,
            f"took {side} (git {verb} --{side}) for {', '.join(files)}",
            edits=files,
        )
    elif _discards(verb, rest, words):
        files = tuple(word for word in words if word != "HEAD")
        what = f"discarded the changes of {', '.join(files)}"
        yield Event(number, Kind.RUN, what, dropped=files)
    elif verb in ("checkout", "switch"):
        if words and "." not in words[0].rsplit("/", 1)[-1] and " -- " not in f" {rest} ":
            yield Event(number, Kind.BRANCH, words[0])
    elif verb == "add":
        pass
    elif verb in ("reset", "stash", "revert", "tag", "worktree", "mv", "rm") and words[:1] not in (
        ["list"],
        ["show"],
    ):
        what = f"git {verb} {ENDS.sub('', rest)}".strip()
        moved = _MOVED.fullmatch(what)
        yield Event(number, Kind.RUN, what[:120], moved=moved.groups() if moved else ())


def _discards(verb: str, rest: str, words: Sequence[str]) -> bool:
    """Whether a command throws away changes of files that it names."""
    if verb == "restore":
        return bool(words) and "--staged" not in rest
    if verb != "checkout" or not words:
        return False
    return " -- " in f" {rest} " or all(_A_FILE.search(word) for word in words)


_A_FILE = re.compile(r"(?:^|/)[A-Za-z_.][\w-]*\.[A-Za-z]\w*$")
"""A path that no branch or tag has as its name: `src/store.py`, not `v1.2`."""


# What a result says of its call

FAILED = re.compile(
    r"\s*(?:Traceback \(most recent|(?:fatal|error|Error|ERROR)\b ?:|<tool_use_error>"
    r"|Exit code:? [1-9]|Process exited with code [1-9]|<returncode>\s*-?[1-9]"
    r"|(?:command )?failed in sandbox|apply_patch verification failed"
    r"|(?:(?:Operation|Request|Command|Tool (?:execution|call)) (?:was )?)?"
    r"(?:[Aa]borted|[Cc]ancell?ed|[Ii]nterrupted)\b.{0,60}$)"
)
_FAILED_LAST = re.compile(
    r"<shellId: \d+ (?:completed|exited) with exit code [1-9]\d*>\s*$"
    r"|\bmake(?:\[\d+\])?: \*\*\* .{0,200}Error \d+\s*$"
    r"|\bexited with (?:exit )?code:? [1-9]\d*\s*$"
)
_EDIT_FAILED = re.compile(
    r"(?!.{0,60}\b(?:success|updated|applied|created|replaced|written)).{0,160}"
    r"(?:\bnot found in\b|\bappears? multiple\b|\bmultiple occurrences\b|\bdid not appear\b"
    r"|\bno replacement was\b|\bintroduced new syntax error"
    r"|\bcould not (?:find|edit|apply|write)\b|\bfailed\b"
    r"|\bhas not been read\b|\bdoes not exist\b)",
    re.IGNORECASE | re.DOTALL,
)
LOOKED_AT = 6_000
"""Characters at either end of a result that are read."""
_CONFLICT = re.compile(
    r"CONFLICT \([^()\n]*\): Merge conflict in (\S+)|^[^\S\n]*+both (?:modified|added):\s++(\S+)"
    r"|^(?:UU|AA) (\S+)$",
    re.MULTILINE,
)
_FAILING_TEST = re.compile(
    r"--- FAIL: (\S+)|^FAILED (\S+)|^[^\S\n]*+(?:✗|✘|×) (.{3,80})$|^FAIL\s+(\S+)", re.MULTILINE
)
_CHECK_FAILED = re.compile(
    r"\b[1-9]\d* (?:failed|failures?|errors?)\b|^FAIL\b|\btask failed\b|\bBUILD FAILED\b"
    r"|^\S+:\d+:\d+: |--- FAIL|\bnpm ERR!|^error(?:\[|:)|\bERROR\b.*\bfail",
    re.MULTILINE | re.IGNORECASE,
)
_PASSED = re.compile(
    r"\b[1-9]\d* (?:passed|passing|succeeded)\b|\ball (?:\w+ ){0,3}(?:pass(?:ed)?|ok)\b"
    r"|\bno issues? found\b|\b0 (?:issues|errors?|problems|failures?|failed)\b"
    r"|\btest result: ok\b|^ok\s+\S+\s+(?:[\d.]+s|\(cached\))|^PASS(?:ED)?\b|--- PASS"
    r"|\bBUILD SUCCESS(?:FUL)?\b|\bBuild (?:succeeded|complete)|\bcompiled successfully\b"
    r"|\bfiles? (?:already formatted|left unchanged|would be left unchanged|reformatted)\b"
    r"|^OK(?: \(.*\))?$|\bFinished `?\w+`? .{0,80}target|\bbuilt in [\d.]+|\btests? pass(?:ed)?\b"
    r"|\bcode style!|\bno (?:errors|problems|warnings) found\b|\b0 broken\b",
    re.MULTILINE | re.IGNORECASE,
)
_KILLED = re.compile(
    r"^(?:.{0,80}: line \d+: +\d+ )?Killed\b|\bsignal: killed\b"
    r"|^(?:Exit code:? |Process exited with code )137\b",
    re.MULTILINE,
)
_TIMED_OUT = re.compile(
    r"\bCommand timed out\b|^(?:Exit code:? |Process exited with code )124\b", re.MULTILINE
)
_NOT_RUN = re.compile(
    r"^.*(?:\bcommand not found\b|: not found$|executable file not found|\bis not installed\b"
    r"|UNSUPPORTED_ENGINE\b|\bEBADENGINE\b|\b[Mm]issing script\b"
    r"|\bNo module named (?:pytest|tox|nox)\b"
    r"|\bis not recognized as (?:an internal|the name)|\bCannot connect to the Docker daemon\b).*$",
    re.MULTILINE,
)
"""What a check prints that did not get to its work."""
_VERSIONS = re.compile(
    r"^[ \t]*((?:Expected|Required|Wanted|Got|Found)(?: version)?: [^\n]{1,60})$", re.MULTILINE
)
"""Which version was needed, and which there is."""
_BACKGROUND = re.compile(
    r"\s*Command (?:is )?running in (?:the )?background\b|.*\bmoved to the background\b"
)
NO_OUTPUT = re.compile(
    r"\s*+(?:\(?(?:Bash|Command|Tool)? ?(?:completed|ran)? ?(?:successfully )?(?:with|and)? ?"
    r"(?:no output|produced no output)[^\n]{0,20}"
    r"|(?:Exit code:? |Process exited with code )0)?\s*+$",
    re.IGNORECASE,
)
MADE = re.compile(r"^\[([^\]\n]{1,120}) ([0-9a-f]{7,40})\] (.+)$", re.MULTILINE)
LISTED = re.compile(r"^([0-9a-f]{7,40}) (?:\([^()\n]{1,80}\) )?(\S.*)$", re.MULTILINE)
_PUSH_FAILED = re.compile(r"! \[(?:remote )?rejected\]|\bfatal:|\berror: failed to push")
_ERROR_LINE = re.compile(
    r"error|fail|panic|exception|cannot|undefined|denied|not found", re.IGNORECASE
)


def conflicts_in(text: str) -> tuple[str, ...]:
    """The files that a result of Git says conflict."""
    found = (next(filter(None, each)) for each in _CONFLICT.findall(text[:20_000]))
    return tuple(dict.fromkeys(found))


_MARK = re.compile(r"[^\S\n]*(?:(\d+)[→\t:|])?(<{7}|\|{7}|={7}|>{7})(?: |$)")
LINE_NUMBER = re.compile(r"^[^\S\n]*+(\d++)[→\t:|]")
HUNK_CHARS = 40_000
MOST_HUNKS = 8
SIDE_LINES = 2
"""Lines of each side of a conflict that are described."""
SIDE_CHARS = 70
COMMENT = re.compile(r"//|#(?!include|define|if|e)|/?\*|--|;")


def conflict_sides(text: str) -> tuple[str, ...]:
    """The conflicts that a file shows as it was read: its lines, and what only each side has."""
    found: list[str] = []
    if "<<<<<<<" not in text:
        return ()
    sides: dict[str, list[str]] = {}
    mark, first = "", ""
    for line in text[:HUNK_CHARS].split("\n"):
        if marked := _MARK.match(line):
            mark = marked[2][0]
            if mark == "<":
                sides, first = {}, marked[1] or ""
            elif mark == ">" and {"<", "="} <= sides.keys() and len(found) < MOST_HUNKS:
                where = f"lines {first}-{marked[1]}: " if first and marked[1] else ""
                ours, theirs = _code_lines(sides["<"]), _code_lines(sides["="])
                head, incoming = _side("HEAD", ours, theirs), _side("incoming", theirs, ours)
                found.append(f"{where}{head}; {incoming}")
            sides.setdefault(mark, [])
            mark = "" if mark == ">" else mark
        elif mark:
            sides[mark].append(line)
    return tuple(found)


def _code_lines(side: Sequence[str]) -> list[str]:
    lines = (LINE_NUMBER.sub("", line, count=1).strip() for line in side)
    return [line for line in lines if any(char.isalnum() for char in line)]


def _side(name: str, lines: Sequence[str], other: Sequence[str]) -> str:
    """What one side of a conflict has and the other has not."""
    own = [line for line in lines if line not in other]
    own = [line for line in own if not COMMENT.match(line)] or own
    if not own:
        return f"{name} adds nothing"
    shown = " ".join(f"`{cut(line, SIDE_CHARS).text}`" for line in own[:SIDE_LINES])
    left = len(own) - SIDE_LINES
    more = f" and {left} more line{'s' * (left > 1)}" if left > 0 else ""
    return f"{name} has {shown}{more}"


_SILENT = re.compile(
    r"\b(?:go (?:build|vet)|go test\b.* -c|gofmt|tsc|javac|py_compile|node --check|bash -n"
    r"|git diff --check)\b"
)
"""Checks that print something only where they fail."""


NOT_RUN = "could not be run"
"""How a check went that did not get to its work, such as one whose program is missing."""


def read_outcome(event: Event, result: str) -> None:
    """Put into an event what its result says about it."""
    failed = bool(FAILED.match(result) or _FAILED_LAST.search(result[-400:]))
    seen = (
        result if len(result) <= 2 * LOOKED_AT else f"{result[:LOOKED_AT]}\n{result[-LOOKED_AT:]}"
    )
    if event.kind is Kind.CHECK:
        event.how = _how(seen, failed)
        if event.how in ("no output", "no result") and _SILENT.search(event.what):
            event.how = "passed"
        event.failed = {"failed": True, "passed": False}.get(event.how)
        event.outcome = _failure(seen) if event.failed else ""
        if event.how == NOT_RUN and (reason := _NOT_RUN.search(seen)):
            line = cut(reason[0].strip(), 140).text.rstrip(".")
            event.outcome = "; ".join([line, *_VERSIONS.findall(seen[:LOOKED_AT])[:2]])
        return
    if event.kind is Kind.COMMIT:
        event.outcome = commit_made(result)
        if not event.what and (made := MADE.search(seen)):
            event.what = made[3].strip()
        failed = failed and not event.outcome
    elif event.kind is Kind.PULL_REQUEST:
        event.outcome = commit_made(result)
    elif event.kind is Kind.PUSH:
        failed = failed or bool(_PUSH_FAILED.search(seen))
    elif event.kind is Kind.MERGE:
        event.conflicts = conflicts_in(seen)
        failed = failed or bool(event.conflicts)
    else:
        if event.kind in (Kind.EDIT, Kind.WRITE):
            failed = failed or bool(_EDIT_FAILED.match(result[:400]))
        event.outcome = _failure(seen) if failed else ""
    event.failed = failed


_IDS = (
    re.compile(
        r"https?://[^\s\"'<>)\]\\]{1,300}/(?:issues?|pull|merge_requests|browse|tag)/[\w.-]*\w"
    ),
    re.compile(r"\"(?:identifier|key)\"\s*:\s*\"([\w.-]{2,40})\""),
    re.compile(
        r"\b(?:[Cc]reated|[Oo]pened|[Uu]pdated|[Cc]losed|[Pp]ublished|[Ss]ubmitted|[Bb]ooked)\b"
        r"(?: (?:issue|ticket|task|epic|bug|feature):? ([A-Za-z][A-Za-z0-9]{0,14}-[\w.]*\w)"
        r"|[^\n]{0,40}?((?<!\w)#\d{1,8}\b|\b[a-z][a-z0-9]{0,14}-(?=[\w.]*\d)[\w.]*\w))"
    ),
    re.compile(r"\b[A-Z][A-Z0-9]{1,9}-\d{1,6}\b"),
    re.compile(r"\"(?:number|iid)\"\s*:\s*(\d{1,8})"),
)
"""Under which id a result says that something was made, the surest first."""
_ITEM_ID = re.compile(r"^[^\S\n]*+\"id\"\s*:\s*\"([A-Za-z][\w.]*-[\w.-]*\w)\"", re.MULTILINE)
"""How a tracker gives the id of an item in JSON."""
MAKES = re.compile(r"(?:gh|glab) (?:issue|mr|pr|release) create\b|bd create\b")
"""Commands that make something that has an id in another system."""
ID_CHARS = 3_000


def ids_made(result: str, *, by_name: bool = False) -> list[str]:
    """The addresses, keys or numbers of what a call has made in another system, in order.

    `by_name`: only what the result says was made counts, no address beside it.
    """
    for pattern in (_IDS[2], _ITEM_ID) if by_name else _IDS:
        found = dict.fromkeys(
            next(filter(None, each.groups()), each[0]) if pattern.groups else each[0]
            for each in pattern.finditer(result[:ID_CHARS])
        )
        if found:
            return [f"#{known}" if known.isdigit() else known for known in found]
    return []


def _how(output: str, error: bool) -> str:
    """How a check went by what it printed."""
    if _BACKGROUND.match(output):
        return "in background"
    if _KILLED.search(output[:200]) or _KILLED.search(output[-200:]):
        return "killed"
    if _TIMED_OUT.search(output[:200]) or _TIMED_OUT.search(output[-200:]):
        return "timed out"
    if _NOT_RUN.search(output) and not _FAILING_TEST.search(output) and not _PASSED.search(output):
        return NOT_RUN
    if error or _CHECK_FAILED.search(output):
        return "failed"
    if NO_OUTPUT.match(output):
        return "no output" if output.strip() else "no result"
    return "passed" if _PASSED.search(output) else "ran"


def _failure(result: str) -> str:
    """The names of failing tests, or else the first line that tells what went wrong."""
    tests = [next(filter(None, each)) for each in _FAILING_TEST.findall(result)]
    tests = [name for name in tests if name not in ("FAIL", "FAILED", "ok")]
    if tests:
        shown = list(dict.fromkeys(name.rstrip(":") for name in tests))[:4]
        return ", ".join(shown)
    lines = [line for line in result.split("\n") if line.strip()]
    telling = next(
        (
            line
            for line in lines[1:] or lines
            if _ERROR_LINE.search(line) and not line.startswith("Exit code")
        ),
        "",
    )
    return cut(telling, 140).text.rstrip(".")
