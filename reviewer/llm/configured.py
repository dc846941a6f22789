"""The model of the settings, and what to do where there is none."""

from __future__ import annotations

from pathlib import Path

from reviewer.llm.command import agents_found
from reviewer.llm.model import ModelError
from reviewer.settings import ModelSettings, load_settings, settings_path


def configured_model() -> ModelSettings:
    """Raises ModelError without one, saying what to write where."""
    model = load_settings().model
    if model.base_url or model.command:
        return model
    path, home = str(settings_path()), str(Path.home())
    place = "~" + path[len(home) :] if path.startswith(home) else path
    found = agents_found()
    if found:
        what = f'To ask {found[0].title}, put command = ["{found[0].program}"]'
    else:
        what = "Put base_url and name of one"
    raise ModelError(f"No model is configured. {what} under [model] in {place}.")
