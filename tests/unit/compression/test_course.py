"""How a hand-over uses its room: the person's messages of the task, and the last steps."""

from __future__ import annotations

import re

import pytest
from msgspec import structs

from reviewer.compression.anchor_types import Section
from reviewer.compression.handover import brief_of
from reviewer.compression.values import Turn
from tests.unit.compression.making import count, turn
from tests.unit.compression.test_shape import agent, call, edit, result, run

WISHES = [
    "Paint the hull of the ferry in the blue of the harbour office",
    "The rudder needs grease from the eastern store before the week ends",
    "Hang two spare lanterns behind the wheelhouse, not beside the bell",
    "Write the names of all nine sailors on the board near the gangway",
    "Count the ropes in the forward locker and order what is missing",
    "The compass must point away from the iron stove in the galley",
    "Print the winter prices on green paper, in both languages",
    "Move the bicycle rack to the stern, where cars never park",
    "Sew the torn flag with red thread and iron it afterwards",
    "Feed the cat of the night watch, she sleeps under the map table",
    "Lock the fuel tank with the brass key of the old captain",
    "Sand the benches on the upper deck until no splinter is left",
]


def handed_over(turns: list[Turn], tokens: int = 2_000) -> str:
    return brief_of(turns, "the session ferry", max_tokens=tokens).text


def section(text: str, name: Section) -> list[str]:
    found = re.search(rf"^## {re.escape(name.value)}\n\n((?:- .*\n?)+)", text, re.MULTILINE)
    return found[1].strip().split("\n") if found else []


def wishes() -> list[Turn]:
    turns: list[Turn] = []
    for number, words in enumerate(WISHES):
        turns += [turn(words), *edit(f"ferry_{number}.py", f"def wish_{number}():\n    pass")]
        turns.append(agent(f"Wish {number} is carried out in `ferry_{number}.py`."))
    return turns


def long_session(rounds: int = 60) -> list[Turn]:
    turns = [turn("Make every sheet of the ferry fit one page.")]
    for number in range(rounds):
        turns.append(agent(f"Column_{number} makes sheet_{number} too long for page_{number}."))
        turns += edit(f"sheets/sheet_{number}.py", f"def fit_{number}():\n    return {number}")
        turns += run(f"pytest tests/sheet_{number}.py", f"{number + 1} passed in 0.{number}s")
    return turns


# The person's messages


def test_the_last_messages_are_told_in_order_and_whole() -> None:
    text = handed_over(wishes())
    said = [words for words in WISHES if words in text]
    assert said[-10:] == WISHES[-10:]
    told = "\n".join(section(text, Section.MESSAGES))
    places = [told.index(words) for words in WISHES[2:-1]]
    assert places == sorted(places)


def test_no_message_is_quoted_twice() -> None:
    text = handed_over(wishes())
    assert [text.count(words) for words in WISHES[-10:]] == [1] * 10


def test_the_latest_messages_stay_where_room_is_short() -> None:
    text = handed_over(wishes(), 700)
    told = [words in text for words in WISHES]
    assert told[-1]
    assert told[-2]
    assert told[1:] == sorted(told[1:])


def test_a_long_message_is_shortened_in_its_middle() -> None:
    report = "The engine coughs. " + "It coughs again at each pier we pass. " * 200
    turns = [turn(f"{report}Mend it before Monday."), agent("I will look."), *edit("engine.py")]
    turns += [turn("Begin with the valve of the left cylinder."), *edit("valve.py")]
    turns += [turn(f"{report}Oil it on Tuesday."), agent("Noted."), *edit("oil.py")]
    turns += [turn("Then sweep the floor of the engine room."), *edit("floor.py")]
    told = "\n".join(section(handed_over(turns, 1_200), Section.MESSAGES))
    assert "The engine coughs." in told
    assert "[…]" in told
    assert "Oil it on Tuesday." in told


@pytest.mark.parametrize("words", ["ok", "oui", "ja", "好的", "C"])
def test_an_assent_is_told_with_what_it_assented_to(words: str) -> None:
    turns = [
        turn("Plan the repair of the ferry's northern pier, and ask me at each step."),
        agent("The pier gets 14 new planks of oak.\n\nShall I order the planks?"),
        turn(words),
        *edit("order.py", "planks = 14"),
    ]
    told = "\n".join(section(handed_over(turns), Section.MESSAGES))
    assert f'"{words}"' in told
    assert "14 new planks of oak" in told
    assert "Shall I order the planks?" in told


