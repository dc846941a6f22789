"""What is open at the end of a range: items of a request, conflicts, steps; and what is over."""

from __future__ import annotations

import pytest

from reviewer.compression.anchor_types import Section
from reviewer.compression.handover import brief_of
from tests.unit.compression.making import turn
from tests.unit.compression.test_shape import agent, call, edit, result, run, section, written

ITEMS = turn(
    "Please work through the remarks of the harbour office:\n\n"
    "1. The bell rings twice at noon\n"
    "2. The tide table lacks the `spring_tide` column\n"
    "3. The pier lamp is never tested\n"
    "4. The readme names the old ferry\n"
)


def test_the_items_of_a_request_are_told_with_what_became_of_them() -> None:
    turns = [
        ITEMS,
        agent("Item 4 is fine, the readme names the new ferry already."),
        agent("Item 2: add the column to the table."),
        *edit("tide/table.py"),
        agent("Item 3: look at how the lamp is wired."),
        *run("cat pier/lamp.py", "class Lamp: ..."),
    ]
    text = written(turns, 600)
    now, ahead = section(text, Section.NOW), section(text, Section.NEXT)
    assert "Of the 4 items of the request: 2) " in now
    assert "edited in tide/table.py" in now
    assert 'found to need nothing: "Item 4 is fine' in now
    assert "Open items of the request: 1) The bell rings twice at noon; 3) " in ahead
    assert "looked at, nothing changed yet" in ahead
    assert "4)" not in ahead


def test_items_that_nobody_goes_by_are_not_judged() -> None:
    turns = [ITEMS, agent("The harbour office wrote this on Monday."), *edit("office/letters.py")]
    assert "items of the request" not in written(turns, 600)


def test_a_later_request_replaces_the_items() -> None:
    turns = [
        ITEMS,
        agent("Item 1: silence the second bell."),
        *edit("bell.py"),
        turn(
            "Leave the remarks for now, and instead print the whole timetable of the winter ferry."
        ),
        agent("The timetable is printed on the second floor."),
    ]
    assert "items of the request" not in written(turns, 600)


def test_a_to_do_list_says_it_better_than_the_items() -> None:
    todos = {"todos": [{"content": "Silence the bell", "status": "pending"}]}
    turns = [ITEMS, agent("Item 1 first."), call("TodoWrite", todos), result("TodoWrite", "ok")]
    text = written(turns, 600)
    assert "items of the request" not in text
    assert "pending: Silence the bell" in text


CONFLICT = (
    "    10→def toll(boat):\n    11→<<<<<<< HEAD\n    12→    # by length\n"
    "    13→    return boat.length\n    14→=======\n"
    "    15→    return boat.weight\n    16→>>>>>>> origin/main\n    17→"
)


def test_open_conflicts_are_told_with_what_both_sides_have() -> None:
    lines = (f"CONFLICT (content): Merge conflict in {name}.py" for name in ("toll", "pier"))
    merged = "\n".join(lines)
    turns = [
        turn("Merge main into the branch of the toll."),
        *run("git merge origin/main", merged),
        call("Read", {"file_path": "toll.py"}, "c1"),
        result("Read", CONFLICT, "c1"),
        call("Read", {"file_path": "pier.py"}, "c2"),
        result("Read", CONFLICT.replace("boat", "lamp"), "c2"),
        *edit("pier.py"),
    ]
    now = section(written(turns, 600), Section.NOW)
    assert "Conflict in toll.py: lines 11-16: HEAD has `return boat.length`" in now
    assert "incoming has `return boat.weight`" in now
    assert "Conflict in pier.py" not in now
    assert "commit the merge" in section(written(turns, 600), Section.NEXT)


def test_a_report_at_the_end_says_how_it_is_and_what_is_ahead() -> None:
    turns = [
        turn("Rebuild the ferry's landing page."),
        agent("The old page has `eleven` links that lead nowhere."),
        *edit("site/index.js"),
        *run("git commit -am 'Rebuild the landing page'", "[site 1a2b3c4] Rebuild"),
        agent(
            "The landing page is rebuilt and `npm run build` is green.\n\n"
            "Remaining:\n\n- a card for the winter timetable\n- the map of the northern pier\n"
        ),
    ]
    text = written(turns, 600)
    assert "The landing page is rebuilt" in section(text, Section.NOW)
    assert "eleven" not in section(text, Section.NOW)
    assert "a card for the winter timetable" in section(text, Section.NEXT)


