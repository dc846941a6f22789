"""A session without a model: what is said, in which order, and what is left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, pairwise

import pytest
from msgspec import structs

from reviewer.commits.values import Priority
from reviewer.compression.handover import brief_of
from reviewer.compression.values import HandoverSection, SegmentTurn
from reviewer.compression.writing import cut_in_the_middle
from tests.unit.compression.making import agent, call, count, edit, result, run, section, turn
from tests.unit.compression.making import written as written_

FERRY = [
    turn("Make the timetable of the ferry fit one page. Keep the night boats in bold."),
    agent("I found two problems in the sheet. Shall I drop the winter column?"),
    turn("yes"),
    *edit("sheets/layout.py", "def one_page(rows):\n    return rows"),
    *run("pytest -q tests/sheets", "3 passed"),
    *run("git commit -am 'Fit the timetable on a page'", "[ferry 1a2b3c4] Fit the timetable"),
    agent("The root cause was the width of `column_7`, because its notes never wrapped."),
    turn("No, never shrink the type below 9 points. Now do the same for the harbour sheet."),
    agent("I also need to move the legend below the harbour table."),
    *edit("sheets/harbour.py", "def legend():\n    pass"),
]


REFUSED = result("Bash", "The user doesn't want to proceed.", outcome="refused")


def written(turns: Sequence[SegmentTurn], tokens: int = 600) -> str:
    return written_(turns, tokens)


def test_a_text_never_exceeds_its_room_and_uses_it() -> None:
    talk = [turn(f"Boat {n} waits at pier {n % 7} for `crew_{n}`.", "assistant") for n in range(90)]
    for room in (1, 12, 40, 120, 310, 700):
        size = count(written([*FERRY, *talk], room))
        assert size <= room
        assert size >= room * 0.8 or room < 100


CONTINUED = (
    "This session is being continued from a previous conversation that ran out of context.\n"
)
AROUND = (
    f"{CONTINUED}Summary:\nThe `quay_map` sheet has three columns.\n\n"
    "If you need specific details from before compaction, read the transcript at: /t.jsonl\n"
    "Please continue the conversation from where we left it off without asking the user."
)
PENDING = (
    f"{CONTINUED}Summary:\n7. Pending Tasks:\nPrint the `quay_map` sheet.\n"
    "8. Current Work:\nThe `mole_map` sheet has no legend.\n"
)
ERRORED = "<tool_use_error>Sibling tool call errored</tool_use_error>"
SAID: dict[str, tuple[list[SegmentTurn], list[str], list[str]]] = {
    "an earlier summary without the words of the client around it": (
        [turn(AROUND), *FERRY], ["quay_map"], ["transcript", "without asking"],
    ),
    "what was current in an earlier summary where nothing came after it": (
        [turn(PENDING)], ["quay_map", "mole_map"], [],
    ),
    "but not where something did": ([turn(PENDING), *FERRY], [], ["quay_map", "mole_map"]),
    "no question that is only quoted": (
        [turn("Why?"), agent('The sheet answers "does it fit?"'), turn("Do it.")], [], ["asked"],
    ),
    "that a call was not run which the client did not make": (
        [turn("Look."), call("Bash", "git worktree list", "c1"),
         result("Bash", ERRORED, "c1", outcome="failed"), agent("Something else.")],
        ["→ `git worktree list`: not run"], [],
    ),
    "code of the last message as it was written, without a bullet": (
        [turn("How?"), agent("It prints boats.\n\n```\nprint boat\n```\n\nThen bind the sheets.")],
        ["It prints boats.\n```\nprint boat\n```"], ["- \n"],
    ),
    "a question without the long sentence before it": (
        [FERRY[0], agent(f"The column {'is wide and ' * 20}empty. Shall I drop it?"), turn("yes")],
        ['The agent had asked: "Shall I drop it?"'], [],
    ),
    "a question without the items before it": (
        [FERRY[0], agent("1. Wrap it\n2. Drop it\n\n Shall I drop it?"), turn("yes, both")],
        ['The agent had asked: "Shall I drop it?"'], [],
    ),
    "a chosen number with its options": (
        [turn("Fit it."), agent("Fonts:\n1. Plain\n2. Wide\n\nWhich one?"), turn("2"),
         agent("Set in it."), turn("Print it.")],
        ['Person: 2 (asked: "Fonts: 1. Plain; 2. Wide; Which one?")'], [],
    ),
    "numbered answers with their questions": (
        [turn("Fit it."),
         agent(f"Two things:\n1. **Night**: keep {'the boats of the harbour ' * 8}?\n2. Bold?\n\n"
               "Shall I begin?"),
         turn(f"1. no\n2. yes, and {'every one of ' * 12}them"), agent("Done."), turn("Print it.")],
        ['them (asked: "1. **Night**: keep the boats of the harbour', '…; 2. Bold?")'], [],
    ),
    "no paragraph of one word beside others": (
        [turn("Fit it."), agent("Perfect!\n\nThe `harbour` sheet fits."), agent("Printed.")],
        ["Agent: The `harbour` sheet fits.\n- Printed."], ["Perfect"],
    ),
    "lines apart, but not those of a wrapped sentence": (
        [turn("Number the boats\nthat sail at night:\n- the Heron\n- the Tern\nThen print it"),
         agent("Done.")],
        ["Number the boats that sail at night: - the Heron; - the Tern; Then print it"], [],
    ),
    "files of one name with their folders": (
        [turn("Fit it."), *edit("sheets/pier/layout.py"), *edit("sheets/tide/layout.py")],
        ["edited pier/layout.py; edited tide/layout.py"], [],
    ),
    "the outcome of a check, which is not that of the call's other commands": (
        [turn("Fit it."), *run("print-sheet; pytest -q"), *run("ruff check . && mypy")],
        ["`print-sheet; pytest -q`: `pytest -q` passed", "`ruff check . && mypy`: passed"], [],
    ),
    "a call that failed with what it said": (
        [turn("Fit it."), *run("git checkout main", "fatal: 'main' is already used", 128)],
        ["`git checkout main`: exit 128: fatal: 'main' is already used"], [],
    ),
    "what is uncommitted, checked and committed": (
        FERRY,
        ["Changed in this session, no commit of it seen (1): sheets/: harbour.py (legend)",
         "No check was seen to end after the last change seen (harbour.py).",
         "before it: `pytest -q tests/sheets`: passed.",
         "Committed (no push seen): 1a2b3c4 Fit the timetable"], [],
    ),
    "how many commits there are beside those that it names": (
        [turn("Print all sheets."),
         *(each for n in range(7) for each in
           run(f"git commit -am 'Sheet {n}'", f"[ferry {n}a2b3c4] Sheet {n}"))],
        ["7 commits in this session, the latest 5:\nCommitted (no push seen): 6a2b3c4"], [],
    ),
    "no failure that passed later": (
        [turn("Fit it."), *run("pytest -q", "2 failed", 1), agent("The notes do not wrap."),
         *edit("sheets/layout.py"), *run("pytest -q", "4 passed"), agent("Fits.")],
        ["`pytest -q`: passed"], ["failed"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", SAID)
def test_it_says(what: str) -> None:
    turns, there, absent = SAID[what]
    found = written(turns)
    assert [text for text in (*there, *absent) if text in found] == there


# The request


def test_the_latest_request_stands_first_with_what_came_of_it() -> None:
    assert section(written(FERRY), HandoverSection.REQUEST).split("\n") == [
        '"No, never shrink the type below 9 points. Now do the same for the harbour sheet."',
        "The agent was still at work on it.",
    ]


def test_a_short_answer_stands_with_what_it_answers() -> None:
    text = written(FERRY[:3])
    assert f'The agent had asked: "{FERRY[1].text}"' in text
    assert text.endswith("Shall I drop the winter column?\nPerson: yes")
    again = [*FERRY[:2], turn("no"), FERRY[1], turn("yes")]
    assert f'Person: no (asked: "{FERRY[1].text}")' in written(again)


def test_of_a_review_all_headings_stand_before_what_explains_them() -> None:
    found = "\n\n".join(
        f"**{number}. Pier {number} is drawn twice**\nIn the sheet {number}\n\n"
        f"The legend_{number} hides `pier_{number}.draw` and `tide_{number}.rows` there."
        for number in range(1, 9)
    )
    turns = [turn("Review the sheets."), agent(f"## Findings\n\n{found}"), turn("Mend them.")]
    for most in (240, 300, 400, 900):
        text = written(turns, most)
        heads = [f"{number}. Pier {number} is" in text for number in range(1, 9)]
        assert heads == sorted(heads, reverse=True)
        assert all(heads) or "The legend_" not in text
    assert "The legend_8" in text


def test_the_end_of_an_answer_to_a_question_outranks_its_middle() -> None:
    rows = [f"row_{number}, boat_{number}, mast_{number}" for number in range(20)]
    answer = agent("\n\n".join(["I looked at it.", *rows, "So the two sheets match."]))
    after = [turn("Print it."), *(agent(f"The sheet_{number} is printed.") for number in range(6))]
    assert "match" in written([turn("Do they fit?"), answer, *after], 170)
    assert "match" not in written([turn("Look at them."), answer, *after], 170)


def test_code_of_many_lines_is_left_out_with_a_mark() -> None:
    code = "```\n" + "\n".join(f"├── pier_{number}.py" for number in range(9)) + "\n```"
    files = f"The files:\n{code}"
    said = agent(f"I drew the harbour sheets.\n\n{files}\n\nThe legend is below the table.")
    text = written([turn("List them."), said, turn("Print it."), agent("Printed.")])
    assert "Agent: I drew the harbour sheets. [...]\n- The legend is below the table." in text
    text = written([turn("List them."), said, turn("Print it.")])
    assert f"- The files:\n{code}\n- The legend is below the table." in text


def test_a_letter_stands_with_its_options_and_again_with_its_question() -> None:
    menu = agent("[A] Advanced  [C] Continue")
    again = [menu, turn("C"), agent("Set in it.")] * 3
    text = written([turn("Fit it."), *again, turn("Print it.")])
    assert text.count('Person: C (asked: "[A] Advanced [C] Continue")') == 1
    assert text.count("Person: C\n") == 2
    agreed = [turn("Fit it."), agent("Drop the sheet?"), turn("y"), agent("Push it?"), turn("y")]
    text = written([*agreed, agent("Pushed."), turn("Print it.")])
    assert text.count("Person: y") == 2


def test_a_long_message_is_cut_between_its_sentences() -> None:
    long = f"{'Keep the night boats in bold. ' * 12}Never rebuild the page twice. {'So. ' * 90}"
    kept = re.findall(r"Person: (.*?) \[\.\.\.\]", written([turn(long), agent("Done.")], 160))
    assert kept
    assert all(each.endswith((".", "!", "?")) for each in kept)


def test_a_long_message_sent_again_is_quoted_once() -> None:
    prompt = turn("Keep the night boats in bold and the day boats plain. " * 5)
    text = written([prompt, agent("Set."), prompt, agent("Set again."), turn("Print it.")])
    assert text.count("Person: Keep the night boats") == 1


def test_an_answer_to_a_sign_without_words_stands_alone() -> None:
    found = written([turn("Fit it."), agent("\N{THUMBS UP SIGN}"), turn("Print it.")])
    assert section(found, HandoverSection.REQUEST) == '"Print it."\nIt has no answer yet.'


@pytest.mark.parametrize(
    ("turns", "said"),
    [
        (FERRY, "The agent was still at work on it."),
        ([*FERRY, agent("Both are printed.")], "The agent had the last word."),
        (FERRY[:1], "It has no answer yet."),
        (
            [*FERRY[:2], agent("I print both."), call("Bash", "print"), REFUSED],
            "The person refused the agent's last call without a word.",
        ),
        ([FERRY[0], *FERRY[3:5]], "The agent had begun to work on it."),
        (FERRY[:2], "The agent's last question below has no answer yet."),
        (
            [
                turn("Fit it."),
                agent("The sheet is too wide for the quay.\n\nShall I go on?"),
                turn("no, first look at the map"),
                agent("The map says:\n\n1. Wrap the mole\n2. Drop the pier\n\nShall I go on?"),
            ],
            'The agent asks, without an answer yet: "Shall I go on?"',
        ),
    ],
)
def test_where_the_agent_stands_with_the_request(turns: list[SegmentTurn], said: str) -> None:
    assert said in section(written(turns), HandoverSection.REQUEST).split("\n")


def test_a_long_message_loses_its_middle() -> None:
    words = " ".join(f"word{number}" for number in range(900))
    course = section(
        written([turn(f"Print it. {words} Then stop."), turn("Go")]), HandoverSection.COURSE
    )
    first, last = course.split("\n")
    assert first.startswith("Person: Print it. word0")
    assert "[...]" in first
    assert first.endswith("Then stop.")
    assert last == "Person: Go"


def test_long_messages_are_shortened_before_one_is_left_out() -> None:
    pasted = " ".join(f"line_{number} of a print log" for number in range(300))
    turns: list[SegmentTurn] = []
    for place in range(16):
        turns.append(turn(f"Mend pier {place}. {pasted}" if place % 2 else f"Draw quay {place}."))
        turns += [agent(f"It has `beam_{place}_{n}` and `rail_{place}_{n}`.") for n in range(40)]
    course = section(written(turns, 3_600), HandoverSection.COURSE)
    asked = [line[:20] for line in course.split("\n") if line.startswith("Person: ")]
    assert [each.split()[2] for each in asked] == ["quay", "pier"] * 8


def test_nothing_is_ordered_that_nobody_asked_for() -> None:
    text = written([turn("Look at the sheet."), *edit("sheets/layout.py"), agent("Done.")])
    assert not re.search(r"\b(?:commit it|push|next,|todo|run the tests)\b", text, re.IGNORECASE)


def test_a_refusal_with_the_persons_words() -> None:
    turns = [
        turn("Print the sheet."),
        call("Bash", "lpr sheet.pdf", "c1"),
        result("Bash", "no", "c1", outcome="refused", words="Not on the old printer."),
        turn("Go on."),
    ]
    assert "Person: (refused: `lpr sheet.pdf`) Not on the old printer." in written(turns)
    request = section(written(turns[:3]), HandoverSection.REQUEST)
    assert request.startswith("(refused: `lpr sheet.pdf`) Not on the old printer.")
    silent = [*turns[:2], result("Bash", "no", "c1", outcome="refused")]
    assert section(written(silent), HandoverSection.REQUEST).startswith('"Print the sheet."')


def test_the_report_of_a_sub_agent_is_told_by_its_beginning() -> None:
    boats = [f"Boat {number} waits at `pier_{number}`." for number in range(30)]
    report = "\n\n".join(["The `tide_table` is read twice.", *boats, "agentId: a1 (to go on)"])
    turns = [
        turn("Why is it slow?"),
        call("Task", {"description": "Look at it", "prompt": "Find out"}, "c1"),
        result("Task", report, "c1", outcome="ok"),
    ]
    course = section(written(turns), HandoverSection.COURSE).split("\n")
    assert "Report of a sub-agent: The `tide_table` is read twice." in course
    assert course[-1] == f"- {boats[4]} [...]"


def test_what_ends_the_turn_answers_the_person_not_the_first_words_before_calls() -> None:
    looks = [
        [agent(f"The log of `quay_{n}` was read for boats."), *run(f"cat {n}.log", "quiet")]
        for n in range(20)
    ]
    found = written([
        turn("Look at the quays."),
        *chain(*looks[:9]),
        agent("One leaks."),
        turn("Are you sure?"),
        *chain(*looks[9:]),
        agent("Two leak."),
        turn("Go on."),
        agent("All of them are shut."),
    ], 150)  # fmt: skip
    kept = [n for n in range(20) if f"`quay_{n}`" in found]
    assert "One leaks." in found
    assert "Two leak." in found
    assert kept
    assert not {0, 9} & set(kept)


def test_where_a_part_of_a_message_is_left_out_there_is_a_mark() -> None:
    parts = [f"The `pier_{n}` table of the harbour has `{n}` notes." for n in range(9)]
    found = written([turn("Review it."), agent("\n\n".join(parts)), agent("Done there.")], 110)
    kept = [n for n, part in enumerate(parts) if part in found]
    gaps = [(one, two) for one, two in pairwise([-1, *kept, 9]) if two - one > 1]
    assert 0 < found.count("[...]") == len(gaps)
    assert not written([turn("Review it."), agent("\n\n".join(parts))], 900).count("[...]")


@pytest.mark.parametrize("room", range(50, 260, 30))
def test_of_a_list_no_item_stands_without_those_before_it_nor_without_the_title(room: int) -> None:
    items = "".join(f"{n}. The `pier_{n}` table of the harbour has no note\n" for n in range(1, 10))
    report = f"## Review of the ferry sheets\n**Verdict: wait**\n\n### Broken\n{items}\nWait."
    found = written([turn("Review it."), agent(report)], room)
    numbers = [int(number) for number in re.findall(r"(\d)\. The", found)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert "Review of the ferry sheets: " in found or not numbers


# The state


def test_the_plan_with_its_numbers() -> None:
    todos = [
        {"content": "Measure", "status": "completed"},
        {"content": "Fit the page", "status": "in_progress"},
        {"content": "Print", "status": "pending"},
    ]
    turns = [turn("Fit it."), call("TodoWrite", {"todos": todos}), result("TodoWrite", "ok")]
    assert section(written(turns), HandoverSection.PLAN).split("\n") == [
        "1 of 3 items done.",
        "#2 [active] Fit the page",
        "#3 [open] Print",
        "#1 [done] Measure",
    ]
    later = section(written([*turns, turn("Print the other one too.")]), HandoverSection.PLAN)
    assert later.startswith("1 of 3 items done; not changed since the person's last message.")


# The course


def test_the_course_is_in_the_order_of_the_session() -> None:
    course = section(written(FERRY), HandoverSection.COURSE)
    order = ["fit one page", "two problems", "yes", "column_7", "the harbour sheet", "the legend"]
    assert [course.index(each) for each in order] == sorted(course.index(each) for each in order)


def test_a_request_that_stands_whole_at_the_start_is_not_said_again() -> None:
    long = "Fit the harbour sheet on one page, with the legend left of the map, not below. "
    text = written([turn("Begin."), agent("Begun."), turn(long * 2), agent("Which of both maps?")])
    assert text.count("harbour sheet") == 2
    assert "Person: the request above.\nAgent: Which of both maps?" in text
    text = written([turn(long * 9), agent("Which of both maps?")])
    assert section(text, HandoverSection.COURSE).startswith("Person: Fit the harbour sheet")


def test_no_answer_stands_under_another_question() -> None:
    pasted = " ".join(f"line_{number} of a print log" for number in range(300))
    turns = [turn("Draw the harbour.")]
    for place in range(12):
        turns.append(
            turn(f"{pasted} What about pier {place}?" if place % 2 else f"And quay {place}?")
        )
        turns.append(agent(f"sheet_{place} holds it, scaled by factor_{place} and legend_{place}."))
    course = section(written(turns, 400), HandoverSection.COURSE).split("\n")
    answers = [at for at, line in enumerate(course) if line.startswith("Agent: sheet_")]
    assert len(answers) > 3
    for at in answers:
        place = int(course[at].split("_")[1].split()[0])
        asked = f"Person: And quay {place}?"
        assert (
            course[at - 1] == asked
            or "Person: line_0" in course[at - 1]
            or f"pier {place}?" in course[at - 1]
        )


def test_calls_between_messages_are_one_line() -> None:
    turns = [
        turn("Fit it."),
        *edit("sheets/layout.py", "def one_page(): pass"),
        *edit("sheets/layout.py", "def two_pages(): pass"),
        call("Read", {"file_path": "sheets/notes.md"}),
        result("Read", "notes"),
        agent("It fits now."),
        *[each for number in range(7) for each in run(f"print-sheet {number}")],
    ]
    lines = [line for line in written(turns).split("\n") if line.startswith("  → ")]
    assert lines[0] == "  → edited sheets/layout.py (one_page); edited sheets/layout.py (two_pages)"


def test_a_commit_in_a_temporary_folder_is_no_commit_of_the_work() -> None:
    made = "[main (root-commit) c49eae4] Start"
    turns = [turn("Fit it."), *run("cd /tmp/sheet && git init && git commit -m Start", made)]
    assert "committed" not in written(turns).lower()
    there = [structs.replace(each, folder="/tmp/sheet") for each in turns]
    assert "committed c49eae4 Start" in written(there)


def test_of_equal_sentences_one_is_kept() -> None:
    same = "The width of `column_7` is the cause of the overflow on the second page."
    turns = [turn("Why?"), agent(same), turn("Really?"), agent(same), turn("Sure?"), agent("Yes.")]
    assert written(turns, 120).count("column_7") == 1


def test_speakers_with_names_keep_them() -> None:
    talk = [turn("The ferry is late.", name="Ada"), turn("By an hour.", "user", name="Ben")]
    assert written(talk, 100) == "Ada: The ferry is late.\nBen: By an hour."


@pytest.mark.parametrize("wanted", ["The root cause was the width of `column_7`", "two problems"])
def test_texts_that_have_to_stand_in_it_do(wanted: str) -> None:
    talk = [turn(f"Boat {n} waits at pier {n % 7}.", "assistant") for n in range(60)]
    assert wanted in written_([*FERRY, *talk], 300, [wanted])


# What was changed last


HARBOUR = "sheets/harbour.py"
EDITED = f"{HARBOUR} (edited):"
ROWS = "\n".join(f"row_{number} = {number}" for number in range(12))
SHEETS = "\n".join(f"turn(sheet_{number})" for number in range(7))
BODY = "\n".join(f"    row_{number} = {number}" for number in range(40))
CHANGED: dict[str, tuple[list[SegmentTurn], list[str]]] = {
    "the code that was changed last": (
        [agent("The tide is below it. Now I turn the rows:"),
         *edit(HARBOUR, old="def legend(rows):\n    return rows",
               new="def legend(rows):\n    return rows[::-1]"),
         *run("print-sheet"), agent("Done.")],
        [EDITED, "  def legend(rows):", "  -     return rows", "  +     return rows[::-1]"],
    ),
    "a change and the one that mends it as one": (
        [*edit(HARBOUR, old="scale = 1", new="scale = tide()"),
         *edit(HARBOUR, old="print(scale)", new="print(scale, legend)"),
         *edit(HARBOUR, old="tide()", new="tide(low=True)")],
        [EDITED, "  - scale = 1", "  + scale = tide(low=True)",
         EDITED, "  - print(scale)", "  + print(scale, legend)"],
    ),
    "the last edit first where it mends a long change": (
        [*edit(HARBOUR, old="scale = 1", new=ROWS),
         *edit(HARBOUR, old="row_11 = 11", new="row_11 = tide()")],
        [EDITED, "  - row_11 = 11", "  + row_11 = tide()", EDITED, "  - scale = 1",
         *(f"  + row_{number} = {number}" for number in range(7)), "  ... 5 more lines"],
    ),
    "changes of the same letters apart": (
        [*edit(HARBOUR, old="limit", new="n"),
         *edit(HARBOUR, old="return n_items + n", new="return n_items - n")],
        [EDITED, "  - return n_items + n", "  + return n_items - n", EDITED, "  - limit", "  + n"],
    ),
    "only the lines that differ": (
        [*edit(HARBOUR,
               old="def fit(rows):\n    wide = 3\n    if rows:\n        turn(rows)\n"
                   "    return rows",
               new="def fit(rows, wide):\n    if rows:\n        if wide:\n            turn(rows)\n"
                   "    return rows")],
        [EDITED, "  - def fit(rows):", "  -     wide = 3", "  + def fit(rows, wide):",
         "      if rows:", "  +         if wide:"],
    ),
    "the brackets, too": (
        [*edit(HARBOUR, old="if (tide) {\n  turn();\n}\nprint();",
               new="if (tide) {\n  turn();\n} else {\n  wait();\n}\n\n"
                   "if (low) {\n  stop();\n}\nprint();")],
        [EDITED, "    turn();", "  + } else {", "  +   wait();", "  + }", "  + if (low) {",
         "  +   stop();"],
    ),
    "no bracket after a changed line": (
        [*edit(HARBOUR, old="turn(\n  tide,\n)", new="turn(\n  tide,\n  moon,\n)")],
        [EDITED, "    tide,", "  +   moon,"],
    ),
    "no edit that was undone or written over": (
        [*edit(HARBOUR, old="width = 3\nscale = 1", new="width = 4\nscale = 2"),
         *edit(HARBOUR, old="scale = 2", new="scale = 3"),
         *edit(HARBOUR, old="width = 4", new="width = 3"),
         *edit("sheets/pier.py", old="depth = 1", new="depth = 2"),
         call("Write", {"file_path": "sheets/pier.py", "content": "tide = 1"}),
         result("Write", "written", outcome="ok")],
        ["sheets/pier.py (written):", "  + tide = 1",
         EDITED, "  width = 3", "  - scale = 1", "  + scale = 3"],
    ),
    "of many places those that add most": (
        [*edit(HARBOUR, old=ROWS, new=ROWS.replace("row_1 = 1\n", "row_1 = tide\n")
               .replace("row_9", f"{SHEETS}\nrow_9"))],
        [EDITED, "  row_8 = 8", *(f"  + turn(sheet_{number})" for number in range(7)),
         "  ... 2 more lines"],
    ),
    "lines that are only moved in or out": (
        [*edit(HARBOUR, old="for row in rows:\n    add(row)\n    return total",
               new="for row in rows:\n    add(row)\nreturn total")],
        [EDITED, "      add(row)", "  -     return total", "  + return total"],
    ),
    "the latest first": (
        [*edit(HARBOUR, old="scale = 1", new="scale = tide()"),
         *edit(HARBOUR, old="import pier", new="import pier\nimport tide"),
         *edit("tests/test_harbour.py", old="assert scale() == 1", new="assert scale() == 2")],
        ["tests/test_harbour.py (edited):", "  - assert scale() == 1", "  + assert scale() == 2",
         EDITED, "  import pier", "  + import tide", EDITED, "  - scale = 1", "  + scale = tide()"],
    ),
    "what a long change declares": (
        [*edit(HARBOUR, f"import tide\n\n\ndef first():\n{BODY}\n\n\ndef second():\n{BODY}")],
        [EDITED, "  + def first():", "  + def second():", "  ... 81 more lines"],
    ),
}  # fmt: skip
"""What the agent did after the request, and the lines under the title."""


@pytest.mark.parametrize("what", CHANGED)
def test_it_shows_of_what_was_changed(what: str) -> None:
    turns, lines = CHANGED[what]
    text = written([turn("Turn the legend."), *turns])
    assert section(text, HandoverSection.CHANGES).split("\n") == lines


def test_the_last_change_is_cut_rather_than_an_earlier_one_shown() -> None:
    line = "tide_table_of_the_harbour = read(low, high, moon)"
    long = "\n".join(f"{line}  # {number}" for number in range(7))
    asked = " ".join(f"Draw the quay of harbour number {number} too." for number in range(200))
    turns = [turn(asked), *edit("a.py", old="b = 1", new="b = 2"), *edit("c.py", long)]
    shown = section(written(turns, 800), HandoverSection.CHANGES)
    assert shown.startswith("c.py (edited):\n")
    assert re.fullmatch(r"(  \+ tide.*  # \d\n)+  \.\.\.", shown.partition("\n")[2])
    assert "a.py" not in shown


def test_an_edit_that_was_refused_is_shown_as_not_made_until_it_is() -> None:
    given = {"file_path": "sheets/harbour.py", "old_string": "a = 1", "new_string": "a = 2"}
    turns = [
        turn("Turn the legend."),
        call("Edit", given, "c1"),
        result("Edit", "no", "c1", outcome="refused", words="Not that file."),
    ]
    results = section(written(turns), HandoverSection.CHANGES)
    assert "harbour.py (not edited: refused):\n  - a = 1\n  + a = 2" in results
    assert "no commit of it seen" not in written(turns)
    assert "not edited" not in written([*turns, turn("Do it."), *edit("sheets/harbour.py")])


def test_a_write_that_failed_is_over_once_the_file_is_written_also_outside_the_tree() -> None:
    plan = "/home/pilot/.claude/plans/pier.md"
    given = {"file_path": plan, "content": "Measure first."}
    failed = [call("Write", given, "w1"), result("Write", "not read yet", "w1", outcome="failed")]
    turns = [turn("Plan it."), *failed]
    assert "pier.md (not written: failed)" in written(turns)
    turns += [call("Write", given, "w2"), result("Write", "done", "w2")]
    assert "not written" not in section(written(turns), HandoverSection.CHANGES)


def test_what_was_committed_is_not_shown_as_changed() -> None:
    turns = [turn("Fit it."), *edit("a.py", "one = 1"), *run("git commit -am x", "[f 1a2b3c4] x")]
    assert "one = 1" not in written([*turns, *edit("a.py", "two = 2")])
    assert "two = 2" in written([*turns, *edit("a.py", "two = 2")])


def test_a_hand_over_has_the_turns_that_a_person_pinned() -> None:
    def said(*, pinned: bool) -> str:
        asked = "Never print pier 7 in red, the pilots take it for a wreck."
        turns = [turn("Draw the harbour."), agent("Drawn.")]
        turns += [turn(f"Now pier_{number}, {'with its own legend ' * 9}") for number in range(30)]
        mark = Priority.PINNED if pinned else Priority.NORMAL
        turns.insert(9, structs.replace(turn(asked), priority=mark))
        return str(brief_of(turns, "harbour", max_tokens=300).text)

    assert "take it for a wreck" in said(pinned=True)
    assert "take it for a wreck" not in said(pinned=False)


def test_a_text_that_loses_its_middle_keeps_whole_words() -> None:
    words = "The kiosk prints one log file for each session. " * 20
    assert cut_in_the_middle(f"{words}/var/{'a1-' * 90}", 60, count).endswith(" [...]")
    assert cut_in_the_middle(f"{words}Now it prints one.", 60, count).endswith("prints one.")
