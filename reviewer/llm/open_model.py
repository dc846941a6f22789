"""Opens the models named in the settings; there is no default model."""

from __future__ import annotations

from msgspec import structs

from reviewer.llm.endpoint import check_endpoint
from reviewer.llm.model import ChatModel
from reviewer.settings import CONTEXT_TOKENS, ModelSettings, Settings


def open_model(settings: Settings) -> ChatModel:
    """The model named in the settings; sends nothing yet. Raises ModelError without one."""
    if settings.model.command:
        from reviewer.llm.command import CommandChat

        return CommandChat(settings.model)
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
    """Raise ModelError when `[model]` is set, but to no usable endpoint or command."""
    if settings.model.command:
        from reviewer.llm.command import check_command

        check_command(settings.model)
    elif settings.model != ModelSettings():
        check_endpoint(settings.model)


CONTEXT_OF_AGENTS = 100_000
"""Tokens of prompt and answer that every agent's command line takes."""


def context_tokens(settings: Settings) -> int:
    """Tokens of prompt and answer together; for a command more, unless the settings limit it."""
    limit = settings.model.context_tokens
    return CONTEXT_OF_AGENTS if settings.model.command and limit == CONTEXT_TOKENS else limit
