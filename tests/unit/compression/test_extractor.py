"""Extractive summaries: within the ceiling, verbatim, readable, with the required anchors."""

from __future__ import annotations

from itertools import pairwise

import pytest

from reviewer.compression.anchor_types import AnchorType, Section
from reviewer.compression.anchors import find_anchors
from reviewer.compression.extractive.extractor import Extractor
from reviewer.compression.extractive.names import TITLE, NameScores, names_in
from reviewer.compression.extractive.units import Form, source_units
from reviewer.compression.fidelity import tags_in
from reviewer.compression.values import AnchorPoint, Level, Turn
from reviewer.text.normalise import fold
from reviewer.text.tokens import counter

PROSE_LEVELS = (Level.DETAILED, Level.BRIEF)
ALL_LEVELS = (*PROSE_LEVELS, Level.TAGS)


def count(text: str) -> int:
    return counter().count(text)


def turn(text: str, role: str = "user", said: str = "text", name: str = "") -> Turn:
    return Turn(role, text, count(text), said, name)  # type: ignore[arg-type]


def session() -> list[Turn]:
    """A session about a shop's checkout: asked, tried, decided, left open."""
    turns = [turn("Make the checkout survive a lost connection. Do not touch `legacy_cart.py`.")]
    for number in range(12):
        turns += [
            turn(f"Now let me look at step {number}.", "assistant"),
            turn(
                f'{{"file_path":"/srv/shop/src/step_{number}.py"}}', "assistant", "tool_use", "Read"
            ),
            turn(
                f"def retry_{number}(order_id):\n    return order_id", "tool", "tool_result", "Read"
            ),
            turn(
                f"Step {number} sends the order twice when the socket closes, because"
                f" `retryPayment{number}` ignores the idempotency key. The queue keeps the order"
                " until the bank answers.",
                "assistant",
            ),
        ]
    turns += [
        turn("pytest tests/test_checkout.py", "assistant", "tool_use", "Bash"),
        turn("1 failed\nAssertionError: order 17 was sent twice", "tool", "tool_result", "Bash"),
        turn("The retry with a sleep did not work: the test failed again.", "assistant"),
        turn("No, use the outbox table instead of a sleep."),
        turn("We decided to write orders to the `outbox` table in one transaction.", "assistant"),
        turn("Next step: run the migration on staging before Friday.", "assistant"),
    ]
    return turns


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return Extractor(session(), count)


@pytest.mark.parametrize("level", ALL_LEVELS)
@pytest.mark.parametrize("ceiling", [1, 2, 5, 8, 20, 60, 150, 400, 3000])
def test_no_summary_exceeds_its_ceiling(extractor: Extractor, level: Level, ceiling: int) -> None:
    assert count(extractor.extract(level, ceiling)) <= ceiling


@pytest.mark.parametrize("level", ALL_LEVELS)
def test_a_ceiling_is_used_while_there_is_something_to_say(
    extractor: Extractor, level: Level
) -> None:
    for ceiling in (60, 150, 300):
        assert count(extractor.extract(level, ceiling)) >= 0.85 * ceiling


@pytest.mark.parametrize("level", ALL_LEVELS)
def test_an_extract_without_room_or_material_is_empty(level: Level) -> None:
    assert Extractor(session(), count).extract(level, 0) == ""
    assert Extractor([], count).extract(level, 100) == ""
    assert Extractor([turn("---"), turn("")], count).extract(level, 100) == ""


def test_the_same_turns_give_the_same_summary() -> None:
    for level in ALL_LEVELS:
        first, again = (Extractor(session(), count).extract(level, 150) for _ in range(2))
        assert first == again


@pytest.mark.parametrize("level", PROSE_LEVELS)
def test_every_line_of_prose_is_in_the_source(extractor: Extractor, level: Level) -> None:
    source = fold(" ".join(each.text for each in session())).replace("`", "")
    text = extractor.extract(level, 250).partition("Files and identifiers:")[0]
    for line in text.split("\n"):
        for sentence in line.split(". "):
            spoken = sentence.removeprefix("- ").removeprefix("User: ")
            bare = spoken.removeprefix("Assistant: ").strip(" .")
            if not bare.endswith(":") and not bare.startswith(("$", "Read", "Tool", "Bash")):
                assert bare in source, bare


@pytest.mark.parametrize("level", PROSE_LEVELS)
def test_no_line_occurs_twice(level: Level) -> None:
    turns = [turn("The port of the gateway is 8443.", "assistant") for _ in range(5)]
    turns += [turn(f"Worker {n} listens on its own socket.", "assistant") for n in range(5)]
    text = Extractor(turns, count).extract(level, 60)
    assert text.count("The port of the gateway is 8443.") == 1


