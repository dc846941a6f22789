"""What every command of one call shares: the store, the project, the screen to open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from reviewer.errors import StoreError, UnknownIdError

if TYPE_CHECKING:
    from reviewer.engine import Engine

PROJECT_WITHOUT_A_NAME = "default"
"""The project of what is ingested outside a git work tree, when none is named."""


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

    def store_path(self) -> Path:
        """The store that `--db` or REVIEWER_DB names, else the one in the user's data folder."""
        if self.db is not None:
            return self.db.expanduser()
        from reviewer.storeless import default_store

        return default_store()

    @contextmanager
    def engine(
        self, *, create: bool = False, filled_by: str = "reviewer ingest PATH"
    ) -> Iterator[Engine]:
        """The opened store, closed at the end. Raises StoreError when there is none to open.

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

    def project_to_read(self, engine: Engine) -> str | None:
        """The project whose candidates a command shows; None means all of them.

        Raises UnknownIdError when the named project is not in the store.
        """
        known = engine.queue.projects()
        if self.project is not None:
            if known and self.project not in known:
                names = ", ".join(known[:10]) + (", ..." if len(known) > 10 else "")
                raise UnknownIdError(f"The store has no project {self.project}. It has: {names}")
            return self.project
        from reviewer.engine import default_project

        here = default_project()
        return here if here in known else None

    def project_to_fill(self) -> str:
        """The project that an ingestion belongs to."""
        if self.project is not None:
            return self.project
        from reviewer.engine import default_project

        return default_project() or PROJECT_WITHOUT_A_NAME


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
            help="The project (default: the name of the git work tree's root).",
        ),
    ]


def with_store_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--db` and `--project` in front of the verb, where REVIEWER_DB counts as well."""
    options = _store_options(from_environment=True)
    command.__click_params__ = [*getattr(command, "__click_params__", []), *options]  # type: ignore[attr-defined]
    return command


class Verb(click.Command):
    """A command that takes `--db` and `--project` behind its name too."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.params.extend(_store_options(from_environment=False))
