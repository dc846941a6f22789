"""How faithful a summary is, without a model (`docs/design.md`, Levels and anchors)."""

from __future__ import annotations

import pytest
from msgspec import structs

from reviewer.compression.anchors import find_anchors
from reviewer.compression.engine import SegmentAnalysis
from reviewer.compression.fidelity import validate_fidelity
from reviewer.compression.segments import full_text
from reviewer.compression.values import (
    OFFLINE,
    AnchorPoint,
    CompressedSegment,
    FidelityValidation,
    Level,
    Segment,
    SegmentTurn,
)
from tests.unit.compression.making import anchor, count, long_segment, segment, turn


def judged(
    source: Segment,
    content: str,
    anchors: tuple[AnchorPoint, ...] = (),
    level: Level = Level.BRIEF,
    engine: str = OFFLINE,
) -> FidelityValidation:
    summary = CompressedSegment(
        level, content, anchors, (), count(content), source.tokens, engine=engine
    )
    return validate_fidelity(SegmentAnalysis(source), summary)


def test_the_whole_text_keeps_everything() -> None:
    source = segment()
    found = judged(source, full_text(source.turns), find_anchors(source.turns))
    assert (found.anchor_preservation, found.factual_accuracy) == (1.0, 1.0)
    assert found.context_retention == 1.0
    assert found.passes_threshold
    assert found.lost_information == ()


def test_anchors_count_as_kept_with_white_space_folded_and_case_counting() -> None:
    anchors = (anchor("keep the drawer closed"), anchor("Use one queue"))
    found = judged(segment(), "We keep the\n drawer  closed and use one queue.", anchors)
    assert found.anchor_preservation == 0.5
    assert [each.text for each in found.lost_information if each.kind == "anchor"] == [
        "Use one queue"
    ]


def test_a_list_of_names_does_not_pass() -> None:
    source = long_segment()
    names = "print_queue.py, spool/driver.py, PrinterError, reconnect(), $50k, 2026-03-31, vendor"
    found = judged(source, names)
    assert found.context_retention < 0.5
    assert "the request" in found.needs_missing
    assert "leaves out the request" in found.faults
    assert not found.passes_threshold


PAPER = "Please never print the paper receipts of the kiosk twice on the same day."


@pytest.mark.parametrize(
    ("content", "invented", "accuracy"),
    [
        ("`print_queue.py` took 900 ms, the budget is $50k.", (), 1.0),
        (
            "`printer_queue.py` took 950 ms, the budget is $50k.",
            ("printer_queue.py", "950 ms"),
            1 / 3,
        ),
        ("It is slow.\n\n**Key Points:**\n- [Decision]: It is slow\n[→detail:s17]", (), 1.0),
        ('Request:\n- Latest: "Please never print the paper receipts of …"', (), 1.0),
        ("drawer, kiosk, fix/drawer-7", (), 1.0),
    ],
)
def test_names_and_numbers_that_the_source_does_not_have_cost_accuracy(
    content: str, invented: tuple[str, ...], accuracy: float
) -> None:
    branched = structs.replace(turn(PAPER), branch="fix/drawer-7")
    found = judged(segment(*segment().turns, branched), content)
    assert found.invented == invented
    assert found.factual_accuracy == pytest.approx(accuracy, abs=1e-3)


def test_a_request_of_several_lines_and_the_name_of_a_tool_are_in_the_source() -> None:
    said = turn("this is the console of the kiosk\n> commit Skill(Drawer)\nand nothing else")
    returned = structs.replace(turn("the drawer is open", "tool"), kind="tool_result")
    source = segment(said, structs.replace(returned, name="TaskOutput"))
    content = (
        'Request:\n"this is the console of the kiosk; > commit Skill(Drawer) and nothing else"\n'
        "TaskOutput returned: the drawer is open. PrintOutput is not in it."
    )
    assert judged(source, content).invented == ("PrintOutput",)


def test_a_summary_of_tool_output_alone_is_unchecked_until_it_invents_something() -> None:
    returned = structs.replace(turn("the drawer is open", "tool"), kind="tool_result")
    said = turn("The drawer of the kiosk stays open.", "assistant")
    assert not judged(segment(returned), "the drawer").checked
    assert judged(segment(said, returned), "the drawer").checked
    assert judged(segment(returned), "the drawer of `PrintOutput`").checked