def test_detailed_keeps_order_and_speakers() -> None:
    turns = [
        turn("Can the relay hold nine amperes?"),
        turn("It is rated for ten amperes at forty degrees.", "assistant"),
        turn("Good, order six of them.", name="Ines"),
    ]
    assert Extractor(turns, count).extract(Level.DETAILED, 100) == (
        "User: Can the relay hold nine amperes?\n"
        "Assistant: It is rated for ten amperes at forty degrees.\n"
        "Ines: Good, order six of them."
    )


def test_brief_reads_by_section(extractor: Extractor) -> None:
    text = extractor.extract(Level.BRIEF, 400)
    titles = ["Goal:", "Decisions:", "Findings:", "Tried and failed:", "State and next steps:"]
    places = [text.index(title) for title in (*titles, "Files and identifiers:")]
    assert places == sorted(places)
    sections = dict(zip(titles, (text[a:b] for a, b in pairwise(places)), strict=True))
    assert "Make the checkout survive" in sections["Goal:"]
    assert "No, use the outbox table instead of a sleep." in sections["Decisions:"]
    assert "the test failed again" in sections["Tried and failed:"]
    assert "Next step: run the migration" in sections["State and next steps:"]


def test_a_brief_summary_without_room_has_no_titles(extractor: Extractor) -> None:
    assert "Goal:" not in extractor.extract(Level.BRIEF, 80)


def test_brief_names_files_that_no_sentence_names_under_their_folder(extractor: Extractor) -> None:
    index = extractor.extract(Level.BRIEF, 500).partition("Files and identifiers:\n")[2]
    line = next(line for line in index.split("\n") if line.startswith("/srv/shop/src/: "))
    assert "step_11.py" in line.split()


def test_the_index_does_not_repeat_names_of_the_sentences(extractor: Extractor) -> None:
    prose, _, index = extractor.extract(Level.BRIEF, 400).partition("Files and identifiers:\n")
    named = {name for name in index.replace(":", " ").split() if name.startswith("retryPayment")}
    assert named
    assert not any(name in prose.split() for name in named)


def test_brief_says_which_tools_were_called_and_how(extractor: Extractor) -> None:
    assert "Tools: Read(file_path) Bash" in extractor.extract(Level.BRIEF, 600)


def test_tags_are_names_and_phrases_without_repetition(extractor: Extractor) -> None:
    tags = extractor.extract(Level.TAGS, 200).split(", ")
    assert len(tags) == len({tag.lower() for tag in tags}) > 5
    assert any("idempotency key" in tag for tag in tags)
    assert any(tag.startswith("retryPayment") for tag in tags)


@pytest.mark.parametrize("level", PROSE_LEVELS)
def test_required_anchors_are_verbatim(level: Level) -> None:
    turns = session()
    anchors = find_anchors(turns)
    assert anchors
    text = fold(Extractor(turns, count).extract(level, 800, anchors))
    assert [each.content for each in anchors if fold(each.content) not in text] == []


def test_a_required_anchor_with_markup_occurs_once_with_it() -> None:
    turns = [turn("Set `max_retries` to **seven** in the gateway.", "assistant")]
    turns += [turn(f"Gauge {n} reads normal.", "assistant") for n in range(8)]
    content = "Set `max_retries` to **seven**"
    must = AnchorPoint(AnchorType.CRITICAL_FACT, content, 1.0, 0, 0, len(content), "pinned")
    text = Extractor(turns, count).extract(Level.DETAILED, 60, [must])
    assert content in text
    assert text.count("seven") == 1


def test_what_matters_most_comes_first_when_not_all_fits() -> None:
    turns = [
        turn(f"The seal number {n} of the pump must be replaced in week {n}.") for n in range(9)
    ]
    must = [
        AnchorPoint(AnchorType.DECISION, each.text, 1.0, number, 0, len(each.text), "pinned")
        for number, each in enumerate(turns)
    ]
    text = Extractor(turns, count).extract(Level.DETAILED, 40, must[::-1])
    assert turns[8].text in text
    assert turns[0].text not in text


TALKS = (
    "The remote control gets a rubber case because the younger buyers asked for it.",
    "So the rubber case the rubber case makes the remote control more expensive.",
    "The marketing expert wants speech recognition in the remote control next year.",
    "We agreed to leave the speech recognition out of the first version.",
    "The battery lasts two years when the display stays small enough.",
)


def test_without_names_tags_are_long_enough_to_be_understood() -> None:
    said = [turn(text, name="Ada") for text in TALKS]
    tags = tags_in(Extractor(said, count).extract(Level.TAGS, 60))
    assert any(len(tag.split()) > 6 for tag in tags)
    assert all(len(tag.split()) <= 8 for tag in tags)
    assert not any(tag.lower().count("rubber case") > 1 for tag in tags), "stammering is no tag"
    named = [turn(f"{text} See `part_{number}.py`, `--case-{number}` and `size_{number}()`.")
             for number, text in enumerate(TALKS * 3)]  # fmt: skip
    among_names = tags_in(Extractor(named, count).extract(Level.TAGS, 60))
    assert any(tag.startswith("part_") for tag in among_names)
    assert max(len(tag.split()) for tag in among_names) <= 6


