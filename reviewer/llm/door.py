"""Opens the models named in the settings; there is no default model."""

from __future__ import annotations

from msgspec import structs

from reviewer.llm.endpoint import check_endpoint
from reviewer.llm.model import ChatModel
from reviewer.settings import ModelSettings, Settings


def open_model(settings: Settings) -> ChatModel:
    """The model named in the settings; sends nothing yet. Raises ModelError without one."""
    check_endpoint(settings.model)  # before the import, which takes half a second
    from reviewer.llm.openai_chat import OpenAIChat

    return OpenAIChat(settings.model)


def open_other_models(settings: Settings) -> dict[str, ChatModel]:
    """The other models of the same endpoint, by name. Raises ModelError as `open_model` does."""
    model = settings.model
    return {
        name: open_model(
            structs.replace(settings, model=structs.replace(model, name=name, others=()))
        )
        for name in model.others
        if name != model.name
    }


def check_model(settings: Settings) -> None:
    """Raise ModelError when `[model]` is set, but not to a usable endpoint."""
    if settings.model != ModelSettings():
        check_endpoint(settings.model)
