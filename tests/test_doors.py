"""Files are opened and written, text is printed, and text is made ready for agents in a few places
only; every other place in the source is named here with its reason.

`reviewer/files.py` has the doors for files: `open_file`, `open_plain`, `read_small` (what a person
or a format names), `open_own`, `read_own` (what the program keeps), `open_new` and `write_atomic`.
`reviewer/cli/output.py` has the doors for printing.
`reviewer/text/for_agents.py` has the doors for text that an agent reads: `as_markdown` (files and
prompts), `between_tags` (answers of tools and hooks), `sentence` (our own words). What they return
has a type of its own, which `mypy` asks for wherever such text goes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache

from tests.source_code import ROOT, in_one_process, trees

pytestmark = in_one_process

DOORS = {"files.py"}
PRINTING = {"cli/output.py"}

OPENS_A_DOOR_ITSELF = {
    ("llm/agents.py", "_codex"): "writes into the temporary folder that it made for one question",
    ("cli/help.py", "help_"): "pages of the program",
    ("llm/agents.py", "_gemini_tidy"): "compares a mark of Gemini CLI with our own folder",
    ("promotion/exchange/signatures.py", "signer"): "writes into a temporary folder that it made",
    ("serving/server.py", "_page"): "pages of the program",
    ("serving/server.py", "_own_file"): "pages of the program",
    ("mounts.py", "_listed"): "reads /proc",
    ("llm/agents.py", "_gemini"): "writes into that folder",
    ("cli/run.py", "_replace_closed_streams"): "opens /dev/null",
    ("cli/output.py", "discard"): "opens /dev/null",
    ("cli/hook.py", "within"): "opens /dev/null",
    ("cli/demo.py", "demo"): "copies the sample data of the program into a temporary folder",
    ("engine.py", "inspect_store"): "looks at the store that a person named, read-only",
    ("packets/relevance.py", "__init__"): "an index in memory",
    ("recall/at_call.py", "memories_at"): "the store, without what an agent would wait for",
    ("promotion/export/file_writer.py", "_back_up"): "writes into the new file of open_new",
    ("promotion/export/file_writer.py", "_replace"): "writes into the new file of open_new",
    ("promotion/waves/report.py", "_open"): "hands out the descriptor of open_own",
    ("sources/archives.py", "_opened"): "a ZIP archive in a stream of open_file",
    ("sources/databases.py", "_connected"): "read-only and immutable, or a copy of our own",
    ("sources/databases.py", "_copy"): "writes into a temporary folder that it made",
    ("installation.py", "_with_extra"): "a file of the installed package itself",
    ("store/database.py", "_prepare_folder"): "makes the store that a person named",
    ("store/database.py", "connect"): "opens the store that a person named",
    ("promotion/lists/beyond_cap.py", "_rows"): "a handle that the door has opened",
    ("store/migrations.py", "_execute"): "the tables, beside the module",
}  # fmt: skip
"""(file, function) -> why it does not only call a door."""

PRINTS_ITSELF = {
    ("cli/progress.py", "_draw"): "a line of numbers and a guarded path, with our own escapes",
    ("cli/progress.py", "clear"): "our own escapes",
    ("cli/help.py", "help_"): "a page of the program in a pager",
    ("cli/run.py", "run"): "click's help",
    ("cli/hook.py", "hook"): "JSON for an agent, in ASCII",
}  # fmt: skip

BY_NAME = {"open"}
OF_MODULES = {
    "os": {"open", "fdopen", "replace", "rename", "link", "symlink", "mkfifo", "truncate"},
    "io": {"open", "open_code", "FileIO"},
    "codecs": {"open"},
    "shutil": {"copy", "copy2", "copyfile", "copytree", "move"},
    "sqlite3": {"connect"},
    "zipfile": {"ZipFile"},
    "tarfile": {"open"},
    "gzip": {"open"},
    "bz2": {"open"},
    "lzma": {"open"},
    "tempfile": {"NamedTemporaryFile", "mkstemp", "mktemp"},
    "mmap": {"mmap"},
}
METHODS = {"read_text", "read_bytes", "write_text", "write_bytes", "touch", "hardlink_to"}
MODES = {"r", "rb", "w", "wb", "a", "ab", "x", "xb", "r+", "rb+", "r+b", "w+", "wb+", "w+b"}


def opens(node: ast.Call) -> bool:
    function = node.func
    if isinstance(function, ast.Name):
        return function.id in BY_NAME or any(function.id in names for names in TELLING)
    if not isinstance(function, ast.Attribute):
        return False
    if isinstance(function.value, ast.Name) and function.value.id in OF_MODULES:
        return function.attr in OF_MODULES[function.value.id]
    if function.attr == "open":
        return bool(node.args) and any(
            isinstance(each, ast.Constant) and each.value in MODES for each in node.args[:1]
        )
    return function.attr in METHODS


TELLING = [{"NamedTemporaryFile", "mkstemp", "ZipFile", "copyfile", "copytree"}]
"""Names that mean the same when they are imported alone."""


def prints(node: ast.Call) -> bool:
    function = node.func
    if isinstance(function, ast.Name):
        return function.id in {"print", "echo", "secho"}
    if not isinstance(function, ast.Attribute):
        return False
    if function.attr in {"echo", "secho", "echo_via_pager"}:
        return True
    return function.attr in {"write", "writelines"} and _is_a_stream(function.value)


def _is_a_stream(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        if node.attr in {"stdout", "stderr", "__stdout__", "__stderr__"}:
            return True
        node = node.value
    return False


def calls(tree: ast.AST, function: str = "") -> Iterator[tuple[str, ast.Call]]:
    """Every call, with the innermost function around it."""
    for node in ast.iter_child_nodes(tree):
        inside = function
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inside = node.name
        elif isinstance(node, ast.Call):
            yield function, node
        yield from calls(node, inside)


@cache
def every_call() -> list[tuple[str, str, ast.Call]]:
    """(file, function, call) for the whole program."""
    return [(file, *each) for file, tree in trees().items() for each in calls(tree)]


def found(test: Callable[[ast.Call], bool]) -> dict[tuple[str, str], int]:
    """(file, function) -> first line of a call for which the test is true."""
    places: dict[tuple[str, str], int] = {}
    for file, function, node in every_call():
        if test(node):
            places.setdefault((file, function), node.lineno)
    return places


def test_files_are_opened_at_the_doors_only() -> None:
    places = {key: line for key, line in found(opens).items() if key[0] not in DOORS}
    unnamed = {key: line for key, line in places.items() if key not in OPENS_A_DOOR_ITSELF}
    assert unnamed == {}, "open files with reviewer/files.py, or give the reason here"
    assert OPENS_A_DOOR_ITSELF.keys() - places.keys() == set(), "these reasons are not needed"


def test_text_is_printed_at_the_doors_only() -> None:
    places = {key: line for key, line in found(prints).items() if key[0] not in PRINTING}
    unnamed = {key: line for key, line in places.items() if key not in PRINTS_ITSELF}
    assert unnamed == {}, "print with reviewer/cli/output.py, or give the reason here"
    assert PRINTS_ITSELF.keys() - places.keys() == set(), "these reasons are not needed"


# text for agents

FOR_AGENTS = {"text/for_agents.py"}

MAKES_TEXT_ITSELF = {
    ("agents/memory_folders.py", "_with_block"): "joins texts that are ready with a marked block",
    ("agents/wiring.py", "_copilot"): "settings as JSON, with our own commands",
    ("agents/wiring.py", "_opencode"): "our own plugin",
    ("recall/service.py", "_for_agents"): "the beginning of a text from the doors",
}  # fmt: skip
"""(file, function) -> why it makes an `AgentText` of anything but our own words."""

TAKES_READY_TEXT = {
    ("agents/hooks.py", "answer", "text"): "what a hook answers",
    ("agents/memory_folders.py", "memory_wiring", "facts"): "memory folders of agents",
    ("promotion/export/marked_block.py", "with_block", "body"): "marked blocks",
}
"""(file, function, parameter) -> what goes through it into the hands of an agent."""

WRITES_FILES = {
    ("promotion/decisions/forgetting.py", "_sweep"): "own files, with wordings taken out of them",
    ("agents/agent_files.py", "_write"): "what the program keeps about sessions",
    ("fleet/tables.py", "write"): "a table of a job over many files",
    ("llm/answer_cache.py", "keep"): "answers of a model",
    ("pipelines/run_folder.py", "write"): "the state of a run, and its stages",
    ("promotion/decisions/drafts.py", "save"): "what a person types",
    ("promotion/lists/reader_log.py", "forget"): "what readers have read, without a project",
    ("promotion/exchange/decision_lines.py", "write_decisions"): "decisions, signed",
    ("tui/places.py", "keep"): "where the screen was left",
}  # fmt: skip
"""(file, function) that writes a whole file -> what it writes."""

WRITES_PLANS = {
    "promotion/export/exports.py",
    "agents/connections.py",
    "promotion/export/file_writer.py",
}
"""Files that write plans, which take ready text, and settings."""

OWN_TAGS = {
    "agents/hooks.py": "our own words about the tags",
    "text/tags.py": "has them",
}


def makes_ready_text(node: ast.Call) -> bool:
    """Whether the type is given to anything but our own words."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else None
    name = node.func.id if isinstance(node.func, ast.Name) else name
    if name == "cast":
        return bool(node.args) and "AgentText" in ast.dump(node.args[0])
    return name == "AgentText" and not all(isinstance(each, ast.Constant) for each in node.args)


