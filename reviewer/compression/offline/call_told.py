"""A call of a tool in a few words, and the part of its result that decides."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from reviewer.compression.offline.calls import (
    ASKING,
    LISTS,
    PATHS,
    POLLED,
    POLLING,
    REPORTING,
    Change,
    changes_of,
    command_of,
)
from reviewer.compression.offline.events import (
    MAKES,
    Event,
    Kind,
    command_events,
    conflicts_in,
    ids_made,
    read_outcome,
)
from reviewer.proposing.view_calls import (
    PLAN_TOOLS,
    SUBAGENT_TOOLS,
    TASK_TOOLS,
    Call,
    call_line,
    commit_made,
    cut,
    error_line,
    result_note,
)

COMMAND_CHARS = 130
ARGUMENT_CHARS = 80
RESULT_CHARS = 170
FAILURE_CHARS = 240
MOST_LINES, LINE_CHARS = 6, 100
"""Lines of the last result of a session."""
PIECE_CHARS = 60
"""Characters of a line before and after an edit."""
MOST_NAMED = 3

_OWN_TOOLS = frozenset({"tool_search", "toolsearch", "report_intent"})
UNTOLD = LISTS | TASK_TOOLS | ASKING | PLAN_TOOLS | REPORTING | _OWN_TOOLS
"""Tools that are described elsewhere: as a list, as what the agent says or asks."""
_READS = frozenset({"read", "view", "read_file", "cat", "open_file", "view_file", "notebookread"})
_DESCRIBED_READ = re.compile(r"(?:Read|View|Open)(?:ing)?(?: file)?: (\S+)$")
"""How a log names the file that a call reads, where it has no arguments."""
_PRINTS = re.compile(
    r"(?:cat|nl|sed -n|head|tail|less|bat|wc)\b[^|<>]*?([^\s'\"|<>]*[\w/]\.\w{1,8})['\"]?$"
)
_LISTS_FILES = re.compile(r"(?:ls|pwd|tree|stat|file|which)\b")
_HEAD = re.compile(
    r"\s*+(?:Chunk ID: .*\n|Wall time: .*\n|Original token count: .*\n|Total output lines: .*\n"
    r"|Process (?:exited with code|running with session ID) .*\n|Exit code: .*\n|Output:\n)+"
)
_CODE = re.compile(
    r"(?:Process exited with code|[Ee]xit(?:ed with)?(?: exit)? code:?|<exit_code>|<returncode>)"
    r"\s*(-?\d+)"
)
_FRAMED = re.compile(r"\s*+<returncode>-?\d+</returncode>\s*+(?:<output>(.*))?$", re.S)
_ENDED = re.compile(r"(?<!\s)\s*+<shellId: \S+ (?:completed|exited) with exit code -?\d+>\s*+$")
_EXITED = re.compile(r"(?<!\s)\s*+<exited with exit code 0>\s*+$")
_RUNS = re.compile(
    r"<command with shellId: (\S+) is still running|"
    r"Process running with session ID (\S+)|Command running in background with ID: (\S+?)[.\s]"
    r"|<command started .{0,40}shellId: (\S+?)>"
    r"|^Async agent launched[^\0]{0,300}?\bagentId: (\w+)"
)
_FAILED = re.compile(
    r"\s*(?:Traceback \(most recent|(?:fatal|error|Error|ERROR|Failed|failed)\b ?:|<tool_use_error>"
    r"|Exit code:? [1-9]|.{0,60}\bfailed: |(?:command )?failed in sandbox"
    r"|\S+: (?:command not found|No such file))"
)
_COUNTS = re.compile(
    r"\b\d+ (?:tests? )?(?:pass(?:ed|ing)?|fail(?:ed|ures?|ing)?|succeeded|skipped)\b"
    r"|\b\d+ (?:problems?|errors?|warnings?|issues?)\b|^Tests?:|\btest result:"
    r"|^#? ?(?:pass|fail) \d+"
    r"|\bBUILD \w+|\b\d+ files? changed\b|^ok\s+\S+\s+[\d.(]",
    re.IGNORECASE,
)
_TELLING = re.compile(
    r"error|\bERR|\bfail|panic|exception|cannot|unsupported|undefined|not found|denied|fatal"
    r"|mismatch|no such",
    re.IGNORECASE,
)
_NOTES = re.compile(r"(?:npm )?warn|DeprecationWarning|^\s*at |^\s*$", re.IGNORECASE)
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_HIT = re.compile(r"^((?:[\w.@~-]*[/\\])*[\w.@-]+\.\w{1,8})(?=:\d|:|$)", re.MULTILINE)
_SEARCHES = re.compile(r"(?:rg|grep|git grep|ag|ack|find|fd)\b")


class Told(Struct):
    """A call in words. `verb` and `what` make the sentence; `result` is what came of it."""

    verb: str
    what: str
    result: str = ""
    names: str = ""
    """What an edit adds."""
    detail: str = ""
    """The first line that an edit changes."""
    whole: str = ""
    """More of the result, for the last call of a session, which nobody has spoken about yet."""
    changes: bool = False
    """Whether it changes something here or elsewhere."""
    checks: bool = False
    """Whether it runs tests, a linter or a build."""
    failed: bool = False
    polls: str = ""
    """What is asked again and again, where that is all the call does: the same for each time."""
    times: int = 1
    runs: str = ""
    """The id under which a command still runs after the call."""
    open: bool = True
    """Whether no result has come."""

    def text(self, *, whole: bool = True) -> str:
        """The call in words; `whole`: with the lines that an edit changes."""
        words = f"{self.verb} {self.what}".strip()
        if change := self.change(whole=whole):
            words += f" ({change})"
        if self.times > 1:
            words += f" {self.times} times, the last" if self.result else f" {self.times} times"
        return f"{words}: {self.result}" if self.result else words

    def change(self, *, whole: bool) -> str:
        return "; ".join(filter(None, (self.names, self.detail if whole else "")))


def call_told(number: int, call: Call, roots: Sequence[str]) -> Told | None:
    """A call before its result; None for calls that are described elsewhere."""
    if call.kind in UNTOLD:
        return None
    command = command_of(call)
    if changes := changes_of(call):
        return _edit_told(call, changes, roots)
    if call.kind in POLLING:
        key = next((str(call.given[name]) for name in POLLED if name in call.given), "")
        typed = call.words("chars").strip()
        if typed:
            return Told("typed", f"`{cut(typed, COMMAND_CHARS).text}` into session {key}")
        return Told("waited for", f"session {key}" if key else "a command", polls=f"poll {key}")
    if command:
        return _command_told(number, command, roots)
    if described := _DESCRIBED_READ.match(call.words("description")):
        path = short_path(described[1], roots)
        return Told("read", path, polls=f"read {path}")
    line = call_line(call, roots).text
    path, sought = call.words(*PATHS), call.words("pattern", "query", "regex")
    if path and not sought and (call.kind in _READS or call.kind.startswith("read")):
        return Told("read", short_path(path, roots), polls=f"read {path}")
    if sought:
        return Told("searched for", f"`{cut(sought, 90).text}`", polls=f"search {sought} {path}")
    if call.kind in SUBAGENT_TOOLS:
        title = call.words("description", "name", "task_name") or call.words("prompt", "message")
        return Told("started the sub-agent", f'"{cut(title, 110).text}"', changes=True)
    name, _, rest = line.partition(": ")
    rest = cut(rest, ARGUMENT_CHARS).text
    return Told("called", f"{name} ({rest})" if rest else name, polls=line)


def _command_told(number: int, command: str, roots: Sequence[str]) -> Told:
    events = list(command_events(number, command))
    short = without_folder(command, roots)
    printed = [
        _PRINTS.match(piece.strip()) for piece in re.split(r"&&|;|\n", short) if piece.strip()
    ]
    if not events and printed and all(printed):
        paths = list(dict.fromkeys(found[1] for found in printed if found))
        return Told("read", ", ".join(paths[:MOST_NAMED]), polls=f"read {short}")
    key = re.sub(r"\bsleep \d+\s*(?:&&|;)?|-n ?\d+|--since\S*", "", short)
    lines = [
        line for line in short.split("\n") if line.strip() and not line.lstrip().startswith("#")
    ]
    first = _ECHOES.sub("", lines[0]).strip() if lines else ""
    shown = cut(first or (lines[0] if lines else short), COMMAND_CHARS).text
    more = f" (+{len(lines) - 1} lines)" if len(lines) > 1 else ""
    commits = [each for each in events if each.kind is Kind.COMMIT]
    if commits and commits[-1].what:
        subject = cut(commits[-1].what.split("\n", 1)[0], COMMAND_CHARS).text
        pushed = any(each.kind is Kind.PUSH for each in events)
        verb = "committed and pushed" if pushed else "committed"
        several = f" (the last of {len(commits)} commits)" if len(commits) > 1 else ""
        return Told(verb, f'"{subject}"{several}', changes=True)
    told = Told("ran", f"`{shown}`{more}", polls=" ".join(key.split()))
    told.changes = any(each.kind is not Kind.CHECK for each in events)
    told.checks = any(each.kind is Kind.CHECK for each in events)
    return told


_ECHOES = re.compile(
    r"(?:^|(?<=[;&]))\s*echo(?: -\w+)? (?:\"[^\"\n]*\"|'[^'\n]*'|[=\w-]+)\s*(?:&&|;|$)"
)
"""What a command prints between its parts, to tell their outputs apart."""
_BETWEEN = re.compile(r"[=#*~-]{2,}(?:[^=#*~]*[=#*~-]{2,})?$")
LONGEST_BETWEEN = 60


def is_between(line: str) -> bool:
    """Whether a line of an output only says which part comes next."""
    return len(line) <= LONGEST_BETWEEN and _BETWEEN.match(line) is not None


def _edit_told(call: Call, changes: Sequence[Change], roots: Sequence[str]) -> Told:
    """An edit with the file and, where it is short, the line before and after."""
    paths = list(dict.fromkeys(short_path(change.path, roots) for change in changes))
    what = ", ".join(paths[:MOST_NAMED])
    if len(paths) > MOST_NAMED:
        what += f" and {len(paths) - MOST_NAMED} more files"
    new = all(change.created for change in changes)
    gone = all(change.deleted for change in changes)
    verb = "deleted" if gone else "wrote" if new else "edited"
    names = list(dict.fromkeys(name for change in changes for name in change.names))
    told = Told(verb, what, changes=True)
    told.names = f"with {', '.join(names[:MOST_NAMED])}" if names else ""
    if len(changes) == 1 and not new and not gone:
        told.detail = _difference(changes[0])
    return told


def _difference(change: Change) -> str:
    """The first line of code that an edit changes, as it was and as it is."""
    if not change.pairs:
        return ""
    old, new = (text.split("\n") for text in change.pairs[0])
    gone = [line.strip() for line in old if line not in new and _says(line)]
    come = [line.strip() for line in new if line not in old and _says(line)]
    more = " and more" if len(gone) + len(come) > 2 or len(change.pairs) > 1 else ""
    before, after = _most_alike(_code(gone), _code(come))
    if before and after:
        at = _differ_from(before, after)
        return f"`{_piece(before, at)}` became `{_piece(after, at)}`{more}"
    if after:
        return f"added `{_piece(after, 0)}`{more}"
    return f"removed `{_piece(before, 0)}`{more}" if before else ""


def _says(line: str) -> bool:
    return sum(char.isalnum() for char in line) >= 4


_PREAMBLE = re.compile(
    r"//|#|/?\*|--|;|import\b|from\b|use\b|using\b|package\b|\}|const \{.*require"
)


def _code(lines: Sequence[str]) -> list[str]:
    """The first lines that are neither a remark nor an import, or else the first of all."""
    return [line for line in lines if not _PREAMBLE.match(line)][:MOST_COMPARED] or [*lines[:1]]


MOST_COMPARED = 12
ALIKE = 0.5
"""Share of the words of two lines from which on the one became the other."""


def _most_alike(gone: Sequence[str], come: Sequence[str]) -> tuple[str, str]:
    """The first line that an edit changes, before and after; else a line that it adds or takes."""
    for before in gone:
        for after in come:
            if before == after:
                continue
            words, others = set(_WORD.findall(before)), set(_WORD.findall(after))
            if len(words & others) >= ALIKE * max(len(words), len(others)):
                return before, after
    if len(gone) == len(come) == 1:
        return gone[0], come[0]
    return ("", come[0]) if come else (gone[0] if gone else "", "")


_WORD = re.compile(r"\w+")
SAME_CHARS = 16
"""Characters that are shown of what two lines have in common before they differ."""


def _differ_from(before: str, after: str) -> int:
    """Where two lines that begin alike are shown from, so that their difference is seen."""
    same = 0
    for one, other in zip(before, after, strict=False):
        if one != other:
            break
        same += 1
    return max(0, same - SAME_CHARS) if same > PIECE_CHARS - SAME_CHARS else 0


def _piece(line: str, at: int) -> str:
    return f"… {cut(line[at:], PIECE_CHARS).text}" if at else cut(line, PIECE_CHARS).text


def result_body(text: str, roots: Sequence[str] = ()) -> tuple[str, str, re.Match[str] | None]:
    """A result with paths relative to `roots`, what is in its frame, and its exit code."""
    text = _EXITED.sub("", _ANSI.sub("", text))
    for root in sorted(roots, key=len, reverse=True):
        text = text.replace(f"{root}/", "").replace(f"{root}\\", "")
    code = _CODE.search(text[:400]) or _CODE.search(text[-200:])
    head = _HEAD.match(text)
    body = text[head.end() if head else 0 :].strip()
    if framed := _FRAMED.match(text):
        body = (framed[1] or "").strip().removesuffix("</output>")
    return text, _ENDED.sub("", body).strip(), code


def runs_under(text: str) -> str:
    """The id under which a command still runs, by its result; empty where it has ended."""
    found = _RUNS.search(_ANSI.sub("", text[:600]))
    return next(filter(None, found.groups()), "") if found else ""


def put_result(told: Told, number: int, call: Call, text: str, roots: Sequence[str] = ()) -> None:
    """Put into a call what its result says that matters."""
    told.open = False
    told.runs = runs_under(text) or told.runs
    text, body, code = result_body(text, roots)
    bad = code is not None and code[1] != "0"
    if told.verb in ("edited", "wrote", "deleted"):
        event = Event(number, Kind.EDIT, "")
        read_outcome(event, text.strip())
        if event.failed:
            told.failed, told.changes = True, False
            told.result = f"failed: {event.outcome or cut(body, RESULT_CHARS).text}"
        return
    command = command_of(call)
    checks = [each for each in command_events(number, command) if each.kind is Kind.CHECK]
    if checks:
        _put_check(told, checks[0], text, body)
        return
    conflicts = conflicts_in(body) if bad or "CONFLICT (" in body else ()
    if told.verb.startswith("committed") and (made := commit_made(body)):
        told.result = made
    elif MAKES.match(command) and not bad and (ids := ids_made(body, by_name=command[:3] == "bd ")):
        told.result = ", ".join(ids[:MOST_NAMED])
    elif conflicts:
        told.failed, told.result = True, f"failed: conflicts in {', '.join(conflicts)}"
    elif (
        (bad or _FAILED.match(body))
        and body
        and not (code and code[1] == "1" and _SEARCHES.match(command))
    ):
        told.failed = True
        told.result = f"failed: {cut(error_line(body).text, FAILURE_CHARS).text}"
    elif bad and not _SEARCHES.match(command):
        told.failed, told.result = True, f"failed with exit code {code[1]}" if code else "failed"
    elif told.runs and not body:
        told.result = "still running"
    elif told.verb == "read" or call.kind in SUBAGENT_TOOLS:
        told.result = ""
    elif told.verb == "searched for" or _SEARCHES.match(command):
        told.result = _hits(body)
    else:
        told.result = _telling(call, body)
    searched = told.verb == "searched for" or _SEARCHES.match(command)
    if searched or (told.failed and not conflicts):
        told.whole = _first_lines(body)


def _first_lines(body: str) -> str:
    """The first lines of what a search has found, or of what went wrong."""
    lines = [" ".join(line.split()) for line in body.split("\n") if line.strip()]
    lines = [line for line in lines if not is_between(line)] or lines
    more = f" | and {len(lines) - MOST_LINES} more lines" if len(lines) > MOST_LINES else ""
    return " | ".join(cut(line, LINE_CHARS).text for line in lines[:MOST_LINES]) + more


def _put_check(told: Told, check: Event, text: str, body: str) -> None:
    read_outcome(check, text.strip())
    counted = [line.strip() for line in body.split("\n") if _COUNTS.search(line)]
    counts = cut(counted[-1], RESULT_CHARS // 2).text if counted else ""
    if check.failed:
        told.failed = True
        told.result = "failed" + (f": {check.outcome}" if check.outcome else "")
        told.result += f" ({counts})" if counts and counts not in told.result else ""
    elif check.how == "passed":
        told.result = f"passed ({counts})" if counts else "passed"
    elif check.how == "ran":
        errors = [line.strip() for line in body.split("\n") if _TELLING.search(line)]
        last = counts or _last(body).rstrip(" …")
        shown = [*errors[:1], last] if errors and not counts and last not in errors[0] else [last]
        told.result = cut(" | ".join(filter(None, shown)), RESULT_CHARS).text
    else:
        told.result = check.how


def _last(body: str) -> str:
    lines = [line.strip() for line in body.split("\n") if not _NOTES.search(line)]
    return cut(lines[-1], RESULT_CHARS // 2).text if lines else ""


def _hits(body: str) -> str:
    """What a search has found: its few lines, or how many and in which files."""
    lines = [line for line in body.split("\n") if line.strip() and not is_between(line)]
    if not lines or re.match(r"No (?:files|matches)", body):
        return "nothing"
    if len(lines) <= 2:
        return cut(" | ".join(" ".join(line.split()) for line in lines), RESULT_CHARS).text
    files = list(dict.fromkeys(_HIT.findall(body)))
    where = f" in {', '.join(files[:MOST_NAMED])}" if files else ""
    more = " and others" if len(files) > MOST_NAMED else ""
    return f"{len(lines):,} lines{where}{more}"


def _telling(call: Call, body: str) -> str:
    """A short result itself; of a long one the line that counts, or how long it is."""
    lines = [line.strip() for line in body.split("\n") if line.strip()]
    lines = [line for line in lines if not is_between(line)]
    if not lines:
        return "no output"
    counted = [line for line in lines if _COUNTS.search(line)]
    if len(lines) > 2 and counted and call.command:
        return cut(counted[-1], RESULT_CHARS).text
    if len(lines) <= 3 and len(body) <= 2 * RESULT_CHARS:
        return cut(" | ".join(lines), RESULT_CHARS).text
    return result_note(call, body).text


def short_path(path: str, roots: Sequence[str]) -> str:
    for root in sorted(roots, key=len, reverse=True):
        for slash in "/\\":
            path = path.removeprefix(f"{root}{slash}")
    return cut(path.strip('"'), 160).text


def without_folder(command: str, roots: Sequence[str]) -> str:
    for root in sorted(roots, key=len, reverse=True):
        command = re.sub(rf"\bcd ['\"]?{re.escape(root)}['\"]?\s*(?:&&|;|\n)\s*", "", command)
        command = command.replace(f"{root}/", "").replace(f"{root}\\", "")
    return command.strip()
