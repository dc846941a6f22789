"""Every way in which an endpoint fails, as a sentence that says what to do."""

from __future__ import annotations

import socket
import ssl

import openai

from reviewer.llm.answer import Answer
from reviewer.llm.endpoint import Endpoint
from reviewer.llm.model import ModelError
from reviewer.text.secrets import mask

WORDS_SHOWN = 200
"""Characters of the endpoint's own words that a sentence quotes."""


def timed_out(endpoint: Endpoint, seconds: float, status: int | None = None) -> ModelError:
    """The answer was not whole in time. `status`: what the endpoint said last."""
    if status is not None and status >= 400:
        return ModelError(
            f"{endpoint.host} answered {status} until the timeout of {seconds:g} seconds was over. "
            "Wait and try again, or lower concurrency under [model]."
        )
    return ModelError(
        f"The model at {endpoint.host} did not answer within {seconds:g} seconds. Try again, or "
        "raise timeout under [model] in the settings."
    )


def broke_off(endpoint: Endpoint) -> ModelError:
    """The stream ended without saying that it was the end."""
    return ModelError(
        f"The connection to {endpoint.host} broke off before the answer was whole. Try again."
    )


def no_chat(endpoint: Endpoint) -> ModelError:
    """What came is no streamed chat completion."""
    return ModelError(
        f"What {endpoint.base_url} answers is no streamed chat completion. Check base_url under "
        "[model]; it often ends in /v1."
    )


def require_whole(answer: Answer, endpoint: Endpoint, content_type: str) -> None:
    """Raise ModelError for an answer that never came, broke off, or says nothing."""
    if answer.finish is None:
        if not answer.began and "event-stream" not in content_type:
            raise no_chat(endpoint)
        raise broke_off(endpoint)
    if answer.text.strip():
        return
    if answer.finish == "length":
        raise ModelError(
            f"The model {endpoint.model} used up its {answer.max_tokens} tokens before it said "
            "anything. Allow more tokens, or use another model."
        )
    if answer.finish == "filtered":
        raise ModelError(
            f"The endpoint {endpoint.host} withheld the answer (content filter). Use another model "
            "or the offline engine."
        )
    raise ModelError(f"The model {endpoint.model} answered nothing. Try again.")


def explain(problem: openai.OpenAIError, endpoint: Endpoint, seconds: float) -> ModelError:
    """The sentence for what the client raised."""
    match problem:
        case openai.APITimeoutError():
            return timed_out(endpoint, seconds)
        case openai.APIConnectionError():
            return _connection(problem, endpoint)
        case openai.APIStatusError():
            return _status(problem, endpoint)
        case openai.APIError():
            said = _words(problem, endpoint)
            return ModelError(f"The model at {endpoint.host} gave up: {said}. Try again.")
    return ModelError(f"The request to {endpoint.host} could not be made: {problem}.")


def _connection(problem: openai.APIConnectionError, endpoint: Endpoint) -> ModelError:
    causes: list[BaseException] = []
    cause: BaseException | None = problem
    while cause is not None and cause not in causes:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    for cause in causes:
        match cause:
            case socket.gaierror():
                return ModelError(
                    f"The host {endpoint.host} is not known. Check base_url under [model] in the "
                    "settings, and the network."
                )
            case ssl.SSLError():
                return ModelError(
                    f"No trusted connection to {endpoint.host} is possible: "
                    f"{cause.reason or 'the TLS handshake failed'}. Check base_url under [model]."
                )
            case ConnectionRefusedError():
                return ModelError(
                    f"Nothing answers at {endpoint.base_url}. Start the server there (reviewer "
                    "model serve starts a small local one), or correct base_url under [model]."
                )
            case OSError() if cause.strerror and not isinstance(cause, ConnectionError):
                return ModelError(
                    f"{endpoint.host} cannot be reached: {cause.strerror}. Check base_url under "
                    "[model] in the settings, and the network."
                )
    return broke_off(endpoint)


def _status(problem: openai.APIStatusError, endpoint: Endpoint) -> ModelError:
    code, host, said = problem.status_code, endpoint.host, _words(problem, endpoint)
    if code in (401, 403):
        if endpoint.key_variable:
            what = f"Put a valid key into the environment variable {endpoint.key_variable}."
        else:
            what = "Name the environment variable of its key as key_variable under [model]."
        return ModelError(f"{host} refuses the key ({code}: {said}). {what}")
    if code == 404:
        return ModelError(
            f"{host} knows no model {endpoint.model} at this address ({code}: {said}). Check name "
            "and base_url under [model]."
        )
    if code == 429:
        return ModelError(
            f"{host} takes no more requests for now ({code}: {said}). Wait and try again, or lower "
            "concurrency under [model]."
        )
    if code >= 500:
        return ModelError(f"{host} failed ({code}: {said}). Try again; its log may say why.")
    if 300 <= code < 400:
        return ModelError(
            f"{host} sends requests on to another address ({code}), which is not followed. Set "
            "base_url under [model] to that address."
        )
    if code == 413 or ("context" in said.lower() and "token" in said.lower()):
        return ModelError(
            f"The prompt is too long for {endpoint.model} ({code}: {said}). Lower context_tokens "
            "under [model], or use a model with a larger context."
        )
    return ModelError(f"{host} refuses the request ({code}: {said}). Check name under [model].")


def _words(problem: openai.APIError, endpoint: Endpoint) -> str:
    """What the endpoint itself said: short, on one line, without a key or other secret."""
    said = problem.message
    if isinstance(problem.body, dict) and isinstance(problem.body.get("message"), str):
        said = problem.body["message"]
    if endpoint.key:
        said = said.replace(endpoint.key, "[masked key]")
    said = " ".join(mask(said).text.split()).rstrip(".")
    return said if len(said) <= WORDS_SHOWN else said[:WORDS_SHOWN] + "..."
