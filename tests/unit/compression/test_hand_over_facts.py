"""What a hand-over takes for true: rulings, withdrawn words, results of outside calls, plans."""

from __future__ import annotations

import pytest

from reviewer.compression.anchor_types import Section
from reviewer.compression.values import Turn
from tests.unit.compression.making import turn
from tests.unit.compression.test_shape import agent, call, edit, result, run, section, written


def test_a_ruling_before_a_question_is_a_decision() -> None:
    turns = [
        turn("Describe how the ferry counts passengers who change boats at the island."),
        agent("Passengers who change boats are lost from the count. Want me to look into it?"),
        turn(
            "No I think this is fine and has too much risk of counting twice.\n\n"
            "Clarification: if somebody stays on board, we count them once, right?"
        ),
        agent("Right, who stays on board is counted once."),
        turn("Now write the same for the night boat."),
        agent("The night boat counts with the same gate."),
    ]
    text = written(turns, 600)
    assert "too much risk of counting twice" in section(text, Section.DECISIONS)
    assert "Want me to look into it?" in section(text, Section.DECISIONS)
    assert "stays on board" in text.replace(section(text, Section.DECISIONS), "")


def test_a_message_that_was_taken_back_is_gone_with_its_answer() -> None:
    turns = [
        turn("Design how the ferry's tickets are synchronised with the office."),
        agent("I would keep one branch of tickets for each boat."),
        turn("Reuse the harbour crane and paint it green."),
        agent("Understood: the decision is to reuse the harbour crane and paint it green."),
        turn("sorry wrong chat. ignore last message. The tickets can be synchronised at night."),
        agent("Then the tickets are synchronised at night, one boat after the other."),
    ]
    text = written(turns, 600)
    assert "crane" not in text
    assert "tickets can be synchronised at night" in section(text, Section.REQUEST)


@pytest.mark.parametrize(
    "words",
    [
        "Ignore the error message of the bell.",
        "Ignore the comments in the list of the bell.",
        "Use another window for the ticket office.",
        "In another session the ticket office was painted.",
    ],
)
def test_words_that_take_nothing_back_leave_the_message_before(words: str) -> None:
    turns = [
        turn("Paint the harbour crane green before the summer."),
        agent("The crane needs two coats of paint."),
        turn(words),
        agent("The second coat is dry."),
    ]
    assert "crane" in section(written(turns, 600), Section.REQUEST)


def test_a_message_is_taken_back_once_however_often_the_person_says_so() -> None:
    turns = [
        turn("Paint the harbour crane green before the summer."),
        agent("The crane needs two coats of paint."),
        turn("Sell the parrot of the harbour master."),
        turn("Ignore that message."),
        turn("Sorry, wrong window."),
        agent("The second coat is dry."),
    ]
    text = written(turns, 600)
    assert "crane" in section(text, Section.REQUEST)
    assert "parrot" not in text


def test_a_command_that_the_person_interrupted_did_not_happen() -> None:
    commit = call("Bash", {"command": 'git commit -am "Light the pier"'})
    turns = [
        turn("Light the pier."),
        *edit("pier.py"),
        *run("make lamps", "built"),
        commit,
        turn("Stop, the lamp is too dark. What does a brighter one cost?"),
        agent("A brighter one costs twice as much."),
    ]
    text = written(turns, 600)
    assert "Committed" not in section(text, Section.DONE)
    assert "pier.py" in section(text, Section.NOW)


def test_an_aborted_edit_was_not_made() -> None:
    given = {"file_path": "pier/lamp.py", "old_string": "", "new_string": "lamp = 2"}
    turns = [
        turn("Make the lamp of the pier brighter."),
        agent("The lamp gets a second bulb."),
        call("Edit", given),
        result("Edit", "Operation aborted"),
        turn("Wait, tell me first what it costs."),
    ]
    assert "pier/lamp.py" not in section(written(turns, 600), Section.NOW)


