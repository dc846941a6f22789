"""Tool calls and their results, each as one short line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct

from reviewer.text.secrets import mask

CALL_CHARS = 150
"""Characters of a call's arguments that are shown."""
RESULT_CHARS = 160
"""Characters of a result that are shown beside its call."""
ERROR_CHARS = 600
ERROR_LINES = 8
MASKED_CHARS = 4_000
"""Characters that are searched for secrets before a text is cut to fewer."""

COMMAND_TOOLS = frozenset(
    {"bash", "shell", "powershell", "exec_command", "shell_command", "local_shell", "execute"}
    | {"run_shell_command", "run_terminal_cmd", "run_terminal", "run_in_terminal", "command"}
    | {"run_terminal_command", "run_terminal_command_v2", "run_command", "shell_exec", "terminal"}
    | {"execute_bash", "execute_command", "developer__shell"}
)
EDIT_TOOLS = frozenset({"edit", "multiedit", "write", "notebookedit", "apply_patch"})
SUBAGENT_TOOLS = frozenset({"task", "agent", "spawn_agent"})
TODO_TOOLS = frozenset({"todowrite", "todo_write", "update_plan"})
TASK_TOOLS = frozenset({"taskcreate", "taskupdate"})
PLAN_TOOLS = frozenset({"exitplanmode", "exit_plan_mode"})
QUESTION_TOOLS = frozenset({"askuserquestion"})
EDITOR_ACTIONS = frozenset({"view", "create", "write", "str_replace", "insert", "undo_edit"})
"""What one tool for files does, where its argument `command` says which."""

_PATHS = ("file_path", "path", "notebook_path", "filePath", "relative_path", "target_file")
_SOUGHT = ("pattern", "query", "url", "skill", "task_id", "bash_id", "shell_id", "name", "text")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_TELLING = re.compile(
    r"error|fail|panic|traceback|exception|cannot|can't|could not|not found|undefined|denied"
    r"|refused|fatal|conflict|invalid|missing|unexpected|expected|assert|no such|timed? out|✗|✘",
    re.IGNORECASE,
)
_OUTCOME = re.compile(
    r"\b(?:ok|pass(?:ed|ing)?|fail(?:ed|ures?)?|errors?|warnings?|issues?|success\w*|done"
    r"|complete\w*"
    r"|finished|built|created|pushed|clean|up.to.date|nothing|no \w+|exit|\d+ \w+ed)\b|[✓✗✔✘]",
    re.IGNORECASE,
)
_NOISE = re.compile(r"=== (?:RUN|PAUSE|CONT)|\s*--- PASS|ok  \t|PASS$|\s*at [\w.<>]+ \(")
_TAGS = re.compile(r"</?(?:tool_use_error|error)>")


class Call(Struct, frozen=True):
    """A call of a tool with its arguments decoded; `command` for a command line."""

    tool: str
    given: Mapping[str, object]

    @property
    def kind(self) -> str:
        """The tool's name in lower case; the action of an editor that has several."""
        return self.action or self.tool.lower()

    @property
    def action(self) -> str:
        """What an editor does to a file, where `command` says it; else nothing."""
        value = self.given.get("command")
        is_action = isinstance(value, str) and value in EDITOR_ACTIONS and self.words(*_PATHS)
        return str(value) if is_action else ""

    @property
    def command(self) -> str:
        """The command line, if the call has one."""
        if self.action:
            return ""
        for name in ("command", "cmd"):
            value = self.given.get(name)
            if isinstance(value, str):
                return value
            if isinstance(value, list):
                return " ".join(map(str, value))
        return ""

    def words(self, *names: str) -> str:
        """The first of these arguments that is a text."""
        for name in names:
            value = self.given.get(name)
            if isinstance(value, str) and value.strip():
                return value
        return ""


class Shown(Struct, frozen=True):
    """A text that may be shortened, and the number of characters left out."""

    text: str
    left_out: int = 0


def read_call(tool: str, text: str) -> Call:
    """The call of a block: its text is the command, or the arguments as JSON."""
    if text.startswith("{"):
        try:
            given = msgspec.json.decode(text)
        except (ValueError, RecursionError):
            given = None
        if isinstance(given, dict):
            return Call(tool, given)
    return Call(tool, {"command": text} if text.strip() else {})


def cut(text: str, limit: int) -> Shown:
    """A text on one line with its secrets masked, cut to about `limit` characters."""
    clean = " ".join(mask(text[:MASKED_CHARS]).text.split())
    rest = len(text) - MASKED_CHARS if len(text) > MASKED_CHARS else 0
    if len(clean) <= limit and not rest:
        return Shown(clean)
    kept = clean[: limit - 2].rstrip()
    return Shown(f"{kept} …", len(clean) - len(kept) + rest)


