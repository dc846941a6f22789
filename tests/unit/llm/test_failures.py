"""Every way in which an endpoint fails becomes a sentence that says what to do."""

from __future__ import annotations

import socket
import threading

import pytest

from reviewer.llm.model import ChatMessage, ModelError
from reviewer.llm.openai_chat import OpenAIChat
from reviewer.settings import ModelSettings
from tests.unit.llm.faults import Behave, Call, chunk, endpoint

ASK = [ChatMessage("user", "What is a ledger?")]
KEY = "kiosk-secret-0001"


def error_of(settings: ModelSettings, *, max_tokens: int = 9) -> str:
    """The sentence of a call that fails."""
    chat = OpenAIChat(settings, environment={"KIOSK_KEY": KEY}, retries=0)
    with pytest.raises(ModelError) as failed:
        chat.complete(ASK, max_tokens=max_tokens)
    sentence = str(failed.value)
    assert "\n" not in sentence
    assert KEY not in sentence
    return sentence


def stream(*lines: str, whole: bool = True) -> Behave:
    """An endpoint that streams these lines; with `whole`, and then the end of the stream."""

    def behave(call: Call) -> None:
        call.begins()
        for line in lines:
            call.sends(line)
        if whole:
            call.sends("[DONE]")

    return behave


def half(call: Call) -> None:
    """A body that ends before its announced length."""
    call.send_response(200)
    call.send_header("Content-Type", "text/event-stream")
    call.send_header("Content-Length", "5000")
    call.end_headers()
    call.says("Half")
    call.close_connection = True


@pytest.mark.parametrize(
    ("behave", "words"),
    [
        (lambda call: call.refuses(401, f"Incorrect key {KEY}"), ["401", "valid key"]),
        (lambda call: call.refuses(404, "no such model"), ["404", "tiny", "name", "base_url"]),
        (lambda call: call.refuses(429, "slow down"), ["429", "slow down", "Wait", "concurrency"]),
        (lambda call: call.refuses(500, "out of memory"), ["500", "out of memory", "Try again"]),
        (lambda call: call.refuses(400, "512 tokens of context"), ["too long", "context_tokens"]),
        (lambda call: call.refuses(422, "what?"), ["422", "what?", "name"]),
        (lambda call: call.answers(502, "<html>\n<b>Bad</b>", "text/html"), ["502", "Try again"]),
        (lambda call: call.answers(307, "", Location="http://127.0.0.1:9/"), ["307", "base_url"]),
        (lambda call: call.answers(200, "<html>Hi</html>", "text/html"), ["not a streamed chat"]),
        (stream("{not json"), ["not a streamed chat"]),
        (stream("[" * 100_000), ["not a streamed chat"]),
        (stream('"just text"', "[1]", "3"), ["broke off"]),
        (stream(chunk("Half"), whole=False), ["broke off", "Try again"]),
        (half, ["broke off", "Try again"]),
        (stream('{"error": {"message": "slot lost"}}'), ["gave up", "slot lost"]),
        (stream(chunk(None, "stop")), ["gave an empty answer", "Try again"]),
        (stream(chunk(None, "length")), ["9 tokens", "Allow more"]),
        (stream(chunk(None, "content_filter")), ["withheld", "offline engine"]),
    ],
)  # fmt: skip
def test_a_failing_endpoint(behave: Behave, words: list[str]) -> None:
    with endpoint(behave) as server:
        sentence = error_of(server.settings(key_variable="KIOSK_KEY"))
    assert [word for word in words if word not in sentence] == [], sentence


def test_long_words_of_an_endpoint_are_cut_and_its_secrets_masked() -> None:
    token = "ghp_" + "x7Kd9QwErTy" * 4
    with endpoint(lambda call: call.refuses(500, f"{token} " + "blah\n" * 500)) as server:
        sentence = error_of(server.settings())
    assert token not in sentence
    assert len(sentence) < 400


def test_nobody_answers_there() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        sentence = error_of(ModelSettings(base_url=f"http://127.0.0.1:{port}/v1", name="tiny"))
    assert "cannot be reached" in sentence
    assert "start the server there" in sentence


def test_a_host_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the network of this machine answers for such a name."""

    def nothing(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", nothing)
    settings = ModelSettings(base_url="https://nowhere.invalid/v1", name="tiny", timeout=20.0)
    assert "nowhere.invalid" in error_of(settings)
    assert "base_url" in error_of(settings)


@pytest.mark.parametrize("answers", ["nothing", "a beginning", "that it is alive"])
def test_an_endpoint_that_takes_too_long(answers: str) -> None:
    over = threading.Event()

    def slow(call: Call) -> None:
        if answers != "nothing":
            call.begins()
        if answers == "a beginning":
            call.says("Well, ")
        while not over.wait(0.05 if answers == "that it is alive" else 30):
            call.wfile.write(b": ping\n\n")
            call.wfile.flush()

    with endpoint(slow) as server:
        sentence = error_of(server.settings(timeout=0.4))
        over.set()
    assert "within 0.4 seconds" in sentence
    assert "timeout under [model]" in sentence


def test_an_endpoint_that_does_not_stop_is_cut_off() -> None:
    hung_up = threading.Event()

    def endless(call: Call) -> None:
        call.begins()
        try:
            while True:
                call.says("again and again " * 1_000)
        except OSError:
            hung_up.set()

    with endpoint(endless) as server:
        assert "does not stop at the limit" in error_of(server.settings())
        assert hung_up.wait(30)


def test_an_endpoint_that_stays_busy_is_named_so() -> None:
    def busy(call: Call) -> None:
        call.refuses(429, "wait", x_should_retry="true", retry_after="60")

    with endpoint(busy) as server:
        chat = OpenAIChat(server.settings(timeout=0.6))
        with pytest.raises(ModelError, match=r"within 0.6 seconds \(it answers 429\)"):
            chat.complete(ASK, max_tokens=9)


def test_plain_http_to_a_tls_host_gives_a_sentence() -> None:
    with endpoint(lambda call: call.streams("Yes.")) as server:
        url = server.settings().base_url.replace("http:", "https:")
        assert "cannot be reached" in error_of(server.settings(base_url=url))


@pytest.mark.parametrize(
    "shown", ["{start}***{end}", "{start}...{end}", "{key}", "'{start}********'"]
)
def test_an_endpoint_that_echoes_a_part_of_the_key_shows_nothing_of_it(shown: str) -> None:
    words = shown.format(start=KEY[:8], end=KEY[-4:], key=KEY)
    said = f"Incorrect API key: {words}. Get one."
    with endpoint(lambda call: call.refuses(500, said)) as server:
        sentence = error_of(server.settings(key_variable="KIOSK_KEY"))
    assert "Incorrect API key" in sentence
    assert KEY[:8] not in sentence
    assert KEY[-4:] not in sentence
