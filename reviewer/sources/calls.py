"""The effect of a tool call, for all agents.

Tables of the names that agents use for the same tools, arguments and states.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache

import msgspec

from reviewer.sources.events import Act, Call, Change, Origin, PlanItem
from reviewer.sources.shell import Command, split
from reviewer.sources.tool_text import COMMAND_FIELDS

TOOLS: dict[Act, str] = {
    Act.RUN: "bash shell powershell exec_command shell_command local_shell execute command terminal"
    " run_shell_command run_terminal_cmd run_terminal run_in_terminal run_terminal_command"
    " run_terminal_command_v2 run_command shell_exec execute_bash execute_command process git"
    " developer__shell action",
    Act.EDIT: "edit multiedit notebookedit apply_patch str_replace str_replace_editor"
    " str_replace_based_edit_tool replace edit_file edit_file_v2 search_replace insert insert_edit"
    " insert_edit_into_file replace_string_in_file multi_replace_string_in_file replace_in_file"
    " apply_diff undo_edit edit_notebook patch developer__text_editor text_editor delete_file"
    " replace_file_content multi_replace_file_content",
    Act.WRITE: "write write_file create create_file write_to_file save_file",
    Act.READ: "read read_file read_file_v2 view open view_file view_image list_dir list_directory"
    " ls read_many_files notebookread fetch webfetch web_fetch read_lints get_errors lsp",
    Act.SEARCH: "grep glob search find_file search_files grep_search file_search glob_file_search"
    " ripgrep_raw_search semantic_search semantic_search_full codebase_search codesearch"
    " search_file_content websearch web_search search_web tool_search toolsearch search_dir",
    Act.ASK: "askuserquestion ask_user ask_followup_question ask_user_question request_user_input"
    " question exitplanmode exit_plan_mode",
    Act.PLAN: "todowrite todo_write update_plan write_todos update_todo_list manage_todo_list"
    " todo_list todo taskcreate taskupdate",
    Act.DELEGATE: "task agent spawn_agent subagent new_task",
}  # fmt: skip
"""Tool names in lower case."""
_ACTS = {name: act for act, names in TOOLS.items() for name in names.split()}
_EDITOR_ACTIONS = {"view": Act.READ, "create": Act.WRITE, "write": Act.WRITE, "insert": Act.EDIT}
_EDITOR_ACTIONS |= {"str_replace": Act.EDIT, "undo_edit": Act.EDIT}
"""Actions of a multi-purpose file tool, by its argument `command`."""
APPROVALS = frozenset(("exitplanmode", "exit_plan_mode"))
"""Tools that ask the person to approve a plan."""
POLLING = frozenset(
    ("write_stdin", "bashoutput", "taskoutput", "read_bash", "read_powershell", "await",
     "command_status")
)  # fmt: skip
"""Tools that fetch more output of a running command."""
STOPPING = frozenset(["killshell", "killbash", "stop_bash", "taskstop", "stop_powershell"])
_OF_TASKS = POLLING | STOPPING
_TASK_IDS = ("task_id", "bash_id", "shell_id", "shellId", "session_id", "id")

_PATHS = (
    "file_path", "path", "notebook_path", "filePath", "relative_path", "target_file",
    "TargetFile", "AbsolutePath", "DirectoryPath", "file_name", "absolute_path",
)  # fmt: skip
_COMMANDS = ("command", "cmd", "CommandLine", "script")
_SOUGHT = ("pattern", "query", "regex", "url", "prompt", "question", "message", "description")
_OLD = ("old_string", "oldText", "old_str", "oldString", "old_text", "TargetContent")
_NEW = (
    "new_string", "newText", "new_str", "newString", "new_text", "content", "file_text",
    "new_source", "ReplacementContent", "CodeContent", "contents", "code_edit",
)  # fmt: skip
_PATCHES = ("patch", "input", "patchText", "patch_text", "diff")
_LISTS = ("todos", "plan", "items", "todoList", "todo_list", "tasks")
_ITEM_TEXTS = ("content", "step", "text", "title", "description", "task", "subject")
_BACKGROUND = ("run_in_background", "is_background", "background", "isBackground")
_FOLDERS = ("workdir", "cwd", "dir_path", "working_directory", "Cwd")
_STATUSES: Mapping[str, str] = {
    **dict.fromkeys(["completed", "complete", "done", "finished", "closed", "x"], "done"),
    **dict.fromkeys(["in_progress", "in-progress", "inprogress", "active", "doing", "~"], "active"),
    **dict.fromkeys(["cancelled", "canceled", "deleted", "dropped", "-"], "dropped"),
}
OFTEN = 400
"""Maximum length of a command whose split is cached: agents repeat short ones."""
_remembered = lru_cache(maxsize=256)(split)
PATCH_START = "*** Begin Patch"
_PATCHED = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$", re.M)
_CHECKBOX = re.compile(r"^[^\S\n]*+(?:[-*+]|\d++[.)])?[^\S\n]*+\[([ xX~-])\] *+(\S.*)$", re.M)
_WRITTEN_SHELL = re.compile(r"(?:/\S*/)?(?:ba|z|da|k)?sh +-l?i?c +")
"""The start of a shell call with a script, if an agent joins the words of a command with blanks."""
_TASK_CREATED = re.compile(r"Task #(\d+) created")


def given(text: str) -> dict[str, object]:
    """The arguments of a call, whose text is JSON or the command line."""
    if text.startswith(("{", "[{")):
        try:
            value = msgspec.json.decode(text)
        except (ValueError, RecursionError):
            value = None  # a command line starting with a bracket
        if isinstance(value, dict):
            return value
        if isinstance(value, list):
            return {"edits": value}
    return {"command": text} if text.strip() else {}


def task_of(call: Call) -> str:
    """The id of the background task that a call polls or stops; empty if it names none."""
    if call.tool.lower() not in _OF_TASKS:
        return ""
    args = given(call.text)
    return next((str(args[name]) for name in _TASK_IDS if name in args), "")


def read_call(
    origin: Origin, call_id: str, tool: str, text: str, known: Mapping[str, object] | None = None
) -> Call:
    """Parse a call from its tool name and its input as a command line or JSON. `known`: the input
    already decoded.
    """
    args = given(text) if known is None else known
    name = tool.lower()
    act = _act(name, args)
    command = _command(args) if act is Act.RUN else ""
    if command and (folder := _first(args, _FOLDERS)):
        origin = msgspec.structs.replace(origin, cwd=folder)
    windows = "powershell" in name
    changes: tuple[Change, ...] = ()
    commands: tuple[Command, ...] = ()
    patch = ""
    if PATCH_START in text:
        patch = _first(args, _PATCHES) or command or _first(args, _COMMANDS)
    if PATCH_START in patch and _is_patch(patch, act):
        act, changes = Act.EDIT, tuple(_patched(patch))
    elif act is Act.RUN:
        reading = split if len(command) > OFTEN else _remembered
        commands = reading(command, windows=windows)
    elif act in (Act.EDIT, Act.WRITE):
        changes = tuple(_edited(name, args, act))
    path = changes[0].path if changes else _first(args, _PATHS).strip('"')
    return Call(
        origin=origin,
        id=call_id,
        tool=tool,
        act=act,
        text=text,
        command=command,
        commands=commands,
        path=path,
        query="" if act in (Act.RUN, Act.EDIT, Act.WRITE) else _query(args),
        changes=changes,
        background=any(args.get(key) is True for key in _BACKGROUND),
    )


def _act(name: str, args: Mapping[str, object]) -> Act:
    action = args.get("command")
    if isinstance(action, str) and action in _EDITOR_ACTIONS and _first(args, _PATHS):
        return _EDITOR_ACTIONS[action]
    if name in _ACTS:
        return _ACTS[name]
    if name.startswith("mcp_"):
        return Act.OTHER
    return Act.RUN if COMMAND_FIELDS.issuperset(args) and _command(args) else Act.OTHER


def _command(args: Mapping[str, object]) -> str:
    for name in _COMMANDS:
        value = args.get(name)
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            if len(value) == 3 and _WRITTEN_SHELL.match(f"{value[0]} {value[1]} "):
                return str(value[2])
            value = " ".join(value)
        if isinstance(value, str) and value.strip():
            shell = _WRITTEN_SHELL.match(value)
            return _unquoted(value[shell.end() :]) if shell else value
    return ""


def _unquoted(line: str) -> str:
    """A shell line without quotation marks around all of it."""
    if line[:1] not in ("'", '"'):
        return line
    with suppress(ValueError):  # an open quotation mark
        script, *others = shlex.split(line)
        return line if others else script
    return line


def _is_patch(patch: str, act: Act) -> bool:
    """Whether a text is a patch to apply, not a script that contains one."""
    start = patch[: patch.index(PATCH_START)].strip()
    return act is not Act.RUN or not start or "apply_patch" in start


def _query(args: Mapping[str, object]) -> str:
    questions = args.get("questions")
    if isinstance(questions, list):
        return "\n".join(_asked(each) for each in questions if isinstance(each, Mapping))
    return _first(args, ("plan", *_SOUGHT))


def _asked(question: Mapping[str, object]) -> str:
    """A question of a form, with the offered answers."""
    options = question.get("options")
    offered = [
        _first(option, ("label",)) if isinstance(option, Mapping) else str(option)
        for option in (options if isinstance(options, list) else [])
    ]
    text = _first(question, ("question",))
    return f"{text} ({' | '.join(offered)})" if offered else text


# Files


def _patched(patch: str) -> Iterator[Change]:
    heads = list(_PATCHED.finditer(patch))
    for at, head in enumerate(heads):
        if head[3]:
            continue
        end = heads[at + 1].start() if at + 1 < len(heads) else len(patch)
        moved = heads[at + 1][3] if at + 1 < len(heads) else None
        if moved:
            end = heads[at + 2].start() if at + 2 < len(heads) else len(patch)
        pairs = tuple(_hunks(patch[head.end() : end].split("\n"), new=head[1] == "Add"))
        path = head[2].strip()
        if moved:
            yield Change(path, deleted=True)
            yield Change(moved.strip(), created=True, pairs=pairs)
        else:
            yield Change(path, head[1] == "Add", head[1] == "Delete", pairs)


def _hunks(lines: list[str], *, new: bool) -> Iterator[tuple[str, str]]:
    """The hunks of one file's patch, each before and after."""
    old_part: list[str] = []
    new_part: list[str] = []
    for line in [*lines, "@@"]:
        if line.startswith("@@") or line.startswith("*** "):
            if old_part != new_part:
                yield "\n".join(old_part), "\n".join(new_part)
            old_part, new_part = [], []
        elif line.startswith("+"):
            new_part.append(line[1:])
        elif line.startswith("-"):
            old_part.append(line[1:])
        elif line.startswith(" ") or (line and not new):
            old_part.append(line[1:])
            new_part.append(line[1:])


