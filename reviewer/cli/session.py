"""Shared by all commands: the store and project of a call, the screen, kinds of commands."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol

import click
from click.shell_completion import CompletionItem

from reviewer.agents.memory_updates import bring_up_to_date, update_call_hooks
from reviewer.cli.output import narrate
from reviewer.errors import StoreError, UnknownIdError
from reviewer.files import login_name
from reviewer.projects import WITHOUT_A_TREE, NoProjectError, listed, work_tree
from reviewer.sharing import personal
from reviewer.system import default_store

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.start import Start

DONE, FAILED, WRONG_USAGE, WAITING, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit codes."""


def leave(code: int) -> NoReturn:
    raise click.exceptions.Exit(code)


INGEST = "reviewer ingest PATH"
NOTHING_STORED = "Nothing is stored for project "
"""The beginning of the sentence about an unknown project."""

LONGEST_ACTOR = 64
"""Characters."""

DUMB_TERMINALS = ("", "dumb", "unknown")
"""Values of TERM for terminals that cannot move the cursor."""


class NoTerminalError(click.ClickException):
    exit_code = WRONG_USAGE


class OpenScreen(Protocol):
    """Shows the screen until the user leaves it; returns the exit code."""

    def __call__(
        self,
        engine: Engine,
        project: str | None,
        *,
        ascii: bool,  # noqa: A002
        light: bool,
        keymap: Path | None,
        start: Start | None = None,
    ) -> int:
        """`ascii`: draw with ASCII only. `light`: dark on light. `keymap`: a TOML file with a
        `[keys]` table. `start`: begin with the start screen, which offers sources to read.
        """
        ...


CheckKeymap = Callable[[Path], None]
"""Raises ReviewerError if the `[keys]` of a TOML file are invalid."""


