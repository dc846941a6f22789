"""`reviewer config show|validate`: the settings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click
from msgspec import to_builtins

from reviewer.cli.output import json_option, narrate, print_json, print_lines, print_text
from reviewer.cli.session import Session, VerbSection, pass_session
from reviewer.llm.open_model import check_model
from reviewer.settings import load_settings, settings_path
from reviewer.text.secrets import mask


@click.group(cls=VerbSection)
def config() -> None:
    pass


@config.command("show")
@json_option("One JSON object.")
def show(as_json: bool) -> None:
    """Show the current settings."""
    from tomlkit import dumps

    path = settings_path()
    values = _harmless(to_builtins(load_settings()))
    if as_json:
        print_json({"path": str(path), "exists": path.exists(), **values})
        return
    narrate(f"{path}{'' if path.exists() else ' (does not exist: defaults apply)'}")
    print_lines(dumps({k: "" if v is None else v for k, v in values.items()}).strip())


@config.command("validate")
@pass_session
def validate(session: Session) -> None:
    """Check the settings file, including the keys."""
    path = settings_path()
    check_settings(session, path)
    state = "is valid." if path.exists() else "does not exist; the defaults apply."
    print_text(f"{path} {state}")


def check_settings(session: Session, path: Path) -> None:
    """Read the settings as the screen does. Raises ReviewerError if they are invalid."""
    settings = load_settings(path)
    if settings.keys:
        session.check_keymap(path)
    check_model(settings)


def _harmless(values: dict[str, Any]) -> dict[str, Any]:
    """The settings, with misplaced credentials masked."""
    model = dict(values["model"])
    model["base_url"] = re.sub(r"//[^/@]*@", "//[masked]@", mask(model["base_url"]).text)
    if not re.fullmatch(r"\w*", model["key_variable"]) or mask(model["key_variable"]).kinds:
        model["key_variable"] = "[masked: this must be the name of a variable]"
    model["command"] = [mask(part).text for part in model["command"]]
    return {**values, "model": model}