def test_assents_in_a_row_are_one_line_with_their_count() -> None:
    turns = [turn("Write the nine chapters of the ferry's handbook with me.")]
    for number in range(9):
        turns += [agent(f"Chapter {number} is about pier {number}. Do you agree with it?")]
        turns += [turn("oui"), *edit("handbook.md", f"# Chapter {number} of the handbook")]
    [told] = section(handed_over(turns), Section.MESSAGES)
    assert "9 short answers in a row" in told
    assert "9 such questions" in told
    assert "Chapter 8 is about pier 8" in told


def test_a_short_answer_with_content_keeps_a_line_of_its_own() -> None:
    turns = [
        turn("Build the lock of the harbour gate, and ask me what you need to know."),
        agent("Which key opens it?"),
        turn("the brass key 7"),
        agent("Is the gate closed at night?"),
        turn("yes"),
        *edit("gate.py"),
        turn("Now do the same for the gate of the yard, without a key."),
    ]
    told = section(handed_over(turns), Section.MESSAGES)
    assert '- "the brass key 7" - to: "Which key opens it?"' in told


def test_a_request_alone_stays_under_its_title() -> None:
    text = handed_over([turn("Grease the rudder of the ferry with care."), *edit("rudder.py")])
    assert section(text, Section.REQUEST) == ['- "Grease the rudder of the ferry with care."']
    assert not section(text, Section.MESSAGES)


# The last steps


def test_steps_end_with_the_last_one_and_say_what_came_of_each_call() -> None:
    told = section(handed_over(long_session()), Section.STEPS)
    assert "Column_59 makes sheet_59 too long for page_59." in told[-1]
    assert "edited sheets/sheet_59.py (with fit_59" in told[-1]
    assert "ran `pytest tests/sheet_59.py`: passed (60 passed in 0.59s)" in told[-1]
    assert "Column_58 makes sheet_58" in told[-2]


@pytest.mark.parametrize("tokens", [800, 1_500, 3_000, 4_000])
def test_the_room_is_filled_where_there_is_material(tokens: int) -> None:
    used = count(handed_over(long_session(), tokens))
    assert 0.9 * tokens < used <= tokens


def test_steps_have_a_share_of_the_room_however_much_else_there_is() -> None:
    text = handed_over(long_session(), 2_000)
    assert count("\n".join(section(text, Section.STEPS))) > 0.25 * 2_000


def test_little_room_has_a_few_last_steps_and_no_messages() -> None:
    text = handed_over([*wishes(), *long_session()], 400)
    assert not section(text, Section.MESSAGES)
    assert 1 <= len(section(text, Section.STEPS)) <= 4
    assert "sheet_59" in text


def test_a_last_step_is_told_in_little_room_though_its_words_are_long() -> None:
    report = "The pier is mended, and " + "the next plank is painted too, and " * 80
    told = section(handed_over([*wishes(), agent(report)], 300), Section.STEPS)
    assert "The pier is mended" in "\n".join(told)


def test_a_failed_call_is_told_with_the_line_that_says_why() -> None:
    turns = [
        turn("Run the tests of the pier."),
        *run("npm run pier", "Exit code 1\nline 1\nError: the pier has no lamp\nline 3"),
    ]
    assert "failed: " in section(handed_over(turns), Section.STEPS)[-1]
    assert "the pier has no lamp" in section(handed_over(turns), Section.STEPS)[-1]


def test_a_check_that_could_not_start_says_so() -> None:
    output = "ERR_UNSUPPORTED Unsupported engine\nwanted 22\nTo fix this, install the engine."
    turns = [turn("Test the pier."), *edit("pier.ts"), *run("pnpm test", output)]
    told = section(handed_over(turns), Section.STEPS)[-1]
    assert "ERR_UNSUPPORTED Unsupported engine" in told
    assert "passed" not in told


def test_an_edit_is_told_with_the_line_that_it_changes() -> None:
    given = {"file_path": "rudder.py", "old_string": "angle = 3\n", "new_string": "angle = 5\n"}
    turns = [turn("Turn the rudder further."), call("Edit", given), result("Edit", "updated")]
    assert "`angle = 3` became `angle = 5`" in section(handed_over(turns), Section.STEPS)[-1]