class Session:
    """The global options of one call, and its access to the store and the screen."""

    def __init__(self, open_screen: OpenScreen, check_keymap: CheckKeymap) -> None:
        self._open_screen = open_screen
        self.check_keymap = check_keymap
        self.db: Path | None = None
        self.project: str | None = None
        self.all_projects = False
        self.actor: str | None = None
        """The name of the actor, as given; None for the login name."""
        self.remark = ""
        """A sentence about the project, printed after the call has succeeded."""
        self._remark_of_choice = ""

    def store_path(self) -> Path:
        """The store of `--db` or REVIEWER_DB, else the one in the user's data folder."""
        if self.db is not None:
            return self.db.expanduser()
        return default_store()

    @contextmanager
    def listing(self, *, filled_by: str = INGEST) -> Iterator[Engine]:
        """The opened store, for a command that lists everything of a project.

        If nothing is stored for the project, the command ends with a sentence that says so. Raises
        as `reading` does.
        """
        with self.reading(filled_by=filled_by) as engine:
            if unknown := self.unknown(engine, filled_by):
                self.remark = unknown
                raise click.exceptions.Exit(DONE)
            yield engine

    @contextmanager
    def reading(self, *, filled_by: str = INGEST) -> Iterator[Engine]:
        """The opened store, for a command that only reads: in the project of the call
        (`engine.project`), or with --all-projects in all of them.

        Raises StoreError, ForeignProjectError, UnknownIdError for an unknown project, UsageError if
        several projects may be meant.
        """
        with self.whole_store(filled_by=filled_by) as engine:
            self.choose_to_read(engine)
            yield engine

    @contextmanager
    def changing(
        self, *, create: bool = False, filled_by: str = INGEST, new_outside: bool = False
    ) -> Iterator[Engine]:
        """The opened store, for a command that writes, always in a single project.

        `new_outside`: folders outside git work trees use the project `default`, whatever other
        projects exist. Raises as `reading` does; a project named with --project may be new.
        """
        self.refuse_all_projects()
        named = self.project
        if new_outside and named is None and work_tree() is None:
            named = WITHOUT_A_TREE
        with self.whole_store(create=create, filled_by=filled_by) as engine:
            self._choose(engine, named)
            yield engine

    def target(self, engine: Engine) -> str:
        """The project of new rows."""
        self.remark = self._remark_of_choice
        return engine.project or WITHOUT_A_TREE

    def choose_to_read(self, engine: Engine) -> None:
        """Limit reading to the project of the call. Raises as `reading` does."""
        if self.all_projects:
            if self.project is not None:
                raise click.UsageError("--project and --all-projects cannot be combined")
            engine.work_in_all()
            self.remark = "This covers all projects."
            return
        self._choose(engine, self.project)
        self.remark = self._remark_of_choice
        known = engine.project_names()
        if self.project is not None and known and not engine.is_known(self.project):
            raise UnknownIdError(
                f"The store has no project {self.project}. It has: {listed(known)}"
            )

    def choose_to_begin(self, engine: Engine) -> bool:
        """As `choose_to_read`; returns whether there is nothing to show yet, or the person has to
        choose a project.
        """
        try:
            self.choose_to_read(engine)
        except click.UsageError as problem:
            if isinstance(problem.__cause__, NoProjectError):
                engine.work_in_all()  # until the person chooses one
                return True
            raise
        known = engine.project is not None and engine.is_known(engine.project)
        return not (known or self.all_projects)

    def unknown(self, engine: Engine, filled_by: str = INGEST) -> str:
        """The sentence for a project without anything stored; empty for others."""
        if engine.project is None or engine.is_known(engine.project):
            return ""
        others = "; look at others: --all-projects" if engine.project_names() else ""
        name = engine.project
        return f"{NOTHING_STORED}{name} yet. Fill it: {filled_by}{others}"

    def refuse_all_projects(self) -> None:
        """Raise UsageError if a command that writes was called for all projects."""
        if self.all_projects:
            raise click.UsageError(
                "--all-projects is for reading only: name the project with --project NAME"
            )

    def _choose(self, engine: Engine, named: str | None) -> None:
        try:
            chosen = engine.choose_project(named)
        except NoProjectError as problem:
            raise click.UsageError(str(problem)) from problem
        engine.work_in(chosen)
        self._remark_of_choice = chosen.remark

    @contextmanager
    def whole_store(self, *, create: bool = False, filled_by: str = INGEST) -> Iterator[Engine]:
        """The opened store with all its projects, closed at the end. Raises StoreError if it cannot
        be opened.

        `create`: create a missing store. `filled_by`: the command to suggest if there is none.
        """
        from reviewer.engine import Engine

        path = self.store_path()
        if not create and not path.exists():
            raise StoreError(f"There is no store at {path} yet. Fill one: {filled_by}")
        if not create and path.is_file() and path.stat().st_size == 0:
            raise StoreError(f"{path} is empty: restore a backup, or start again: {filled_by}")
        engine = Engine.open(path, actor=self.actor or login_name())
        try:
            if engine.has_erased_bytes:
                update_agents(engine)
                engine.forgetting.clean_up()
            yield engine
        finally:
            if engine.has_written:
                update_agents(engine)
            if bound := engine.say_binding():
                narrate(bound)
            engine.close()

    def require_terminal(self, instead: str) -> None:
        """Raise NoTerminalError if the screen cannot be drawn; `instead`: a command to suggest."""
        if os.environ.get("TEXTUAL_DRIVER", "").endswith(":WebDriver"):
            return  # `reviewer serve` draws in a browser
        if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
            raise NoTerminalError(f"The screen needs a terminal. Without one: {instead}")
        kind = os.environ.get("TERM", "")
        if os.name == "posix" and kind in DUMB_TERMINALS:
            named = f"TERM={kind}" if kind else "TERM is not set"
            raise NoTerminalError(
                f"The screen cannot be drawn on this terminal ({named}). Without it: {instead}"
            )

    def show_screen(
        self,
        engine: Engine,
        project: str | None,
        *,
        ascii: bool = False,  # noqa: A002
        start: Start | None = None,
    ) -> int:
        from reviewer.settings import load_settings, settings_path

        if self.actor is not None:  # the processes that the screen starts act in the same name
            os.environ["REVIEWER_ACTOR"] = self.actor
        settings = load_settings()
        return self._open_screen(
            engine,
            project,
            ascii=ascii or settings.ascii,
            light=settings.theme == "light",
            keymap=settings_path() if settings.keys else None,
            start=start,
        )


def update_agents(engine: Engine) -> None:
    """Update what connected agents read after an act, and name the settings that changed."""
    if personal(engine.path, "-agents").is_dir():
        problems = bring_up_to_date(engine)
        problems += update_call_hooks(engine, lambda _, lines: narrate(*lines))
        narrate(*problems)


pass_session = click.make_pass_decorator(Session)


