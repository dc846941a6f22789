"""What a call of a tool does, whichever agent made it: files, lists, questions, other systems.

Agents name the same tools and arguments differently; the names here are those of the sessions that
`reviewer` reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

import msgspec
from msgspec import Struct

from reviewer.proposing.view_calls import EDIT_TOOLS, QUESTION_TOOLS, TODO_TOOLS, Call, cut

LISTS = TODO_TOOLS | {"write_todos", "update_todo_list", "manage_todo_list", "todo_list", "todo"}
ASKING = QUESTION_TOOLS | {
    "ask_user",
    "ask_followup_question",
    "ask_user_question",
    "request_user_input",
    "question",
}
REPORTING = frozenset({"task_complete", "attempt_completion", "finish"})
"""Tools whose argument is the agent's last report."""
POLLING = frozenset({"write_stdin", "bashoutput", "taskoutput", "read_bash", "read_powershell"})
"""Tools that fetch more output of a command that still runs."""
POLLED = ("session_id", "bash_id", "shell_id", "task_id", "shellId")
PATHS = (
    "file_path",
    "path",
    "notebook_path",
    "filePath",
    "relative_path",
    "target_file",
    "TargetFile",
)
MOST_FILES = 20
MOST_NAMES = 5
EDIT_CHARS = 60_000
"""Characters of an edit that are searched for names."""

_SHELL = re.compile(r"(?:/\S*/)?(?:ba|z|da)?sh\s+(?:-[a-z]+\s+)*-[a-z]*c\s+(.*)", re.DOTALL)


def command_of(call: Call) -> str:
    """The command line of a call, without the shell that was called to run it."""
    command = call.command
    found = _SHELL.fullmatch(command.strip())
    if found is None:
        return command
    inner = found[1].strip()
    quoted = len(inner) > 1 and inner[0] == inner[-1] and inner[0] in "'\""
    return inner[1:-1] if quoted and inner[0] not in inner[1:-1] else inner


# Files


class Change(Struct, frozen=True):
    """A file that a call changes. `names`: the functions, classes and headings that it adds.

    `pairs` are the texts replaced, each with what replaces it; nothing is replaced where a whole
    file is written. `old` is the longest line of what is replaced.
    """

    path: str
    created: bool = False
    deleted: bool = False
    names: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    old: str = ""


_WRITES = re.compile(r"write|edit|create|patch|replace|insert|save", re.IGNORECASE)
_CREATES = re.compile(r"write|create", re.IGNORECASE)
_PATCHED = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)
_LISTED = re.compile(r'"path":\s*"([^"\n]+)"')
_DESCRIBED = re.compile(
    r"\W*+(edit|write|creat|add|updat|delet)\w*+(?: file)?[\s:*]++`?([^\s`*]+[./][^\s`*]+)",
    re.IGNORECASE,
)


def changes_of(call: Call) -> list[Change]:
    """The files that a call of a tool for files changes; nothing for commands."""
    command = call.command
    patch = command or call.words("patch", "input", "patchText", "patch_text")
    if "*** Begin Patch" in patch:
        return _patched(patch)
    if command:
        is_list = call.kind in EDIT_TOOLS and command.startswith("[{")
        return [Change(path) for path in _LISTED.findall(command)[:MOST_FILES]] if is_list else []
    if call.kind not in EDIT_TOOLS and not _WRITES.search(call.kind):
        return []
    if path := call.words(*PATHS).strip('"'):
        return [_written(call, path)]
    described = _DESCRIBED.match(call.words("description")[:500])
    if described is None:
        return []
    verb = described[1].lower()
    return [Change(described[2], verb in ("write", "creat", "add"), verb == "delet")]