def test_a_check_that_ran_again_is_told_once() -> None:
    turns = [
        turn("Mend the tide table."),
        agent("Let me run the tests of the tide."),
        *run("pytest tests/tide", "1 failed"),
        agent("The ebb was `None` for new moons."),
        *edit("tide.py"),
        *run("pytest tests/tide", "4 passed"),
    ]
    text = written(turns, 600)
    assert "failed" not in text
    assert "pytest tests/tide` (passed at the last run" in text


def test_each_of_several_commits_of_a_command_has_its_subject_and_hash() -> None:
    command = (
        "git add a && git commit -qm 'Add the lamp' && git add b && git commit -qm 'Add the bell' "
        "&& git log --oneline -2"
    )
    listed = "bbbb222 Add the bell\naaaa111 Add the lamp"
    done = section(written([turn("Commit both."), *run(command, listed)], 400), Section.DONE)
    assert "Committed [aaaa111]: Add the lamp" in done
    assert "Committed [bbbb222]: Add the bell" in done


def test_choices_are_told_with_their_questions() -> None:
    answers = (
        'User has answered your questions: "Which colour has the hull?"="Green", '
        '"Which port comes first?"="The northern one". You can now continue.'
    )
    asked = {"questions": [{"question": "Which colour has the hull?", "options": []}]}
    turns = [
        turn("Paint the ferry."),
        call("AskUserQuestion", asked, "c1"),
        result("AskUserQuestion", answers, "c1"),
        *edit("hull.py"),
    ]
    decisions = section(written(turns, 400), Section.DECISIONS)
    assert '"Green" - to: "Which colour has the hull?"' in decisions
    assert '"The northern one" - to: "Which port comes first?"' in decisions


def test_steps_of_an_earlier_summary_that_have_come_up_since_are_over() -> None:
    summary = turn(
        "This session is being continued from a previous conversation. Summary:\n"
        "1. Primary Request and Intent:\n   Print the tables.\n"
        "7. Pending Tasks:\n   - Print the tide table of the southern harbour\n"
        "   - Oil the winch of the ferry ramp\n"
    )
    turns = [
        summary,
        agent("I print the tide table of the southern harbour now."),
        *edit("tables/south.py"),
    ]
    ahead = section(written(turns, 600), Section.NEXT)
    assert "winch of the ferry ramp" in ahead
    assert "southern harbour" not in ahead


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Good news - the `tide` column is there already.", "the `tide` column is there already"),
        (
            "The reds of the tide table are covered, so I'll append the blues to `docs/colour.md`.",
            "The reds of the tide table are covered",
        ),
    ],
)
def test_what_is_cut_from_a_sentence_ends_with_its_clause(said: str, kept: str) -> None:
    turns = [turn("Look at the colours."), agent(said), *edit("docs/hues.md")]
    text = written(turns, 300)
    assert kept in text
    assert "covered.md" not in text
    assert "news" not in text


def test_a_long_request_keeps_its_end() -> None:
    page = "The harbour has many rules about boats and piers. " * 40
    text = written([turn(f"{page}Now count the piers of the north."), agent("There are 3.")], 4_000)
    assert "Now count the piers of the north." in section(text, Section.REQUEST)


TOLLS = (
    "class Toll:\n    pass\n\n\ndef toll_of_boat(boat):\n    return boat.length\n\n\n"
    "def toll_of_raft(raft):\n    return raft.logs * 2\n"
)


def test_points_that_the_agent_listed_are_ticked_off_with_the_places_of_the_others() -> None:
    points = (
        "The places to change are:\n\n1. `toll_of_boat()` takes the weight\n"
        "2. `toll_of_raft()` takes the weight\n3. `print_bill()` shows it\n"
    )
    change = {
        "file_path": "toll.py",
        "old_string": "    return boat.length",
        "new_string": "    return boat.weight",
    }
    turns = [
        turn("Charge by weight."),
        call("Grep", {"pattern": "def print_bill"}, "c1"),
        result("Grep", "Found 1 file\noffice/bill.py", "c1"),
        call("Read", {"file_path": "toll.py"}, "c2"),
        result("Read", TOLLS, "c2"),
        agent(points),
        call("Edit", change, "c3"),
        result("Edit", "updated", "c3"),
    ]
    text = written(turns, 800)
    now, ahead = section(text, Section.NOW), section(text, Section.NEXT)
    assert "Of the 3 points that the agent listed: 1) " in now
    assert "toll.py now: in `toll_of_boat`: `return boat.weight`" in now
    assert "removes `return boat.length`" in now
    assert "2) `toll_of_raft()` takes the weight [toll.py:9]" in ahead
    assert "3) `print_bill()` shows it [named in office/bill.py]" in ahead
    assert "1) " not in ahead