def _keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Store a shared option in the session; the one after the verb is read last, and counts."""
    if value is None or value is False:
        return
    if isinstance(value, str) and not value.strip():
        raise click.BadParameter(EMPTY[str(param.name)], ctx)
    if param.name == "actor":
        value = value.strip()
        if len(value) > LONGEST_ACTOR or not value.isprintable():
            raise click.BadParameter(EMPTY["actor"], ctx)
    setattr(
        ctx.ensure_object(Session), str(param.name), Path(value) if param.name == "db" else value
    )


EMPTY = {
    "db": "name the file of the store",
    "project": "a project's name cannot be empty",
    "actor": f"a name has 1 to {LONGEST_ACTOR} characters in one line",
}
"""Advice for an empty value."""


class SharedOption(click.Option):
    """An option of every verb, listed only in the help of `reviewer` itself."""

    def get_help_record(self, ctx: click.Context) -> None:
        return None


SHARED = "As everywhere: --db, --project, --all-projects (see: reviewer --help)"


def store_options(*, before_verb: bool) -> list[click.Option]:
    """`--db`, `--project`, `--all-projects` and `--actor`; before the verb also from variables."""

    def option(name: str, says: str, variable: str = "", **settings: Any) -> click.Option:
        kind = click.Option if before_verb else SharedOption
        if variable and before_verb:
            settings |= {"envvar": variable, "show_envvar": True}
        return kind([name], expose_value=False, callback=_keep, help=says, **settings)

    return [
        option(
            "--db",
            "The store (default: one in your user data folder).",
            "REVIEWER_DB",
            metavar="FILE",
        ),
        option(
            "--project",
            "The project (default: the name of the folder of the git work tree).",
            metavar="NAME",
        ),
        option(
            "--all-projects",
            "All projects of the store: to read, and to decide on the screen.",
            is_flag=True,
        ),
        option(
            "--actor",
            "Your name in the history (default: your login name).",
            "REVIEWER_ACTOR",
            metavar="NAME",
            hidden=not before_verb,
        ),
    ]


class Verb(click.Command):
    """A command that also takes the options of the store after its name.

    `example`: a line for `--help`, without `reviewer` in front. `store`: whether the command uses a
    store; if not, its help omits these options. `own_project`: its `--project` has another meaning,
    so the only shared option is `--db`.
    """

    def __init__(
        self,
        *args: Any,
        example: str = "",
        store: bool = True,
        own_project: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(*args, **settings)
        self.lists_shared = store and not own_project
        options = store_options(before_verb=False)[: 1 if own_project else None]
        for option in options:
            option.hidden = option.hidden or not store
        self.params.extend(options)
        self.example = example

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The shared options and the example, below the options."""
        if self.lists_shared:
            formatter.write(f"\n{SHARED}\n")
        if self.example:
            with formatter.section("Example"):
                formatter.write(f"{'':>{formatter.current_indent}}reviewer {self.example}\n")


class VerbSection(click.Group):
    """A group of verbs, in order of use."""

    command_class = Verb

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


class VerbGroup(Verb, VerbSection):
    """A group of commands that is also a command itself."""


class VerbEntry(NamedTuple):
    """The first line of a command's help, and its location."""

    help: str
    """The docstring of the command has the rest."""
    target: str = ""
    """`module:attribute` of the click command in `reviewer.cli`; by default its name for both."""
    rare: bool = False
    """The program's help only names it: agents run it, or the screen does the same."""

    def load(self, name: str) -> click.Command:
        module, _, attribute = self.target.partition(":")
        command = getattr(import_module(f"reviewer.cli.{module or name}"), attribute or name)
        assert isinstance(command, click.Command)
        rest = cleandoc(command.help or "")
        if not rest.startswith(self.help):
            command.help = "\n\n".join(filter(None, (self.help, rest)))
        return command


class LazyGroup(click.Group):
    """A group that imports a command when it is called, so that `--help` imports none."""

    def __init__(
        self,
        *args: Any,
        sections: Mapping[str, Mapping[str, VerbEntry]],
        hidden: Mapping[str, VerbEntry],
        **settings: Any,
    ) -> None:
        """`sections`: the commands in the help, by title. `hidden`: for programs."""
        super().__init__(*args, **settings)
        self.sections = sections
        self.shown = {name: each for part in sections.values() for name, each in part.items()}
        self.entries = {**self.shown, **hidden}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self.entries.get(cmd_name)
        return entry and entry.load(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As in click, with the nearest names for an unknown command."""
        name = args[0]
        if name in self.entries or name[:1] == "-":
            return super().resolve_command(ctx, args)
        from difflib import get_close_matches

        near = get_close_matches(name, self.shown, n=2)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise click.UsageError(f"There is no command {name!r}.{hint}", ctx)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands from the table, without importing them; options as completed by click."""
        named = [
            CompletionItem(name, help=entry.help)
            for name, entry in self.shown.items()
            if name.startswith(incomplete)
        ]
        return named + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, entries in self.sections.items():
            with formatter.section(title):
                rows = [(name, each.help) for name, each in entries.items() if not each.rare]
                if rare := [name for name, each in entries.items() if each.rare]:
                    rows.append(("also", ", ".join(rare)))
                formatter.write_dl(rows)
