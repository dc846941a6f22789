"""The one way in: the model that the settings name, and nothing without them."""

from __future__ import annotations

from reviewer.llm.endpoint import check_endpoint
from reviewer.llm.model import ChatModel
from reviewer.settings import ModelSettings, Settings


def open_model(settings: Settings) -> ChatModel:
    """The model that the settings name; nothing is sent yet. Raises ModelError for none."""
    from reviewer.llm.openai_chat import OpenAIChat

    return OpenAIChat(settings.model)


def open_others(settings: Settings) -> dict[str, ChatModel]:
    """The other models of the same endpoint by name. Raises ModelError where there is none."""
    from msgspec import structs

    from reviewer.llm.openai_chat import OpenAIChat

    base = settings.model
    return {
        name: OpenAIChat(structs.replace(base, name=name, others=()))
        for name in base.others
        if name != base.name
    }


def check_model(settings: Settings) -> None:
    """Raise ModelError when `[model]` says something, and what it says cannot be an endpoint."""
    if settings.model != ModelSettings():
        check_endpoint(settings.model)