def _edited(name: str, args: Mapping[str, object], act: Act) -> Iterator[Change]:
    path = _first(args, _PATHS).strip('"')
    edits = args.get("edits") or args.get("replacements") or args.get("ReplacementChunks")
    nested = (
        [each for each in edits if isinstance(each, Mapping)] if isinstance(edits, list) else []
    )
    by_file = [each for each in nested if _first(each, _PATHS) not in ("", path)]
    for each in by_file:
        yield Change(_first(each, _PATHS), pairs=_pairs([each]))
    if path:
        mine = [each for each in nested if each not in by_file]
        created = act is Act.WRITE
        yield Change(path, created, name == "delete_file", _pairs([args, *mine]))


def _pairs(edits: list[Mapping[str, object]]) -> tuple[tuple[str, str], ...]:
    texts = ((_first(each, _OLD, blank=True), _first(each, _NEW, blank=True)) for each in edits)
    return tuple((old, new) for old, new in texts if old or new)


def _first(args: Mapping[str, object], names: tuple[str, ...], *, blank: bool = False) -> str:
    """The first of these arguments that is a string."""
    for name in names:
        value = args.get(name)
        if isinstance(value, str) and (blank or value.strip()):
            return value
    return ""


# Plans


class Plans:
    """The plans of one session as its calls change them: complete lists, or one item at a time."""

    def __init__(self) -> None:
        self._items: dict[str, PlanItem] = {}
        self._asked: dict[str, PlanItem] = {}

    def after(self, call: Call) -> tuple[PlanItem, ...] | None:
        """The complete plan after a call; None if the call shows no change yet."""
        if call.act is not Act.PLAN:
            return None
        args = given(call.text)
        name = call.tool.lower()
        if name == "taskcreate":
            self._asked[call.id] = PlanItem(
                "", _line(_first(args, ("subject", *_ITEM_TEXTS))), "open"
            )
            return None
        if name == "taskupdate":
            number = str(args.get("taskId") or "")
            item = self._items.get(number)
            if item is None:
                return None
            status = _status(args["status"]) if "status" in args else item.status
            text = _line(_first(args, ("subject",))) or item.text
            self._items[number] = PlanItem(number, text, status)
            return tuple(self._items.values())
        items = tuple(_items(args))
        if not items:
            return None
        self._items = {}
        return items

    def answered(self, call_id: str, text: str) -> tuple[PlanItem, ...] | None:
        """The complete plan after the result of a call that adds an item."""
        item = self._asked.pop(call_id, None)
        made = _TASK_CREATED.match(text) if item else None
        if item is None or made is None:
            return None
        self._items[made[1]] = PlanItem(made[1], item.text, item.status)
        return tuple(self._items.values())


def _items(args: Mapping[str, object]) -> Iterator[PlanItem]:
    value = next((args[name] for name in _LISTS if name in args), None)
    if isinstance(value, str) and value.lstrip().startswith("[{"):
        with suppress(ValueError, RecursionError):  # it may be a list of checkboxes
            value = msgspec.json.decode(value)
    if isinstance(value, str):
        for number, (mark, text) in enumerate(_CHECKBOX.findall(value), 1):
            yield PlanItem(str(number), _line(text), _status(mark))
        return
    for number, item in enumerate(value if isinstance(value, list) else [], 1):
        if isinstance(item, str) and item.strip():
            yield PlanItem(str(number), _line(item), "open")
        elif isinstance(item, Mapping) and (text := _first(item, _ITEM_TEXTS)):
            yield PlanItem(str(number), _line(text), _status(item.get("status")))


def _status(value: object) -> str:
    return _STATUSES.get(str(value).lower(), "open")


def _line(text: str) -> str:
    return " ".join(text.split())
