"""A run over sessions: its cost, its ceiling, and what is left when it stops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reviewer.llm.answer_cache import AnswerCache
from reviewer.llm.model import CancelledError, ModelError
from reviewer.proposing.model_run import Plan, SessionDone, piece_tokens, plan_run, run
from reviewer.proposing.statements import StatementWriter
from tests.unit.proposing.models import BUSY, Scripted, answer, said
from tests.unit.proposing.sessions import SessionFile

WORDS = "the terminal repeats its answer after 20 seconds"
FOUND = answer(said("The card terminal repeats its answer after 20 seconds.", (1, WORDS)))


def sessions(folder: Path, count: int) -> list[Path]:
    made = []
    for number in range(count):
        session = SessionFile(folder / f"session-{number}.jsonl")
        session.says(f"Why is charge {number} doubled?")
        session.answers(f"The cause: {WORDS}, so the charge is doubled.")
        made.append(session.path)
    return made


def writer(model: Scripted, cache: Path | None = None) -> StatementWriter:
    return StatementWriter(model, cache=None if cache is None else AnswerCache(cache))


def results(
    plan: Plan,
    by: StatementWriter,
    *,
    ceiling: int | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> list[SessionDone]:
    found = run(
        plan, by, known=lambda _: (), concurrency=1, max_tokens_in=ceiling, cancelled=cancelled
    )
    return list(found)


def test_the_cost_is_known_before_anything_is_asked(tmp_path: Path) -> None:
    model = Scripted(FOUND)
    plan = plan_run(sessions(tmp_path, 3), writer(model), max_tokens=2000)
    assert (len(plan.sessions), plan.pieces, plan.cached) == (3, 3, 0)
    assert plan.tokens_in > 3 * writer(model).prompt_tokens()
    assert plan.tokens_out == 3 * 900
    assert model.asked == []


def test_each_session_has_its_statements(tmp_path: Path) -> None:
    paths = sessions(tmp_path, 3)
    by = writer(Scripted(FOUND))
    done = results(plan_run(paths, by, max_tokens=2000), by)
    assert sorted(each.path for each in done) == paths
    assert [len(each.proved) for each in done] == [1, 1, 1]
    assert sum(each.tokens_in for each in done) == 300


def test_a_ceiling_in_the_middle_leaves_the_rest_for_the_next_run(tmp_path: Path) -> None:
    model, cache = Scripted(FOUND), tmp_path / "cache"
    by = writer(model, cache)
    paths = sessions(tmp_path, 4)
    plan = plan_run(paths, by, max_tokens=2000)
    done = results(plan, by, ceiling=plan.tokens_in // 2)
    assert sum(each.left for each in done) == 2
    again = plan_run(paths, by, max_tokens=2000)
    assert (again.cached, again.tokens_in < plan.tokens_in) == (2, True)
    assert sum(len(each.proved) for each in results(again, by)) == 4
    assert len(model.asked) == 4


def test_a_stopped_run_returns_what_is_done_and_goes_on_later(tmp_path: Path) -> None:
    model, cache = Scripted(FOUND), tmp_path / "cache"
    by = writer(model, cache)
    paths = sessions(tmp_path, 4)
    done = results(
        plan_run(paths, by, max_tokens=2000), by, cancelled=lambda: len(model.asked) >= 2
    )
    assert sum(len(each.proved) for each in done) == 2
    assert sum(len(each.proved) for each in results(plan_run(paths, by, max_tokens=2000), by)) == 4
    assert len(model.asked) == 4


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


def test_closing_the_results_asks_no_more(tmp_path: Path) -> None:
    model = Scripted(FOUND)
    by = writer(model)
    plan = plan_run(sessions(tmp_path, 6), by, max_tokens=2000)
    found = run(plan, by, known=lambda _: (), concurrency=1)
    next(found)
    found.close()
    assert len(model.asked) <= 2


def test_a_long_session_is_asked_about_in_pieces(tmp_path: Path) -> None:
    session = SessionFile(tmp_path / "long.jsonl")
    for number in range(200):
        session.says(f"Question {number} about the kiosk, its drawer and its printer?")
        session.answers(f"Answer {number}: the drawer opens after the terminal has answered.")
    model = Scripted(answer())
    by = writer(model)
    plan = plan_run([session.path], by, max_tokens=1000)
    assert plan.pieces > 3
    (done,) = results(plan, by)
    assert len(model.asked) == plan.pieces
    assert (done.left, done.proved) == (0, ())
    assert f"part 2 of {plan.pieces}" in model.asked[1][-1].content


def test_files_that_are_no_sessions_are_named(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    plan = plan_run([empty, tmp_path / "gone.jsonl"], writer(Scripted(FOUND)), max_tokens=2000)
    assert (plan.pieces, [path for path, _ in plan.unread]) == (0, [empty, tmp_path / "gone.jsonl"])
    assert all(reason for _, reason in plan.unread)


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


def test_the_progress_names_session_piece_and_the_way_out(tmp_path: Path) -> None:
    by, seen = writer(Scripted(FOUND)), list[str]()
    plan = plan_run(sessions(tmp_path, 2), by, max_tokens=2000)
    list(run(plan, by, known=lambda _: (), concurrency=1, progress=seen.append))
    total = plan.tokens_in
    assert seen[0].startswith(
        f"Session 1 of 2, piece 1 of 1  0 of {total:,} tokens  0 s  0 statements"
    )
    half = plan.sessions[0].pieces[0].tokens
    assert any(
        line.startswith(f"Session 2 of 2, piece 1 of 1  {half:,} of {total:,} tokens")
        for line in seen
    )