def call_line(call: Call, roots: Sequence[str] = ()) -> Shown:
    """A call on one line: the tool, and the argument that matters.

    Paths below the folders `roots` are shown relative to them.
    """
    found = _argument(Call(call.tool, _relative(call.given, roots)))
    name = tool_name(call.tool)
    return Shown(f"{name}: {found.text}" if found.text else name, found.left_out)


def _relative(given: Mapping[str, object], roots: Sequence[str]) -> dict[str, object]:
    """Arguments with the paths below these folders relative to them."""
    short: dict[str, object] = {}
    for name, value in given.items():
        if isinstance(value, str) and len(value) < MASKED_CHARS:
            for root in roots:
                if root in value:
                    value = re.sub(rf"\bcd {re.escape(root)} *(?:&&|;|\n) *", "", value)
                    value = re.sub(rf"{re.escape(root)}[/\\]", "", value)
        short[name] = value
    return short


def tool_name(tool: str) -> str:
    """A tool's name, those of MCP servers as `server.tool`."""
    return cut(tool.removeprefix("mcp__").replace("__", "."), 80).text or "tool"


def _argument(call: Call) -> Shown:
    if command := call.command:
        return command_line(command)
    if call.kind in SUBAGENT_TOOLS:
        return _task(call)
    path = call.words(*_PATHS)
    sought = call.words(*_SOUGHT)
    if path and sought:
        shown = cut(sought, CALL_CHARS)
        return Shown(f'"{shown.text}" in {cut(path, CALL_CHARS).text}', shown.left_out)
    if path:
        return Shown(f"{cut(path, CALL_CHARS).text}{_size(call)}")
    if sought:
        more = call.words("prompt", "args")
        return cut(f"{sought} {more}" if more else sought, CALL_CHARS)
    if (said := call.words("description")) and len(call.given) == 1:
        return cut(said, CALL_CHARS)
    pairs = (f"{name}={value}" for name, value in call.given.items() if value not in ("", None))
    return cut(", ".join(pairs), CALL_CHARS)


def command_line(command: str) -> Shown:
    """The first line of a command that does something; a count for the others."""
    lines = [line for line in command.strip().split("\n") if line.strip()]
    first = next((line for line in lines if not line.lstrip().startswith("#")), "")
    shown = cut(first, CALL_CHARS)
    if len(lines) <= 1:
        return shown
    rest = len(command.strip()) - len(first)
    return Shown(f"{shown.text} (+{len(lines) - 1} lines)", shown.left_out + rest)


def _task(call: Call) -> Shown:
    kind = call.words("subagent_type", "agent_type")
    title = call.words("description", "name")
    asked = cut(call.words("prompt", "message"), 2 * CALL_CHARS)
    head = f"({kind}) {title}" if kind else title
    return Shown(": ".join(filter(None, (cut(head, CALL_CHARS).text, asked.text))), asked.left_out)


def _size(call: Call) -> str:
    """How much an edit changes, or which lines are read."""
    old, new = call.given.get("old_string"), call.given.get("new_string")
    if isinstance(old, str) and isinstance(new, str):
        return f" (-{_lines(old)} +{_lines(new)} lines)"
    content = call.given.get("content")
    if isinstance(content, str):
        return f" ({_lines(content)} lines)"
    edits = call.given.get("edits")
    if isinstance(edits, list):
        return f" ({len(edits)} edits)"
    offset, limit = call.given.get("offset"), call.given.get("limit")
    if isinstance(offset, int) and isinstance(limit, int):
        return f" (lines {offset}-{offset + limit - 1})"
    return ""


def _lines(text: str) -> int:
    return text.count("\n") + 1 if text else 0


