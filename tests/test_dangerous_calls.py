"""No code of the program can execute data: every file is searched for such calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.source_code import in_one_process, trees

BUILTINS = {"eval", "exec", "compile", "__import__"}
MODULES = {
    "pickle", "marshal", "shelve", "dill", "cloudpickle", "multiprocessing", "runpy", "code",
    "yaml", "pty", "ctypes", "concurrent.futures.process", "xml",
}  # fmt: skip
"""Modules that turn data into code, or send objects as such data."""
SHELL_CALLS = {"system", "popen", "getoutput", "getstatusoutput", "create_subprocess_shell"}
SHELLS = {"sh", "bash", "zsh", "dash", "cmd", "cmd.exe", "powershell"}

STARTS_PROGRAMS = {
    "agents/hooks.py",  # this program, which reads an ended session
    "projects.py",  # git, which says which folders of others it trusts
    "promotion/exchange/signatures.py",  # ssh-keygen
    "llm/command.py",  # the agent that the person named
    "tui/editor.py",  # the editor that the person named
    "pipelines/commands.py",  # tool nodes, behind --allow-tools
    "serving/server.py",  # this program, for each tab
    "tui/queue/reading.py",  # this program, which reads on
    "tui/queue/screen.py",  # waits for that one
    "tui/queue/reader.py",  # this program, which asks the reader that the person chose
}
MAY_USE_A_SHELL = {
    "pipelines/commands.py",
    "sources/shell.py",  # reads command lines, starts none
}
IMPORTS_BY_NAME = {"cli/session.py", "tui/app.py", "fleet/values.py", "system.py"}
"""Modules of this package, of an extra or of the standard library, named in the source."""
STARTS_PYTHON = {"system.py"}
"""Every start of this program is `own_command`, which imports nothing from the current folder."""
NAMES_PYTHON = {"agents/program.py", "cli/doctor.py", "installation.py"}
SENDS_OBJECTS = {"fleet/workers.py", "fleet/run.py"}
"""To processes of this program on this machine only."""


def called(node: ast.Call) -> str:
    """The last part of the called name."""
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def problems(tree: ast.Module, name: str) -> Iterator[str]:
    """The lines of a file that could execute data."""
    for module in imports(tree):
        known = name in SENDS_OBJECTS and module.startswith(("multiprocessing", "concurrent"))
        if not known and any(module == each or module.startswith(f"{each}.") for each in MODULES):
            yield f"imports {module}"
        if module == "subprocess" and name not in STARTS_PROGRAMS:
            yield "starts programs"
        if module == "importlib" and name not in IMPORTS_BY_NAME:
            yield "imports by name"
    for node in ast.walk(tree):
        if isinstance(node, ast.List | ast.Tuple) and begins_with_a_shell(node):
            if name not in MAY_USE_A_SHELL:
                yield f"line {node.lineno}: starts a shell"
        elif isinstance(node, ast.Attribute) and node.attr == "executable":
            if name not in STARTS_PYTHON | NAMES_PYTHON:
                yield f"line {node.lineno}: starts python"
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in BUILTINS:
                yield f"line {node.lineno}: calls {node.func.id}"
            if starts_a_program(node):
                yield f"line {node.lineno}: calls {called(node)}"
            for keyword in node.keywords:
                if keyword.arg == "shell":
                    yield f"line {node.lineno}: shell="


def begins_with_a_shell(node: ast.List | ast.Tuple) -> bool:
    first = node.elts[0] if node.elts else None
    return (
        isinstance(first, ast.Constant)
        and isinstance(first.value, str)
        and first.value.rpartition("/")[2] in SHELLS
    )


def starts_a_program(node: ast.Call) -> bool:
    name = called(node)
    if not (name in SHELL_CALLS or name.startswith(("spawn", "exec"))):
        return False
    return isinstance(node.func, ast.Attribute) and is_module(node.func.value)


def is_module(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in {"os", "subprocess", "asyncio", "commands"}


@in_one_process
def test_no_file_executes_data() -> None:
    found = {name: list(problems(tree, name)) for name, tree in trees().items()}
    assert found
    assert {name: lines for name, lines in found.items() if lines} == {}
