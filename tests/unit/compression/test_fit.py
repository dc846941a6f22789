"""Levels for a token target."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reviewer.compression.fit import LevelSize, UnreachableError, fit_levels
from reviewer.compression.preview import PreviewProgress, Watch
from reviewer.compression.service import Compression
from reviewer.compression.summarizer import LicenceError
from reviewer.compression.values import Level
from reviewer.engine import Engine
from reviewer.llm.model import CancelledError
from tests.unit.compression.conftest import Kiosk
from tests.unit.sources.builders import Session

REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you,"
)
SIZES = dict(zip(Level, map(LevelSize, (100, 60, 30, 10)), strict=True))
REASONS = [f"Berth {at} of the old harbour floods at spring tide." for at in range(40)]


def test_fit_keeps_as_much_as_possible_within_the_target(kiosk: Kiosk) -> None:
    everything = sum(message.tokens for message in kiosk.compiled())
    roomy = kiosk.compression.fit(kiosk.id, everything)
    assert {choice.level for choice in roomy.choices} == {Level.FULL}
    for target in (everything // 2, everything // 4, everything // 8):
        plan = kiosk.compression.fit(kiosk.id, target)
        found = kiosk.compression.preview(plan)
        assert found.tokens_after <= target
        levels = [int(choice.level) for choice in plan.choices]
        assert levels[-1] <= levels[0]
    assert kiosk.compression.apply(found.plan).tokens_after <= target
    assert sum(message.tokens for message in kiosk.compiled()) <= target


def test_a_segment_without_a_summary_that_passes_is_named_and_compressed_anyway(
    engine: Engine,
) -> None:
    context = engine.contexts.create("acme", "harbour").id
    boats = ("Alma", "Berta", "Cosima", "Dora", "Elsa", "Frida", "Gesine", "Hanna", "Ida", "Jonna")
    calls = "\n\n".join(f"{boat}." for boat in boats * 5)
    engine.contexts.add(context, role="assistant", text=calls)
    compression = engine.compression
    with pytest.raises(UnreachableError, match=r"do not pass \(s\d.*\); --anyway takes them"):
        compression.fit(context, 30)
    found = compression.preview(compression.fit(context, 30, anyway=True))
    assert found.tokens_after <= 30
    assert any(each.in_doubt for each in found.segments)


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


def test_the_licence_lowers_what_fit_may_use(
    kiosk: Kiosk, with_settings: Callable[..., Compression]
) -> None:
    pro = with_settings(tier="writer-pro")
    with pytest.raises(LicenceError, match="needs the tier teams"):
        pro.plan(kiosk.id, "tags")
    smallest = sum(m.tokens for m in kiosk.compiled()) // 5
    plan = pro.fit(kiosk.id, smallest)
    assert max(choice.level for choice in plan.choices) <= Level.BRIEF
    assert set(pro.locked) == {Level.TAGS}


@pytest.mark.parametrize(
    ("target", "levels"),
    [
        (400, [Level.FULL, Level.FULL, Level.FULL, Level.FULL]),
        (240, [Level.BRIEF, Level.BRIEF, Level.DETAILED, Level.FULL]),
        (180, [Level.BRIEF, Level.BRIEF, Level.DETAILED, Level.DETAILED]),
        (100, [Level.TAGS, Level.BRIEF, Level.BRIEF, Level.BRIEF]),
        (310, [Level.BRIEF, Level.DETAILED, Level.FULL, Level.FULL]),
        (60, [Level.TAGS, Level.TAGS, Level.TAGS, Level.BRIEF]),
    ],
)
def test_all_are_brief_before_the_newest_are_fuller(target: int, levels: list[Level]) -> None:
    assert fit_levels([SIZES] * 4, target)[0] == levels


def test_full_goes_to_where_most_was_said() -> None:
    levels, _ = fit_levels([SIZES] * 5, 420, speech=(0.1, 0.9, 0.2, 0.1, 0.1))
    assert levels == [Level.DETAILED, Level.FULL, Level.DETAILED, Level.FULL, Level.FULL]


def test_what_the_person_said_is_shortened_last(engine: Engine) -> None:
    context = engine.contexts.create("acme", "harbour").id
    wishes = (
        "The ferry must never leave before the tram from the harbour has arrived.",
        "Print the timetable on yellow paper and hang it beside the northern door.",
        "Ask Marta about the lantern of the breakwater before anything is painted.",
    )
    for wish in wishes:
        engine.contexts.add(context, role="user", text=wish)
    for dock in range(80):
        text = (
            f"Dock {dock} took {dock * 3} boats while `gate_{dock}.py` waited, and the log of that "
            f"hour shows nothing odd besides a short pause of the crane at pier {dock * 7}."
        )
        engine.contexts.add(context, role="assistant", text=text)
    compression = engine.compression
    plan = compression.fit(context, 140, anyway=True)
    assert [int(each.level) for each in plan.choices] == [Level.BRIEF, *[Level.TAGS] * 4]
    assert compression.preview(plan).shortened == ()
    assert compression.preview(compression.fit(context, 80, anyway=True)).shortened == ("s1",)


def test_tags_with_every_word_of_a_wish_do_not_say_it(engine: Engine) -> None:
    context = engine.contexts.create("acme", "harbour").id
    engine.contexts.add(context, role="user", text="Repaint `crane_7`.")
    engine.contexts.add(context, role="assistant", text="`crane_7` is dry again. " * 40)
    compression = engine.compression
    tags = compression.preview(compression.plan(context, Level.TAGS))
    assert "crane_7" in tags.segments[0].compressed.content
    assert tags.shortened == ("s1",)


def test_a_summary_without_the_words_of_a_refusal_shortens_the_person(
    engine: Engine, tmp_path: Path
) -> None:
    said = Session()
    said.user("Print the timetable of the ferry.")
    said.tool()
    said.result(f"{REFUSED} the user said:\n{' '.join(REASONS)}", is_error=True)
    for number in range(12):
        said.reply(f"Pier {number} has {number + 40} berths and `pier_{number}.ods` is wide.")
    path = said.write(tmp_path / "ferry.jsonl")
    context = engine.contexts.import_file(path, project="acme").context.id
    found = engine.compression.preview(engine.compression.plan(context, "brief"))
    refused = next(each for each in found.segments if REASONS[0] in each.segment.turns[2].text)
    assert any(each not in refused.compressed.content for each in REASONS)
    assert refused.shortens_the_person
