"""Summaries in little room: parts of long lines, the request first, nothing said twice."""

from __future__ import annotations

import pytest
from msgspec import structs

from reviewer.compression.anchor_types import AnchorType, Section
from reviewer.compression.anchors import find_anchors
from reviewer.compression.offline.shape import Account
from reviewer.compression.offline.tags import ranked_tags
from reviewer.compression.values import Turn
from reviewer.compression.verbatim import anchor_tag
from tests.unit.compression.making import count, turn
from tests.unit.compression.test_shape import agent, call, edit, result, run, section, written

LONG_REPORT = (
    "The lantern of the lighthouse turns again. The gear had lost two teeth, which the keeper "
    "replaced from the spare crate of 1987. The oil pump was cleaned and its valve was set to "
    "three drops a minute, as the almanac of the harbour office recommends for cold winters."
)

PIER = (
    "The old pier of the northern harbour is closed for repairs. Its planks were taken up between "
    "the second and the fifth lamp, the tar for the new ones "
    "comes on Thursday with the mail boat, and until then the seagulls have it for themselves, "
    "so that the evening ferry lands at the stone quay behind the customs house."
)


def test_of_a_long_report_the_first_sentence_is_kept_where_the_rest_has_no_room() -> None:
    short = written([turn("Repair the pier."), agent(PIER)], 60)
    assert "The old pier of the northern harbour is closed for repairs." in short
    assert "seagulls" not in short


def test_a_list_is_cut_between_its_items() -> None:
    items = "\n".join(
        f"{number}. Paint the {colour} buoy at pier {number} with two coats of tar"
        for number, colour in enumerate(("red", "green", "black", "white", "yellow"), 1)
    )
    turns = [turn("What is left in the harbour?"), agent(f"What is left:\n{items}"), turn("Fine.")]
    text = written(turns, 70)
    assert "red buoy" in text
    assert "yellow buoy" not in text
    for line in text.split("\n"):
        assert not line.endswith(("the …", "at …", "with …"))


def test_a_request_that_was_cut_grows_as_far_as_there_is_room() -> None:
    request = "Check every rope of the ferry. " + " ".join(
        f"Rope {number} hangs at hook {number * 3} of deck {number % 4}." for number in range(60)
    )
    turns = [turn(request), agent("The ropes were looked at."), turn("push it")]
    small, large = (count(section(written(turns, n), Section.REQUEST)) for n in (130, 400))
    assert small < 120
    assert large > 150
    assert "Rope 7 hangs" in written(turns, 400)


def test_what_only_goes_on_does_not_take_the_room_of_the_request() -> None:
    turns = [
        turn("Rebuild the timetable of the night ferry so that it meets the last train."),
        *edit("timetable.py"),
        agent("The timetable meets the last train now. Shall I commit it and tell the pier?"),
        turn("yes"),
    ]
    assert "Rebuild the timetable of the night ferry" in written(turns, 60)


def test_a_report_that_repeats_the_state_is_left_out() -> None:
    turns = [
        turn("Fit the timetable on a page."),
        *edit("sheet.py"),
        *run("git commit -am 'Fit sheet.py' && git push", "[ferry 1a2b3c4] Fit sheet.py"),
        agent("Everything is committed and pushed."),
    ]
    text = written(turns, 260)
    assert text.lower().count("committed and pushed.") == 1


def test_a_name_of_no_letters_is_not_listed() -> None:
    turns = [turn('Set the mark to `""` and keep `buoy_7`.'), agent("Done: `buoy_7` has no mark.")]
    assert '""' not in Account(turns, count).names


MEETING = [
    turn("We agreed that the harbour gets two cranes.", name="Ada"),
    turn("No, that's wrong, the second crane is for the shipyard.", name="Bo"),
    turn("Then the harbour gets one crane and the shipyard pays for the other.", name="Ada"),
    turn("The shipyard can pay from the spring budget. It has forty thousand left.", name="Bo"),
    turn("What do you mean?", name="Cy"),
    turn("Can the spring budget of the shipyard also pay the crane driver?", name="Cy"),
]


def test_what_people_say_to_each_other_is_a_discussion() -> None:
    text = written(MEETING, 300)
    discussed = section(text, Section.DISCUSSED)
    assert "Bo: The shipyard can pay from the spring budget. It has forty thousand" in discussed
    assert section(text, Section.NOW) == ""


def test_people_who_talk_to_each_other_correct_each_other_and_not_the_agent() -> None:
    kinds = {each.type: each.content for each in find_anchors(MEETING)}
    assert AnchorType.CORRECTION not in kinds
    assert "crane driver" in kinds[AnchorType.UNRESOLVED_QUESTION]
    assert "What do you mean?" not in kinds.values()


