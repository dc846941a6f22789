"""What answers the runs of the Pipelines screen, and what they are allowed to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviewer.text.display import display_line

if TYPE_CHECKING:
    from reviewer.engine import RunOptions
    from reviewer.settings import Settings
    from reviewer.tui.screens.pipelines import PipelinesScreen


class Answering:
    """The model or the stand-in, shell commands or none, for the next run."""

    def __init__(self, screen: PipelinesScreen) -> None:
        self._screen = screen
        self._settings: Settings | None = None
        self.with_model: bool | None = None
        """Whether the model of the settings answers; None until somebody says so."""
        self.allow_tools = False

    def left_pipeline(self) -> None:
        """Another pipeline is shown: what was allowed for the former is not for this one."""
        self.allow_tools = False

    @property
    def has_model(self) -> bool:
        """Whether the settings name a model."""
        return bool(self._read_settings().model.base_url)

    def _read_settings(self) -> Settings:
        if self._settings is None:
            from reviewer.settings import load_settings

            self._settings = load_settings()
        return self._settings

    @property
    def answered_by(self) -> str:
        """Who answers, for the title."""
        if self.with_model:
            return self._read_settings().model.name or "the model"
        return "offline stand-in"

    def switch_engine(self) -> None:
        """Let the model answer, or the stand-in again."""
        self.with_model = not self.with_model
        self._screen.say(f"The next run is answered by: {display_line(self.answered_by)}.")
        self._screen.showing.draw_title()

    def switch_tools(self) -> None:
        """Allow shell commands for this pipeline, or no longer."""
        self.allow_tools = not self.allow_tools
        self._screen.say(
            "Runs of this pipeline may run its shell commands, with your rights: T forbids it."
            if self.allow_tools
            else "Shell commands are refused."
        )
        self._screen.showing.draw_title()

    def options(self, *, model: bool) -> RunOptions:
        """What a run is started with; it reads the settings, so call it in a thread.

        Raises ModelError when a model is asked for and none is set up.
        """
        from reviewer.engine import RunOptions
        from reviewer.storeless import open_model, open_other_models

        settings = self._read_settings()
        return RunOptions(
            model=open_model(settings) if model else None,
            models=open_other_models(settings) if model else {},
            context_tokens=settings.model.context_tokens,
            allow_tools=self.allow_tools,
            wait=True,
        )
