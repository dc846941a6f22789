"""The settings file: TOML in the user's configuration folder, or at REVIEWER_CONFIG."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from reviewer.errors import ReviewerError
from reviewer.files import read_small

CONTEXT_TOKENS = 8192
"""The context window of small models: tokens of prompt and answer together."""


class SettingsError(ReviewerError):
    """The settings file cannot be read or contains an invalid setting."""


class ModelSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The model that may be called; no data is sent while `base_url` and `command` are empty."""

    base_url: str = ""
    """An OpenAI-compatible endpoint such as `http://127.0.0.1:8080/v1`."""
    name: str = ""
    """Name of the model at that endpoint, or for the command."""
    command: tuple[str, ...] = ()
    """Instead of an endpoint: `claude`, `codex`, `gemini`, `opencode` or `copilot`, or any program
    with its arguments that reads a prompt from standard input and prints the answer."""
    others: tuple[str, ...] = ()
    """Other models at that endpoint, for the nodes of a pipeline."""
    key_variable: str = ""
    """Name of the environment variable with the API key; empty if the endpoint needs none."""
    timeout: Annotated[float, msgspec.Meta(gt=0, le=3600)] = 120.0
    """Seconds to wait for one answer."""
    concurrency: Annotated[int, msgspec.Meta(ge=1, le=64)] = 2
    """Maximum number of simultaneous calls."""
    context_tokens: Annotated[int, msgspec.Meta(ge=512)] = CONTEXT_TOKENS
    """Maximum tokens of prompt and answer together."""
    price_in: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    """Price of a million tokens sent; 0 if unknown."""
    price_out: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    """Price of a million tokens answered."""
    allow_http: bool = False
    """Allow plain HTTP to another machine."""


class CompressionSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How contexts are compressed."""

    engine: Literal["offline", "model"] = "offline"
    """The engine that writes summaries unless a flag names one."""
    tier: Literal["core", "writer-pro", "teams"] = "teams"
    """The licence: core has no summaries, writer-pro has Detailed and Brief, teams has all."""
    templates: str = ""
    """Folder whose templates replace the built-in ones of the same name."""


class SyncSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How `reviewer sync` signs, and whom it trusts."""

    key: str = ""
    """SSH key for signing this machine's file; empty for no signature."""
    signers: str = ""
    """File of allowed signers, as in `ssh-keygen(1)`; empty to accept every file."""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All settings; each is optional."""

    theme: Literal["dark", "light"] = "dark"
    """Colours of the screen, until others are chosen there."""
    ascii: bool = False
    """Draw with ASCII characters only, as `--ascii` does."""
    keys: dict[str, str | list[str]] = {}
    """Action -> key or keys, replacing the built-in ones. The screen checks the names."""
    model: ModelSettings = ModelSettings()
    compression: CompressionSettings = CompressionSettings()
    sync: SyncSettings = SyncSettings()


def settings_path() -> Path:
    """Path of the settings file, whether or not it exists."""
    named = os.environ.get("REVIEWER_CONFIG")
    if named:
        return Path(named).expanduser()
    from platformdirs import user_config_path

    return user_config_path("reviewer") / "config.toml"


def load_settings(path: Path | None = None) -> Settings:
    """The settings of the file at `path` (default: the user's); the defaults without a file.

    Raises SettingsError with the position or name of the error.
    """
    path = path or settings_path()
    try:
        data = read_small(path)
    except FileNotFoundError:
        if os.environ.get("REVIEWER_CONFIG"):
            raise SettingsError(f"There is no settings file {path} (REVIEWER_CONFIG).") from None
        return Settings()
    except OSError as problem:
        raise SettingsError(f"Cannot read the settings {path}: {problem.strerror}.") from problem
    import tomllib  # late: often there is no such file

    try:
        return msgspec.convert(tomllib.loads(data.decode()), Settings)
    except (ValueError, RecursionError) as problem:  # not UTF-8, not TOML, or a wrong setting
        raise SettingsError(
            f"The settings {path}: {problem}. All settings: reviewer help settings"
        ) from problem