def _patched(patch: str) -> list[Change]:
    heads = list(_PATCHED.finditer(patch))
    found = []
    for at, head in enumerate(heads[:MOST_FILES]):
        end = heads[at + 1].start() if at + 1 < len(heads) else len(patch)
        lines = patch[head.end() : min(end, head.end() + EDIT_CHARS)].split("\n")
        new = "\n".join(line[1:] for line in lines if line.startswith("+"))
        old = "\n".join(line[1:] for line in lines if line[:1] in ("-", " "))
        found.append(
            Change(
                head[2].strip(),
                head[1] == "Add",
                head[1] == "Delete",
                names_added(old, new, head[2].strip()),
                tuple(_hunks(lines)),
                max(old.split("\n"), key=len).strip(),
            )
        )
    return found


def _written(call: Call, path: str) -> Change:
    """The change of a call that gives the text before and after, or only the text after."""
    pairs: list[Mapping[str, object]] = [call.given]
    edits = call.given.get("edits")
    if isinstance(edits, list):
        pairs += [each for each in edits if isinstance(each, Mapping)]
    texts = tuple(
        (old, new)
        for each in pairs
        for old, new in [(_first(each, _OLD)[:EDIT_CHARS], _first(each, _NEW)[:EDIT_CHARS])]
        if old or new
    )
    old = "\n".join(each for each, _ in texts)[:EDIT_CHARS]
    new = "\n".join(each for _, each in texts)[:EDIT_CHARS]
    created = bool(_CREATES.search(call.kind))
    return Change(
        path,
        created,
        names=names_added(old, new, path),
        pairs=texts,
        old=max(old.split("\n"), key=len).strip(),
    )


