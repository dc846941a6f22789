"""The name given with `--actor` also holds for the processes that a screen starts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reviewer.cli.run import run


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TEXTUAL_DRIVER", "a browser:WebDriver")
    monkeypatch.setenv("REVIEWER_ACTOR", "you")
    monkeypatch.setenv("REVIEWER_DB", str(tmp_path / "store.db"))
    monkeypatch.chdir(tmp_path)


def test_the_processes_of_a_screen() -> None:
    names = []

    def screen(*_: object, **__: object) -> int:
        names.append(os.environ["REVIEWER_ACTOR"])
        return 0

    assert run(["--actor", "anna"], screen, lambda _: None) == 0
    assert names == ["anna"]


def test_the_tabs_of_a_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    server = pytest.importorskip("reviewer.serving.server", reason="the extra is not installed")
    commands: list[list[str]] = []

    class Recorder:
        address = ""

        def __init__(self, command: list[str], port: int) -> None:
            commands.append(command)

        def run(self) -> None:
            """Ends at once."""

    monkeypatch.setattr(server, "Server", Recorder)
    run(["--actor", "anna", "serve"], lambda *_, **__: 0, lambda _: None)
    assert commands[0][-2:] == ["--actor", "anna"]