def test_what_later_work_has_overtaken_is_left_out() -> None:
    turns = [
        turn("Mend the toll of the raft."),
        agent("Two tests of `toll_of_raft` are still failing on the ferry branch."),
        *edit("toll.py"),
        *run("pytest tests/toll", "4 passed"),
        agent("The toll counts the logs of `Raft` once."),
    ]
    text = written(turns, 800)
    assert "still failing" not in text
    assert "counts the logs of `Raft` once" in section(text, Section.NOW)


def test_the_rest_of_a_list_is_never_told_without_its_beginning() -> None:
    long = (
        " and the quay beside it, which the harbour office has painted in the colours of the flag"
    )
    items = "".join(f"{n}. Paint pier number {n}{long * 2}\n" for n in range(1, 8))
    turns = [turn("What is the plan?"), agent(f"The staging:\n\n{items}"), turn("Good.")]
    for tokens in (120, 200, 300, 400):
        text = written(turns, tokens)
        assert "Paint pier number 1" in text or "Paint pier" not in text


def test_a_pull_request_of_another_branch_is_told_with_its_branch() -> None:
    turns = [
        turn("Open a pull request for the bell, then go on with the lamp."),
        *run("git checkout -b bell"),
        *run("gh pr create --title 'Ring once'", "https://example.org/harbour/pull/7"),
        *run("git checkout lamp"),
        *edit("lamp.py"),
    ]
    now = section(written(turns, 400), Section.NOW)
    assert "On branch lamp; pull request Ring once" in now
    assert "of branch bell" in now


def test_remarks_in_new_code_say_what_it_is_for() -> None:
    new = "# Rafts pay by the log, because nobody can weigh them on the water.\nlogs = raft.logs\n"
    given = {"file_path": "toll.py", "old_string": "logs = 0", "new_string": new}
    turns = [turn("Mend the toll of the raft."), call("Edit", given), result("Edit", "updated")]
    now = section(written(turns, 600), Section.NOW)
    assert "Rafts pay by the log, because nobody can weigh them on the water" in now


def test_the_last_discovery_is_kept_with_what_the_agent_was_about_to_do() -> None:
    turns = [
        turn("Is the length of the name the same everywhere?"),
        *edit("bell.py"),
        agent(
            "Wait - I notice the bell stores 7 letters but the lamp stores all of them. "
            "Let me check the lamp to understand the pattern:"
        ),
    ]
    text = written(turns, 600)
    following = section(text, Section.NEXT)
    assert "about to do this: check the lamp" in following
    assert "the bell stores 7 letters but the lamp stores all of them" in following
    assert text.count("the bell stores 7 letters") == 1


def test_what_was_published_and_which_skills_were_loaded_is_told() -> None:
    turns = [
        turn("Publish the page of the ferry."),
        call("Skill", {"skill": "page-style"}, "c1"),
        result("Skill", "Launching skill", "c1"),
        call("Artifact", {"file": "page.html"}, "c2"),
        result("Artifact", "Published page.html at https://example.org/pages/7", "c2"),
        agent("The page of the ferry is out, with the winter timetable on top."),
    ]
    text = written(turns, 600)
    assert "Published at https://example.org/pages/7" in section(text, Section.FILES)
    assert "page-style" in section(text, Section.COMMANDS)


@pytest.mark.parametrize(
    ("words", "is_one"),
    [
        ("can you explain: content-aware overlap only for new files", False),
        ("do we use it everywhere?", False),
        ("like if I keep editing the file, will we just always count it to that prompt?", False),
        ("don't use the old printer, can you find another?", True),
        ("no, use the new printer instead?", True),
        ("Is it fast? Keep the night boats in bold.", True),
    ],
)
def test_a_question_is_no_instruction_unless_it_corrects(words: str, is_one: bool) -> None:
    asked = turn("Print the timetable.")
    turns = [asked, agent("It is printed."), turn(words), agent("Yes, it is."), turn("Thank you!")]
    turns += [turn("Now print the map of the piers.")]
    assert (words in section(written(turns, 600), Section.INSTRUCTIONS)) is is_one


def test_a_hand_over_leaves_out_old_findings_that_open_work_does_not_need() -> None:
    turns = [
        turn("Look at the harbour."),
        agent("The old winch has 4 gears.\n\nThe `tide_table()` is sorted by hour."),
        turn("What else?"),
        agent("The quay is 80 metres long."),
        turn("And the bell?"),
        agent("The bell was cast in 1911."),
        turn("Mend the order of the tide."),
        *edit("tide.py", "def tide_table():\n    return sorted(rows)"),
    ]
    text = brief_of(turns, "the session harbour").text
    assert "winch" not in text
    assert "`tide_table()` is sorted by hour" in text
    assert "cast in 1911" in text
    assert "winch" in written(turns, 600)
