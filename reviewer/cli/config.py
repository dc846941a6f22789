"""`reviewer config show|validate`: the settings and where they come from."""

from __future__ import annotations

from pathlib import Path

import click

from reviewer.cli.output import narrate, print_json, print_text, safe
from reviewer.cli.session import Session, Verb, pass_session


@click.group()
def config() -> None:
    """Show or check the settings."""


@config.command("show", cls=Verb)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def show(as_json: bool) -> None:
    """The settings in force."""
    from reviewer.settings import load_settings, settings_path

    settings, path = load_settings(), settings_path()
    values = {name: getattr(settings, name) for name in settings.__struct_fields__}
    if as_json:
        print_json({"path": str(path), "exists": path.exists(), **values})
        return
    narrate(f"{safe(str(path))}{'' if path.exists() else ' (not there: built-in settings)'}")
    for name, value in values.items():
        print_text(f"{name} = {safe(_toml(value))}")


@config.command("validate", cls=Verb)
@pass_session
def validate(session: Session) -> None:
    """Check the settings file, the keys included."""
    from reviewer.settings import settings_path

    path = settings_path()
    check_settings(session, path)
    print_text(
        f"{safe(str(path))} is valid."
        if path.exists()
        else f"There is no {safe(str(path))}; the built-in settings hold."
    )


def check_settings(session: Session, path: Path) -> None:
    """Read the settings as the screen does. Raises ReviewerError with what is wrong."""
    from reviewer.settings import load_settings

    if load_settings(path).keys:
        session.check_keymap(path)


def _toml(value: object) -> str:
    import json

    if isinstance(value, dict):
        pairs = ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items())
        return f"{{{pairs}}}"
    return json.dumps("" if value is None else value, ensure_ascii=False)
