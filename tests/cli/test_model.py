"""`reviewer model check`, and the settings of a model."""

from __future__ import annotations

from tests.cli.conftest import Reviewer
from tests.cli.test_compress import model_at
from tests.unit.llm.faults import Call, endpoint


def test_without_a_model_it_says_how_to_get_one(reviewer: Reviewer) -> None:
    assert "base_url" in reviewer.fails("model", "check")


def test_a_model_that_answers(reviewer: Reviewer) -> None:
    def hostile(call: Call) -> None:
        call.streams("It lists \x1b[31mchanges.")

    with endpoint(hostile) as server:
        told = reviewer("model", "check", env=model_at(server, reviewer))
    assert told.returncode == 0
    assert "7 asked, 5 answered (counted by endpoint)" in told.stdout
    assert "\x1b" not in told.stdout
    assert "tiny" in told.stdout
    assert len(server.calls[0].body["messages"]) == 1


def test_a_model_that_fails(reviewer: Reviewer) -> None:
    with endpoint(lambda call: call.refuses(404, "no such model")) as server:
        assert "no such model" in reviewer.fails("model", "check", env=model_at(server, reviewer))


def test_settings_of_a_model_are_shown_without_a_key(reviewer: Reviewer) -> None:
    settings = reviewer.configured(
        '[model]\nbase_url = "https://me:pass-word@models.example/v1"\nname = "tiny"\n'
        'key_variable = "sk-live-0001"\ncontext_tokens = 4096\n',
    )
    shown = reviewer("config", "show", env=settings)
    assert "[model]" in shown.stdout.splitlines()
    assert "context_tokens = 4096" in shown.stdout
    row = reviewer.rows("config", "show", env=settings)[0]
    assert row["model"]["name"] == "tiny"
    for text in (shown.stdout, str(row)):
        assert "pass-word" not in text
        assert "0001" not in text
