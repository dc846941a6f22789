"""What a hand-over says of edits, plans and findings is how they are at the end."""

from __future__ import annotations

from reviewer.compression.anchor_types import Section
from reviewer.compression.handover import brief_of
from reviewer.compression.offline.shape import Account
from reviewer.compression.values import Turn
from tests.unit.compression.making import count, turn
from tests.unit.compression.test_shape import agent, call, result, run, section, written

ASKED = turn("Let the ferry office print a bill for every boat.")


def change(path: str, old: str, new: str, number: int = 1) -> list[Turn]:
    """An edit that replaces one text by another."""
    given = {"file_path": path, "old_string": old, "new_string": new}
    return [call("Edit", given, f"e{number}"), result("Edit", "updated", f"e{number}")]


def commit(message: str) -> list[Turn]:
    return run(f'git commit -m "{message}"', f"[main 1a2b3c4] {message}")


def test_several_edits_of_a_place_are_told_as_the_text_at_the_end() -> None:
    first = (
        "def toll_of_boat(boat: Boat) -> int:\n"
        '    """What a boat pays, in cents."""\n    return boat.length'
    )
    turns = [
        ASKED,
        *change("toll.py", "BASE = 3", f"BASE = 3\n\n\n{first}"),
        *change("toll.py", "boat: Boat) -> int", "boat: Boat, night: bool) -> int", 2),
        *change(
            "toll.py",
            "    return boat.length",
            "    # Nobody pays twice on one day.\n    return boat.weight * BASE",
            3,
        ),
    ]
    now = section(written(turns, 600), Section.NOW)
    assert "new `def toll_of_boat(boat: Boat, night: bool) -> int`" in now
    assert "What a boat pays, in cents" in now
    assert "Nobody pays twice on one day" in now
    assert "boat.length" not in now


def test_what_is_committed_is_told_by_its_commit_alone() -> None:
    turns = [ASKED, *change("toll.py", "BASE = 3", "BASE = 4"), *commit("Raise the base toll")]
    text = written(turns, 600)
    assert "Raise the base toll" in text
    assert "BASE = 4" not in text


def test_a_resolved_conflict_says_which_side_is_kept() -> None:
    both = "<<<<<<< HEAD\nfare = day_fare\n=======\nfare = night_fare\n>>>>>>> night"
    turns = [ASKED, *change("fare.py", both, "fare = day_fare")]
    now = section(written(turns, 600), Section.NOW)
    assert "conflict resolved: keeps `fare = day_fare`, drops `fare = night_fare`" in now


def test_a_file_that_was_moved_is_told_under_its_new_path() -> None:
    turns = [
        ASKED,
        *change("docs/toll.md", "# Toll", "# Toll\n\n## Night boats\n\nThey pay double."),
        *run("mv docs/toll.md docs/fares/toll.md", ""),
        agent("Moved."),
    ]
    now = section(written(turns, 600), Section.NOW)
    assert "docs/fares/toll.md" in now
    assert " docs/toll.md" not in now
    assert 'section "Night boats": They pay double' in now


def test_a_check_of_chosen_tests_does_not_stand_for_the_whole_suite() -> None:
    turns = [ASKED, *change("toll.py", "BASE = 3", "BASE = 4")]
    turns += run("pytest -q tests/test_toll.py -k base", "2 passed")
    turns += [agent("Now I look at the bill."), *change("bill.py", "ink = 1", "ink = 2", 2)]
    text = written(turns, 600)
    assert "Edited and checked by chosen tests only, not yet committed: toll.py" in text
    assert "the whole test suite (only some of the tests were run)" in section(text, Section.NEXT)


def test_a_silent_build_passed() -> None:
    turns = [ASKED, *change("toll.go", "base := 3", "base := 4"), *run("go build ./...", "")]
    assert "`go build ./...` (passed" in written(turns, 600)


def test_a_step_that_was_edited_is_to_be_confirmed_and_one_that_was_not_is_ahead() -> None:
    announced = agent("Let me add the night fare to the toll of boats.")
    turns = [ASKED, announced, *change("toll.py", "BASE = 3", "NIGHT = 7")]
    ahead = section(written(turns, 600), Section.NEXT)
    assert "Finish or confirm the last step (edited for it: toll.py; not verified)" in ahead
    ahead = section(written([ASKED, announced], 600), Section.NEXT)
    assert "The agent was about to do this: add the night fare" in ahead


