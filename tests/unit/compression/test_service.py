"""A context made smaller: told before, previewed, written as one act, taken back by one undo."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from reviewer.commits.values import Pattern, Priority
from reviewer.compression.fitting import UnreachableError
from reviewer.compression.licence import LicenceError
from reviewer.compression.marking import Span
from reviewer.compression.previewing import PreviewProgress, Watch
from reviewer.compression.service import Compression
from reviewer.compression.values import Level, Locked
from reviewer.engine import Engine
from reviewer.errors import ReviewerError, UnknownIdError
from reviewer.llm import door
from reviewer.llm.model import CancelledError, ModelError
from reviewer.llm.retry import RetryExhaustedError
from tests.unit.compression.conftest import Kiosk
from tests.unit.compression.making import KIOSK, ScriptedModel, faithful


def test_a_ceiling_without_room_is_named_as_what_left_a_segment_whole(kiosk: Kiosk) -> None:
    options = kiosk.compression.options(ceiling=1)
    found = kiosk.compression.preview(kiosk.compression.plan(kiosk.id, "brief", options=options))
    whole = [each for each in found.segments if each.kept]
    assert whole
    assert {each.kept for each in whole} == {"a ceiling of 1 leaves no room for a summary"}
    assert all(each.tokens == each.segment.tokens for each in whole)


def test_the_outlook_tells_sizes_before_anything_is_written(kiosk: Kiosk) -> None:
    found = kiosk.compression.outlook(kiosk.id)
    assert found.total == sum(message.tokens for message in kiosk.compiled())
    assert found.by_priority[Priority.PINNED] == kiosk.compiled()[0].tokens
    sizes = [found.at_level[level] for level in Level]
    assert sizes == sorted(sizes, reverse=True)
    assert found.by_priority[Priority.PINNED] < found.floor <= found.at_level[Level.TAGS]


def test_reach_says_what_would_have_to_give(kiosk: Kiosk) -> None:
    kiosk.engine.contexts.annotate(kiosk.ids[4], priority="pinned")
    assert kiosk.compression.reach(kiosk.id, 1000).reachable
    found = kiosk.compression.reach(kiosk.id, 20)
    assert not found.reachable
    assert "cannot be reached: pins and anchors need" in found.message
    assert found.costly[0].commit == kiosk.ids[4]
    assert found.costly[0].why == "pinned"


def test_segments_leave_pins_out_and_know_their_commits(kiosk: Kiosk) -> None:
    found = kiosk.compression.segments(kiosk.id)
    commits = [turn.commit for segment in found for turn in segment.turns]
    assert commits == kiosk.ids[1:]
    part = kiosk.compression.segments(kiosk.id, start=kiosk.ids[5], end=kiosk.ids[9])
    assert [turn.commit for segment in part for turn in segment.turns] == kiosk.ids[5:10]
    with pytest.raises(UnknownIdError, match="ends before it begins"):
        kiosk.compression.segments(kiosk.id, start=kiosk.ids[9], end=kiosk.ids[5])
    with pytest.raises(UnknownIdError, match="not in the chain"):
        kiosk.compression.segments(kiosk.id, start=99_999)


def test_a_preview_writes_nothing_and_says_what_comes_out(kiosk: Kiosk) -> None:
    before = kiosk.chain()
    found = kiosk.compression.preview(kiosk.compression.plan(kiosk.id, "brief"))
    assert kiosk.chain() == before
    assert found.tokens_before == sum(message.tokens for message in kiosk.compiled())
    applied = kiosk.compression.apply(kiosk.id, found.plan)
    assert applied.tokens_after == found.tokens_after
    assert sum(message.tokens for message in kiosk.compiled()) == found.tokens_after
    texts = kiosk.texts()
    for each in found.segments:
        assert each.compressed.content in texts


def test_one_act_that_one_undo_takes_back(kiosk: Kiosk) -> None:
    before, texts = kiosk.chain(), kiosk.texts()
    applied = kiosk.compress("brief")
    assert applied.title.startswith("Compressed ")
    assert kiosk.engine.history.undo().title == applied.title
    assert (kiosk.chain(), kiosk.texts()) == (before, texts)
    kiosk.engine.history.redo()
    assert len(kiosk.summaries()) == applied.segments


def test_the_originals_stay_and_summaries_name_them(kiosk: Kiosk) -> None:
    kiosk.compress("brief")
    summary = kiosk.summaries()[0]
    view = kiosk.engine.contexts.commit(summary.commit)
    assert len(view.summary_of) > 2
    assert kiosk.engine.contexts.commit(kiosk.ids[1]).text == KIOSK[0][1]


def test_compressing_again_keeps_criteria_marks_and_anchors(kiosk: Kiosk) -> None:
    contexts = kiosk.engine.contexts
    contexts.annotate(
        kiosk.ids[1], priority="important", retain="keep the dates", retain_match=["$50k"]
    )
    kiosk.compression.marks.mark_text(kiosk.ids[2], "takes 900 ms")
    kiosk.compress("detailed")
    kiosk.compress("brief")
    kiosk.compress("tags")
    whole = "\n".join(message.text for message in kiosk.summaries())
    assert "$50k" in whole
    assert "takes 900 ms" in whole
    carrying = [m for m in kiosk.summaries() if m.priority is Priority.IMPORTANT]
    (criteria,) = {m.retention for m in carrying}
    assert criteria.patterns == (Pattern("$50k"),)
    assert criteria.instructions == "keep the dates"


def test_detected_anchors_are_known_again_although_another_role_says_them(kiosk: Kiosk) -> None:
    kiosk.compress("brief")
    first = kiosk.compression.anchors(kiosk.id)[0]
    assert any(anchor.content.startswith("No, do not touch the driver") for anchor in first)


def test_segment_ids_never_come_twice(kiosk: Kiosk) -> None:
    seen: set[str] = set()
    for level in ("detailed", "brief"):
        ids = {segment.id for segment in kiosk.compression.segments(kiosk.id)}
        assert not ids & seen
        seen |= ids
        kiosk.compress(level)


def test_markers_open_level_by_level_down_to_the_originals(kiosk: Kiosk) -> None:
    kiosk.compress("brief")
    summary = kiosk.summaries()[0]
    expansions = kiosk.compression.expansions
    (marker,) = expansions.markers(summary.commit, summary.text)
    assert marker.target is Level.DETAILED
    nearer = expansions.open(summary.commit)
    assert len(nearer) > len(summary.text)
    whole = kiosk.compression.expanded(summary.commit)
    sources = kiosk.engine.contexts.commit(summary.commit).summary_of
    for number in kiosk.ids[1 : len(sources) + 1]:
        assert kiosk.engine.contexts.commit(number).text in whole


def test_a_summary_of_summaries_opens_to_the_originals_too(kiosk: Kiosk) -> None:
    kiosk.compress("detailed")
    kiosk.compress("brief")
    whole = "\n".join(kiosk.compression.expanded(m.commit) for m in kiosk.summaries())
    for _, text in KIOSK:
        assert text in whole
    with pytest.raises(UnknownIdError, match="no summary"):
        kiosk.compression.expanded(kiosk.ids[0])


def test_fit_keeps_what_it_can_within_the_target(kiosk: Kiosk) -> None:
    everything = sum(message.tokens for message in kiosk.compiled())
    roomy = kiosk.compression.fit(kiosk.id, everything)
    assert {choice.level for choice in roomy.choices} == {Level.FULL}
    for target in (everything // 2, everything // 4, everything // 8):
        plan = kiosk.compression.fit(kiosk.id, target)
        found = kiosk.compression.preview(plan)
        assert found.tokens_after <= target
        levels = [int(choice.level) for choice in plan.choices]
        assert levels[-1] <= levels[0]
    assert kiosk.compression.apply(kiosk.id, found.plan).tokens_after <= target
    assert sum(message.tokens for message in kiosk.compiled()) <= target


def test_a_target_below_the_floor_is_refused_with_what_costs(kiosk: Kiosk) -> None:
    with pytest.raises(UnreachableError, match="10 tokens cannot be reached") as told:
        kiosk.compression.fit(kiosk.id, 10)
    assert told.value.reach.needs > 10
    assert told.value.reach.costly


def test_levels_can_be_chosen_for_each_segment(kiosk: Kiosk) -> None:
    plan = kiosk.compression.plan(kiosk.id, "brief")
    last = plan.choices[-1].segment
    plan = kiosk.compression.choose(plan, last, "full")
    kiosk.compression.apply(kiosk.id, plan)
    assert len(kiosk.summaries()) == len(plan.choices) - 1
    with pytest.raises(UnknownIdError, match="no segment"):
        kiosk.compression.choose(kiosk.compression.plan(kiosk.id, "brief"), "s99", "full")
    with pytest.raises(ReviewerError, match="no level"):
        kiosk.compression.plan(kiosk.id, "tiny")


def test_criteria_for_one_call_are_met_and_not_kept(kiosk: Kiosk) -> None:
    options = kiosk.compression.options(retain_match=["900 ms"], retain_regex=[r"310\s?ms"])
    kiosk.compress("tags", options=options)
    whole = "\n".join(message.text for message in kiosk.summaries())
    assert "900 ms" in whole
    assert "310 ms" in whole
    assert all(not message.retention for message in kiosk.summaries())
    with pytest.raises(ReviewerError, match="matches nothing in the range"):
        kiosk.compression.plan(
            kiosk.id, "brief", options=kiosk.compression.options(retain_match=["nowhere at all"])
        )


def test_marks_are_one_act_each_and_taken_back(kiosk: Kiosk) -> None:
    marks, commit = kiosk.compression.marks, kiosk.ids[2]
    assert marks.mark_text(commit, "takes 900 ms")
    assert marks.mark_text(commit, "takes 900 ms") == 0
    pinned = [a for a in kiosk.compression.anchors(kiosk.id)[0] if a.source == "pinned"]
    assert [anchor.content for anchor in pinned] == ["takes 900 ms"]
    assert marks.mark_text(commit, "takes 900 ms", take_back=True)
    assert all(a.source == "detected" for a in kiosk.compression.anchors(kiosk.id)[0])
    with pytest.raises(ReviewerError, match="does not hold that text"):
        marks.mark_text(commit, "never said")
    with pytest.raises(ReviewerError, match="empty or outside"):
        marks.mark(Span(commit, 5, 100_000))


def test_a_marked_span_moves_with_an_edit_or_goes_with_it(kiosk: Kiosk) -> None:
    kiosk.compression.marks.mark_text(kiosk.ids[2], "takes 900 ms")
    kiosk.engine.contexts.edit(kiosk.ids[2], "So much: it takes 900 ms.")
    assert "takes 900 ms" in {a.content for a in kiosk.compression.anchors(kiosk.id)[0]}
    kiosk.engine.contexts.edit(kiosk.ids[2], "It is slow.")
    assert all(a.source == "detected" for a in kiosk.compression.anchors(kiosk.id)[0])


def test_nothing_to_compress_is_said(engine: Engine, kiosk: Kiosk) -> None:
    empty = engine.contexts.create("kiosk", "empty").id
    with pytest.raises(ReviewerError, match="the context is empty"):
        engine.compression.plan(empty, "brief")
    engine.contexts.annotate(kiosk.ids, priority="pinned")
    with pytest.raises(ReviewerError, match="holds only pinned commits"):
        engine.compression.plan(kiosk.id, "brief")
    engine.contexts.annotate(kiosk.ids, priority="skip")
    with pytest.raises(ReviewerError, match="Nothing to compress"):
        kiosk.compress("brief")
    engine.contexts.annotate(kiosk.ids, priority="normal")
    with pytest.raises(ReviewerError, match="Nothing to compress"):
        kiosk.compress("full")
    with pytest.raises(UnknownIdError):
        engine.compression.plan(99, "brief")


def test_a_segment_whose_summary_would_not_be_smaller_stays(engine: Engine) -> None:
    context = engine.contexts.create("kiosk", "tiny").id
    for text in ("Yes.", "No.", "Fine."):
        engine.contexts.add(context, role="user", text=text)
    found = engine.compression.preview(engine.compression.plan(context, "brief"))
    assert found.segments[0].kept == "a summary would not be smaller"
    assert found.tokens_after == found.tokens_before


def test_an_empty_summary_by_hand_is_refused(kiosk: Kiosk) -> None:
    plan = kiosk.compression.plan(kiosk.id, "brief")
    plan = kiosk.compression.write(plan, plan.choices[0].segment, "  \n ")
    with pytest.raises(ReviewerError, match="is empty"):
        kiosk.compression.preview(plan)


def test_a_summary_by_hand_for_a_segment_that_stays_full_is_refused(kiosk: Kiosk) -> None:
    plan = kiosk.compression.plan(kiosk.id, "full")
    with pytest.raises(ReviewerError, match="another level first"):
        kiosk.compression.write(plan, plan.choices[0].segment, "Written with care.")


def test_secrets_typed_into_a_summary_are_masked(kiosk: Kiosk) -> None:
    plan = kiosk.compression.plan(kiosk.id, "full")
    first = plan.choices[0].segment
    text = "Log in with DB_PASSWORD='hunter2-Xk93vQ9z' at the kiosk."
    plan = kiosk.compression.write(plan.with_level(first, Level.BRIEF), first, text)
    kiosk.compression.apply(kiosk.id, plan)
    assert "hunter2" not in kiosk.summaries()[0].text


def test_skipped_commits_do_not_come_back_in_summaries(kiosk: Kiosk) -> None:
    secret = kiosk.say("`hidden_plan.py` would be one way.", "assistant", type="reasoning")
    kiosk.say("Done.", "assistant")
    kiosk.compress("detailed")
    assert all("hidden_plan" not in text for text in kiosk.texts())
    assert kiosk.engine.contexts.commit(secret).text.startswith("`hidden_plan.py`")


def test_fit_tells_of_every_summary_it_tries_and_can_be_stopped(kiosk: Kiosk) -> None:
    told: list[PreviewProgress] = []
    watch = Watch(lambda: len(told) == 2, on_progress=told.append)
    with pytest.raises(CancelledError, match="nothing was written"):
        kiosk.compression.fit(kiosk.id, 300, watch=watch)
    assert [each.done for each in told] == [1, 2]
    everything = len(kiosk.compression.segments(kiosk.id)) * 3
    assert all(each.total == everything and each.segment for each in told)
    quiet: list[PreviewProgress] = []
    plan = kiosk.compression.fit(kiosk.id, 300, watch=Watch(on_progress=quiet.append))
    assert plan == kiosk.compression.fit(kiosk.id, 300)
    assert quiet[-1].done == len(quiet) <= everything


def test_an_offline_preview_stops_between_segments(kiosk: Kiosk) -> None:
    told: list[PreviewProgress] = []
    plan = kiosk.compression.plan(kiosk.id, "brief")
    assert len(plan.choices) > 1
    with pytest.raises(CancelledError):
        kiosk.compression.preview(plan, Watch(lambda: bool(told), on_progress=told.append))
    assert len(told) == 1


def test_the_licence_lowers_what_fit_may_use(
    kiosk: Kiosk, with_settings: Callable[..., Compression]
) -> None:
    pro = with_settings(tier="writer-pro")
    with pytest.raises(LicenceError, match="needs the tier teams"):
        pro.plan(kiosk.id, "tags")
    smallest = sum(m.tokens for m in kiosk.compiled()) // 5
    plan = pro.fit(kiosk.id, smallest)
    assert max(choice.level for choice in plan.choices) <= Level.BRIEF
    levels = list(pro.all_levels(kiosk.id))
    locked = [one for one in levels if isinstance(one.locked, Locked)]
    assert {one.level for one in locked} == {Level.TAGS}


def test_figures_wait_for_a_write_and_are_summed_up(kiosk: Kiosk) -> None:
    kiosk.compression.preview(kiosk.compression.plan(kiosk.id, "brief"))
    assert kiosk.engine._database.reader().execute("SELECT * FROM measurement").fetchall() == []
    found = {
        (one.name.rpartition(".")[2], one.label): one for one in kiosk.compression.statistics()
    }
    segments = len(kiosk.compression.segments(kiosk.id))
    assert found["CompressionRatio", "Brief"].count == segments
    assert found["CompressionRatio", "Brief"].mean > 5
    assert 0 < found["FidelityScore", "Brief"].mean <= 1
    assert found["Duration", "Brief"].least > 0


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    scripted = ScriptedModel(faithful)
    monkeypatch.setattr(door, "open_model", lambda settings: scripted)
    return scripted


def test_a_model_writes_segments_at_once_and_tells_how_far_it_is(
    kiosk: Kiosk, with_settings: Callable[..., Compression], model: ScriptedModel
) -> None:
    compression = with_settings(writer="model")
    progress: list[PreviewProgress] = []
    pieces: list[tuple[str, str]] = []
    watch = Watch(on_text=lambda *each: pieces.append(each), on_progress=progress.append)
    found = compression.preview(compression.plan(kiosk.id, "detailed"), watch)
    assert [each.done for each in progress] == [1, 2, 3]
    assert {segment for segment, _ in pieces} == {each.segment.id for each in found.segments}
    compression.apply(kiosk.id, found.plan)
    assert len(model.prompts) == 3  # what was previewed is applied, not asked for again
    spent = [one for one in compression.statistics() if one.name.endswith("LlmTokens")]
    assert (spent[0].label, spent[0].count) == ("scripted", 3)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (ModelError("The connection broke off."), ModelError),
        (CancelledError("Stopped."), CancelledError),
        ("", RetryExhaustedError),
    ],
)
def test_a_failing_model_leaves_the_context_as_it_was(
    kiosk: Kiosk,
    with_settings: Callable[..., Compression],
    model: ScriptedModel,
    answer: object,
    error: type[Exception],
) -> None:
    model.script = [faithful, answer]
    compression, before = with_settings(writer="model"), kiosk.chain()
    with pytest.raises(error):
        compression.apply(kiosk.id, compression.plan(kiosk.id, "brief"))
    assert kiosk.chain() == before
    offline = compression.plan(kiosk.id, "brief", engine="offline")
    assert compression.apply(kiosk.id, offline).segments == 3


def test_the_first_failure_stops_what_is_under_way(
    kiosk: Kiosk, with_settings: Callable[..., Compression], model: ScriptedModel
) -> None:
    stopped: list[bool] = []

    def waits(messages: object) -> str:
        for _ in range(500):
            if model.cancelled is not None and model.cancelled():
                stopped.append(True)
                raise CancelledError("Stopped.")
            time.sleep(0.01)
        return "never stopped"

    def fails(messages: object) -> str:
        time.sleep(0.05)
        raise ModelError("The connection broke off.")

    model.script = [waits, waits, fails]
    compression = with_settings(writer="model")
    with pytest.raises(ModelError, match="broke off"):
        compression.preview(compression.plan(kiosk.id, "brief"))
    assert stopped == [True, True]


def test_what_a_model_writes_too_long_for_the_target_is_lowered(
    kiosk: Kiosk, with_settings: Callable[..., Compression], model: ScriptedModel
) -> None:
    model.script = [" ".join(f"word{number}" for number in range(60))]
    compression = with_settings(writer="model")
    target = sum(message.tokens for message in kiosk.compiled()) // 5
    found = compression.preview(compression.fit(kiosk.id, target))
    assert found.tokens_after <= target


def test_the_store_is_the_same_for_another_program(kiosk: Kiosk, tmp_path: Path) -> None:
    kiosk.compress("brief")
    other = Engine.open(tmp_path / "store.db")
    assert [m.text for m in other.contexts.compile(kiosk.id)] == kiosk.texts()
    other.close()
