"""Which engine writes, as the settings or a flag say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from reviewer.clock import Clock
from reviewer.compression.levels import Summarizer
from reviewer.compression.measures import Publish
from reviewer.compression.offline import OfflineWriter
from reviewer.errors import ReviewerError
from reviewer.settings import Settings

EngineName = Literal["offline", "model"]


class Engines:
    """Hands out summarizers. The model is opened when it is first asked for, never before."""

    def __init__(
        self, settings: Callable[[], Settings], clock: Clock, publish: Publish | None = None
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._publish = publish
        self._made: dict[tuple[EngineName, str], Summarizer] = {}

    def default(self) -> EngineName:
        """The engine that the settings name. Raises SettingsError."""
        return self._settings().compression.engine

    def named(self, name: str | None) -> EngineName:
        """The engine of that name, or the settings' own. Raises ReviewerError for another name."""
        if name is None:
            return self.default()
        if name == "offline":
            return "offline"
        if name == "model":
            return "model"
        raise ReviewerError(f'There is no engine "{name}"; choose offline or model.')

    def concurrency(self, engine: EngineName) -> int:
        """How many segments may be written at once."""
        return self._settings().model.concurrency if engine == "model" else 1

    def summarizer(self, engine: EngineName, model_id: str | None = None) -> Summarizer:
        """The summarizer of an engine; `model_id` stands in for the model of the settings.

        Raises ModelError when no model is configured, SettingsError.
        """
        key = (engine, model_id or "")
        if key not in self._made:
            self._made[key] = self._make(engine, model_id)
        return self._made[key]

    def _make(self, engine: EngineName, model_id: str | None) -> Summarizer:
        from reviewer.text.tokens import counter

        settings = self._settings()
        count = counter().count
        offline = OfflineWriter(count)
        if engine == "offline":
            return Summarizer(
                offline,
                offline,
                count=count,
                clock=self._clock,
                tier=settings.compression.tier,
                publish=self._publish,
            )
        from msgspec import structs

        from reviewer.compression.model_writer import ModelWriter
        from reviewer.llm.door import open_model

        if model_id:
            model = structs.replace(settings.model, name=model_id)
            settings = structs.replace(settings, model=model)
        folder = settings.compression.templates
        writer = ModelWriter(
            open_model(settings),
            count,
            context_tokens=settings.model.context_tokens,
            templates=Path(folder).expanduser() if folder else None,
        )
        return Summarizer(
            writer,
            offline,
            count=count,
            clock=self._clock,
            tier=settings.compression.tier,
            publish=self._publish,
        )