def result_note(call: Call, result: str) -> Shown:
    """A successful result beside its call: itself if it is short, else its size."""
    if (call.kind in EDIT_TOOLS and call.given) or call.kind in TODO_TOOLS or call.kind == "skill":
        return Shown("", len(result))
    text = result.strip()
    if not text:
        return Shown("no output")
    lines = text.count("\n") + 1
    if lines <= 2 and len(text) <= 2 * RESULT_CHARS:
        return cut(_plain(text).replace("\n", " | "), RESULT_CHARS)
    if call.kind in COMMAND_TOOLS:
        last = cut(_plain(text[-MASKED_CHARS:].rsplit("\n", 1)[-1]), RESULT_CHARS // 2)
        if _OUTCOME.search(last.text):
            left = max(0, len(text) - len(last.text))
            return Shown(f"{lines:,} lines, the last: {last.text}", left)
    return Shown(f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters", len(text))


def error_line(result: str) -> Shown:
    """The lines of a failed result that matter, on one line."""
    text = _plain(_TAGS.sub("", result)).strip()
    lines = [" ".join(line.split()) for line in text.split("\n") if line.strip()]
    if len(lines) > ERROR_LINES or len(text) > ERROR_CHARS:
        telling = [line for line in lines[1:] if _TELLING.search(line) and not _NOISE.match(line)]
        kept = list(dict.fromkeys([*lines[:1], *telling[: ERROR_LINES - 2], lines[-1]]))
        if len(kept) < 3:
            kept = list(dict.fromkeys([*lines[: ERROR_LINES - 1], lines[-1]]))
    else:
        kept = lines
    shown = cut(" | ".join(cut(line, 240).text for line in kept), ERROR_CHARS)
    return Shown(shown.text, max(0, len(text) - len(shown.text)))


def _plain(text: str) -> str:
    """A text of a terminal without its escape sequences."""
    return _ANSI.sub("", text) if "\x1b" in text else text


# Commits

_COMMIT = re.compile(r"\bgit\b(?:\s++-[cC]\s++\S++){0,8}+\s++commit\b(?!-)")
_PUSH = re.compile(r"\bgit\s+push\b")
_PULL_REQUEST = re.compile(r"\bgh\s+pr\s+create\b")
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1[^\n]*\n(.*?)\n\s*\2\b", re.DOTALL)
_MESSAGE = re.compile(
    r"(?:^|\s)(?:-[a-zA-Z]*m|--message)(?:\s+|=)(?:\"((?:[^\"\\]|\\.)*)\"|'([^']*)')", re.DOTALL
)
_TITLE = re.compile(
    r"(?:^|\s)(?:-t|--title)(?:\s+|=)(?:\"((?:[^\"\\]|\\.)*)\"|'([^']*)')", re.DOTALL
)
_BODY = re.compile(r"(?:^|\s)(?:-b|--body)(?:\s+|=)(?:\"((?:[^\"\\]|\\.)*)\"|'([^']*)')", re.DOTALL)
_TRAILER = re.compile(
    r"^[ \t]*+(?:(?:co-authored-by|signed-off-by|claude-session)[ \t]*+:.*"
    r"|.{0,80}?generated with \[?claude.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_MADE = re.compile(r"^\[(?P<where>[^\]\n]{1,120}) (?P<hash>[0-9a-f]{7,40})\] ", re.MULTILINE)
_ADDRESS = re.compile(r"https://\S{1,300}/pull/\d+")


COMMAND_CHARS = 40_000
"""Characters of a command that are searched for a message."""


class Commit(Struct, frozen=True):
    """A commit or pull request that a command makes: `what`, and its message."""

    what: str
    message: str


def commit_of(command: str) -> Commit | None:
    """The commit or pull request in a command line."""
    command = command[:COMMAND_CHARS]
    if _COMMIT.search(command):
        what = "commit and push" if _PUSH.search(command) else "commit"
        return Commit(what, _written(command, _MESSAGE))
    if _PULL_REQUEST.search(command):
        title = _quoted(_TITLE, command)
        return Commit("pull request", f"{title}\n\n{_written(command, _BODY)}".strip())
    return None


_SHELL = re.compile(
    r"""(?P<joint>&&|\|\||;|\n)|\\.|"(?:[^"\\]|\\.)*"|'[^']*'|[^\\"'&|;\n]+|.""", re.DOTALL
)
_LONG_TEXT = re.compile(r"\"?\$\(cat <<-?\s*['\"]?\w+['\"]?\s*\)\"?")
"""A here-document as an argument, without its text."""
_NO_NEWS = re.compile(
    r"(?:cd|pushd|popd|echo|printf|sleep|true|set|export|ls|pwd"
    r"|git(?:\s+-[cC]\s+\S+)*\s+(?:add|status|diff|log|show|push|branch|rev-parse|stash list))\b"
)
"""Commands that usually come with a commit and add nothing to it."""


def besides_commit(command: str) -> str:
    """What a command line with a commit or pull request does besides, such as the checks before it;
    empty if that is only `cd`, `git add` and the like.
    """
    whole = _COMMIT if _COMMIT.search(command[:COMMAND_CHARS]) else _PULL_REQUEST
    text = _HEREDOC.sub(lambda found: found[0].split("\n", 1)[0], command[:COMMAND_CHARS])
    kept: list[str] = []
    for joint, piece in _pieces(text):
        if not piece or piece.startswith("#") or whole.search(piece) or _NO_NEWS.match(piece):
            continue
        kept += [joint if kept else "", _LONG_TEXT.sub("…", piece)]
    return "".join(kept)


def _pieces(command: str) -> Iterator[tuple[str, str]]:
    """The commands of a command line, each with what joins it to the one before."""
    joint, piece = "", ""
    for found in _SHELL.finditer(command):
        if found["joint"]:
            yield joint, " ".join(piece.split())
            joint, piece = "; " if found[0] in ";\n" else f" {found[0]} ", ""
        else:
            piece += found[0]
    yield joint, " ".join(piece.split())


def _written(command: str, option: re.Pattern[str]) -> str:
    """The message in a here-document, or in the options that give it."""
    heredoc, given = _HEREDOC.search(command), option.search(command)
    if heredoc and given and given.start() < heredoc.start() and "<<" not in given[0]:
        heredoc = None  # the text of another command
    text = heredoc[3] if heredoc else _quoted(option, command)
    return re.sub(r"\n{3,}", "\n\n", _TRAILER.sub("", text)).strip()


def _quoted(option: re.Pattern[str], command: str) -> str:
    found = (each[1] or each[2] or "" for each in option.finditer(command))
    return "\n\n".join(re.sub(r'\\(["$`\\])', r"\1", text) for text in found)


def commit_made(result: str) -> str:
    """Branch and hash of a commit, or the address of a pull request; empty if there is none."""
    result = f"{result[:MASKED_CHARS]}\n{result[-MASKED_CHARS:]}"
    if made := _MADE.search(result):
        return f"{made['where']} {made['hash']}"
    address = _ADDRESS.search(result)
    return address[0] if address else ""


# To-do lists: in full when their items change, else only what was started or done.

ITEM_CHARS = 200
_MARKS = {"completed": "[x]", "in_progress": "[~]", "cancelled": "[-]", "deleted": "[-]"}
_CREATED = re.compile(r"Task #(\d+) created")


class TodoLists:
    """The lists of one session as they change."""

    def __init__(self) -> None:
        self._items: dict[str, str] = {}
        self._subjects: dict[str, str] = {}
        self._statuses: dict[str, str] = {}

    def shown(self, call: Call) -> Shown:
        """A change of a list as one line."""
        if call.kind in TODO_TOOLS:
            return Shown(self._list(call))
        return Shown(self._task(call))

    def answered(self, call: Call, result: str) -> None:
        """Keep the number that a new task was given."""
        if call.kind == "taskcreate" and (created := _CREATED.search(result)):
            self._subjects[created[1]] = _line(call.words("subject"))

    def _list(self, call: Call) -> str:
        given = call.given.get("todos", call.given.get("plan"))
        items = {
            text: str(item.get("status") or "pending")
            for item in (given if isinstance(given, list) else [])
            if isinstance(item, Mapping) and (text := _text(item))
        }
        before, self._items = self._items, items
        if not items:
            return "to-do list: emptied" if before else ""
        if items.keys() == before.keys():
            changed = [f"{_mark(new)} {text}" for text, new in items.items() if new != before[text]]
            done = sum(status == "completed" for status in items.values())
            return f"to-do ({done} of {len(items)} done): {'; '.join(changed)}" if changed else ""
        return "to-do list: " + "; ".join(
            f"{_mark(status)} {text}" for text, status in items.items()
        )

    def _task(self, call: Call) -> str:
        if call.kind == "taskcreate":
            more = _line(call.words("description"))
            return f"to-do: [ ] {_line(call.words('subject'))}" + (f" ({more})" if more else "")
        number = str(call.given.get("taskId", ""))
        status = call.words("status")
        if not status or self._statuses.get(number) == status:
            return ""
        self._statuses[number] = status
        subject = self._subjects.get(number) or _line(call.words("subject")) or f"task {number}"
        return f"to-do: {_mark(status)} {subject}"


def _mark(status: str) -> str:
    return _MARKS.get(status, "[ ]")


def _text(item: Mapping[str, object]) -> str:
    for name in ("content", "step", "text", "title"):
        value = item.get(name)
        if isinstance(value, str) and value.strip():
            return _line(value)
    return ""


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= ITEM_CHARS else f"{line[: ITEM_CHARS - 2]} …"
