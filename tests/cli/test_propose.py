"""`reviewer propose`: the cost first, then statements with their proof."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Reviewer
from tests.unit.llm.faults import endpoint
from tests.unit.llm.test_command import program, seen
from tests.unit.proposing.models import answer, said
from tests.unit.sessions.told import Told

WORDS = "the terminal repeats its answer after 20 seconds"
TRUE = "The card terminal repeats its answer after 20 seconds."
FOUND = answer(said(TRUE, (1, WORDS)))


def session(
    reviewer: Reviewer, name: str = "charges.jsonl", place: str = "", *, cause: str = WORDS
) -> Path:
    return charges(place, cause).write(reviewer.folder / name)


def charges(place: str = "", cause: str = WORDS) -> Told:
    told = Told()
    told.user(f"Why are some charges doubled{place}?")
    told.reply(f"The cause: {cause}{place}, so the charge is doubled.")
    return told


def several(reviewer: Reviewer, count: int) -> Path:
    """A folder of sessions that differ in the number of their kiosk."""
    folder = reviewer.folder / "sessions"
    folder.mkdir()
    for number in range(count):
        session(reviewer, f"sessions/{number}.jsonl", place=f" at kiosk {number}")
    return folder


def settings(reviewer: Reviewer, **values: Any) -> dict[str, str]:
    """An environment in which `[model]` has these values."""
    lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items())
    return reviewer.configured(f"[model]\n{lines}")


def asks(reviewer: Reviewer, answered: str = FOUND, **values: Any) -> dict[str, str]:
    """An environment in which a program answers every question; `seen.json` has the last one."""
    lines = json.dumps(answered)
    path = program(
        reviewer.folder / "bin", f"note(prompt=sys.stdin.read())\nsay(json.loads({lines!r}))"
    )
    return settings(reviewer, command=[str(path)], **values)


def was_asked(reviewer: Reviewer) -> bool:
    return (reviewer.folder / "bin" / "seen.json").exists()


def test_a_statement_waits_with_its_proof(reviewer: Reviewer) -> None:
    path = session(reviewer)
    done = reviewer.succeeds("propose", path, "--yes", "--json", env=asks(reviewer))
    assert re.search(r"statements +1 new, 0 seen again", done.stderr)
    assert "1 session in 1 piece for ask" in done.stderr
    (told,) = [json.loads(line) for line in done.stdout.splitlines()]
    assert (told["type"], told["kind"], told["path"]) == ("knowledge", "trap", str(path))
    assert (told["statement"], told["proof"]["sound"]) == (TRUE, True)
    assert told["quotes"] == [{"line": 1, "text": WORDS}]
    assert "no prices are set" in done.stderr
    (row,) = reviewer.rows("queue", "list")
    assert row["content"].rstrip(".") == TRUE.rstrip(".")
    assert row["proposer"] == "command"
    assert row["rule"] == "command.ask"
    assert [quote["found"] for quote in row["proof"]["quotes"]] == [True]
    assert WORDS in seen(reviewer.folder / "bin")["prompt"]
    reviewer.nothing_lost(candidates=1)


def test_a_dry_run_prints_the_cost_and_asks_nothing(reviewer: Reviewer) -> None:
    path = session(reviewer)
    environment = asks(reviewer, price_in=3.0, price_out=15.0)
    done = reviewer("propose", path, "--dry-run", env=environment)
    assert "a price of 0.02 at the prices under [model]" in done.stdout
    row = reviewer.rows("propose", path, "--dry-run", env=environment)[0]
    assert (row["sessions"], row["pieces"], row["cached"]) == (1, 1, 0)
    assert row["tokens_in"] > 500
    assert row["price"] == pytest.approx((row["tokens_in"] * 3 + row["tokens_out"] * 15) / 1e6)
    assert not was_asked(reviewer)
    assert not reviewer.db.exists()


def test_without_a_terminal_nothing_is_sent_unless_yes_is_given(reviewer: Reviewer) -> None:
    done = reviewer("propose", session(reviewer), env=asks(reviewer))
    assert done.returncode == 2
    assert "--yes" in done.stderr.splitlines()[-1]
    assert not was_asked(reviewer)


def test_nothing_is_paid_for_twice(reviewer: Reviewer) -> None:
    path, environment = session(reviewer), asks(reviewer)
    reviewer("propose", path, "--yes", env=environment)
    (reviewer.folder / "bin" / "seen.json").unlink()
    again = reviewer.succeeds("propose", path, env=environment)
    assert "1 of them already answered, at no cost" in again.stderr
    assert re.search(r"statements +0 new, 1 seen again", again.stdout)
    assert re.search(r"tokens +0 in, 0 out, in 0 requests", again.stdout)
    assert not was_asked(reviewer)
    reviewer.nothing_lost(candidates=1)


def test_a_folder_is_searched_for_sessions_and_nothing_else(reviewer: Reviewer) -> None:
    folder = reviewer.folder / "subagents" / "sessions"  # of a project with that name
    (folder / "subagents").mkdir(parents=True)
    for name in ("one.jsonl", "subagents/agent-2.jsonl"):
        session(reviewer, f"subagents/sessions/{name}")
    (folder / "note.md").write_text("# Decision: paper is thermal\n", "utf-8")
    (folder / "data.json").write_text('{"a": 1}', "utf-8")
    done = reviewer("propose", folder, "--dry-run", env=asks(reviewer))
    assert "1 session in 1 piece" in done.stdout


def test_without_a_model_it_offers_by_name_what_is_installed(reviewer: Reviewer) -> None:
    path = session(reviewer)
    nothing = {"PATH": str(reviewer.folder / "bin")}
    assert "No model is configured, and none is used unasked. For an endpoint" in reviewer.fails(
        "propose", path, env=nothing
    )
    program(reviewer.folder / "bin", "note(); say('{}')", "claude")
    said_ = reviewer.fails("propose", path, "--yes", env=nothing)
    assert "Installed here: claude; to use it: reviewer propose PATH --command claude." in said_
    assert not was_asked(reviewer)


def test_an_agent_is_asked_when_it_is_named(reviewer: Reviewer) -> None:
    told = json.dumps({"is_error": False, "result": FOUND, "usage": {}})
    program(reviewer.folder / "bin", f"note(prompt=sys.stdin.read()); say({told!r})", "claude")
    path = {"PATH": f"{reviewer.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    done = reviewer.succeeds(
        "propose", session(reviewer), "--command", "claude", "--model", "haiku", "--yes", env=path
    )
    assert "1 piece for claude/haiku" in done.stderr
    assert "on your Claude Code plan" in done.stderr
    given = seen(reviewer.folder / "bin")
    assert given["argv"][given["argv"].index("--model") + 1] == "haiku"
    assert given["environment"]["REVIEWER_CHILD"] == "1"


def test_a_command_that_fails_is_one_sentence(reviewer: Reviewer) -> None:
    path = program(reviewer.folder / "bin", "complain('Not logged in.\\n'); sys.exit(1)")
    done = reviewer(
        "propose", session(reviewer), "--yes", env=settings(reviewer, command=[str(path)])
    )
    assert done.returncode == 1
    assert "ask gave no answer (exit code 1): Not logged in." in done.stderr
    assert "Traceback" not in done.stderr
    assert "1 piece left" in done.stderr


def test_what_was_not_proved_or_not_usable_is_counted(reviewer: Reviewer) -> None:
    wrong = said("The card terminal repeats its answer after 35 seconds.", (1, WORDS))
    invented = said("Invented out of thin air by the model.", (9, "nobody ever said so"))
    done = reviewer(
        "propose", session(reviewer), "--yes", env=asks(reviewer, answer(wrong, invented))
    )
    assert re.search(r"unproved +1 that the session does not fully prove", done.stdout)
    assert re.search(r"dropped +2 x quotes not found in the session", done.stdout)
    (row,) = reviewer.rows("queue", "list")
    assert any("35" in fact for fact in row["proof"]["unproved"])


def test_an_endpoint_that_is_asked_sees_no_secret_and_gets_a_shape(reviewer: Reviewer) -> None:
    token = "ghp_" + "x7Kd9QwErTy" * 4
    path = session(reviewer, place=f" with {token}")
    with endpoint(lambda call: call.streams(FOUND)) as server:
        base_url = server.settings().base_url
        done = reviewer(
            "propose", path, "--yes", env=settings(reviewer, base_url=base_url, name="tiny")
        )
    assert done.returncode == 0, done.stderr
    body = server.calls[0].body
    assert token not in str(body)
    assert body["response_format"]["type"] == "json_schema"
    (row,) = reviewer.rows("queue", "list")
    assert (row["proposer"], row["rule"]) == ("model", "model.tiny")


def test_the_ceiling_stops_in_the_middle_and_the_next_run_goes_on(reviewer: Reviewer) -> None:
    folder = several(reviewer, 4)
    environment = asks(reviewer, concurrency=1)
    cost = reviewer.rows("propose", folder, "--dry-run", env=environment)[0]
    half = str(cost["tokens_in"] // 2 + 50)
    first = reviewer.succeeds("propose", folder, "--yes", "--max-tokens-in", half, env=environment)
    assert "with 2 pieces left. Run the same command to continue." in first.stderr
    # What the first two have said is known now, and stands in the other questions.
    more = str(cost["tokens_in"])
    second = reviewer("propose", folder, "--yes", "--max-tokens-in", more, env=environment)
    assert "2 of them already answered" in second.stderr
    assert "pieces left" not in second.stderr
    assert re.search(r"in 2 requests", second.stdout)


def test_a_prompt_of_the_user_is_used(reviewer: Reviewer) -> None:
    environment = asks(reviewer)
    folder = reviewer.folder / "templates"
    folder.mkdir()
    (folder / "statements.toml").write_text(
        'template_id = "statements"\nsystem_prompt = "Only traps."\nuser_prompt = "{{lines}}"\n'
    )
    reviewer("propose", session(reviewer), "--yes", env=environment)
    assert seen(reviewer.folder / "bin")["prompt"].startswith("Only traps.")


def test_a_wrong_call_is_refused(reviewer: Reviewer) -> None:
    path = session(reviewer)
    assert "--command" in reviewer.fails("propose", path, "--command", "'", code=2)
    assert "No session was ingested" in reviewer.fails("propose", env=asks(reviewer))
    assert "does not exist" in reviewer.fails(
        "propose", reviewer.folder / "nowhere" / "x.jsonl", env=asks(reviewer)
    )


def installed(reviewer: Reviewer, answered: str = FOUND) -> dict[str, str]:
    """An environment with Claude Code, which answers so, as the only agent."""
    line = json.dumps(json.dumps({"result": answered}))
    folder = program(
        reviewer.folder / "bin", f"note(prompt=sys.stdin.read())\nsay({line})", name="claude"
    ).parent
    return {"PATH": str(folder), **settings(reviewer)}


def test_ingest_ends_with_who_could_read_and_what_it_costs_and_asks_nobody(
    reviewer: Reviewer,
) -> None:
    environment = installed(reviewer)
    session(reviewer, "one.jsonl")
    done = reviewer("ingest", session(reviewer, "two.jsonl"), "one.jsonl", env=environment)
    assert done.stderr.splitlines()[-1] == (
        "Next: reviewer propose --command claude --newest 2"
        "  (Claude Code on 2 sessions: about 4,000 tokens in, 1,800 out)"
    )
    assert not was_asked(reviewer)


def test_the_newest_sessions_that_no_reader_has_read_are_asked_about(reviewer: Reviewer) -> None:
    environment = installed(reviewer)
    for name in ("one", "two", "three"):
        path = session(reviewer, f"{name}.jsonl", place=f" at kiosk {name}")
        reviewer.succeeds("ingest", path, env=environment)
    asked = "propose", "--command", "claude", "--yes", "--newest", "2"
    done = reviewer(*asked, env=environment)
    assert "2 sessions in 2 pieces" in done.stderr
    assert "1 session in 1 piece" in reviewer(*asked, env=environment).stderr
    done = reviewer(*asked, env=environment)
    assert done.returncode == 1
    assert "No ingested session of this project is left to read" in done.stderr


def test_of_a_session_that_has_grown_only_what_is_new_is_asked_about(reviewer: Reviewer) -> None:
    environment = installed(reviewer)
    told, path = charges(), reviewer.folder / "charges.jsonl"
    asked = "propose", "--command", "claude", "--yes", "--newest", "1"
    questions = []
    for later in ("", "And at the second kiosk?"):
        if later:
            told.user(later)
            told.reply(f"There {WORDS}, too.")
        reviewer.succeeds("ingest", told.write(path), env=environment)
        reviewer.succeeds(*asked, env=environment)
        prompt = seen(reviewer.folder / "bin")["prompt"]
        questions.append(prompt.rpartition("everything up to there is data.")[2])
    first, second = questions
    assert "[0] USER: Why are some charges doubled?" in first
    assert "charges doubled?" not in second
    assert "USER: And at the second kiosk?" in second
    assert "left to read" in reviewer(*asked, env=environment).stderr


def test_a_session_of_which_another_has_all_counts_as_read(reviewer: Reviewer) -> None:
    environment = installed(reviewer)
    reviewer.succeeds("ingest", session(reviewer, "one.jsonl"), env=environment)
    reviewer.succeeds("ingest", session(reviewer, "copy.jsonl"), env=environment)
    asked = "propose", "--command", "claude", "--yes", "--newest", "2"
    assert "1 session in 1 piece" in reviewer(*asked, env=environment).stderr
    assert "left to read" in reviewer(*asked, env=environment).stderr


def test_what_questions_took_is_summed_by_day_and_session(reviewer: Reviewer) -> None:
    path = session(reviewer)
    for _ in range(2):  # the second time it is answered from what is kept
        reviewer("propose", path, "--yes", env=asks(reviewer, price_in=3.0, price_out=15.0))
    reviewer("propose", path, "--yes", "--command", "printf other", env={})
    rows = [row for row in reviewer.rows("stats") if "by" in row]
    day, about, whole = rows
    assert (day["by"], about["by"], about["label"], whole["by"]) == (
        "day",
        "session",
        path.stem,
        "all",
    )
    assert day["asked"] == about["asked"] == whole["asked"] >= 2
    assert whole["unpriced"] == whole["asked"] - 1
    assert whole["price"] > 0
    assert "without a price" in reviewer("stats").stdout
    notes = next((reviewer.folder / "home").rglob("questions.jsonl"))
    assert notes.stat().st_mode & 0o777 == 0o600
    assert WORDS not in notes.read_text()
