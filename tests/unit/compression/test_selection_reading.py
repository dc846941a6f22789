"""Brief reads as what a person would have written down: what stands in it, and what does not."""

from __future__ import annotations

import pytest

from reviewer.compression.anchor_types import AnchorType
from reviewer.compression.anchors import find_anchors
from reviewer.compression.extractive.extractor import Extractor
from reviewer.compression.extractive.names import TITLE
from reviewer.compression.values import AnchorPoint, Level, Turn
from reviewer.text.normalise import fold
from reviewer.text.tokens import counter


def count(text: str) -> int:
    return counter().count(text)


def turn(text: str, role: str = "assistant", said: str = "text", name: str = "") -> Turn:
    return Turn(role, text, count(text), said, name)  # type: ignore[arg-type]


REQUEST = turn("Please make the ferry timetable load without a network.", "user")
FILLING = [
    turn(f"The harbour {n} keeps its own table of tides, which `tide_{n}` reads at dawn.")
    for n in range(6)
]


def brief(*turns: Turn, room: int = 600) -> str:
    return Extractor([REQUEST, *turns, *FILLING], count).extract(Level.BRIEF, room)


@pytest.mark.parametrize(
    "noise",
    [
        "```go\nreturn nil\n```",
        'slog.String("harbour", harbour.Name),',
        "// The cache keeps what was loaded last for the crew",
        "2031-04-05T06:07:08Z INFO ferry left the quay seven minutes late",
        "store/tides.go-57- failed to open the tide table",
        "Let me look at the cache of the timetable now.",
        "Want to tackle any of these next?",
        "Here are the changes:",
        "There it is.",
    ],
    ids=["code", "call", "comment", "log", "search", "narration", "offer", "lead-in", "filler"],
)
def test_brief_leaves_out_what_nobody_would_write_down(noise: str) -> None:
    text = brief(turn(noise)).partition(TITLE)[0]
    assert "harbour 3" in text
    assert noise.strip("`go\n ") not in text


@pytest.mark.parametrize("level", [Level.DETAILED, Level.BRIEF])
@pytest.mark.parametrize(
    "wrapper",
    [
        "[Request interrupted by user for tool use]",
        "This session is being continued from a previous conversation that ran out of context.",
        "<command-name>/clear</command-name>",
    ],
)
def test_what_the_client_wrote_is_in_no_summary(level: Level, wrapper: str) -> None:
    turns = [REQUEST, turn(wrapper, "user"), *FILLING]
    assert wrapper not in Extractor(turns, count).extract(level, 900)


def test_what_the_user_typed_is_marked_and_nothing_else() -> None:
    lines = brief(turn("No, keep the printed table as well.", "user")).split("\n")
    assert "- User: Please make the ferry timetable load without a network." in lines
    assert "- User: No, keep the printed table as well." in lines
    assert sum("User:" in line for line in lines) == 2


def test_a_sentence_that_is_part_of_another_is_said_once() -> None:
    short = "The tide table is read twice"
    text = brief(turn(f"{short} because the quay asks for it again."), turn(short))
    assert text.count(short) == 1


def test_facts_that_differ_in_a_number_are_not_the_same() -> None:
    turns = [turn(f"Berth {n} holds {n + 3} boats during the night.") for n in range(1, 6)]
    text = Extractor(turns, count).extract(Level.BRIEF, 400)
    assert all(each.text in text for each in turns)


def test_headings_appear_only_over_something() -> None:
    lines = [line for line in brief().split("\n") if line]
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line.endswith(":") and not line.startswith("- "):
            assert following
            assert not following.endswith(":")


def test_an_earlier_summary_gives_its_contents_and_not_its_numbering() -> None:
    earlier = (
        "This session is being continued from a previous conversation.\n"
        "1. Pending tasks:\n   - Repaint the lighthouse plan with the new depths\n"
        '2. All user messages:\n   - "load the depths from the chart, not the log"\n'
    )
    text = brief(turn(earlier, "user"))
    state = text.partition("State and next steps:\n")[2].partition(TITLE)[0]
    assert "- Repaint the lighthouse plan with the new depths" in state
    assert '- User: "load the depths from the chart, not the log"' in text
    assert "Pending tasks" not in text
    assert "User: Repaint" not in text


def test_the_index_is_less_than_half_of_a_brief_summary() -> None:
    names = [turn(f"def knot_{n}(): pass", "tool", "tool_result", "Read") for n in range(400)]
    turns = [*names, turn("mooring --check all\n" * 3, "assistant", "tool_use", "Bash")]
    for room in (250, 500):
        text = brief(*turns, room=room)
        index = text.partition(TITLE)[2].partition("Tools:")[0]
        assert 0 < count(index) <= 0.46 * room


@pytest.mark.parametrize("level", [Level.DETAILED, Level.BRIEF])
def test_some_text_comes_out_at_every_budget(level: Level) -> None:
    extractor = Extractor([REQUEST, *FILLING], count)
    sizes = [count(extractor.extract(level, room)) for room in range(4, 80)]
    assert all(0 < size <= room for room, size in zip(range(4, 80), sizes, strict=True))


def test_a_path_that_must_stand_there_stands_in_the_index_after_a_sentence() -> None:
    path = "/srv/ferry/src/timetable_cache.py"
    must = AnchorPoint(AnchorType.CODE_ARTIFACT, path, 0.7, 0, 0, len(path))
    text = Extractor([REQUEST, *FILLING], count).extract(Level.BRIEF, 50, [must])
    assert path in text
    assert "harbour" in text.partition(path)[0]


def test_detailed_fills_its_room_with_lines_of_tools_where_little_was_said() -> None:
    turns = [REQUEST]
    for number in range(12):
        lines = "\n".join(f"row {n}: quay {number} has depth {n * number}" for n in range(20))
        turns += [
            turn(f"sound --quay {number}", "assistant", "tool_use", "Bash"),
            turn(f"quay {number} measured\n{lines}\ndone {number}", "tool", "tool_result", "Bash"),
        ]
    room = sum(each.tokens for each in turns) // 3
    text = Extractor(turns, count).extract(Level.DETAILED, room)
    assert 0.85 * room <= count(text) <= room
    assert all(f"quay {number} measured" in text for number in range(12))


def test_anchors_that_need_little_room_all_stand_under_a_ceiling() -> None:
    turns = [REQUEST, *FILLING, turn("We decided to keep the printed table for one more year.")]
    anchors = find_anchors(turns)
    text = Extractor(turns, count).extract(Level.BRIEF, 400, anchors)
    assert anchors
    assert all(fold(each.content) in fold(text) for each in anchors)
