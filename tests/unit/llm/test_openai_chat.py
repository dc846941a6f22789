"""The request to an endpoint, and how its answer is read."""

from __future__ import annotations

import threading
import time

import pytest

from reviewer.llm.model import CancelledError, ChatMessage, Completion
from reviewer.llm.openai_chat import OpenAIChat
from tests.unit.llm.faults import Behave, Call, endpoint

ASK = [ChatMessage("system", "Be short."), ChatMessage("user", "What is a ledger?")]
TOKEN = "ghp_" + "x7Kd9QwErTy" * 4


def test_an_answer_in_pieces_is_whole() -> None:
    with endpoint(lambda call: call.streams("A book ", "of acts.")) as server:
        answer = OpenAIChat(server.settings()).complete(ASK, max_tokens=9)
    assert answer == Completion("A book of acts.", "tiny", 7, 5, "stop", "endpoint")
    sent = server.calls[0].body
    assert sent["messages"] == [{"role": one.role, "content": one.content} for one in ASK]
    assert (sent["model"], sent["max_tokens"], sent["temperature"]) == ("tiny", 9, 0.3)
    assert sent["stream"] is True


def test_secrets_are_masked_before_anything_leaves() -> None:
    asked = [ChatMessage("user", f"Push with {TOKEN} please.")]
    with endpoint(lambda call: call.streams("Done.")) as server:
        OpenAIChat(server.settings()).complete(asked, max_tokens=9)
    assert TOKEN not in str(server.calls[0].body)
    assert "[masked github-token]" in server.calls[0].body["messages"][0]["content"]


def test_only_the_variable_that_the_settings_name_gives_a_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "from-the-environment")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Extra: from-the-environment")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    environment = {"OPENAI_API_KEY": "other", "KIOSK_KEY": " kiosk-key-1\n"}
    with endpoint(lambda call: call.streams("Yes.")) as server:
        OpenAIChat(server.settings(), environment=environment).complete(ASK, max_tokens=9)
        keyed = server.settings(key_variable="KIOSK_KEY")
        OpenAIChat(keyed, environment=environment).complete(ASK, max_tokens=9)
    without, with_key = (call.headers for call in server.calls)
    assert "Authorization" not in without
    assert with_key["Authorization"] == "Bearer kiosk-key-1"
    assert "from-the-environment" not in str(without) + str(with_key)


@pytest.mark.parametrize(
    ("finish", "means"),
    [("stop", "stop"), ("length", "length"), ("content_filter", "filtered"), ("eos", "stop")],
)
def test_how_an_answer_ended_is_reported(finish: str, means: str) -> None:
    with endpoint(lambda call: call.streams("Half an ans", finish=finish)) as server:
        assert OpenAIChat(server.settings()).complete(ASK, max_tokens=9).finish == means


def test_tokens_are_counted_here_and_marked_so_if_the_endpoint_does_not_count() -> None:
    def silent(call: Call) -> None:
        call.begins()
        call.says("A book of acts.")
        call.ends(usage=None)

    with endpoint(silent) as server:
        answer = OpenAIChat(server.settings()).complete(ASK, max_tokens=9)
    assert answer.counted_by == "cl100k_base"
    assert (answer.prompt_tokens, answer.completion_tokens) == (8, 5)


@pytest.mark.parametrize("said_first", [True, False], ids=["while it speaks", "while it thinks"])
def test_a_person_can_stop_it_at_any_moment(said_first: bool) -> None:
    hung_up = threading.Event()

    def slow(call: Call) -> None:
        if said_first:
            call.begins()
            call.says("Well, ")
        # No more data is sent: the client has closed the connection, which shows as the end of its
        # data.
        call.connection.settimeout(10)
        if call.connection.recv(1) == b"":
            hung_up.set()

    with endpoint(slow) as server:
        began = time.monotonic()
        with pytest.raises(CancelledError):
            OpenAIChat(server.settings()).complete(
                ASK, max_tokens=9, cancelled=lambda: time.monotonic() > began + 0.5
            )
        assert hung_up.wait(30)


def refusing(*fields: str) -> Behave:
    """An endpoint that refuses requests with these fields."""

    def behave(call: Call) -> None:
        for field in fields:
            if field in call.body:
                hint = "; use 'max_completion_tokens' instead" if field == "max_tokens" else ""
                call.refuses(400, f"Unsupported parameter: '{field}'{hint}.")
                return
        call.streams("Yes.")

    return behave


def test_what_an_endpoint_does_not_take_is_worded_otherwise_and_remembered() -> None:
    with endpoint(refusing("stream_options", "max_tokens", "temperature")) as server:
        chat = OpenAIChat(server.settings())
        first, second = (chat.complete(ASK, max_tokens=9) for _ in range(2))
    assert first.text == "Yes."
    assert (first.requests, second.requests, len(server.calls)) == (4, 1, 5)
    assert server.calls[-1].body["max_completion_tokens"] == 9


def test_a_busy_endpoint_is_asked_again() -> None:
    def busy(call: Call) -> None:
        if len(call.server.calls) < 3:
            call.refuses(503, "loading", x_should_retry="true", retry_after_ms="10")
        else:
            call.streams("Yes.")

    with endpoint(busy) as server:
        assert OpenAIChat(server.settings()).complete(ASK, max_tokens=9).text == "Yes."
    assert len(server.calls) == 3


SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def test_json_of_a_shape_is_asked_for() -> None:
    with endpoint(lambda call: call.streams("{}")) as server:
        chat = OpenAIChat(server.settings())
        assert chat.complete(ASK, schema=SCHEMA, max_tokens=9).text == "{}"
        chat.complete(ASK, max_tokens=9)
    shaped, plain = (call.body for call in server.calls)
    assert shaped["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
    }
    assert "response_format" not in plain


@pytest.mark.parametrize("status", [400, 422])
def test_an_endpoint_that_takes_no_shape_is_asked_without_it_from_then_on(status: int) -> None:
    def plain(call: Call) -> None:
        if "response_format" in call.body:
            call.refuses(status, "response_format json_schema is not supported")
        else:
            call.streams("{}")

    with endpoint(plain) as server:
        chat = OpenAIChat(server.settings())
        assert chat.complete(ASK, schema=SCHEMA, max_tokens=9).text == "{}"
        assert chat.complete(ASK, schema=SCHEMA, max_tokens=9).text == "{}"
    assert ["response_format" in call.body for call in server.calls] == [True, False, False]