def test_a_commit_is_told_with_its_subject_and_hash() -> None:
    command = "git add -A && git commit -m 'Grease the rudder' && git push"
    made = "[north 1a2b3c4] Grease the rudder\n 2 files changed, 5 insertions(+)"
    told = section(handed_over([turn("Commit it."), *run(command, made)]), Section.STEPS)
    assert told[-1] == '- Committed and pushed "Grease the rudder": north 1a2b3c4'


def test_a_merge_is_told_with_the_files_that_conflict() -> None:
    output = "Auto-merging pier.py\nCONFLICT (content): Merge conflict in pier.py\nfailed"
    turns = [turn("Merge the northern branch."), *run("git merge north", output)]
    assert "failed: conflicts in pier.py" in section(handed_over(turns), Section.STEPS)[-1]


def test_edits_that_fail_one_after_the_other_are_one_item() -> None:
    turns = [turn("Change the lamp.")]
    for number in range(4):
        turns += edit("lamp.py", f"watts = {number}")[:1]
        turns.append(result("Edit", f"Error: try {number} was not found in lamp.py"))
    told = section(handed_over(turns), Section.STEPS)[-1]
    assert "dited lamp.py 4 times, the last failed: " in told
    assert "try 3" in told


def test_the_last_result_is_told_with_more_of_its_lines() -> None:
    hits = "\n".join(f"pier.py:{number}: lamp_{number}()" for number in range(9))
    search = run("grep -n lamp pier.py", hits)
    turns = [turn("Look for the lamps."), *search]
    last = section(handed_over(turns), Section.STEPS)[-1]
    assert "pier.py:0: lamp_0() | pier.py:1: lamp_1()" in last
    assert "and 3 more lines" in last
    turns.append(agent("There are 9 lamps in the file of the pier."))
    assert "lamp_1()" not in "\n".join(section(handed_over(turns), Section.STEPS))


def test_what_is_asked_again_and_again_is_told_once_with_its_count() -> None:
    turns = [turn("Watch the three workers on the pier until they are done.")]
    for number in range(14):
        turns.append(agent("Still active, I keep waiting."))
        turns += run("workers status", f"{number} of 14 planks are laid")
    told = section(handed_over(turns), Section.STEPS)
    assert sum("workers status" in line for line in told) == 1
    assert "`workers status` 14 times, the last: 13 of 14 planks are laid" in told[-1]
    assert sum("Still active" in line for line in told) == 1


def test_a_check_that_runs_again_after_an_edit_is_told_again() -> None:
    turns = [turn("Mend the pier."), *run("pytest", "1 failed"), *edit("pier.py")]
    turns += run("pytest", "3 passed")
    told = " ".join(section(handed_over(turns), Section.STEPS)).lower()
    assert told.index("ran `pytest`: failed") < told.index("ran `pytest`: passed (3 passed)")


def test_files_that_were_read_are_one_item() -> None:
    turns = [turn("Read the plans of the pier and tell me what you find.")]
    for number in range(4):
        turns += [call("Read", {"file_path": f"plan_{number}.md"}), result("Read", "secret plan")]
    told = section(handed_over(turns), Section.STEPS)[-1]
    assert "Read plan_0.md, plan_1.md, plan_2.md, plan_3.md" in told
    assert "secret" not in told


def test_outputs_are_no_content() -> None:
    turns = [turn("Show the tide."), *run("tide --all", "\n".join(f"tide {n}" for n in range(90)))]
    told = "\n".join(section(handed_over(turns), Section.STEPS))
    assert "ran `tide --all`: 90 lines".lower() in told.lower()
    assert "tide 45" not in told


def test_the_folder_and_the_branch_come_first() -> None:
    turns = [
        structs.replace(each, folder="/work/ferry", branch="north-pier")
        for each in [turn("Mend the pier."), *edit("/work/ferry/pier.py")]
    ]
    told = section(handed_over(turns), Section.STEPS)
    assert told[0] == "- In /work/ferry, on branch north-pier."
    assert "dited pier.py" in told[-1]


def test_it_ends_with_what_was_running() -> None:
    turns = [
        turn("Test the pier."),
        call("Bash", "make serve", "c1"),
        result("Bash", "Command running in background with ID: bell7.", "c1"),
        call("Bash", "make test", "c2"),
    ]
    last = section(handed_over(turns), Section.STEPS)[-1]
    assert last.startswith("- When it was cut: ")
    assert "ran `make test` (no result yet)" in last
    assert "no end was seen of: `make serve` (id bell7)" in last