PLAN = (
    "## Phase 1: Print the bill\n\nA page for each boat.\n\n"
    "## Phase 2: Send the bill\n\nBy pigeon.\n\n## Phase 3: Count the money\n\nEvery evening.\n"
)


def test_an_agreed_plan_is_carried_whole_with_what_became_of_each_step() -> None:
    turns = [
        ASKED,
        agent(PLAN),
        turn("yes, go ahead"),
        *change("bill.py", "ink = 1", "ink = 2"),
        *commit("Phase 1: print the bill"),
        agent("Phase 1 is done. Next is Phase 2."),
    ]
    ahead = section(written(turns, 800), Section.NEXT)
    assert "The agreed plan (2 of 3 steps open)" in ahead
    assert "Phase 1) Print the bill - committed 1a2b3c4" in ahead
    assert "Phase 2) Send the bill - " in ahead
    assert "Phase 3) Count the money - open" in ahead


def test_findings_keep_their_headings_and_numbers() -> None:
    review = (
        "### Critical (P1)\n\n**1. The toll is counted twice**\n`toll.py:12`\n\n"
        "### Important (P2)\n\n**2. The bill has no date**\n`bill.py:3`\n\n"
        "**3. The ink is read at every page**\n`ink.py:40`\n"
    )
    turns = [ASKED, agent(review), turn("Fix the first one."), *change("toll.py", "a = 1", "a = 2")]
    text = written(turns, 800)
    lists = section(text, Section.LISTS)
    assert "Important (P2): 2) The bill has no date [bill.py:3]; 3) The ink is read" in lists
    assert "The bill has no date" not in section(text, Section.DONE)


def test_a_finding_about_a_function_that_was_changed_later_says_so() -> None:
    turns = [
        ASKED,
        agent("`toll_of_boat` counts the length of `Boat` twice because of the loop."),
        turn("Then change that."),
        *change("toll.py", "x = 1", "def toll_of_boat(boat):\n    return 1"),
        agent("The toll is counted once in `toll.py`."),
    ]
    found = section(written(turns, 600), Section.FOUND)
    assert "Before `toll_of_boat` was changed: `toll_of_boat` counts the length" in found


def test_a_question_brings_its_answer() -> None:
    turns = [
        ASKED,
        agent("The toll is printed."),
        turn("Where is the base toll of `Boat` kept?"),
        agent("The base toll is in `toll.py`, line 3."),
        turn("Draw the map of the northern quay."),
    ]
    found = section(written(turns, 600), Section.FOUND)
    assert 'kept?" - answer: The base toll is in `toll.py`, line 3.' in found
    assert found.count("line 3") == 1


def test_pasted_log_lines_are_cut_to_the_first() -> None:
    log = "\n".join(f"Feb 9 09:00:0{n}.092 |DEBU| hook ran ship=s{n} port=p{n}" for n in range(8))
    request = section(
        written([turn(f"The bells ring twice:\n{log}\nWhy is that?")], 600), Section.REQUEST
    )
    assert "The bells ring twice" in request
    assert "Why is that?" in request
    assert "ship=s0" in request
    assert "ship=s5" not in request


def test_what_the_person_tells_of_themselves_is_no_instruction() -> None:
    turns = [
        ASKED,
        agent("The bill is printed."),
        turn("I did a print and then the stop signal failed after the second page."),
        agent("The paper was out in `tray.py`."),
        turn("Print the map."),
    ]
    assert "stop signal" not in section(written(turns, 600), Section.INSTRUCTIONS)


def test_the_smallest_summary_has_the_request() -> None:
    turns = [ASKED]
    for number in range(12):
        turns.append(
            agent(f"`quay_{number}.py` calls `Harbour.bell_{number}` in `pier/{number}.py`.")
        )
    assert "ferry office" in Account(turns, count).write(60)


def test_a_hand_over_leaves_out_questions_of_an_earlier_summary() -> None:
    summary = (
        "This session is being continued from a previous conversation\n\nSummary:\n\n"
        "1. Primary Request and Intent:\n   Print the bill.\n\n"
        '6. All user messages:\n   - "is the old ferry still running today?"\n'
    )
    turns = [
        turn(summary),
        turn("Let the bell ring at noon."),
        *change("bell.py", "at = 11", "at = 12"),
    ]
    assert "old ferry" not in brief_of(turns, "the session bell").text


