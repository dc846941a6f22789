"""`reviewer model check|serve`, and the settings of a model."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from reviewer.llm.local import LocalServer
from reviewer.llm.model import ModelError
from reviewer.settings import ModelSettings, load_settings
from tests.cli.conftest import Reviewer
from tests.cli.test_compress import model_at
from tests.unit.llm.faults import Call, endpoint


def test_without_a_model_it_says_how_to_get_one(reviewer: Reviewer) -> None:
    said = reviewer.fails("model", "check")
    assert "base_url" in said
    assert "reviewer model serve" in said


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


def test_invalid_weights_are_refused(reviewer: Reviewer) -> None:
    note = reviewer.folder / "note.gguf"
    note.write_text("not weights")
    assert "is not a GGUF file" in reviewer.fails("model", "serve", "--model", note)
    assert "Cannot read the weights" in reviewer.fails("model", "serve", "--model", "nowhere.gguf")


@pytest.mark.parametrize("missing", ["SERVER_PACKAGE", "WEIGHTS_PACKAGE"])
def test_a_missing_package_names_both_commands(
    monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setattr("reviewer.llm.local.SERVER_PACKAGE", "json")
    monkeypatch.setattr(f"reviewer.llm.local.{missing}", "no_such_package")
    with pytest.raises(ModelError, match="The package no_such_package is not installed") as found:
        LocalServer()
    assert str(found.value).count("-m pip install ") == 2
    assert "-m pip install --no-deps " in str(found.value)


WITHOUT_SPINNING = {"OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "1"}
"""Threads of the model's server would wait for each other at full load, beside the other tests."""


def test_serving_prints_settings_that_lead_there_and_ends_with_ctrl_c(
    reviewer: Reviewer, local_model: ModelSettings
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "reviewer", "model", "serve"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=reviewer.folder,
        env={**reviewer.environment, **WITHOUT_SPINNING},
    )  # fmt: skip
    assert process.stdout is not None
    try:
        lines = [process.stdout.readline() for _ in range(4)]
        settings = reviewer.configured("".join(lines) + "timeout = 200\n")
        assert load_settings(reviewer.folder / "config.toml").model.name == local_model.name
        assert "\n> " in reviewer("model", "check", env=settings).stdout
        process.send_signal(signal.SIGINT)
        _, narration = process.communicate(timeout=250)
    finally:
        process.kill()
    assert process.returncode == os.EX_OK
    assert narration.splitlines()[-1] == "Stopped."
