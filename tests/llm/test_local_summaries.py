"""A real, weak model writes summaries: whatever it answers, there is a summary or a reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reviewer.settings import ModelSettings
from tests.cli.conftest import Reviewer
from tests.cli.test_kept_answers import MACHINES, SAID


@pytest.mark.timeout(900)
def test_each_segment_gets_a_summary_and_a_second_run_asks_less(
    local_model: ModelSettings, tmp_path: Path
) -> None:
    program = Reviewer(tmp_path)
    said = [
        {
            "role": role,
            "content": text.format(machine, minute),
            "timestamp": f"2026-02-0{day + 1}T10:{minute:02}:00Z",
        }
        for day, machine in enumerate(MACHINES[:1])
        for minute, (role, text) in enumerate(SAID)
    ]
    (tmp_path / "talk.json").write_text(json.dumps(said))
    assert program("--project", "kiosk", "context", "import", "talk.json").returncode == 0
    config = tmp_path / "model.toml"
    config.write_text(
        f'[model]\nbase_url = "{local_model.base_url}"\nname = "{local_model.name}"\n'
        "timeout = 200\ncontext_tokens = 8192\n"
    )
    words = ("compress", "talk", "--engine", "model", "--max-tokens", "40", "--json")
    done = program(*words, env={"REVIEWER_CONFIG": str(config)})
    assert "Traceback" not in done.stderr
    if done.returncode:
        assert "--engine offline" in done.stderr
        return
    *segments, _ = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(segments) == 1
    for each in segments:
        assert each["content"] or each["kept_full"]
        if each["engine"] == "offline":
            assert "offline, because the model" in each["note"] or each["kept_full"]
    written = [each for each in segments if each["engine"] == local_model.name]
    again = program(*words, env={"REVIEWER_CONFIG": str(config)})
    if written:
        assert f"{len(written)} answer" in again.stderr