def writes_a_file(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id in {
        "write_atomic",
        "write_plan",
    }


def function_named(file: str, name: str) -> ast.FunctionDef:
    (found,) = (
        node
        for node in ast.walk(trees()[file])
        if isinstance(node, ast.FunctionDef) and node.name == name
    )
    return found


def test_text_for_agents_is_made_at_the_doors_only() -> None:
    places = {key for key in found(makes_ready_text) if key[0] not in FOR_AGENTS}
    unnamed = places - MAKES_TEXT_ITSELF.keys()
    assert unnamed == set(), "use reviewer/text/for_agents.py, or give the reason here"
    assert MAKES_TEXT_ITSELF.keys() - places == set(), "these reasons are not needed"


def test_what_an_agent_reads_takes_ready_text_only() -> None:
    for file, function, parameter in TAKES_READY_TEXT:
        arguments = function_named(file, function).args
        (found,) = (
            each for each in [*arguments.args, *arguments.kwonlyargs] if each.arg == parameter
        )
        assert found.annotation is not None
        assert ast.unparse(found.annotation) == "AgentText", (file, function)


def test_files_are_written_whole_in_named_places_only() -> None:
    """A new place that writes for an agent has to take ready text, and is named here."""
    places = {key for key in found(writes_a_file) if key[0] not in DOORS | WRITES_PLANS}
    assert places == WRITES_FILES.keys()


def test_every_tool_of_mcp_answers_through_its_door() -> None:
    tree = trees()["agents/mcp_server.py"]
    asked = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and any(ast.unparse(each).startswith("made.") for each in node.decorator_list)
    ]
    added = [
        ast.unparse(node.args[0])
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "made.add_tool"
    ]
    assert added == ["_answering(tool)"]
    assert len(asked) == 4
    for node in asked:
        returned = [each for each in ast.walk(node) if isinstance(each, ast.Return)]
        assert returned, node.name
        for each in returned:
            assert isinstance(each.value, ast.Call), node.name
            prompt = ast.unparse(node.decorator_list[0]).startswith("made.prompt")
            door = ast.unparse(each.value.func).partition("(")[0]
            assert door == ("joined" if prompt else "_answering"), node.name
    argument = function_named("agents/mcp_server.py", "_answering").args.args[0]
    assert argument.annotation is not None
    assert ast.unparse(argument.annotation) == "Callable[P, AgentText]"


def test_the_tags_of_recalled_memory_are_written_in_one_place() -> None:
    """The readers of sources look for them."""
    having = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        if b"recalled-memory" in path.read_bytes()
    }
    assert {path for path in having if not path.startswith("sources/")} == OWN_TAGS.keys()
