"""Opens the engines named by the settings or a flag."""

from __future__ import annotations

from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from msgspec import structs

from reviewer.compression.measures import Publish
from reviewer.compression.offline_engine import OfflineEngine
from reviewer.compression.summarizer import Summarizer
from reviewer.settings import load_settings
from reviewer.text.tokens import counter

EngineName = Literal["offline", "model"]


class Engines:
    """Creates one summarizer per engine, on first use."""

    def __init__(self, publish: Publish | None = None) -> None:
        self._publish = publish
        self._summarizers: dict[tuple[EngineName, str], Summarizer] = {}

    def named(self, name: str | None) -> EngineName:
        """The engine of that name, or that of the settings. Raises SettingsError."""
        return "model" if (name or load_settings().compression.engine) == "model" else "offline"

    def concurrency(self, engine: EngineName) -> int:
        """The number of segments that may be written in parallel."""
        return load_settings().model.concurrency if engine == "model" else 1

    def summarizer(self, engine: EngineName, model_id: str | None = None) -> Summarizer:
        """The summarizer of an engine; `model_id` replaces the model of the settings.

        Raises ModelError if no model is configured, SettingsError.
        """
        key = (engine, model_id or "")
        if key not in self._summarizers:
            made = self._offline() if engine == "offline" else self._model(model_id)
            self._summarizers[key] = made
        return self._summarizers[key]

    def _offline(self) -> Summarizer:
        count = counter().count
        return Summarizer(
            OfflineEngine(count),
            count=count,
            tier=load_settings().compression.tier,
            publish=self._publish,
        )

    def _model(self, model_id: str | None) -> Summarizer:
        from reviewer.compression.model_engine import ModelEngine
        from reviewer.llm.answer_cache import AnswerCache, answers_folder
        from reviewer.llm.open_model import context_tokens, open_model

        settings = load_settings()
        if model_id:
            settings = structs.replace(
                settings, model=structs.replace(settings.model, name=model_id)
            )
        count = counter().count
        folder = settings.compression.templates
        host = urlsplit(settings.model.base_url).hostname or ""  # a local port may change
        engine = ModelEngine(
            open_model(settings),
            count,
            context_tokens=context_tokens(settings),
            templates=Path(folder).expanduser() if folder else None,
            answers=AnswerCache(answers_folder()),
            asked=(host, *settings.model.command),
        )
        return Summarizer(
            engine,
            count=count,
            tier=settings.compression.tier,
            publish=self._publish,
            offline=self.summarizer("offline"),
        )
