"""What a hand-over says of the files that a request names, of the latest edits and of what is left,
so that the next session does not have to read them again.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from reviewer.compression.anchor_types import Section
from reviewer.compression.handover import brief_of, write_brief
from reviewer.compression.values import Turn
from tests.unit.compression.making import turn
from tests.unit.compression.test_hand_over_next import handed_over, part
from tests.unit.compression.test_shape import agent, call, edit, result, run

TASK = """# Task: a fare for dogs

## Background

The ferry has carried dogs for years. Nobody ever paid for one of them.

## Requirements

**Command**: `ferry fares dog`

```json
{
  "dog_id": "d1",
  "weight": 12
}
```

1. Print the fare in coins
2. The fare must never exceed four coins

## Acceptance

- [ ] a dog below 5 kg travels free
- [ ] the receipt names the dog
"""


def read(path: str, text: str) -> list[Turn]:
    return [call("Read", {"file_path": path}), result("Read", text)]


def replaced(path: str, old: str, new: str) -> list[Turn]:
    given = {"file_path": path, "old_string": old, "new_string": new}
    return [call("Edit", given), result("Edit", "updated")]


def session_file(path: Path, cwd: str) -> Path:
    said = {"role": "user", "content": "Paint the ferry's hull blue, and the mast white."}
    record = {"type": "user", "sessionId": "s1", "cwd": cwd, "uuid": "u1", "message": said}
    path.write_text(json.dumps(record) + "\n")
    return path


def test_a_file_name_that_says_nothing_is_no_title(tmp_path: Path) -> None:
    found = write_brief(session_file(tmp_path / "session.jsonl", "/home/ann/harbour"))
    assert found.text.startswith("# Hand-over of the session in harbour\n")
    found = write_brief(session_file(tmp_path / "transcript.jsonl", ""))
    assert found.text.startswith("# Hand-over of the session\n")
    found = write_brief(session_file(tmp_path / "painting.jsonl", "/home/ann/harbour"))
    assert found.text.startswith("# Hand-over of the session painting\n")


def test_a_request_that_is_cut_still_names_its_files() -> None:
    chatter = " ".join(f"Deck {number} wants its own colour and rope." for number in range(80))
    turns = [
        turn(f"Repaint the ferry. {chatter} Follow plans/repaint.md to the letter. {chatter}"),
        agent("I have looked at the decks."),
    ]
    text = str(brief_of(turns, "the session ferry", max_tokens=400).text)
    assert "plans/repaint.md" in part(text, Section.REQUEST)


def test_a_choice_that_started_the_work_is_told_with_its_words() -> None:
    turns = [
        turn("Be the harbour master, and show me what you can do for the ferry."),
        agent(
            "Choose:\n1) [TT] Draw the timetable: times for every pier\n2) [QU] Leave the bridge"
        ),
        turn("TT"),
        agent("Which piers are open in winter?"),
        turn("Only the pier in the north is open in winter, all others are closed until May."),
        *edit("timetable.md", "# Winter\n\nNorth pier only."),
    ]
    request = part(handed_over(turns), Section.REQUEST)
    assert 'Started with: "TT" (Draw the timetable: times for every pier)' in request


def test_a_command_with_an_argument_is_a_request() -> None:
    turns = [turn("/review 12"), agent("I read the change first."), *run("gh pr diff 12", "+ x")]
    assert "/review 12" in part(handed_over(turns), Section.REQUEST)


def test_what_a_file_asks_for_that_the_request_names_is_shown() -> None:
    turns = [
        turn("Please look at /home/ann/tasks/dogs.md and start with it."),
        *read("/home/ann/tasks/dogs.md", TASK),
        agent("I begin with the fare."),
        *edit("fares.py", "def dog_fare(weight):\n    return min(weight, 4)"),
    ]
    shown = handed_over(turns).partition("## Looked at")[2]
    assert "dogs.md` (" in shown
    for asked in (
        "- [ ] a dog below 5 kg travels free",
        "2. The fare must never exceed four coins",
        "**Command**: `ferry fares dog`",
        '"dog_id": "d1", "weight": 12',
    ):
        assert asked in shown
    assert "carried dogs for years" not in shown


def test_settings_that_such_a_file_names_are_shown_too() -> None:
    master = '<agent name="Greta">\n<rule>ALWAYS speak as crew.yaml says</rule>\n</agent>\n'
    turns = [
        turn("Load crew/master.md and follow it."),
        *read("crew/master.md", master),
        *read("crew/crew.yaml", "# made by hand\nlanguage: Danish\nuser: Ann\n"),
        agent("Velkommen om bord. Which pier shall we begin with?"),
    ]
    shown = handed_over(turns).partition("## Looked at")[2]
    assert 'name="Greta"' in shown
    assert "language: Danish" in shown


def test_of_a_long_edit_the_specific_lines_are_shown() -> None:
    common = [
        f"    log.debug('step {n}')\n    if err is not None:\n        return None"
        for n in range(40)
    ]
    special = "    receipt = Receipt(\n        dog=dog.name,\n        coins=fare.coins,\n    )"
    body = "\n".join(["def board(dog, fare, err):", *common, special, "    return receipt"])
    turns = [turn("Write the boarding of dogs."), agent("I write it now."), *edit("b.py", body)]
    shown = handed_over(turns, 700).partition("## Latest edits")[2]
    assert "dog=dog.name," in shown
    assert shown.count("log.debug") < 4


def test_a_name_that_a_later_edit_removed_is_no_content_of_the_file() -> None:
    turns = [
        turn("Write the fares of the ferry."),
        *edit("fares.py", "def dog_fare():\n    return 4\n\n\ndef cat_fare():\n    return 2\n"),
        *replaced("fares.py", "def cat_fare():\n    return 2\n", "# cats walk\n"),
        agent("Cats have no fare now. Next I look at the horses."),
        *read("horses.py", "HORSES = 2"),
    ]
    text = handed_over(turns)
    assert "dog_fare" in part(text, Section.NOW)
    assert "cat_fare" not in part(text, Section.NOW) + part(text, Section.FILES)


def test_the_end_of_a_function_alone_is_not_shown() -> None:
    turns = [
        turn("Look for the fare of dogs."),
        agent("I look at the end of the file."),
        *read("fares.go", "    )\n\n    return nil\n}\n"),
        *read("dogs.go", "func DogFare() int {\n    return coinsFor(dogs)\n}\n"),
    ]
    shown = handed_over(turns).partition("## Looked at")[2]
    assert "return coinsFor(dogs)" in shown
    assert "return nil" not in shown


def test_a_session_that_was_cut_in_a_read_goes_on_from_it() -> None:
    turns = [
        turn("Follow the steps of the handbook, one after the other."),
        *read("steps/one.md", "# One\n\nTie the boat."),
        call("Read", {"file_path": "steps/two.md"}),
    ]
    next_ = part(handed_over(turns), Section.NEXT)
    assert "Go on from this call, which was cut: read steps/two.md" in next_


def test_a_session_that_ends_with_a_result_goes_on_after_it() -> None:
    turns = [
        turn("Find out which boats may sail in winter, and write them down."),
        *read("boats.md", "# Boats\n\nThe old one stays in the harbour."),
    ]
    next_ = part(handed_over(turns), Section.NEXT)
    assert "its last call, with its result: read boats.md" in next_


def test_the_places_into_which_the_edits_put_the_same_line_come_next() -> None:
    guard = "    if not harbour.is_open(now):\n        return None\n"
    turns = [turn("No boat may sail at night.")]
    for name in ("sail", "moor", "fuel"):
        head = f"def {name}(boat, now):\n"
        turns += replaced("boats.py", head, head + guard)
    turns += [
        turn("That is repeated in each of them. Is there a better place for the check?"),
        *replaced("bridge.py", "def call(boat):\n", f"def call(boat):\n{guard}"),
        agent("Now let me remove all the duplicate checks from `boats.py`:"),
    ]
    next_ = part(handed_over(turns), Section.NEXT)
    assert (
        "`if not harbour.is_open(now):` into 3 places of boats.py: `sail`, `moor`, `fuel`" in next_
    )


def test_a_line_that_was_replaced_and_is_left_elsewhere_comes_next() -> None:
    old = "    folder = os.getcwd_of(boat)\n"
    text = (
        f"def load(boat):\n{old}    fill(folder)\n\n\ndef unload(boat):\n{old}    empty(folder)\n"
    )
    turns = [
        turn("The boats look into the wrong folder. Repair it."),
        *read("boats.py", text),
        agent("I repair the first place now."),
        *replaced(
            "boats.py", f"def load(boat):\n{old}", "def load(boat):\n    folder = home(boat)\n"
        ),
    ]
    next_ = part(handed_over(turns), Section.NEXT)
    assert "`folder = os.getcwd_of(boat)` was replaced and is still at boats.py:7" in next_


def test_a_bare_letter_is_a_decision_only_with_the_words_of_its_option() -> None:
    def decks(first: int, last: int) -> list[Turn]:
        found: list[Turn] = []
        for number in range(first, last):
            found += [
                agent(f"Deck {number} gets its colour. What else is there on deck {number}?"),
                turn(f"Deck {number} has {number + 2} benches of oak that need another varnish."),
                *edit(f"deck{number}.md", f"# Deck {number}\n\nOak."),
            ]
        return found

    asked = (
        ("Which theme?\n\nA) Calm blue with white\nB) Loud red\n\nWhich one do you take?", "A"),
        ("[P] Ask others\n[C] Continue to the next step\n\nWhat do you want to do?", "C"),
        ("Shall I load the old plans, and are there other papers?", "yes and no"),
    )
    turns = [
        turn("Plan the ferry's colours with me, we need them before the summer."),
        *decks(0, 4),
    ]
    for question, answer in asked:
        turns += [agent(question), turn(answer)]
    turns += decks(4, 16)
    text = handed_over(turns, 3_000)
    told = part(text, Section.DECISIONS) + part(text, Section.MESSAGES)
    assert '"A" (Calm blue with white)' in told
    assert "(Continue" not in told
    assert "yes and no" not in part(text, Section.DECISIONS)


@pytest.mark.parametrize(
    "run_of", ["=x", "[a=", "**a", "| a |\n", "a\n", "- [ ] a\n", "# a\n", "/a"]
)
def test_a_long_run_in_a_message_takes_linear_time(run_of: str) -> None:
    long = run_of * (30_000 // len(run_of))
    began = time.process_time()
    brief_of([turn(f"Paint the hull blue. {long}"), agent(f"I will paint it. {long}")], "ferry")
    assert time.process_time() - began < 12  # with a pattern that is not linear it is 30 s or more