def test_a_remark_that_states_a_rule_brings_the_line_that_follows_it() -> None:
    body = (
        "def berths(port: Port) -> list[Berth]:\n    found = []\n    names = port.names()\n"
        "    sizes = port.sizes()\n    for berth in port:\n"
        "        # Skip berths that are not dredged.\n"
        "        if berth.depth < port.least:\n            continue\n        found.append(berth)\n"
        "    return found"
    )
    turns = [ASKED, *change("port.py", "LEAST = 3", f"LEAST = 3\n\n\n{body}")]
    now = section(written(turns, 600), Section.NOW)
    assert "Skip berths that are not dredged `if berth.depth < port.least:`" in now


def test_commits_say_whether_they_were_pushed() -> None:
    turns = [ASKED, *change("toll.py", "a = 1", "a = 2"), *commit("Raise the base toll")]
    turns += [*run("git push", "main -> main"), *change("bill.py", "b = 1", "b = 2", 2)]
    turns += commit("Date the bill")
    done = section(written(turns, 600), Section.DONE)
    assert "Committed and pushed [main 1a2b3c4]: Raise the base toll" in done
    assert "Committed [main 1a2b3c4]: Date the bill" in done


def test_a_check_whose_script_was_removed_is_not_owed() -> None:
    turns = [ASKED, *change("toll.py", "a = 1", "a = 2")]
    turns += [*run("python tests/test_try.py", "ok"), *run("rm tests/test_try.py", "")]
    turns += [agent("Now I date the bill."), *change("bill.py", "b = 1", "b = 2", 2)]
    assert "test_try.py" not in section(written(turns, 600), Section.NEXT)


def test_a_guess_that_was_settled_is_left_out_of_a_hand_over() -> None:
    turns = [ASKED, agent("The `Toll` is probably rounded twice by `bill.py`, which might be it.")]
    for number in range(6):
        turns += [
            agent(f"`quay_{number}.py` has a bell of {number} tons."),
            *run("make test", "ok"),
        ]
    turns += [agent("The cause is the missing cent in `toll.py`.")]
    text = brief_of(turns, "the session toll").text
    assert "rounded twice" not in text
    assert "missing cent" in text


def test_a_remark_after_a_statement_is_no_decision() -> None:
    turns = [
        ASKED,
        agent("The ferry `Ada` runs at noon."),
        turn("wow"),
        agent("Shall I print the page of `Ada`?"),
        turn("yes, but without the map"),
        agent("It is printed in `ada.pdf`."),
        turn("Draw the map of the northern quay."),
    ]
    decided = section(written(turns, 600), Section.DECISIONS)
    assert '"yes, but without the map"' in decided
    assert "wow" not in decided


def test_a_hand_over_says_that_the_agent_waits_only_where_nothing_is_left() -> None:
    waits = "waits for the person's next words"
    checked = run("pytest -q", "4 passed in 0.2s")
    done = [
        ASKED,
        *change("toll.py", "BASE = 3", "BASE = 4"),
        *checked,
        agent("The toll is 4 now."),
    ]
    assert waits in brief_of(done, "toll").text
    assert waits not in written(done, 600)  # of a part of a session, more may follow
    unchecked = [*done[:-1], *change("toll.py", "BASE = 4", "BASE = 5", 2), done[-1]]
    assert waits not in brief_of(unchecked, "toll").text


def test_a_file_that_was_checked_out_again_has_no_edits() -> None:
    turns = [ASKED, *change("office/toll.py", "BASE = 3", "BASE = 4")]
    assert "BASE = 4" in written(turns, 600)
    back = [*turns, *run("git checkout office/toll.py", "Updated 1 path from the index")]
    assert "BASE = 4" not in written(back, 600)
    assert "office/toll.py" not in section(written(back, 600), Section.NOW)
    branch = [*turns, *run("git checkout -b v1.2", "Switched to a new branch 'v1.2'")]
    assert "BASE = 4" in written(branch, 600)


def test_a_conflict_whose_sides_were_not_read_says_so() -> None:
    turns = [
        ASKED,
        *run(
            "git merge night",
            "CONFLICT (content): Merge conflict in fare.py\n"
            "CONFLICT (content): Merge conflict in toll.py\n"
            "Automatic merge failed; fix conflicts and then commit the result.",
        ),
        call("Read", {"file_path": "fare.py"}, "r1"),
        result(
            "Read", "1\t<<<<<<< HEAD\n2\tfare = 2\n3\t=======\n4\tfare = 3\n5\t>>>>>>> night", "r1"
        ),
    ]
    now = section(written(turns, 600), Section.NOW)
    assert "Conflict in toll.py: its sides were not read in this session." in now