def _hunks(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The parts of a patch of one file, each as it was and as it is after."""
    part: list[str] = []
    for line in [*lines, "@@"]:
        if line.startswith("@@"):
            old = "\n".join(each[1:] for each in part if each[:1] in ("-", " "))
            new = "\n".join(each[1:] for each in part if each[:1] in ("+", " "))
            if old != new:
                yield old, new
            part = []
        else:
            part.append(line)


PROSE_FILE = re.compile(r"\.(?:md|mdx|markdown|txt|rst|adoc|html?)$", re.IGNORECASE)
"""Files in which a line that begins like a remark is none."""


DECLARED = re.compile(
    r"^[ \t]{0,12}(?:\d{1,7}[→\t:-][ \t]{0,12})?"
    r"(?:export |default |public |private |protected |static |async |pub |abstract )*"
    r"(?:def|class|func(?: \([^)\n]{0,60}\))?|function|fn|interface|struct|enum|type|trait"
    r"|(?:const|let|var)(?= \w+ = (?:async )?\()) +([A-Za-z_]\w{2,80})"
    r"|^(\#{1,4} [^\n]{3,90})$",
    re.MULTILINE,
)
"""Functions, classes and headings, in files as they are and as tools show them, with numbers."""


_OLD = ("old_string", "oldText", "old_str", "oldString")
_NEW = ("new_string", "newText", "new_str", "newString", "content", "file_text", "new_source")


def _first(given: Mapping[str, object], names: Sequence[str]) -> str:
    return next((text for name in names if isinstance(text := given.get(name), str)), "")


def is_quoted(text: str, at: int) -> bool:
    """Whether a place of code is inside a text of several lines that the code quotes."""
    return any(text.count(mark, 0, at) % 2 for mark in ("`", '"""'))


def names_added(old: str, new: str, path: str) -> tuple[str, ...]:
    """The functions, classes and, in prose, headings that only the new text of a file has."""
    prose = PROSE_FILE.search(path) is not None
    before = {found[1] or found[2] for found in DECLARED.finditer(old)}
    before |= {name.lstrip("# ") for name in before}
    found = dict.fromkeys(
        each[1] or each[2].lstrip("# ")
        for each in DECLARED.finditer(new)
        if prose or (each[1] and not is_quoted(new, each.start()))
    )
    return tuple(name for name in found if name not in before)[:MOST_NAMES]


# To-do lists and questions

_STATUS = {
    "done": "completed",
    "complete": "completed",
    "finished": "completed",
    "closed": "completed",
    "in-progress": "in_progress",
    "inprogress": "in_progress",
    "doing": "in_progress",
    "x": "completed",
    "~": "in_progress",
    "-": "in_progress",
}
CHECKBOX = re.compile(r"^[^\S\n]*+(?:[-*+]|\d+[.)])?[^\S\n]*+\[([ xX~-])\]\s*(.+)$", re.MULTILINE)
ITEM_CHARS = 300


def todo_items(call: Call) -> tuple[tuple[str, str], ...]:
    """Status and text of each item of a list; empty where the call has none."""
    lists = ("todos", "plan", "items", "todoList", "todo_list", "tasks")
    given = next((call.given[name] for name in lists if name in call.given), None)
    if isinstance(given, str):
        if given.lstrip().startswith("["):
            with suppress(msgspec.DecodeError, RecursionError):  # it may be a list of checkboxes
                given = msgspec.json.decode(given)
        if isinstance(given, str):
            return tuple(
                (_STATUS.get(mark.lower(), "pending"), _line(text)[:ITEM_CHARS])
                for mark, text in CHECKBOX.findall(given[:EDIT_CHARS])
            )
    found = []
    for item in given if isinstance(given, list) else []:
        if isinstance(item, str) and item.strip():
            found.append(("pending", _line(item)[:ITEM_CHARS]))
        elif isinstance(item, Mapping):
            text = _first(item, ("content", "step", "text", "title", "description", "task"))
            status = str(item.get("status") or "pending")
            if text.strip():
                found.append((_STATUS.get(status.lower(), status), _line(text)[:ITEM_CHARS]))
    return tuple(found)


CHOICE_CHARS = 80


def questions_of(call: Call) -> str:
    """What a call asks the person, with the choices that it offers."""
    given = call.given.get("questions")
    asked = []
    for each in given if isinstance(given, list) else [call.given]:
        if isinstance(each, Mapping) and isinstance(each.get("question"), str):
            choices = _choices(each.get("choices") or each.get("options"))
            asked.append(f"{choices}{_line(str(each['question']))}")
    return "\n".join(asked) or call.words("question", "description")


def _choices(given: object) -> str:
    """The choices of a question, which come before it so that it ends with its question mark."""
    names = []
    for each in given if isinstance(given, list) else []:
        text = _first(each, ("label", "title", "text")) if isinstance(each, Mapping) else str(each)
        if text.strip():
            names.append(cut(text, CHOICE_CHARS).text)
    return f"(Choices: {' / '.join(names[:6])}) " if names else ""


# Other systems

_OUTSIDE = re.compile(
    r"(?:creat|updat|delet|remov|clos|complet|claim|merg|send|post|publish|book|cancel|assign"
    r"|deploy|push|upload|mov|renam|submit|add|transfer|reopen)(?:e|es|ed)?",
)
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_TITLES = ("title", "subject", "name", "summary", "message")
_NOT_OUTSIDE = re.compile(
    r"browser|computer|memory|todo|task(?:create|update|output)|think|chapter"
)
ARGUMENTS = 3
ARGUMENT_CHARS = 60


def outside_change(call: Call) -> str:
    """What a tool does elsewhere that runs no command and edits no file; empty if it only reads."""
    if call.command or _NOT_OUTSIDE.search(call.kind):
        return ""
    words = [word.lower() for word in _PARTS.findall(call.tool.rpartition("__")[2])]
    if not any(_OUTSIDE.fullmatch(word) for word in words):
        return ""
    what = " ".join(words)
    if title := call.words(*_TITLES):
        return f"{what}: {cut(title, 120).text}"
    short = [
        f"{name} {value}"
        for name, value in call.given.items()
        if isinstance(value, str | int) and 0 < len(str(value)) <= ARGUMENT_CHARS
    ]
    return f"{what}: {', '.join(short[:ARGUMENTS])}" if short else what


def is_pull_request(call: Call) -> bool:
    """Whether a tool of a code host opens a pull request."""
    return call.kind.endswith(("create_pull_request", "create_merge_request"))


def _line(text: str) -> str:
    return " ".join(text.split())