STATUS = "Unmerged paths:\n\tboth modified:   toll.py\n\tboth modified:   pier.py"


def test_a_status_does_not_open_conflicts_that_were_edited() -> None:
    conflicts = "CONFLICT (content): Merge conflict in toll.py\n"
    turns = [
        turn("Merge the main branch into this one."),
        *run("git merge main", f"{conflicts}CONFLICT (content): Merge conflict in pier.py\n"),
        agent("Keep both columns of the toll."),
        *edit("toll.py"),
        *run(
            "git status", "Unmerged paths:\n\tboth modified:   toll.py\n\tboth modified:   pier.py"
        ),
    ]
    now = section(written(turns, 600), Section.NOW)
    assert "1 of 2 remain to be resolved: pier.py" in now
    assert "already edited or resolved: toll.py" in now
    assert "Merge conflicts" not in written(
        [*turns, *edit("pier.py"), *run("git status", STATUS)], 600
    )


def test_what_a_paste_complains_about_is_told() -> None:
    pasted = (
        "The tests of the ferry fail on the server only:\n\n```\n=== RUN   TestFare\n"
        "    fare_test.go:41: expected 12, got 21\n--- FAIL: TestFare (0.00s)\n"
        "=== RUN   TestToll\n--- PASS: TestToll (0.00s)\n```\n"
    )
    request = section(written([turn(pasted), agent("I look at the fare.")], 600), Section.REQUEST)
    assert "fare_test.go:41: expected 12, got 21" in request
    assert "--- FAIL: TestFare" in request
    assert "TestToll" not in request


MADE = [
    (
        [call("mcp__linear__create_issue", {"title": "The bell rings twice"}, "c1")],
        '{"id":"7f","identifier":"SEA-241","title":"The bell rings twice"}',
        "[SEA-241]",
    ),
    (
        [call("Bash", "gh issue create --title 'The bell rings twice' --body x", "c1")],
        "https://github.com/harbour/ferry/issues/17",
        "[https://github.com/harbour/ferry/issues/17]",
    ),
    (
        [call("Bash", "bd create 'The bell rings twice'", "c1")],
        "✓ Created issue: sea-9k2\n  see https://github.com/harbour/ferry/issues/3",
        "[sea-9k2]",
    ),
]


@pytest.mark.parametrize(("asked", "output", "told"), MADE)
def test_what_was_made_elsewhere_is_told_with_its_id(
    asked: list[Turn], output: str, told: str
) -> None:
    turns = [
        turn("Write down that the bell rings twice."),
        agent("I create an issue for the bell."),
        *asked,
        result("any", output, "c1"),
        agent("It is written down."),
        turn("Now look after the lamp of the pier."),
        agent("The lamp is broken because its wire is loose."),
    ]
    done = section(written(turns, 600), Section.DONE)
    assert told in done
    assert "The bell rings twice" in done


def test_ids_of_several_things_are_told_where_each_has_one() -> None:
    def told(output: str) -> str:
        turns = [
            turn("Write down the bell and the lamp."),
            agent("I create two issues."),
            *run("bd create 'Bell'; bd create 'Lamp'", output),
            agent("Both are written down."),
        ]
        return written(turns, 600)

    both = told("✓ Created issue: sea-bell — Bell\n✓ Created issue: sea-2 — Lamp")
    assert "bd create 'Bell' [sea-bell]" in both
    assert "bd create 'Lamp' [sea-2]" in both
    assert "[sea-" not in told("✓ Created issue: sea-2 — Lamp")


PLAN = turn(
    "Implement the following plan:\n\n# Plan: a second bell\n\n"
    "### Step 1: Cast the bell in `foundry/cast.py`\n\nBronze.\n\n"
    "### Step 2: Hang it in `tower/hang.py`\n\nWith a chain.\n\n"
    "### Step 3: Ring it at noon in `clock/noon.py`\n\nTwice.\n"
)