def test_a_call_without_a_result_is_not_told_as_done() -> None:
    turns = [
        turn("Test the pier."),
        call("Bash", "make hull", "c1"),
        result("Bash", "built", "c1"),
        call("Bash", "make lanterns", "c2"),
        turn("Stop, test the ropes first."),
        call("Bash", "make ropes", "c3"),
    ]
    *before, last = section(handed_over(turns), Section.STEPS)
    assert "ran `make lanterns`: interrupted" in " ".join(before)
    assert "make ropes" not in " ".join(before)
    assert "ran `make ropes` (no result yet)" in last


def test_it_ends_with_the_message_that_nobody_answered() -> None:
    turns = [turn("Mend the pier."), *edit("pier.py"), agent("Done."), turn("Paint it red.")]
    assert "last message is not answered" in section(handed_over(turns), Section.STEPS)[-1]


def test_the_last_words_of_the_agent_are_whole_and_nowhere_else() -> None:
    report = "\n".join(
        f"- Plank {number} is {number} feet long and painted." for number in range(9)
    )
    turns = [turn("Mend the pier."), *edit("pier.py"), agent(f"The pier is mended.\n\n{report}")]
    text = handed_over(turns)
    assert "Plank 0 is 0 feet long" in section(text, Section.STEPS)[-1]
    assert "Plank 8 is 8 feet long" in section(text, Section.STEPS)[-1]
    assert text.count("Plank 4 is 4 feet long") == 1


def test_a_file_of_an_agent_without_calls_has_steps_too() -> None:
    turns = [turn("How long is the pier?"), agent("The pier is 80 metres long, and 4 wide.")]
    told = section(handed_over(turns), Section.STEPS)
    assert told == [
        '- The person: "How long is the pier?"',
        "- The pier is 80 metres long, and 4 wide.",
    ]


# Rounds that repeat


def rounds(number: int) -> list[Turn]:
    turns = [turn("Write the stories of the harbour with me, one after the other.")]
    for story in range(number):
        turns += [agent(f"Story {story} needs a hero. Do you want me to suggest one?"), turn("oui")]
        turns += [agent(f"The hero of story {story} is cat {story}. Is that right?"), turn("oui")]
        turns += edit("stories.md", f"# Story {story} of the harbour")
    return turns


def test_rounds_that_repeat_are_told_in_one_line() -> None:
    told = section(handed_over(rounds(5)), Section.STEPS)
    [line] = [line for line in told if "same rounds have repeated" in line]
    assert "edits stories.md" in line
    assert "Do you want me to suggest one?" in line


def test_rounds_that_do_not_repeat_are_not_called_so() -> None:
    for turns in (rounds(2), wishes(), long_session()):
        assert "have repeated" not in handed_over(turns)


# Bad input


@pytest.mark.parametrize(
    "turns",
    [
        [],
        [turn("")],
        [call("Bash", "make")],
        [result("Bash", "ok")],
        [call("Edit", '{"file_path": '), result("Edit", "")],
        [call("Edit", {"edits": [1, None], "file_path": "a.py"}), result("Edit", "\x00\x1b[1m")],
        [call("write_stdin", {"session_id": None, "chars": 3}), result("write_stdin", "")],
        [turn("ok"), turn("ok"), turn("ok")],
        [agent("?")] * 40,
        [turn("x" * 100_000), *run("y" * 100_000, "z" * 100_000)],
        run("make", "ok") * 5_000,
    ],
)
def test_whatever_a_session_has_the_hand_over_stays_within_its_tokens(turns: list[Turn]) -> None:
    for tokens in (100, 599, 601, 2_000):
        assert count(handed_over(turns, tokens)) <= tokens


def test_numbered_answers_are_told_with_their_questions() -> None:
    turns = [
        turn("Plan the ferry's new sheet."),
        agent("Two questions:\n\n1. Should cars have a column?\n2. Should dogs have a column?"),
        turn("1. no\n2. only in summer"),
        agent("Understood, I start with the dogs."),
        *edit("sheet.py"),
        turn("Good, and print it on A5 paper please."),
    ]
    told = section(handed_over(turns), Section.MESSAGES)
    assert any('Should dogs have a column? - the person: "only in summer"' in line for line in told)