def test_a_flag_among_tags_keeps_its_dashes() -> None:
    assert tags_in("--dry-run, staging\n- next item\n* -v") == (
        "--dry-run",
        "staging",
        "next item",
        "-v",
    )


def test_tags_begin_with_required_anchors() -> None:
    decision = "We decided to store every invoice for eleven years in cold storage"
    pinned = "Account 4711-A"
    turns = [turn(f"{decision}. {pinned} pays."), turn("The invoice store is cold.", "assistant")]
    must = [
        AnchorPoint(AnchorType.CRITICAL_FACT, pinned, 1.0, 0, 0, len(pinned), "pinned"),
        AnchorPoint(AnchorType.DECISION, decision, 0.9, 0, 0, len(decision)),
    ]
    tags = Extractor(turns, count).extract(Level.TAGS, 60, must).split(", ")
    assert tags[0] == pinned
    assert decision.startswith(tags[1])
    assert len(tags[1]) <= 30


@pytest.mark.parametrize(
    "text",
    [
        "word " * 5000,
        "x" * 3000,
        "Мы решили хранить заказы в очереди. " * 50,
        "私たちは注文を待ち行列に保存することに決めました。次に移行します。" * 50,
        "```python\n" + "\n".join(f"def step_{n}(): return {n}" for n in range(200)) + "\n```",
        "| a | b |\n|---|---|\n" + "\n".join(f"| {n} | row {n} |" for n in range(100)),
    ],
    ids=["one line", "one word", "Russian", "Japanese", "code", "table"],
)
@pytest.mark.parametrize("level", ALL_LEVELS)
def test_odd_text_gives_something_within_the_ceiling(text: str, level: Level) -> None:
    summary = Extractor([turn(text)], count).extract(level, 50)
    assert count(summary) <= 50
    assert summary or (level is Level.TAGS and text.startswith("x"))


def test_tool_traffic_alone_is_summarized() -> None:
    turns = []
    for number in range(20):
        turns += [
            turn(f'{{"path":"lib/part_{number}.rb"}}', "assistant", "tool_use", "open"),
            turn("ok", "tool", "tool_result", "open"),
        ]
    turns.append(turn("Error: no such file lib/gone.rb", "tool", "tool_result", "open"))
    text = Extractor(turns, count).extract(Level.BRIEF, 100)
    assert "Error: no such file lib/gone.rb" in text
    assert "part_19.rb" in text


def test_thoughts_count_only_without_other_turns() -> None:
    thought = turn("The cache is probably stale.", "assistant", "thinking")
    assert "stale" in Extractor([thought], count).extract(Level.DETAILED, 50)
    both = [thought, turn("I cleared the cache.", "assistant")]
    assert "stale" not in Extractor(both, count).extract(Level.DETAILED, 50)


def test_a_name_is_needed_more_the_more_often_and_the_later_it_was_met() -> None:
    turns = [turn("Read early_one.py."), turn("Read twice_seen.py."), turn("Read twice_seen.py.")]
    turns += [turn("Read late_one.py.")]
    score = NameScores(turns).scores
    assert score["twice_seen.py"] > score["late_one.py"] > score["early_one.py"]


def test_names_in_tool_output_score_less_than_names_in_words() -> None:
    turns = [turn("printed_name", "tool", "tool_result"), turn("Use `spoken_name`.")]
    score = NameScores(turns).scores
    assert score["spoken_name"] > 4 * score["printed_name"]


@pytest.mark.parametrize(
    ("text", "said", "names"),
    [
        ("See src/app/main.py:12.", True, ["main.py", "src/app/main.py"]),
        ("Run it with --dry-run=yes.", True, ["--dry-run"]),
        ("`parseOrder()` fails", True, ["parseOrder"]),
        ("call shop.parseOrder now", False, ["parseOrder"]),
        ("a </task-note> tag", False, []),
        ("app.go-17-  return nil", False, ["app.go"]),
        ("'\\nWarning: `x`'", False, []),
        ("commit 3f9c2ab1 of #42", True, ["#42"]),
        ("and/or 3.5 km", True, []),
    ],
)
def test_names_of_code_and_files_are_found(text: str, said: bool, names: list[str]) -> None:
    assert names_in(text, in_words=said) == names


def test_units_are_one_line_and_bounded() -> None:
    text = "First sentence\nwrapped by hand. " + "clause, " * 200 + "\n\n- item one\n- item two\n"
    units = source_units([turn(text)])
    assert all("\n" not in unit.text and len(unit.text) <= 402 for unit in units)
    assert [unit.text for unit in units if unit.form is Form.ITEM] == ["- item one", "- item two"]
    assert units[0].text == "First sentence wrapped by hand."


