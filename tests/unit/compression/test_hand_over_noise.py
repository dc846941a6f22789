"""Hand-overs leave out what says nothing to somebody who goes on, and call nothing a decision
that nobody decided.
"""

from __future__ import annotations

from reviewer.compression.anchor_types import Section
from tests.unit.compression.making import turn
from tests.unit.compression.test_shape import agent, call, edit, result, run, section, written

ASKED = turn("Let the ferry office print a bill for every boat.")


def test_orders_for_other_agents_are_no_edits_to_be_checked() -> None:
    orders = edit(".crew/prompts/bill-worker.md", "# Task: print the bill")
    text = written([ASKED, *run("pytest -q", "3 passed"), *orders, agent("The worker is sent.")])
    assert "Edited" not in section(text, Section.NOW)
    assert "Written for other agents: .crew/prompts/bill-worker.md" in text


def test_texts_are_never_waiting_for_a_check() -> None:
    text = written([ASKED, *run("pytest -q", "3 passed"), *edit("docs/bill.md", "# Bills")])
    assert "Edited, not committed: docs/bill.md" in section(text, Section.NOW)
    assert "not yet checked" not in text


def test_checked_edits_name_what_passed() -> None:
    text = written([ASKED, *edit("bill.py"), *run("pytest -q", "3 passed")])
    assert "Passed since these edits: `pytest -q`." in section(text, Section.NOW)


def test_remarks_of_waiting_are_left_out() -> None:
    turns = [
        ASKED,
        agent("It is taking a bit longer than the toll of `raft.py`, as the tests run twice."),
        *run("pytest -q", "3 passed"),
        agent("The bill of `boat.py` has the weight of the boat in its second column now."),
    ]
    text = written(turns, 400)
    assert "taking a bit longer" not in text
    assert "second column" in text


def test_a_reason_with_rather_than_is_no_decision() -> None:
    turns = [
        ASKED,
        agent("The `toll` table is in the wiki, so I can read it rather than ask for it."),
        *run("pytest -q", "3 passed"),
        agent("Done."),
    ]
    assert section(written(turns, 400), Section.DECISIONS) == ""


def test_steps_of_a_scenario_are_no_findings() -> None:
    story = "Story 2: bills\n\nGiven a boat with a number\n\nWhen the bill is printed\n\n"
    text = written([ASKED, agent(f"{story}Do you agree?"), turn("ok"), *edit("bill.md", "# Bill")])
    assert "When the bill is printed" not in section(text, Section.FOUND)


def test_the_functions_around_a_patch_are_not_called_new() -> None:
    body = (
        "def old_toll():\n    return 1\n\n\n# What a raft pays.\n\ndef raft_toll():\n    return 2\n"
    )
    patch = {
        "file_path": "toll.py",
        "old_string": "def old_toll():\n    return 1\n",
        "new_string": body,
    }
    text = written([ASKED, call("Edit", patch, "c1"), result("Edit", "updated", "c1")], 400)
    assert "raft_toll" in section(text, Section.NOW)
    assert "old_toll" not in section(text, Section.NOW)


def test_the_sections_of_a_text_are_those_that_were_written_last() -> None:
    turns = [ASKED, *edit("plan.md", "".join(f"## Quay {n}\n\nA quay.\n\n" for n in range(12)))]
    change = {
        "file_path": "plan.md",
        "old_string": "## Quay 2\n",
        "new_string": "## Pier of the rafts\n\nA pier.\n\n## Quay 2\n",
    }
    turns += [call("Edit", change, "c2"), result("Edit", "updated", "c2")]
    assert "Pier of the rafts" in section(written(turns, 800), Section.NOW)


def test_a_request_followed_by_short_answers_is_not_simply_the_latest() -> None:
    turns = [
        ASKED,
        *edit("bill.py"),
        agent("The bill has the weight. Shall I add the name of the boat?"),
        turn("The weight of the crew belongs on the bill of every boat as well."),
        *edit("bill.py"),
        agent("The crew is on it. Shall I write the bill of the raft?"),
        turn("ok"),
        *edit("raft.py"),
        agent("The raft has one. Shall I write the bill of the barge?"),
        turn("ok"),
        *edit("barge.py"),
    ]
    request = section(written(turns, 800), Section.REQUEST)
    assert 'Latest in words of their own (2 short answers since): "The weight of the' in request
