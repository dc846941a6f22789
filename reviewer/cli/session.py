"""What every command of one call shares: the store, the project, the screen to open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from reviewer.cli.output import safe
from reviewer.errors import StoreError, UnknownIdError
from reviewer.projects import WITHOUT_A_TREE, default_project, work_tree

if TYPE_CHECKING:
    from reviewer.engine import Engine

INGEST = "reviewer ingest PATH"
NOTHING_STORED = "Nothing is stored for project "
"""How the sentence about a project begins that the store does not know."""


class OpenScreen(Protocol):
    """Shows the screen until it is left; returns the exit code."""

    def __call__(
        self,
        engine: Engine,
        project: str | None,
        *,
        ascii: bool,  # noqa: A002
        light: bool,
        keymap: Path | None,
    ) -> int:
        """`ascii`: draw with ASCII only. `light`: dark on light. `keymap`: the TOML file whose
        `[keys]` hold.
        """
        ...


CheckKeymap = Callable[[Path], None]
"""Raises ReviewerError when the `[keys]` of that TOML file are not what the screen takes."""


class Session:
    """The global options of one call, and what only the screen can do."""

    def __init__(self, open_screen: OpenScreen, check_keymap: CheckKeymap) -> None:
        self.open_screen = open_screen
        self.check_keymap = check_keymap
        self.db: Path | None = None
        self.project: str | None = None
        self.all_projects = False
        self.remark = ""
        """What is said of the project of the call when it has succeeded."""
        self._of_choice = ""
        """What there is to say of how it was chosen."""

    def store_path(self) -> Path:
        """The store that `--db` or REVIEWER_DB names, else the one in the user's data folder."""
        if self.db is not None:
            return self.db.expanduser()
        from reviewer.storeless import default_store

        return default_store()

    @contextmanager
    def listing(self, *, filled_by: str = INGEST) -> Iterator[Engine]:
        """The opened store, for a command that shows all that a project has.

        The command ends with a sentence where nothing is stored for the project. Raises as
        `reading` does.
        """
        with self.reading(filled_by=filled_by) as engine:
            if unknown := self.unknown(engine, filled_by):
                self.remark = unknown
                raise click.exceptions.Exit(0)
            yield engine

    @contextmanager
    def reading(self, *, filled_by: str = INGEST) -> Iterator[Engine]:
        """The opened store, for a command that looks at what is named: in the project of the call
        (`engine.project`), or with --all-projects in any.

        Raises StoreError, ForeignProjectError, UnknownIdError for an unknown project, UsageError
        when nothing says which project is meant.
        """
        with self.whole_store(filled_by=filled_by) as engine:
            self.choose_to_read(engine)
            yield engine

    @contextmanager
    def changing(
        self, *, create: bool = False, filled_by: str = INGEST, new_outside: bool = False
    ) -> Iterator[Engine]:
        """The opened store, for a command that writes, which it does in one project only.

        `new_outside`: outside a git work tree it is a project of its own, whatever others there
        are. Raises as `reading` does; a project that is named may be new.
        """
        self.refuse_all_projects()
        named = self.project
        if new_outside and named is None and work_tree() is None:
            named = WITHOUT_A_TREE
        with self.whole_store(create=create, filled_by=filled_by) as engine:
            self._choose(engine, named)
            yield engine

    def target(self, engine: Engine) -> str:
        """The project that something new goes to."""
        self.remark = self._of_choice
        return engine.project or WITHOUT_A_TREE

    def choose_to_read(self, engine: Engine) -> None:
        """Let the store be read as the call says. Raises as `reading` does."""
        if self.all_projects:
            if self.project is not None:
                raise click.UsageError("--project and --all-projects exclude each other")
            engine.work_in_all()
            self.remark = "This is of all projects."
            return
        self._choose(engine, self.project)
        self.remark = self._of_choice
        known = engine.project_names()
        if self.project is not None and known and not engine.is_known(self.project):
            from reviewer.projects import listed

            raise UnknownIdError(
                f"The store has no project {self.project}. It has: {listed(known)}"
            )

    def unknown(self, engine: Engine, filled_by: str = INGEST) -> str:
        """The sentence for a project that nothing was ever stored for; empty for others."""
        if engine.project is None or engine.is_known(engine.project):
            return ""
        others = "; look at others: --all-projects" if engine.project_names() else ""
        name = safe(engine.project)
        return f"{NOTHING_STORED}{name} yet. Fill it: {filled_by}{others}"

    def refuse_all_projects(self) -> None:
        """Raise UsageError where a command that writes was called for all projects."""
        if self.all_projects:
            raise click.UsageError(
                "--all-projects is for looking only: name the project with --project NAME"
            )

    def _choose(self, engine: Engine, named: str | None) -> None:
        from reviewer.engine import NoProjectError

        try:
            chosen = engine.choose_project(named)
        except NoProjectError as problem:
            raise click.UsageError(str(problem)) from problem
        engine.work_in(chosen)
        self._of_choice = safe(chosen.remark)

    @contextmanager
    def whole_store(self, *, create: bool = False, filled_by: str = INGEST) -> Iterator[Engine]:
        """The opened store with all of its projects, closed at the end. Raises StoreError when
        there is none to open.

        `create`: make a missing store, for the commands that fill one. `filled_by`: which of them
        to name where there is none.
        """
        from reviewer.engine import Engine

        path = self.store_path()
        if not create and not path.exists():
            raise StoreError(f"There is no store at {path} yet. Fill one: {filled_by}")
        if not create and path.is_file() and path.stat().st_size == 0:
            raise StoreError(
                f"{path} is empty: put a backup in its place, or begin anew: {filled_by}"
            )
        engine = Engine.open(path)
        try:
            yield engine
        finally:
            engine.close()

    def name_here(self) -> str:
        """What a project of this call is called where no store is asked."""
        return self.project or default_project() or WITHOUT_A_TREE


pass_session = click.make_pass_decorator(Session)


def _keep_db(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    if value is not None:
        if not value.strip():
            raise click.BadParameter("name the file of the store", ctx)
        ctx.ensure_object(Session).db = Path(value)


def _keep_project(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    if value is not None:
        if not value.strip():
            raise click.BadParameter("a project's name cannot be empty", ctx)
        ctx.ensure_object(Session).project = value


def _keep_all_projects(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        ctx.ensure_object(Session).all_projects = True


def _store_options(*, from_environment: bool) -> list[click.Parameter]:
    return [
        click.Option(
            ["--db"],
            metavar="FILE",
            envvar="REVIEWER_DB" if from_environment else None,
            show_envvar=from_environment,
            expose_value=False,
            callback=_keep_db,
            help="The store to use instead of the one in the user's data folder.",
        ),
        click.Option(
            ["--project"],
            metavar="NAME",
            expose_value=False,
            callback=_keep_project,
            help="The project (default: that of the git work tree, called after its root).",
        ),
        click.Option(
            ["--all-projects"],
            is_flag=True,
            expose_value=False,
            callback=_keep_all_projects,
            help="Look at every project of the store; nothing can be written so.",
        ),
    ]


def with_store_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--db`, `--project` and `--all-projects` in front of the verb, where REVIEWER_DB counts as
    well.
    """
    options = _store_options(from_environment=True)
    command.__click_params__ = [*getattr(command, "__click_params__", []), *options]  # type: ignore[attr-defined]
    return command


class Verb(click.Command):
    """A command that takes `--db`, `--project` and `--all-projects` behind its name too."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.params.extend(_store_options(from_environment=False))


class VerbGroup(Verb, click.Group):
    """A group of commands that is a command itself."""
