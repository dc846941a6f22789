"""`reviewer packet --rerank`: a model orders the titles, in one call."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Reviewer
from tests.cli.test_propose import settings
from tests.unit.llm.faults import Behave, endpoint

TASK = "The shop must not lose coins at night"
ENTRIES = {
    "Drawers are locked by a magnet": "The magnet needs power at all hours.",
    "Coins are counted by weight": "A scale counts the coins.",
    "Paint dries slowly": "Wait for a day.",
}
SECRET = "ghp_" + "x7Kd9QwErTy" * 4


@pytest.fixture
def shop(reviewer: Reviewer) -> Path:
    folder = reviewer.folder / "shop" / ".context"
    folder.mkdir(parents=True)
    parts = [f"## [2026-07-0{n}] {title}\n\n{text}" for n, (title, text) in enumerate(
        ENTRIES.items(), 1)]  # fmt: skip
    (folder / "LEARNINGS.md").write_text("# Learnings\n\n" + "\n\n".join(parts) + "\n")
    return folder


def chooses(*numbers: int) -> Behave:
    needed = [{"n": number, "why": f"reason \x1b[31m{number}"} for number in numbers]
    return lambda call: call.streams("Here: ", json.dumps({"needed": needed}), " done")


def test_what_the_model_chooses_comes_first_with_its_reason(reviewer: Reviewer, shop: Path) -> None:
    call = ("packet", "--context-dir", shop, "--task", f"{TASK} {SECRET}")
    without = json.loads(reviewer(*call, "--format", "json").stdout)
    assert without["included"][0]["title"] == "Coins are counted by weight"
    titles = [item["title"] for item in (*without["included"], *without["dropped"])]
    place = titles.index("Drawers are locked by a magnet") + 1
    with endpoint(chooses(place, 99, place)) as server:
        env = settings(reviewer, base_url=server.settings().base_url, name="tiny")
        done = reviewer(*call, "--rerank", "--format", "json", env=env)
        explained = reviewer(*call, "--rerank", "--explain", env=env)
    found = json.loads(done.stdout)["included"]
    assert found[0]["title"] == "Drawers are locked by a magnet"
    assert found[0]["score"] > 1 >= found[1]["score"]
    assert found[0]["chosen"].startswith("reason")
    assert "the model chose it: reason" in explained.stdout
    assert "\x1b" not in explained.stdout + done.stdout
    assert "tiny chose 1 of 3 titles: 7 tokens in, 5 out." in done.stderr
    assert len(server.calls) == 2
    body = str(server.calls[0].body)
    assert SECRET not in body
    assert "The magnet needs power" not in body


def test_the_budget_holds_whatever_the_model_chooses(reviewer: Reviewer, shop: Path) -> None:
    with endpoint(chooses(3, 2, 1)) as server:
        env = settings(reviewer, base_url=server.settings().base_url, name="tiny")
        for budget in (60, 100, 140, 180):
            done = reviewer("packet", "--context-dir", shop, "--task", TASK, "--rerank",
                            "--budget", budget, "--format", "json", env=env)  # fmt: skip
            assert done.returncode == 0, done.stderr
            found = json.loads(done.stdout)
            assert found["over_budget"] or found["tokens_used"] <= budget


@pytest.mark.parametrize(
    ("behave", "words"),
    [
        (lambda call: call.streams("I would read the first one."), "cannot be read"),
        (lambda call: call.refuses(500, "out of order"), "failed (500"),
    ],
)
def test_a_model_that_fails_is_one_sentence(
    reviewer: Reviewer, shop: Path, behave: Behave, words: str
) -> None:
    with endpoint(behave) as server:
        env = settings(reviewer, base_url=server.settings().base_url, name="tiny")
        said = reviewer.fails("packet", "--context-dir", shop, "--task", TASK, "--rerank", env=env)
    assert words in said


def test_nobody_is_asked_unasked(reviewer: Reviewer, shop: Path) -> None:
    said = reviewer.fails("packet", "--context-dir", shop, "--task", TASK, "--rerank")
    assert "No model is configured" in said
    assert "needs a --task" in reviewer.fails("packet", "--context-dir", shop, "--rerank", code=2)
