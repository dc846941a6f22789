"""`reviewer compress`: preview, fit, apply and undo a smaller context; reports of transcripts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Reviewer
from tests.cli.test_summarize import FIDELITY, FIELDS
from tests.unit.llm.faults import Call, Faulty, endpoint

TALK = [
    ("system", "You look after the kiosks."),
    ("user", "The kiosk prints too slowly. The budget is $50k, hard stop 2026-03-31."),
    ("assistant", "I looked at `print_queue.py`: opening the port takes 900 ms a receipt."),
    ("user", "No, do not touch the driver: the vendor list stays until legal signs."),
    ("assistant", "We decided to keep the connection open. I will fix `reconnect()` on Friday."),
    *(
        (
            "assistant" if number % 2 else "user",
            f"Kiosk {number} printed {number * 3 + 2} receipts with `queue_{number % 5}.py`; the "
            "log of that hour shows nothing odd besides a short pause of the paper motor.",
        )
        for number in range(40)
    ),
]


@pytest.fixture(scope="session")
def talk_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = Reviewer(tmp_path_factory.mktemp("talk"))
    file = made.folder / "talk.json"
    file.write_text(json.dumps([{"role": role, "content": text} for role, text in TALK]))
    made.succeeds("--project", "kiosk", "context", "import", file)
    return made.db


@pytest.fixture
def talk(reviewer: Reviewer, talk_store: Path) -> Reviewer:
    """The program with the context `talk`."""
    reviewer.db.write_bytes(talk_store.read_bytes())
    return reviewer


def messages(program: Reviewer) -> list[dict[str, Any]]:
    """The context as it is compiled."""
    done = program.succeeds("compile", "talk", "--format", "json")
    return [json.loads(line) for line in done.stdout.splitlines()]


def texts(program: Reviewer) -> list[str]:
    return [row["text"] for row in messages(program)]


def test_json_has_a_summary_a_segment_and_the_total(talk: Reviewer) -> None:
    *segments, total = talk.rows("compress", "talk", "--level", "brief")
    for row in segments:
        assert row.keys() >= FIELDS | {"segment", "commits"}
        assert row["fidelity"].keys() >= FIDELITY
        assert row["level"] == "brief"
        assert row["ratio"] == pytest.approx(row["original_tokens"] / row["tokens"], abs=0.01)
    anchors = {(each["type"], each["content"]) for each in segments[0]["anchors"]}
    assert ("Correction", TALK[3][1]) in anchors
    assert total["total"] is True
    assert total["tokens"] < total["original_tokens"]
    pinned = messages(talk)[0]["tokens"]
    assert total["original_tokens"] == sum(row["original_tokens"] for row in segments) + pinned


def test_a_preview_writes_nothing(talk: Reviewer) -> None:
    before = texts(talk)
    done = talk.succeeds("compress", "talk")
    assert "[→detail:s2]" in done.stdout
    assert "loses:" in done.stderr
    assert texts(talk) == before
    assert len(talk.rows("history")) == 1


def test_all_levels_of_every_segment(talk: Reviewer) -> None:
    *rows, total = talk.rows("compress", "talk", "--level", "all")
    levels = ["full", "detailed", "brief", "tags"]
    assert [row["level"] for row in rows[:4]] == levels
    sizes = [total["tokens"][level] for level in levels]
    assert sizes == sorted(sizes, reverse=True)


def test_apply_is_one_act_and_undo_takes_it_back(talk: Reviewer) -> None:
    before = texts(talk)
    done = talk.succeeds("compress", "talk", "--apply")
    assert "reviewer undo takes it back" in done.stderr
    after = texts(talk)
    assert after[0] == TALK[0][1]
    assert len(after) < len(before) / 5
    compiled = talk.succeeds("compile", "talk", "--format", "chat")
    assert {row["role"] for row in json.loads(compiled.stdout)[1:]} == {"user"}
    assert "summary" in compiled.stderr
    assert "assistant" not in compiled.stderr
    talk.succeeds("verify")
    talk.succeeds("undo")
    assert texts(talk) == before


def test_fit_keeps_the_whole_context_within_the_target(talk: Reviewer) -> None:
    *_, total, applied = talk.rows("compress", "talk", "--fit", 600, "--apply")
    assert total["tokens"] <= 600
    assert applied["tokens"] == total["tokens"]
    assert sum(row["tokens"] for row in messages(talk)) <= 600
    refused = talk.fails("compress", "talk", "--fit", 5)
    assert "5 tokens cannot be reached" in refused


def test_fit_leaves_a_level_chosen_by_hand_and_the_other_segments_give_way(talk: Reviewer) -> None:
    *fitted, _ = talk.rows("compress", "talk", "--fit", 900)
    largest = max(fitted, key=lambda row: row["original_tokens"] - row["tokens"])
    assert largest["level"] != "full"
    name = f"{largest['segment']}=full"
    *rows, total = talk.rows("compress", "talk", "--fit", 1_400, "--set", name)
    assert {row["level"] for row in rows if row["segment"] == largest["segment"]} == {"full"}
    assert total["tokens"] <= 1_400
    refused = talk.fails("compress", "talk", "--fit", 400, "--set", name)
    assert "levels chosen by hand (Full for" in refused


def test_a_range_leaves_the_rest_alone(talk: Reviewer) -> None:
    ids = [row["id"] for row in talk.rows("commit", "list", "talk")]
    talk.succeeds("compress", "talk", "--from", f"#{ids[5]}", "--to", f"#{ids[20]}", "--apply")
    after = texts(talk)
    assert after[:5] == [text for _, text in TALK[:5]]
    assert after[-24:] == [text for _, text in TALK[-24:]]


def test_criteria_of_the_call_are_met_or_refused(talk: Reviewer) -> None:
    *rows, _ = talk.rows(
        "compress", "talk", "--level", "tags", "--retain-match", "$50k",
        "--retain-regex", r"\d{4}-\d\d-\d\d",
    )  # fmt: skip
    assert "$50k" in rows[0]["content"]
    assert "2026-03-31" in rows[0]["content"]
    assert "matches nothing" in talk.fails("compress", "talk", "--retain-match", "nowhere")
    bad = talk.fails("compress", "talk", "--retain-regex", "a(")
    assert "column 3" in bad


def test_a_summary_by_hand_is_checked(talk: Reviewer) -> None:
    ids = [row["id"] for row in talk.rows("commit", "list", "talk")]
    talk("annotate", f"#{ids[1]}", "--retain-match", "$50k")
    file = talk.folder / "mine.txt"
    file.write_text("They want it faster.")
    refused = talk("compress", "talk", "--text", f"s2={file}", "--apply")
    assert refused.returncode == 1
    assert 's2: Summary missing: substring not found: "$50k"' in refused.stderr
    before = texts(talk)
    for wrong, reason in (
        ("They want it faster for $50k.", "leaves out the request"),
        ("Kubernetes 1.29 was moved to users_old for $50k.", "not in the source"),
    ):
        file.write_text(wrong)
        done = talk("compress", "talk", "--text", f"s2={file}", "--apply")
        assert done.returncode == 1
        assert reason in done.stderr
        assert "--anyway" in done.stderr
        assert texts(talk) == before
    done = talk.succeeds("compress", "talk", "--text", f"s2={file}", "--apply", "--anyway")
    assert "Kubernetes 1.29 was moved to users_old for $50k." in texts(talk)


def test_one_segment_may_have_another_level(talk: Reviewer) -> None:
    *_, before, last = talk.rows("compress", "talk", "--level", "brief")[:-1]
    name = f"{last['segment']}=full"
    *_, before, last = talk.rows("compress", "talk", "--level", "brief", "--set", name)[:-1]
    assert (before["level"], last["level"]) == ("brief", "full")


def test_pinned_spans_and_the_expansion_of_a_summary(talk: Reviewer) -> None:
    ids = [row["id"] for row in talk.rows("commit", "list", "talk")]
    pin = ("--pin", f"#{ids[2]}", "takes 900 ms")
    *rows, _ = talk.rows("compress", "talk", "--level", "tags", *pin, "--apply")[:-1]
    assert "takes 900 ms" in rows[0]["content"]
    (summary, *_) = [row for row in talk.rows("commit", "list", "talk") if row["type"] == "summary"]
    assert "takes 900 ms" in talk("compress", "talk", "--expand", f"#{summary['id']}").stdout


def test_an_applied_summary_is_expanded_in_a_tier_without_summaries(talk: Reviewer) -> None:
    talk.succeeds("compress", "talk", "--level", "brief", "--apply", "--anyway")
    core = talk.configured('[compression]\ntier = "core"\n')
    summaries = [row for row in talk.rows("commit", "list", "talk") if row["type"] == "summary"]
    assert summaries
    for each in summaries:
        talk.succeeds("compress", "talk", "--expand", f"#{each['id']}", env=core)


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("compress",), 2, "CONTEXT"),
        (("compress", "talk", "--level", "all", "--apply"), 2, "for viewing only"),
        (("compress", "talk", "--fit", "100", "--level", "brief"), 2, "by itself"),
        (("compress", "talk", "--set", "s1"), 2, "SEGMENT=LEVEL"),
        (("compress", "talk", "--set", "s99=full"), 1, "no segment"),
        (("compress", "talk", "--text", "s1=nowhere.txt"), 1, "No such file"),
        (("compress", "talk", "--model", "another"), 2, "--engine model"),
        (("compress", "talk", "--engine", "model"), 1, "where they are). Nothing was written."),
        (("compress", "elsewhere"), 1, "There is no context"),
        (("compress", "talk", "--expand", "#2"), 1, "not a summary"),
    ],
)
def test_a_refusal_is_one_line(
    talk: Reviewer, arguments: tuple[str, ...], code: int, says: str
) -> None:
    assert says in talk.fails(*arguments, code=code)


def test_stats_show_the_results_of_compressions(talk: Reviewer) -> None:
    talk("compress", "talk")
    found = [row for row in talk.rows("stats") if "metric" in row]
    names = {row["metric"].rpartition(".")[2] for row in found}
    assert names == {"CompressionRatio", "Duration", "FidelityScore"}
    assert "CompressionRatio" in talk("stats").stdout
    assert "Duration (ms)" in talk("stats").stdout


def model_at(server: Faulty, program: Reviewer, more: str = "") -> dict[str, str]:
    """The environment in which the model is that endpoint; `more` settings of it."""
    return program.configured(
        f'[model]\nbase_url = "{server.settings().base_url}"\nname = "tiny"\nconcurrency = 1\n'
        f"{more}\n"
    )


def segment_of(call: Call) -> str:
    """What a request is about, to tell the segments apart."""
    return str(call.body["messages"])


@pytest.mark.parametrize("failing", [0, 1])
def test_one_failing_segment_does_not_lose_the_work_of_a_model(
    talk: Reviewer, failing: int
) -> None:
    """Also where it is the first; what the model wrote for the others is applied."""
    asked: list[str] = []
    wrote = "Request:\n- The kiosk prints too slowly, and the port is kept open."

    def behave(call: Call) -> None:
        asked.append(segment_of(call))
        if len(asked) - 1 == failing:
            call.refuses(500, "out of order")
        else:
            call.streams(wrote)

    with endpoint(behave) as server:
        done = talk(
            "compress", "talk", "--engine", "model", "--apply", "--anyway",
            env=model_at(server, talk),
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "offline, because the model failed" in done.stdout + done.stderr
    written = [text for text in texts(talk) if wrote.splitlines()[1] in text]
    assert len(written) >= 1
    assert len(written) + 1 == sum(row["type"] == "summary" for row in messages(talk))