def test_an_anchor_of_a_meeting_says_who_spoke() -> None:
    account = Account(MEETING, count)
    anchors = [each for each in find_anchors(MEETING) if each.type is AnchorType.DECISION]
    assert "Ada: We agreed that the harbour gets two cranes." in account.write(300, anchors)


@pytest.mark.parametrize(
    "said",
    [
        "Let me use the old crane instead.",
        "The tests of the crane need two changes. We decided to use the following ropes:",
        "Shall I continue?",
    ],
)
def test_steps_and_lead_ins_of_an_agent_are_no_anchors(said: str) -> None:
    assert find_anchors([agent(said)]) == ()


def test_an_offer_that_was_passed_over_is_not_open() -> None:
    offer = "Want me to grease the chain of the small crane as well?"
    open_offer = find_anchors([agent(offer)])
    assert [each.content for each in open_offer] == [offer]
    later = turn("Next is the lighthouse: its lamp flickers whenever the tide turns in the night.")
    assert not any(each.content == offer for each in find_anchors([agent(offer), later]))


def test_an_earlier_summary_weighs_less_than_what_was_said() -> None:
    fact = "The budget of the crane is $50k."
    summary = f"This session is being continued from a previous conversation.\nSummary:\n{fact}"
    (said,) = find_anchors([turn(fact)])
    kept = find_anchors([turn(summary)])
    assert all(each.importance < said.importance - 0.2 for each in kept)


@pytest.mark.parametrize(
    ("anchor", "tag"),
    [
        ("Understood. We decided to keep the port in `print_queue.py`", "print_queue.py"),
        ("guess the correct behaviour of it", "correct behaviour"),
        ("write a comment in #172", "#172"),
        ("def divide(a: float, b: float) -> float:", "divide"),
        ("type of ship we need", "ship"),
    ],
)
def test_the_tag_of_an_anchor_names_something(anchor: str, tag: str) -> None:
    assert anchor_tag(anchor) == tag


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/quay/work/boat/src/hull.py", "src/hull.py"),
        ("/elsewhere/deep/in/other/hull.py", "in/other/hull.py"),
        ("D:\\quay\\boat\\hull.py", "hull.py"),
    ],
)
def test_the_file_of_an_anchor_leaves_its_folders_out(path: str, shown: str) -> None:
    written_file = structs.replace(call("Write", {"file_path": path}), folder="/quay/work/boat")
    assert [each.content for each in find_anchors([written_file])] == [shown]


def test_tags_have_one_form_of_a_word_and_no_words_that_name_nothing() -> None:
    said = "The winch pulls. The winches of the pier need good oil, and a winch is better than two."
    account = Account([turn(said), agent("Two winches were oiled again today.")], count)
    tags = [each.lower() for each in ranked_tags(account.moments, account.state)]
    assert ("winch" in tags) + ("winches" in tags) <= 2
    assert not {"good", "better", "two", "again", "today"} & set(tags)
    pages = Account([turn("Print the pages. The page has a crest, and pages are blue.")], count)
    named = [each.lower() for each in ranked_tags(pages.moments, pages.state)]
    assert ("crest" in named, named.count("pages") + named.count("page") <= 1) == (True, True)


def lines_of_calls(number: int) -> list[Turn]:
    return [result("Bash", f"row {row} is fine") for row in range(number)]


@pytest.mark.parametrize("tokens", [12, 24, 40, 80, 119, 120, 200])
def test_nothing_is_longer_than_its_ceiling(tokens: int) -> None:
    for turns in (MEETING, [turn(LONG_REPORT), agent(LONG_REPORT)], lines_of_calls(50)):
        assert count(written(turns, tokens)) <= tokens


def test_with_much_room_a_summary_says_what_was_only_looked_at() -> None:
    paths = ("/quay/work/boat/hull.py", "/quay/work/boat/mast.py")
    looked = [
        each for path in paths for each in (call("Read", {"file_path": path}), result("Read", ""))
    ]
    shell = [call("shell", "bash -lc 'ls boat'"), result("shell", "hull.py")]
    turns = [
        turn("Paint the boat."),
        *looked,
        *shell,
        *edit("boat/oar.py"),
        agent("The boat is red."),
    ]
    text = Account(turns, count).write(600, (), turns)
    assert "- Read: hull.py, mast.py" in text
    assert "- Ran: `ls boat`" in text
    assert "Ran:" not in Account(turns, count).write(40, (), turns)