def test_a_plan_that_the_person_gives_is_told_with_the_steps_that_are_left() -> None:
    turns = [PLAN, agent("Let me cast the bell first."), *edit("foundry/cast.py")]
    ahead = section(written(turns, 700), Section.NEXT)
    assert "The agreed plan (2 of 3 steps open)" in ahead
    assert "Hang it in `tower/hang.py` - open" in ahead
    assert "Cast the bell in `foundry/cast.py` - edited" in ahead


def test_a_plan_is_over_once_the_agent_has_reported() -> None:
    turns = [
        PLAN,
        agent("Let me cast the bell first."),
        *edit("foundry/cast.py"),
        *edit("tower/hang.py"),
        *edit("clock/noon.py"),
        agent("The second bell rings twice at noon."),
    ]
    assert "agreed plan" not in written(turns, 700)


def test_an_assessment_is_no_plan() -> None:
    turns = [
        turn("What do you think of these three remarks on the ferry?"),
        agent(
            "**1. Comment on the bell**\n\nIt explains little.\n\n"
            "**2. Alias of the captain**\n\nA stepping stone.\n\n"
            "**3. One-way door of the deck**\n\nNobody comes back through it."
        ),
        turn("ok, mention the second in the log book"),
        agent("The alias of the captain is in the log book now."),
    ]
    assert "agreed plan" not in written(turns, 700)


def test_items_of_an_old_to_do_list_say_what_was_committed_since() -> None:
    todos = {
        "todos": [
            {"content": "Silence the second bell of the tower", "status": "pending"},
            {"content": "Paint the crane of the harbour", "status": "pending"},
        ]
    }
    turns = [
        turn("Get the harbour ready for the summer, please."),
        call("TodoWrite", todos),
        result("TodoWrite", "ok"),
        agent("I begin with the tower."),
        *edit("tower/bell.py"),
        *run("git commit -am 'Silence the second bell of the tower'", "[main 1a2b3c4] Silence"),
        agent("Let me look at the crane."),
    ]
    ahead = section(written(turns, 700), Section.NEXT)
    assert "Silence the second bell of the tower (committed since)" in ahead
    assert "Paint the crane of the harbour." in ahead


def test_an_offer_after_which_other_work_was_done_is_not_open() -> None:
    filler = [agent(f"Plank {n} of the deck is made of old oak wood.") for n in range(14)]
    turns = [
        turn("Repair the deck of the ferry."),
        *filler,
        agent("The deck is repaired. Shall I also varnish the handrail of the stairs?"),
        turn(
            "The engine smokes whenever we leave the harbour, and its oil is black. Change the oil."
        ),
        agent("Let me change the oil."),
        *edit("engine/oil.py"),
        *edit("engine/filter.py"),
        *edit("engine/pump.py"),
    ]
    assert "varnish" not in section(written(turns, 700), Section.NEXT)


def test_an_answer_comes_with_what_its_question_points_to() -> None:
    turns = [
        turn("Look through the timetable of the ferry."),
        agent("The night boat is listed twice in `winter.csv`. Shall I remove it?"),
        turn("yes"),
        agent("The second night boat is gone."),
        turn("Now look through the timetable of the tram, which begins on Monday."),
        agent("The tram begins at five in the morning."),
    ]
    decisions = section(written(turns, 600), Section.DECISIONS)
    assert "listed twice in `winter.csv`. Shall I remove it?" in decisions


def test_an_accepted_proposal_is_told_as_far_as_it_goes() -> None:
    turns = [
        turn("Why do the gulls sit on the lamp of the pier?"),
        agent(
            "Gulls sit on the lamp because its top is flat. A cone on the lamp would keep gulls"
            " off it. The cone is made of tin and held by two screws."
        ),
        turn("yes let's put a cone on the lamp"),
        agent("Let me cut the tin."),
        *edit("pier/cone.py"),
    ]
    text = written(turns, 600)
    assert "A cone on the lamp would keep gulls off it. The cone is made of tin" in text
