"""Which settings can be an endpoint."""

from __future__ import annotations

from typing import Any

import pytest

from reviewer.llm.endpoint import check_endpoint, find_endpoint
from reviewer.llm.model import ModelError
from reviewer.settings import ModelSettings


def settings(base_url: str = "https://models.example/v1", **more: Any) -> ModelSettings:
    return ModelSettings(**{"base_url": base_url, "name": "tiny", **more})


@pytest.mark.parametrize(
    "base_url",
    [
        "https://models.example/v1",
        "http://127.0.0.1:8080/v1",
        "http://[::1]:8080/v1",
    ],
)
def test_where_a_request_can_go(base_url: str) -> None:
    check_endpoint(settings(base_url))
    check_endpoint(settings("http://models.example/v1", allow_http=True))


@pytest.mark.parametrize(
    ("base_url", "words"),
    [
        ("", "No model is configured"),
        ("models.example/v1", "must begin with https://"),
        ("https:///v1", "has no host"),
        ("https://models.example:banana/v1", "is not a URL"),
        ("https://me:pass-word@models.example/v1", "contains a name or a password"),
        ("https://models.example/v1?key=abc", "behind ? or #"),
        ("http://models.example/v1", "allow_http"),
        ("http://127.0.0.1.models.example/v1", "plain HTTP"),
        ("http://kiosk.localhost/v1", "plain HTTP"),
        ("http://models.example\\@127.0.0.1/v1", "contains a name or a password"),
    ],
)
def test_where_no_request_goes(base_url: str, words: str) -> None:
    with pytest.raises(ModelError) as refused:
        check_endpoint(settings(base_url))
    assert words in str(refused.value)
    assert "pass-word" not in str(refused.value)


def test_a_model_needs_a_name() -> None:
    with pytest.raises(ModelError, match="Set name under"):
        check_endpoint(settings(name=" "))


def test_a_key_in_place_of_its_variable_is_refused_and_not_repeated() -> None:
    with pytest.raises(ModelError, match="name of an environment variable") as refused:
        check_endpoint(settings(key_variable="sk-live-0001-0002"))
    assert "0001" not in str(refused.value)


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
