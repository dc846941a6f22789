"""Opens the models in the settings; there is no default model."""

from __future__ import annotations

from urllib.parse import urlsplit

from msgspec import structs

from reviewer.llm.endpoint import check_endpoint, is_this_machine
from reviewer.llm.model import ChatModel
from reviewer.settings import CONTEXT_TOKENS, Settings

REMOTE_CONTEXT = 100_000
"""The smallest context window of a model on another machine, in tokens."""


def open_model(settings: Settings) -> ChatModel:
    """The model in the settings, with its questions counted; sends nothing yet.

    Raises ModelError if there is none.
    """
    from reviewer.llm.spending import RecordingModel

    if settings.model.command:
        from reviewer.llm.command import CommandChat

        return RecordingModel(CommandChat(settings.model), settings.model)
    check_endpoint(settings.model)  # before the import, which takes half a second
    from reviewer.llm.openai_chat import OpenAIChat

    return RecordingModel(OpenAIChat(settings.model), settings.model)


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
    """Raise ModelError if `[model]` is set, but without a usable endpoint or command."""
    model = settings.model
    if model.command:
        from reviewer.llm.command import check_command

        check_command(model)
    elif model.base_url or model.name or model.key_variable:
        check_endpoint(model)


def context_tokens(settings: Settings) -> int:
    """The context window, for prompt and answer together: from the settings, the agent, or a
    default for models on this machine or on others.
    """
    model = settings.model
    if model.context_tokens != CONTEXT_TOKENS:
        return model.context_tokens
    if model.command:
        from reviewer.llm.agents import agent_of

        return agent_of(model.command).context_tokens
    here = is_this_machine(urlsplit(model.base_url).hostname or "")
    return CONTEXT_TOKENS if here else REMOTE_CONTEXT
