"""`reviewer config show|validate`: the settings and where they come from."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from reviewer.cli.output import narrate, print_json, print_text, safe
from reviewer.cli.session import Session, Verb, pass_session

TABLES = ("model", "compression")
"""Settings that are tables of their own."""


@click.group()
def config() -> None:
    """Show or check the settings."""


@config.command("show", cls=Verb)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def show(as_json: bool) -> None:
    """The settings in force."""
    from msgspec import to_builtins

    from reviewer.settings import load_settings, settings_path

    path = settings_path()
    values = _harmless(to_builtins(load_settings()))
    if as_json:
        print_json({"path": str(path), "exists": path.exists(), **values})
        return
    narrate(f"{safe(str(path))}{'' if path.exists() else ' (not there: built-in settings)'}")
    tables = {name: value for name, value in values.items() if name in TABLES}
    for name, value in values.items():
        if name not in tables:
            print_text(f"{name} = {safe(_toml(value))}")
    for name, table in tables.items():
        print_text("")
        print_text(f"[{name}]")
        for key, value in table.items():
            print_text(f"{key} = {safe(_toml(value))}")


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
    from reviewer.settings import check_folders, load_settings

    settings = load_settings(path)
    check_folders(settings, path)
    if settings.keys:
        session.check_keymap(path)
    if settings.model.base_url or settings.model.name or settings.model.key_variable:
        from reviewer.storeless import check_model

        check_model(settings)


def _harmless(values: dict[str, Any]) -> dict[str, Any]:
    """The settings without a credential that somebody wrote where its variable's name belongs."""
    from reviewer.text.secrets import mask

    model = dict(values["model"])
    model["base_url"] = re.sub(r"//[^/@]*@", "//[masked]@", mask(model["base_url"]).text)
    if not re.fullmatch(r"\w*", model["key_variable"]) or mask(model["key_variable"]).kinds:
        model["key_variable"] = "[masked: this is to be the name of a variable]"
    return {**values, "model": model}


def _toml(value: object) -> str:
    import json

    if isinstance(value, dict):
        pairs = ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items())
        return f"{{{pairs}}}"
    return json.dumps("" if value is None else value, ensure_ascii=False)
