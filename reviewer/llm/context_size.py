"""The size of a model's context, as its endpoint states it in the list of models."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from reviewer.llm.endpoint import find_endpoint
from reviewer.settings import ModelSettings

SECONDS = 3.0
FIELDS = (
    "context_length", "context_window", "max_model_len", "max_context_length", "max_input_tokens",
    "n_ctx", "n_ctx_train",
)  # fmt: skip
"""How servers call it: OpenRouter and Together, Groq, vLLM, LM Studio, LiteLLM, llama.cpp."""
LEAST, MOST = 512, 4_000_000


def stated_context(settings: ModelSettings) -> int | None:
    """Tokens of prompt and answer together; None where the endpoint does not say, or is not there:
    the first question will tell why. Only the list of models is asked for.

    Raises ModelError for settings that name no usable endpoint.
    """
    import httpx2

    endpoint = find_endpoint(settings, os.environ)
    headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
    try:
        with httpx2.Client(
            trust_env=not endpoint.local, follow_redirects=False, timeout=SECONDS
        ) as client:
            answer = client.get(f"{endpoint.base_url.rstrip('/')}/models", headers=headers)
            listed = answer.json() if answer.status_code == 200 else None
    except (httpx2.HTTPError, ValueError, RecursionError):
        return None
    return next(_sizes(listed, endpoint.model), None)


def _sizes(listed: object, name: str) -> Iterator[int]:
    """What is stated for a model, the smallest first: a server may run a model with less than it
    was trained with.
    """
    models = listed.get("data") if isinstance(listed, dict) else None
    for model in models if isinstance(models, list) else ():
        if isinstance(model, dict) and model.get("id") == name:
            yield from sorted(_figures(model))


def _figures(model: Mapping[str, Any]) -> Iterator[int]:
    meta = model.get("meta")
    for place in (model, meta if isinstance(meta, dict) else {}):
        for field in FIELDS:
            value = place.get(field)
            if isinstance(value, int) and LEAST <= value <= MOST:
                yield value