def test_a_check_that_could_not_be_run_says_why_and_is_not_owed_again() -> None:
    missing = "Exit code 127\nbash: line 1: vitest: command not found"
    turns = [
        ASKED,
        *change("bill.ts", "a = 1", "a = 2"),
        *run("vitest run", missing),
        *run("tsc -p .", ""),
    ]
    text = written(turns, 600)
    assert "Could not be run: `vitest run`: bash: line 1: vitest: command not found." in text
    assert "Failing" not in text
    assert "Still owed" not in text


def test_a_check_that_runs_still_at_the_end_leaves_its_files_unverified() -> None:
    turns = [
        ASKED,
        *change("bill.py", "a = 1", "a = 2"),
        *run("ruff check", "All checks passed!"),
        *run("pytest -q", "3 passed"),
        *change("bill.py", "a = 2", "a = 3"),
        *run("ruff check", "All checks passed!"),
        run("pytest -q", "")[0],
    ]
    text = written(turns, 600)
    assert "Edited and not verified (`pytest -q`: no result), not yet committed: bill.py" in text
    assert "Still owed (not run yet): run `pytest -q`" in text


def test_what_the_person_forbade_is_not_owed() -> None:
    turns = [
        ASKED,
        *run("npm run build", "built in 3s"),
        *run("pytest -q", "3 passed"),
        turn("Please don't rebuild the site on every change."),
        *change("bill.py", "a = 1", "a = 2"),
    ]
    owed = section(written(turns, 600), Section.NEXT)
    assert "`pytest -q`" in owed
    assert "npm run build" not in owed


def test_a_commit_is_owed_where_commits_are_a_habit_or_asked_for() -> None:
    habit = [
        ASKED,
        *change("bill.py", "a = 1", "a = 2"),
        *commit("Bill two boats"),
        turn("Now the same for the toll."),
        *change("toll.py", "b = 1", "b = 2"),
    ]
    assert "then report" in section(written(habit, 600), Section.NEXT)
    assert "commit" in section(written(habit, 600), Section.NEXT)
    on_request = [*habit[:3], turn("Good. Commit it and push."), *habit[3:]]
    next_ = section(written(on_request, 600), Section.NEXT)
    assert "The person asked for the last commit; none was asked for since." in next_
    assert "then report" not in next_
    again = [*on_request, turn("Commit that as well.")]
    assert "commit, then report" in section(written(again, 600), Section.NEXT)


def test_an_edit_that_the_person_interrupted_was_not_made() -> None:
    made = change("toll.py", "BASE = 3", "BASE = 4")
    stopped = change("bill.py", "ink = 1", "ink = 2", 2)[0]
    text = written([ASKED, *made, stopped, turn("Stop, print the bill on paper instead.")], 600)
    assert "toll.py" in section(text, Section.NOW)
    assert "bill.py" not in section(text, Section.NOW)
    assert "bill.py" not in section(text, Section.NEXT)


def test_where_a_session_has_no_results_every_edit_counts() -> None:
    turns = [ASKED, change("bill.py", "ink = 1", "ink = 2")[0], turn("Now the toll, please.")]
    assert "bill.py" in section(written(turns, 600), Section.NOW)


def test_a_message_in_the_wrong_window_and_its_answer_are_not_told() -> None:
    wrong = "Should the parrot of the harbour master learn to whistle?"
    turns = [
        ASKED,
        turn(wrong),
        agent("Yes: the parrot learns to whistle the anthem of the harbour by Friday."),
        turn("sorry, wrong chat. ignore the last message. Print the bill in blue."),
        agent("The bill is blue now."),
    ]
    text = brief_of(turns, "the session", max_tokens=600).text
    assert "parrot" not in text
    assert "Print the bill in blue" in text


def test_a_failing_build_is_dead_once_the_same_place_compiles() -> None:
    turns = [
        ASKED,
        *change("e2e/bill.go", "a := 1", "a := 2"),
        *run("go build -tags e2e ./e2e/...", "e2e/bill.go:4:2: undefined: toll\nexit status 1"),
        *run("go test -tags e2e -c ./e2e/... -o /dev/null", ""),
    ]
    text = written(turns, 600)
    assert "Edited and checked, not yet committed: e2e/bill.go" in text
    assert "Still owed" not in text
