"""A run over sessions: its cost, its ceiling, and what is left when it stops."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from reviewer.llm.answer_cache import AnswerCache
from reviewer.llm.model import CancelledError, ModelError
from reviewer.proposing.given import KnownText
from reviewer.proposing.model_run import ModelRun, RunPlan, SessionDone, piece_tokens, plan_run
from reviewer.proposing.statements import Spent, StatementWriter
from reviewer.proposing.values import LineRole, ViewLine
from reviewer.sources import open as open_
from reviewer.sources import stream
from reviewer.sources.format import Format
from reviewer.sources.reading import Reading
from tests.unit.llm.scripted import Scripted
from tests.unit.proposing.models import BUSY, NoAnswers, answer, said
from tests.unit.sessions.told import Told

WORDS = "the terminal repeats its answer after 20 seconds"
FOUND = answer(said("The card terminal repeats its answer after 20 seconds.", (1, WORDS)))


def sessions(folder: Path, count: int) -> list[Path]:
    made = []
    for number in range(count):
        told = Told()
        told.user(f"Why is charge {number} doubled?")
        told.reply(f"The cause: {WORDS}, so the charge is doubled.")
        made.append(told.write(folder / f"session-{number}.jsonl"))
    return made


def writer(model: Scripted, cache: Path | None = None) -> StatementWriter:
    return StatementWriter(model, AnswerCache(cache) if cache else NoAnswers())


def results(
    plan: RunPlan,
    by: StatementWriter,
    *,
    ceiling: int | None = None,
    listed: Sequence[KnownText] = (),
    cancelled: Callable[[], bool] = lambda: False,
) -> list[SessionDone]:
    spent = Spent(ceiling)
    run = ModelRun(plan, by, lambda _: (), lambda: listed, 1, spent, cancelled)
    return list(run.results())


def asked_about(told: Told, folder: Path) -> list[ViewLine]:
    """The lines of a session that a model is asked about, without its folder and branch."""
    path = told.write(folder / "told.jsonl")
    plan = plan_run([path], writer(Scripted(answer())), max_tokens=20_000)
    places = ("working folder: ", "branch: ")
    return [each for each in plan.sessions[0].view.lines if not each.text.startswith(places)]


def test_reading_can_be_stopped_before_anything_is_asked(tmp_path: Path) -> None:
    read: list[str] = []
    with pytest.raises(CancelledError):
        plan_run(
            sessions(tmp_path, 4),
            writer(Scripted(FOUND)),
            max_tokens=2000,
            cancelled=lambda: len(read) >= 2,
            progress=read.append,
        )
    assert len(read) == 2


def test_each_session_is_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Path] = []

    def recognised(path: Path) -> tuple[Format, Reading]:
        opened.append(path)
        return open_.recognised(path)

    monkeypatch.setattr(stream, "recognised", recognised)
    paths = sessions(tmp_path, 2)
    plan_run(paths, writer(Scripted(FOUND)), max_tokens=2000)
    assert opened == paths


def test_what_a_resumed_session_copies_from_another_is_read_once(tmp_path: Path) -> None:
    told = Told()
    told.user("Why is the charge doubled?")
    told.run("make till", "error: unknown till", failed=True)
    told.run("make till")
    told.reply(f"The cause: {WORDS}, so the charge is doubled.")
    first, resumed = (told.write(tmp_path / name) for name in ("first.jsonl", "resumed.jsonl"))
    told.user("Then wait for half a minute.")
    grown = told.write(tmp_path / "grown.jsonl")

    plan = plan_run([first, resumed, grown], writer(Scripted(FOUND)), max_tokens=2000)

    assert plan.unread == ((resumed, "another session has all of it"),)
    read, rest = plan.sessions
    assert [line.text for line in rest.view.lines] == ["Then wait for half a minute."]
    assert [bool(each.pieces[0].given.findings) for each in (read, rest)] == [True, False]


def test_a_copy_with_new_times_is_read_once_too(tmp_path: Path) -> None:
    told = Told()
    told.user("Why is the charge doubled?")
    told.reply(f"The cause: {WORDS}, so the charge is doubled.")
    first = told.write(tmp_path / "first.jsonl")
    for each in told.records:
        each["timestamp"] = "2026-05-01T10:00:00Z"
    told.user("Then wait for half a minute.")
    forked = told.write(tmp_path / "forked.jsonl")

    _, rest = plan_run([first, forked], writer(Scripted(FOUND)), max_tokens=2000).sessions

    assert [line.text for line in rest.view.lines] == ["Then wait for half a minute."]


def test_a_newer_export_is_read_anew_because_its_newest_conversation_comes_first(
    tmp_path: Path,
) -> None:
    def conversation(name: str, question: str) -> dict[str, object]:
        said = {"uuid": f"m-{name}", "sender": "human", "text": question}
        return {"uuid": name, "name": name, "chat_messages": [said]}

    path, by = tmp_path / "conversations.json", writer(Scripted(answer()))
    tea, rice = conversation("q1", "Which tea is green?"), conversation("q2", "Which rice?")
    path.write_text(json.dumps([tea]), "utf-8")
    (before,) = plan_run([path], by, max_tokens=2000).sessions
    path.write_text(json.dumps([rice, tea]), "utf-8")
    (after,) = plan_run([path], by, max_tokens=2000, read_to={path: before.end}).sessions
    assert "Which rice?" in [line.text for line in after.pieces[0].piece.lines]


def test_what_has_no_time_is_no_copy(tmp_path: Path) -> None:
    told = Told()
    told.user("Why is the charge doubled?")
    del told.records[0]["timestamp"]
    paths = [told.write(tmp_path / name) for name in ("first.jsonl", "second.jsonl")]
    assert len(plan_run(paths, writer(Scripted(FOUND)), max_tokens=2000).sessions) == 2


def test_a_failure_costs_one_piece_and_three_in_a_row_end_the_run(tmp_path: Path) -> None:
    paths = sessions(tmp_path, 6)
    by = writer(Scripted(FOUND, BUSY, FOUND, FOUND, FOUND, FOUND))
    done = results(plan_run(paths, by, max_tokens=2000), by)
    assert sum(len(each.proved) for each in done) == 5
    assert [failure for each in done for failure in each.failures] == [str(BUSY)]
    model = Scripted(FOUND, BUSY)
    by = writer(model)
    done = results(plan_run(paths, by, max_tokens=2000), by)
    assert len(model.asked) == 4
    assert sum(len(each.proved) for each in done) == 1


def test_a_piece_without_its_second_answer_is_not_counted_as_read(tmp_path: Path) -> None:
    doubted = answer(said("The card terminal repeats its answer after 35 seconds.", (1, WORDS)))
    by = writer(Scripted(doubted, BUSY))
    [done] = results(plan_run(sessions(tmp_path, 1), by, max_tokens=2000), by)
    assert (done.answered, done.read, done.left) == (0, 0, 1)


def test_each_question_names_what_is_known_by_then_in_the_room_that_was_planned(
    tmp_path: Path,
) -> None:
    model = Scripted(FOUND)
    by = writer(model)
    known = [KnownText(f"#{number}", f"Charge {number} was doubled twice") for number in range(400)]
    done = results(plan_run(sessions(tmp_path, 1), by, max_tokens=400), by, listed=known)
    assert [each.failures for each in done] == [()]
    (asked,) = model.asked
    shown = [each for each in known if f"{each.place} {each.text}" in asked[-1].content]
    assert 0 < len(shown) < 20


def test_what_is_known_is_named_for_a_finding_of_its_rule_and_for_its_names(
    tmp_path: Path,
) -> None:
    told = Told("again")
    told.user("Why does `mise run drawer` end at once?")
    told.run("mise run lint", "a.go:9:2: `coin` has 3 occurrences (goconst)", failed=True)
    path = told.write(tmp_path / "again.jsonl")
    by = writer(model := Scripted(answer()))
    near = [
        KnownText("#7", "Name repeated literals once", signature="goconst: in other words"),
        KnownText("#8", "Before each release, count every coin twice with `mise run drawer`"),
    ]
    far = [
        KnownText("#9", "Count the float twice", signature="errcheck: other"),
        KnownText("#10", "Before each release, end at once with `mise run close`"),
    ]
    results(plan_run([path], by, max_tokens=2_000), by, listed=[*far, *near])
    assert [each for each in (*near, *far) if each.line in model.asked[0][-1].content] == near


def test_findings_with_the_persons_words_come_before_errors_of_the_day(tmp_path: Path) -> None:
    told = Told("findings")
    told.user("Mend the drawer.")
    for number in range(20):
        told.run("make check", f"drawer.ts(7,5): error TS23{number:02}: No coin.", failed=True)
    told.run("mise run lint", "a.go:9:2: `coin` has 3 occurrences (goconst)", failed=True)
    told.refuse("Bash", "never push to main", command="git push")
    path = told.write(tmp_path / "told.jsonl")
    plan = plan_run([path], writer(Scripted(answer())), max_tokens=2_000)
    (piece,) = plan.sessions[0].pieces
    listed = piece.given.findings
    assert ["never push" in listed, "goconst" in listed] == [True, True]
    assert 0 < listed.count("No coin") < 20


def test_a_long_session_is_asked_about_in_pieces(tmp_path: Path) -> None:
    told = Told()
    for number in range(200):
        told.user(f"Question {number} about the kiosk, its drawer and its printer?")
        told.reply(f"Answer {number}: the drawer opens after the terminal has answered.")
    model = Scripted(answer())
    by = writer(model)
    plan = plan_run([told.write(tmp_path / "long.jsonl")], by, max_tokens=1000)
    assert plan.pieces > 3
    (done,) = results(plan, by)
    assert len(model.asked) == plan.pieces
    assert (done.left, done.proved) == (0, ())
    assert f"part 2 of {plan.pieces}" in model.asked[1][-1].content


def test_what_tells_the_session_again_is_asked_about_by_its_ends(tmp_path: Path) -> None:
    retold = "\n".join(f"{number} coins were counted in the drawer." for number in range(100))
    told = Told()
    told.user(f"Before this session.\n{retold}", isCompactSummary=True)
    told.user("Count the coins.")
    told.reply(f"The report.\n{retold}", isSidechain=True)
    told.user(f"All of it.\n{retold}", isCompactSummary=True)
    first, _, report, last = asked_about(told, tmp_path)
    assert "50 coins" in first.text
    for line in (report, last):
        assert "1 coins" in line.text
        assert "99 coins" in line.text
        assert "50 coins" not in line.text


def test_a_plan_that_another_took_the_place_of_is_asked_about_by_its_ends(tmp_path: Path) -> None:
    steps = "\n".join(f"{number}. Count drawer {number}." for number in range(100))
    told = Told()
    told.call("ExitPlanMode", None, plan=f"Version one.\n{steps}")
    told.call("ExitPlanMode", "User approved it.", plan=f"Version two.\n{steps}")
    told.call("ExitPlanMode", None, plan=f"Version of the next task.\n{steps}")
    shown = [line.text for line in asked_about(told, tmp_path) if "Version" in line.text]
    assert ["drawer 50" in text for text in shown] == [False, True, True]


def test_calls_that_only_look_or_edit_share_a_line_and_a_subject_is_said_once_a_turn(
    tmp_path: Path,
) -> None:
    told = Told("calls")
    for _ in range(2):
        told.user("Mend the drawer.")
        told.call("Read", "1\n2\n3", file_path="/work/shop/drawer.py")
        told.call("Read", "1\n2\n3", file_path="/work/shop/coins.py")
        told.run("cat tills.py | head -3", "1\n2\n3")
        told.edit("/work/shop/drawer.py", "old\nlines", "new")
        told.edit("/work/shop/drawer.py", "other", "more\nlines")
        told.call("Grep", "drawer.py:7", pattern="coin", path="/work/shop")
        told.run("make check", "1\n2\n3 passed")
        told.run("make check | tail -3", "1 drawer\n[check] failed")
    shown = [line.text for line in asked_about(told, tmp_path) if line.role is LineRole.TOOL]
    assert shown == 2 * [
        "Read: drawer.py; coins.py; Bash: cat tills.py | head -3; Edit: drawer.py",
        'Grep: "coin" in /work/shop -> drawer.py:7',
        "Bash: make check -> 1 | 2 | 3 passed",
        "Bash: make check | tail -3 -> 1 drawer | [check] failed",
    ]


def test_a_long_run_of_calls_that_only_look_is_cut(tmp_path: Path) -> None:
    told = Told("calls")
    told.user("Find the drawer.")
    for number in range(99):
        told.call("Read", "1\n2\n3", file_path=f"/work/shop/drawer_{number}.py")
    line = asked_about(told, tmp_path)[-1]
    assert line.text.startswith("Read: drawer_0.py; drawer_1.py;")
    assert line.text.endswith(" …")
    assert "drawer_50" not in line.text


def test_a_call_that_failed_keeps_its_subject(tmp_path: Path) -> None:
    told = Told("calls")
    told.user("Mend the drawer.")
    told.call("Read", "1\n2\n3", file_path="/work/shop/drawer.py")
    told.reply("It is empty?")
    told.call("Read", "No such file", failed=True, file_path="/work/shop/drawer.py")
    assert [line.text for line in asked_about(told, tmp_path)][-2:] == [
        "Read: drawer.py", "Read: No such file",
    ]  # fmt: skip


def test_a_context_that_is_too_small_is_refused() -> None:
    by = writer(Scripted(FOUND))
    with pytest.raises(ModelError, match="At least"):
        piece_tokens(by, context_tokens=2048, answer_tokens=512)
    assert piece_tokens(by, context_tokens=8192, answer_tokens=2048) > 3000
    assert piece_tokens(by, context_tokens=1_000_000, answer_tokens=4000) == 60_000


def test_what_breaks_in_one_session_costs_no_other_and_names_it(tmp_path: Path) -> None:
    by = writer(Scripted(FOUND, ValueError("unexpected"), FOUND))
    done = results(plan_run(sessions(tmp_path, 3), by, max_tokens=2000), by)
    assert [len(each.proved) for each in done] == [1, 0, 1]
    (failure,) = done[1].failures
    assert failure == "session-1.jsonl: ValueError: unexpected"
