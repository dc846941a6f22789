"""The settings file: TOML in the user's configuration folder, or where REVIEWER_CONFIG says."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Annotated, Literal, get_type_hints

import msgspec

from reviewer.errors import ReviewerError
from reviewer.plain_files import read_small


class SettingsError(ReviewerError):
    """The settings file cannot be read or says something that is no setting."""


class ModelSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The model that may be asked; nothing is ever sent while `base_url` is empty."""

    base_url: str = ""
    """An OpenAI-compatible endpoint such as `http://127.0.0.1:8080/v1`."""
    name: str = ""
    """The model's name at that endpoint."""
    others: tuple[str, ...] = ()
    """Other models at that endpoint, which the nodes of a pipeline may name."""
    key_variable: str = ""
    """Name of the environment variable that holds the key; empty for an endpoint without."""
    timeout: Annotated[float, msgspec.Meta(gt=0, le=3600)] = 60.0
    """Seconds that one answer may take."""
    concurrency: Annotated[int, msgspec.Meta(ge=1, le=64)] = 4
    """Calls at once, at most."""
    context_tokens: Annotated[int, msgspec.Meta(ge=512)] = 8192
    """Tokens that prompt and answer may have together."""
    allow_http: bool = False
    """Allow plain HTTP to another machine."""


class CompressionSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How contexts are compressed."""

    engine: Literal["offline", "model"] = "offline"
    """What writes summaries where no flag says it."""
    tier: Literal["core", "writer-pro", "teams"] = "teams"
    """The licence: core has no summaries, writer-pro has Detailed and Brief, teams has all."""
    templates: str = ""
    """Folder whose templates stand in for the built-in ones of the same name."""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that can be set. All of it is optional."""

    theme: Literal["dark", "light"] = "dark"
    """Colours of the screen."""
    ascii: bool = False
    """Draw with ASCII characters only, as `--ascii` does."""
    editor: str | None = None
    """Command for `E` on the screen, instead of VISUAL or EDITOR."""
    keys: dict[str, str | list[str]] = {}
    """Action -> key or keys, in place of the built-in ones. The screen checks the names."""
    model: ModelSettings = ModelSettings()
    """The model that may be asked."""
    compression: CompressionSettings = CompressionSettings()
    """How contexts are compressed."""


def settings_path() -> Path:
    """Where the settings file is, or would be."""
    named = os.environ.get("REVIEWER_CONFIG")
    if named:
        return Path(named).expanduser()
    from platformdirs import user_config_path

    return user_config_path("reviewer") / "config.toml"


def load_settings(path: Path | None = None) -> Settings:
    """The settings of the file at `path` (default: the user's); the built-in ones without a file.

    Raises SettingsError with the position or the name that is wrong.
    """
    path = path or settings_path()
    try:
        text = read_small(path).decode()
    except FileNotFoundError:
        if os.environ.get("REVIEWER_CONFIG"):
            raise SettingsError(f"There is no settings file {path} (REVIEWER_CONFIG).") from None
        return Settings()
    except OSError as problem:
        raise SettingsError(f"Cannot read the settings {path}: {problem.strerror}.") from problem
    except UnicodeDecodeError as problem:
        raise SettingsError(f"The settings {path} are not UTF-8 text.") from problem
    try:
        return msgspec.convert(tomllib.loads(text), Settings)
    except tomllib.TOMLDecodeError as problem:
        raise SettingsError(f"The settings {path} are not TOML: {problem}.") from problem
    except RecursionError:
        raise SettingsError(f"The settings {path} are nested too deep.") from None
    except msgspec.ValidationError as problem:
        raise SettingsError(f"The settings {path}: {_explained(str(problem))}") from problem


def _explained(problem: str) -> str:
    """The validator's message, with the nearest name when a name is unknown."""
    if "unknown field" not in problem:
        return f"{problem}."
    from difflib import get_close_matches

    name = problem.split("`")[1]
    _, _, table = problem.partition("`$.")
    struct = get_type_hints(Settings).get(table.rstrip("`"), Settings)
    known = struct.__struct_fields__
    where = f" of [{table.rstrip('`')}]" if table else ""
    near = get_close_matches(name, known, n=1)
    hint = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(known)}."
    return f"{name} is no setting{where}. {hint}"
