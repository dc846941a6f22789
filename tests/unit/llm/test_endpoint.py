"""Which settings can be an endpoint."""

from __future__ import annotations

from typing import Any

import pytest

from reviewer.llm.endpoint import check_endpoint, find_endpoint
from reviewer.llm.model import ModelError
from reviewer.settings import ModelSettings


def settings(base_url: str = "https://models.example/v1", **more: Any) -> ModelSettings:
    return ModelSettings(**{"base_url": base_url, "name": "tiny", **more})


def refusal(model: ModelSettings) -> str:
    """Why no request goes there; empty if one can."""
    try:
        check_endpoint(model)
    except ModelError as problem:
        return str(problem)
    return ""


@pytest.mark.parametrize(
    "model",
    [
        settings("https://models.example/v1"),
        settings("http://127.0.0.1:8080/v1"),
        settings("http://[::1]:8080/v1"),
        settings("http://models.example/v1", allow_http=True),
    ],
    ids=["https", "this machine", "this machine by IPv6", "allowed"],
)
def test_where_a_request_can_go(model: ModelSettings) -> None:
    assert not refusal(model)


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        (settings(""), "No model is configured"),
        (settings("models.example/v1"), "must look like https://"),
        (settings("https:///v1"), "must look like"),
        (settings("https://models.example:banana/v1"), "must look like"),
        (settings("https://me:pass-word@models.example/v1"), "without a name, a password"),
        (settings("https://models.example/v1?key=pass-word"), "behind ? or #"),
        (settings("http://models.example/v1"), "allow_http"),
        (settings("http://127.0.0.1.models.example/v1"), "plain HTTP"),
        (settings("http://kiosk.localhost/v1"), "plain HTTP"),
        (settings("http://models.example\\@127.0.0.1/v1"), "without a name, a password"),
        (settings(name=" "), "Set name under"),
        (settings(key_variable="sk-pass-word-0002"), "name of an environment variable"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_where_no_request_goes(refused: ModelSettings, words: str) -> None:
    why = refusal(refused)
    assert words in why
    assert "pass-word" not in why


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({}, "is not set"),
        ({"KIOSK_KEY": "two words"}, "cannot be in a key"),
        ({"KIOSK_KEY": "line\r\nX-Header: 1"}, "cannot be in a key"),
    ],
)
def test_a_variable_without_a_key(environment: dict[str, str], words: str) -> None:
    with pytest.raises(ModelError, match="KIOSK_KEY") as refused:
        find_endpoint(settings(key_variable="KIOSK_KEY"), environment)
    assert words in str(refused.value)


def test_a_key_does_not_show_in_a_traceback() -> None:
    found = find_endpoint(settings(key_variable="KIOSK_KEY"), {"KIOSK_KEY": "abc-0001"})
    assert found.key == "abc-0001"
    assert "abc-0001" not in f"{found} {found!r}"