def test_the_lost_list_names_statements_before_names_with_their_places() -> None:
    lost = judged(segment(), "Please do it.").lost_information
    kinds = [each.kind for each in lost]
    names = {"identifier", "number", "name", "quote", "term"}
    first_name = next(at for at, kind in enumerate(kinds) if kind in names)
    assert {"request", "statement"} <= set(kinds[:first_name])
    assert not set(kinds[first_name:]) - names
    for each in lost[:first_name]:
        assert segment().turns[each.turn].text[each.start : each.end] == each.text


def test_what_a_person_reads_of_the_losses_says_what_each_is_and_its_turn() -> None:
    listing = "  120 lines in /srv/kiosk/driver.py\n" + "sensor " * 40
    turns = (
        turn("The paper sensor of the printer was replaced in Lisbon.", "assistant"),
        structs.replace(turn(listing, "tool"), kind="tool_result"),
        turn("We decided to keep the spooler in print_queue.py open.", "assistant"),
        turn("Please never print the paper receipts of the kiosk."),
    )
    numbered = tuple(structs.replace(each, number=at) for at, each in enumerate(turns, 41))
    source = Segment("s41", numbered, sum(each.tokens for each in numbered))
    found = judged(source, "Nothing.", find_anchors(turns)).loses
    firsts = [
        "you, turn 44: Please never print",
        "decision, turn 43: We decided to keep the spooler",
        "agent, turn 41: The paper sensor of the printer",
        "name, turn 43: print_queue.py",
        f"1 tool result: {turns[1].tokens:,} tokens, except",
    ]
    assert [line.startswith(first) for line, first in zip(found, firsts, strict=False)] == [
        True for _ in firsts
    ], found
    assert found[-1].endswith(" plain words, not listed")
    assert "driver.py" not in "\n".join(found), "the tool can be called again"


def test_a_sentence_is_lost_unless_neighbouring_sentences_say_it() -> None:
    report = "The crane is checked daily. The lighthouse needs paint. Nobody tests the night buoy."
    source = Segment("s1", (SegmentTurn("assistant", report, 20),), 20)
    text = "The night is calm. The lighthouse needs paint, and the crane is checked. A buoy drifts."

    def lost(engine: str) -> list[str]:
        found = judged(source, text, engine=engine).lost_information
        return [each.text for each in found if each.kind == "statement"]

    assert lost("a model") == ["Nobody tests the night buoy."]
    assert lost(OFFLINE) == ["The crane is checked daily.", "Nobody tests the night buoy."]


def test_a_heading_that_is_kept_without_its_marks_is_not_lost() -> None:
    text = "Now let me check the hook response:"
    source = Segment("s1", (SegmentTurn("assistant", text, 9),), 9)
    assert judged(source, "Agent: Now let me check the hook response").loses == ()


def test_losses_name_short_words_of_the_person_and_what_calls_wrote() -> None:
    turns = (
        SegmentTurn("user", "run it", 2),
        SegmentTurn("assistant", '{"content": "a long file"}', 90, kind="tool_use", name="Write"),
        SegmentTurn("tool", "written", 3, kind="tool_result"),
    )
    loses = judged(Segment("s1", turns, 95), "It was written.").loses
    assert [each.partition(":")[0] for each in loses] == [
        "you",
        "1 tool call",
        "1 tool result",
    ]


def test_what_the_person_said_is_lost_unless_it_stands_word_for_word_and_comes_first() -> None:
    turns = (
        SegmentTurn("user", "Paint the old lighthouse red and white before winter comes.", 12),
        SegmentTurn("assistant", "The quay wall has eleven cracks near the second bollard.", 12),
    )
    text = "The person wants the old lighthouse painted red and white before winter comes."
    lost = judged(Segment("s1", turns, 24), text).lost_information
    assert [each.turn for each in lost if each.kind == "statement"] == [0, 1]
    assert lost[0].text == turns[0].text
