"""Options of a run, and the stand-in for a model if none is configured."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from reviewer.llm.model import ChatMessage, ChatModel, Completion, JsonSchema
from reviewer.pipelines.events import Ask, Watch
from reviewer.settings import Settings
from reviewer.text.clip import clip

CONTEXT_TOKENS = 8_192


class RunOptions(Struct, frozen=True):
    """Options and callbacks of a run; callbacks are called in its thread.

    `models`: other models by name, for nodes that name one; without a model the offline stand-in
    answers everything. `context_tokens`: the size of the model's context, for prompt and answer.
    `answers`: given in advance, by node, used up in order. `context`: the initial context.
    `max_steps`: the maximum number of stages (None: as at the start of the run, else 1,000 or four
    per node, whichever is more). `watch` gets each event; `ask` answers a question, or returns None
    to pause the run; `cancelled` returns whether to stop.
    """

    model: ChatModel | None = None
    models: dict[str, ChatModel] = {}
    context_tokens: int = CONTEXT_TOKENS
    answers: dict[str, list[str]] = {}
    context: dict[str, str] = {}
    allow_tools: bool = False
    max_steps: int | None = None
    watch: Watch = lambda event: None
    ask: Ask = lambda question: None
    cancelled: Callable[[], bool] = lambda: False

    def answering(self, name: str) -> ChatModel:
        """The model of that name, else the run's model."""
        if self.model is None:
            return StandIn()
        return self.models.get(name, self.model)


def options_from(settings: Settings, *, asks_model: bool) -> RunOptions:
    """Options with the configured models, or with the offline stand-in. Raises ReviewerError if no
    model is configured.
    """
    from reviewer.llm.open_model import open_model, open_other_models

    tokens = settings.model.context_tokens
    if not asks_model:
        return RunOptions(context_tokens=tokens)
    return RunOptions(open_model(settings), open_other_models(settings), tokens)


LABEL = "[offline stand-in]"
_SHOWN = 80


class StandIn:
    """Stands in for a model, to try a pipeline without one.

    Answers every prompt with a short, deterministic placeholder.
    """

    name = "offline stand-in"

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        temperature: float = 0.3,
        schema: JsonSchema | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Completion:
        """An echo of the last line of the last message."""
        lines = [line.strip() for line in messages[-1].content.splitlines() if line.strip()]
        asked = lines[-1] if lines else "nothing"
        turns = f"turn {(len(messages) + 1) // 2}" if len(messages) > 1 else "fresh session"
        return Completion(f"{LABEL} {turns}; asked for: {clip(asked, _SHOWN)}", self.name, 0, 0)
