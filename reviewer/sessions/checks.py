"""Which commands are checks: tests, linters, formatters, builds and type checkers."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence

from reviewer.sources.shell import Command
from reviewer.text.clip import clip

PROGRAMS = {
    "test": "pytest py.test jest vitest mocha ava playwright cypress rspec phpunit tox nox ctest"
    " gotestsum",
    "lint": "ruff flake8 pylint eslint golangci-lint staticcheck clippy biome shellcheck rubocop"
    " stylelint markdownlint lint-imports pre-commit oxlint",
    "format": "black prettier gofmt goimports rustfmt isort",
    "types": "mypy pyright tsc basedpyright vue-tsc",
    "build": "cmake ninja webpack vite rollup esbuild tsup xcodebuild",
}
TASKS = {
    "test": "test tests e2e unit integration spec",
    "lint": "lint vet clippy",
    "format": "fmt format",
    "types": "typecheck types type tsc mypy",
    "build": "build compile",
    "check": "check ci verify validate",
}
"""Tasks that task runners run as checks."""
_RUNNERS = (
    "go cargo npm pnpm yarn bun make gmake just task mise deno gradle gradlew mvn mvnw dotnet rake"
    " swift turbo nx lerna sbt mix zig bazel composer hatch invoke"
)
TASK_RUNNERS = frozenset(_RUNNERS.split())
_RUNS_ANOTHER = tuple(
    tuple(runner.split())
    for runner in (
        "npx", "bunx", "pnpx", "uvx", "uv run", "poetry run", "pdm run", "pipenv run", "hatch run",
        "pnpm exec", "npm exec", "pnpm dlx", "bundle exec", "python -m", "mise exec --",
    )
)  # fmt: skip
_BETWEEN = frozenset(("run", "run-script", "exec", "-s", "--silent", "tool"))
_EVERYTHING = frozenset(("./...", ".", "all", "ci"))
_ONLY_SHOWS = frozenset(("--version", "--help", "-h", "-V", "--collect-only", "--co", "-list"))
_WITH_VALUE = frozenset(("-C", "--prefix", "--dir", "--cwd", "--filter", "-F", "-f", "--project"))
_PARTS = re.compile(r"[:/_.-]")
_PYTHON = re.compile(r"python[0-9.]+$")
_KIND_OF_PROGRAM = {name: kind for kind, names in PROGRAMS.items() for name in names.split()}
_KIND_OF_TASK = {name: kind for kind, names in TASKS.items() for name in names.split()}
SHOWN = 160
"""Maximum characters of a command to show."""


def check_kind(words: Sequence[str]) -> str:
    """The kind of check that a command runs; empty for other commands."""
    words = _without_runner(words)
    if not words or only_shows(words):
        return ""
    program = posixpath.basename(words[0])
    if program in ("ruff", "biome", "deno", "cargo") and {"format", "fmt"} & set(words[1:2]):
        return "format"
    if program == "cargo" and "check" in words[1:2]:
        return "build"
    if program == "gofmt" and "-l" in words:
        return ""  # its exit code is always 0
    if kind := _KIND_OF_PROGRAM.get(program):
        return kind
    if program not in TASK_RUNNERS:
        return ""
    task = _task(words[1:])
    if not task:
        return "build" if program in ("make", "gmake", "ninja") else ""
    if program == "make" and ("=" in task or "-n" in words):
        return ""
    return next((_KIND_OF_TASK[p] for p in _PARTS.split(task) if p in _KIND_OF_TASK), "")


def only_shows(words: Sequence[str]) -> bool:
    """Whether a command only says what it could do."""
    return not _ONLY_SHOWS.isdisjoint(words)


def _without_runner(words: Sequence[str]) -> Sequence[str]:
    program = _PYTHON.sub("python", posixpath.basename(words[0])) if words else ""
    for runner in _RUNS_ANOTHER:
        if (program, *words[1 : len(runner)]) == runner:
            rest = list(words[len(runner) :])
            while rest and rest[0].startswith("-"):
                del rest[0 : 2 if rest[0] in ("--with", "--package", "-p", "--extra") else 1]
            return rest
    return words


def _task(words: Sequence[str]) -> str:
    """The task given to a runner: its first argument that is not a flag."""
    at = 0
    while at < len(words):
        word = words[at]
        if word in _WITH_VALUE:
            at += 2
        elif word.startswith("-") or word.startswith("+") or word in _BETWEEN:
            at += 1
        else:
            return word
    return ""


def covers(words: Sequence[str], earlier: Sequence[str]) -> bool:
    """Whether a check covers an earlier one: the same program and task with nothing more, for the
    same files and names, for everything, or for all below folders with the earlier ones.
    """
    now, before = _without_runner(words), _without_runner(earlier)
    program = posixpath.basename(now[0])
    runs_tasks = program in TASK_RUNNERS
    task = _task(now[1:]) if runs_tasks else ""
    if program != posixpath.basename(before[0]) or (runs_tasks and task != _task(before[1:])):
        return False
    given, known = set(now[1:]) - _EVERYTHING, set(before[1:])
    if below := {word for word in given if word.endswith("/...")}:
        paths = [word for word in known if "/" in word]
        inside = all(any(path.startswith(each[:-3]) for each in below) for path in paths)
        return bool(paths) and inside and given - below <= known
    return given <= known and _named(given) - {task} in (set(), _named(known) - {task})


def _named(given: Iterable[str]) -> set[str]:
    return {word for word in given if not word.startswith("-")} - _BETWEEN - _EVERYTHING


def shown(command: Command) -> str:
    """A command as typed, on one line."""
    words = (f"'{word}'" if re.search(r"[\s|&;<>]", word) else word for word in command.words)
    return clip(" ".join(words), SHOWN)