def reply(text: str, role: str = "assistant", said: str = "text", name: str = "") -> Turn:
    return Turn(role, text, count(text), said, name)  # type: ignore[arg-type]


REQUEST = reply("Please make the ferry timetable load without a network.", "user")
FILLING = [
    reply(f"The harbour {n} keeps its own table of tides, which `tide_{n}` reads at dawn.")
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
    text = brief(reply(noise)).partition(TITLE)[0]
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
    turns = [REQUEST, reply(wrapper, "user"), *FILLING]
    assert wrapper not in Extractor(turns, count).extract(level, 900)


def test_only_the_users_own_words_are_marked() -> None:
    lines = brief(reply("No, keep the printed table as well.", "user")).split("\n")
    assert "- User: Please make the ferry timetable load without a network." in lines
    assert "- User: No, keep the printed table as well." in lines
    assert sum("User:" in line for line in lines) == 2


def test_a_sentence_that_is_part_of_another_occurs_once() -> None:
    short = "The tide table is read twice"
    text = brief(reply(f"{short} because the quay asks for it again."), reply(short))
    assert text.count(short) == 1


def test_facts_that_differ_in_a_number_are_not_the_same() -> None:
    turns = [reply(f"Berth {n} holds {n + 3} boats during the night.") for n in range(1, 6)]
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
    text = brief(reply(earlier, "user"))
    state = text.partition("State and next steps:\n")[2].partition(TITLE)[0]
    assert "- Repaint the lighthouse plan with the new depths" in state
    assert '- User: "load the depths from the chart, not the log"' in text
    assert "Pending tasks" not in text
    assert "User: Repaint" not in text


def test_the_index_is_less_than_half_of_a_brief_summary() -> None:
    names = [reply(f"def knot_{n}(): pass", "tool", "tool_result", "Read") for n in range(400)]
    turns = [*names, reply("mooring --check all\n" * 3, "assistant", "tool_use", "Bash")]
    for room in (250, 500):
        text = brief(*turns, room=room)
        index = text.partition(TITLE)[2].partition("Tools:")[0]
        assert 0 < count(index) <= 0.46 * room


@pytest.mark.parametrize("level", [Level.DETAILED, Level.BRIEF])
def test_some_text_comes_out_at_every_budget(level: Level) -> None:
    extractor = Extractor([REQUEST, *FILLING], count)
    sizes = [count(extractor.extract(level, room)) for room in range(4, 80)]
    assert all(0 < size <= room for room, size in zip(range(4, 80), sizes, strict=True))


def test_a_required_path_is_in_the_index_after_a_sentence() -> None:
    path = "/srv/ferry/src/timetable_cache.py"
    must = AnchorPoint(AnchorType.CODE_ARTIFACT, path, 0.7, 0, 0, len(path))
    text = Extractor([REQUEST, *FILLING], count).extract(Level.BRIEF, 50, [must])
    assert path in text
    assert "harbour" in text.partition(path)[0]


def test_detailed_fills_its_room_with_lines_of_tools_if_there_are_few_words() -> None:
    turns = [REQUEST]
    for number in range(12):
        lines = "\n".join(f"row {n}: quay {number} has depth {n * number}" for n in range(20))
        turns += [
            reply(f"sound --quay {number}", "assistant", "tool_use", "Bash"),
            reply(f"quay {number} measured\n{lines}\ndone {number}", "tool", "tool_result", "Bash"),
        ]
    room = sum(each.tokens for each in turns) // 3
    text = Extractor(turns, count).extract(Level.DETAILED, room)
    assert 0.85 * room <= count(text) <= room
    assert all(f"quay {number} measured" in text for number in range(12))


def test_short_anchors_are_all_kept_under_a_ceiling() -> None:
    turns = [REQUEST, *FILLING, reply("We decided to keep the printed table for one more year.")]
    anchors = find_anchors(turns)
    text = Extractor(turns, count).extract(Level.BRIEF, 400, anchors)
    assert anchors
    assert all(fold(each.content) in fold(text) for each in anchors)


@pytest.mark.parametrize("kind", list(AnchorType))
def test_every_kind_of_anchor_can_be_required_of_a_brief_summary(kind: AnchorType) -> None:
    text = f"The spooler keeps one port open {'and the motor of every printer warm ' * 5}all night."
    anchor = AnchorPoint(kind, "keeps one port open", 1.0, 0, 12, 31)
    brief = Extractor([reply(text)], count).extract(Level.BRIEF, 220, [anchor])
    assert "keeps one port open" in brief
    assert 0.5 < kind.importance <= 1.0
    assert kind.section in Section
