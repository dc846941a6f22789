"""`reviewer config show|validate`: the settings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from reviewer.cli.output import json_option, narrate, print_json, print_text, safe
from reviewer.cli.session import Session, Verb, pass_session

TABLES = ("model", "compression")
"""Settings that are tables in the file."""


@click.group()
def config() -> None:
    """Show or check the settings."""


@config.command("show", cls=Verb)
@json_option("One JSON object.")
def show(as_json: bool) -> None:
    """Show the current settings."""
    from msgspec import to_builtins

    from reviewer.settings import load_settings, settings_path

    path = settings_path()
    values = _harmless(to_builtins(load_settings()))
    if as_json:
        print_json({"path": str(path), "exists": path.exists(), **values})
        return
    narrate(f"{safe(str(path))}{'' if path.exists() else ' (does not exist: defaults apply)'}")
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
    """Check the settings file, including the keys."""
    from reviewer.settings import settings_path

    path = settings_path()
    check_settings(session, path)
    print_text(
        f"{safe(str(path))} is valid."
        if path.exists()
        else f"{safe(str(path))} does not exist; the defaults apply."
    )


def check_settings(session: Session, path: Path) -> None:
    """Read the settings as the screen does. Raises ReviewerError if they are invalid."""
    from reviewer.settings import check_folders, load_settings

    settings = load_settings(path)
    check_folders(settings, path)
    if settings.keys:
        session.check_keymap(path)
    model = settings.model
    if model.base_url or model.name or model.key_variable or model.command:
        from reviewer.llm.open_model import check_model

        check_model(settings)


def _harmless(values: dict[str, Any]) -> dict[str, Any]:
    """The settings, with credentials masked that somebody put into the wrong place."""
    from reviewer.text.secrets import mask

    model = dict(values["model"])
    model["base_url"] = re.sub(r"//[^/@]*@", "//[masked]@", mask(model["base_url"]).text)
    if not re.fullmatch(r"\w*", model["key_variable"]) or mask(model["key_variable"]).kinds:
        model["key_variable"] = "[masked: this must be the name of a variable]"
    model["command"] = [mask(part).text for part in model["command"]]
    return {**values, "model": model}


def _toml(value: object) -> str:
    import json

    if isinstance(value, dict):
        pairs = ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items())
        return f"{{{pairs}}}"
    return json.dumps("" if value is None else value, ensure_ascii=False)
