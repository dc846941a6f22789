"""The shape of offline summaries: what somebody who goes on needs, in order, told from events."""

from __future__ import annotations

import json
import re

import pytest

from reviewer.compression.anchor_types import AnchorType, Section
from reviewer.compression.offline.shape import Account
from reviewer.compression.offline.tags import tag_list
from reviewer.compression.values import AnchorPoint, Turn
from tests.unit.compression.making import count, turn


def call(tool: str, given: object, key: str = "") -> Turn:
    text = given if isinstance(given, str) else json.dumps(given)
    return Turn("assistant", text, count(text), "tool_use", tool, call=key)


def result(tool: str, text: str, key: str = "") -> Turn:
    return Turn("tool", text, count(text), "tool_result", tool, call=key)


def agent(text: str) -> Turn:
    return turn(text, "assistant")


def edit(path: str, new: str = "x = 1") -> list[Turn]:
    given = {"file_path": path, "old_string": "", "new_string": new}
    return [call("Edit", given), result("Edit", "updated")]


def run(command: str, output: str = "ok") -> list[Turn]:
    return [call("Bash", command), result("Bash", output)]


FERRY = [
    turn("Make the timetable of the ferry fit one page. Keep the night boats in bold."),
    agent("I found two problems in the sheet. Shall I drop the winter column?"),
    turn("yes"),
    agent("Let me change the layout of the sheet."),
    *edit("sheets/layout.py", "def one_page(rows):\n    return rows"),
    *run("pytest -q tests/sheets", "3 passed"),
    *run("git commit -am 'Fit the timetable on a page'", "[ferry 1a2b3c4] Fit the timetable"),
    agent("The root cause was the width of `column_7`, because its notes never wrapped."),
    turn("No, never shrink the type below 9 points. Now do the same for the harbour sheet."),
    agent("I also need to move the legend below the harbour table."),
    *edit("sheets/harbour.py", "def legend():\n    pass"),
]


def written(turns: list[Turn], tokens: int = 400) -> str:
    return Account(turns, count).write(tokens)


def section(text: str, name: Section) -> str:
    found = re.search(rf"^{re.escape(name.value)}:\n((?:- .*\n?)+)", text, re.MULTILINE)
    return found[1] if found else ""


def test_sections_come_in_the_order_of_the_shape() -> None:
    titles = re.findall(r"^([A-Z][\w ]+):$", written(FERRY), re.MULTILINE)
    order = [str(each) for each in Section]
    assert titles == sorted(titles, key=order.index)
    assert {"Request", "Decisions", "Now", "Next"} <= set(titles)


def test_the_first_and_the_latest_request_are_in_the_persons_words() -> None:
    request = section(written(FERRY), Section.REQUEST)
    assert 'First: "Make the timetable of the ferry fit one page.' in request
    assert "Latest: " in request
    assert "never shrink the type below 9 points" in request


def test_a_short_answer_comes_with_its_question() -> None:
    decisions = section(written(FERRY), Section.DECISIONS)
    assert "Shall I drop the winter column?" in decisions
    assert '"yes"' in decisions


def test_numbered_answers_come_with_their_numbered_questions() -> None:
    turns = [
        turn("Plan the ferry's new sheet."),
        agent("Two questions:\n\n1. Should cars have a column?\n2. Should dogs have a column?"),
        turn("1. no\n2. only in summer, and with a note"),
        agent("Understood, I start with the dogs."),
        turn("Good, and print it on A5 paper please."),
    ]
    decisions = section(written(turns), Section.DECISIONS)
    assert 'Should cars have a column? - the person: "no"' in decisions
    assert 'Should dogs have a column? - the person: "only in summer, and with a note"' in decisions


def test_an_edit_after_the_last_check_is_named_unchecked() -> None:
    now = section(written(FERRY), Section.NOW)
    assert "not yet checked, tested or committed: sheets/harbour.py" in now
    assert "layout.py" not in now


def test_what_was_said_last_is_told_with_what_was_done() -> None:
    now = section(written(FERRY), Section.NOW)
    assert (
        'Edited since (harbour.py), to be checked against: "I also need to move the legend' in now
    )


def test_the_usual_check_is_what_comes_next() -> None:
    text = written(FERRY)
    assert "run `pytest -q tests/sheets` to verify the edits of harbour.py" in text
    assert "not run yet" in section(text, Section.NEXT)
    assert "`pytest -q tests/sheets` (passed at the last run)" in section(text, Section.COMMANDS)


def test_commits_are_told_with_branch_and_hash() -> None:
    done = section(written(FERRY), Section.DONE)
    assert "Committed [ferry 1a2b3c4]: Fit the timetable on a page" in done


def test_a_failing_check_is_told_with_the_tests_that_fail() -> None:
    turns = [
        turn("Fix the tides of the harbour sheet, please."),
        agent("I start with the tides."),
        *run("pytest tests/tides.py", "FAILED tests/tides.py::test_neap - low\n1 failed, 4 passed"),
    ]
    now = section(written(turns), Section.NOW)
    assert "Failing at the last run: `pytest tests/tides.py`: tests/tides.py::test_neap" in now


def test_conflicts_that_are_left_are_named() -> None:
    files = ("a/north.py", "a/south.py")
    merge = "\n".join(f"CONFLICT (content): Merge conflict in {name}" for name in files)
    turns = [
        turn("Merge the branch of the ferry, please."),
        *run("git merge origin/ferry", merge),
        agent("I take ours for the north."),
        *edit("a/north.py"),
    ]
    now = section(written(turns), Section.NOW)
    assert "1 of 2 remain to be resolved: a/south.py" in now
    assert "already edited or resolved: a/north.py" in now


def test_pending_items_of_the_last_list_come_next() -> None:
    todos = [
        {"content": "Print the sheet", "status": "completed"},
        {"content": "Fold the sheet", "status": "in_progress"},
        {"content": "Post the sheet", "status": "pending"},
    ]
    turns = [turn("Print, fold and post the sheet."), call("TodoWrite", {"todos": todos})]
    following = section(written(turns), Section.NEXT)
    assert "1 of 3 done" in following
    assert "in progress: Fold the sheet" in following
    assert "pending: Post the sheet" in following


def test_a_rejected_call_is_told_with_the_persons_words() -> None:
    said = (
        "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell "
        "you how to proceed, the user said:\nrename it on main instead"
    )
    turns = [
        turn("Rename the column of the harbour."),
        call("Edit", {"file_path": "harbour.py", "old_string": "a", "new_string": "b"}, "c1"),
        result("Edit", said, "c1"),
        agent("Understood, on main."),
        turn("Thanks, go on with the quay table after that."),
    ]
    text = written(turns)
    assert 'refused Edit: harbour.py: "rename it on main instead"' in text
    assert "harbour.py" not in section(text, Section.NOW)


def test_an_offer_without_an_answer_is_marked() -> None:
    turns = [
        turn("Look at the tides."),
        agent("The neap tide is wrong. Want me to fix the almanac?"),
    ]
    assert "Offered, not answered: Want me to fix the almanac?" in written(turns)


@pytest.mark.parametrize(
    "output",
    ["drwxr-xr-x  2 root root 4096 harbourfile", "error: lighthouse_17 is not defined in tower.py"],
)
def test_the_output_of_a_tool_is_never_content(output: str) -> None:
    turns = [
        turn("Look at the harbour, please."),
        *run("ls -la", output),
        agent("I looked at it all."),
    ]
    assert output[:20] not in written(turns)


def test_what_sub_agents_say_is_labelled_as_theirs() -> None:
    note = (
        "<task-notification><summary>Tides read</summary><result>The almanac of 1911 has "
        "the better neap tides for the harbour.</result></task-notification>"
    )
    text = written([turn("Compare the almanacs for me."), turn(note)])
    assert "A sub-agent: The almanac of 1911" in text
    assert "1911" not in section(text, Section.REQUEST)


def test_what_hooks_and_the_client_say_is_nobodys_words() -> None:
    turns = [turn("Compare the almanacs."), turn("Stop hook feedback: lighthouse was not linted")]
    assert "lighthouse" not in written(turns)


def test_a_sentence_that_leans_on_another_brings_it_along() -> None:
    said = "The almanac of 1911 counts from noon. That is why every tide is twelve hours late."
    text = written(
        [turn("Why are the tides late?"), agent(said), turn("Print it then, on A5 paper.")]
    )
    assert "counts from noon. That is why" in text


def test_narration_is_left_out_and_numbered_lists_keep_their_numbers() -> None:
    turns = [
        turn("What is wrong with the harbour sheet?"),
        agent("Let me look at the sheet."),
        agent("Three things are wrong:\n\n1. The legend\n2. The tides\n3. The paper size"),
        turn("let's tackle 2 and 3"),
    ]
    text = written(turns)
    assert "Let me look" not in text
    assert "1) The legend; 2) The tides; 3) The paper size" in text


@pytest.mark.parametrize("tokens", [0, 1, 3, 8, 20, 60, 119, 120, 250, 900])
def test_no_summary_exceeds_its_ceiling(tokens: int) -> None:
    assert count(written(FERRY, tokens)) <= tokens


def test_what_the_person_said_and_the_state_survive_a_small_budget() -> None:
    text = written(FERRY, 170)
    assert "harbour.py" in section(text, Section.NOW)
    assert section(text, Section.REQUEST)


def test_required_anchors_are_verbatim() -> None:
    content = "because its notes never wrapped"
    place = next(at for at, each in enumerate(FERRY) if content in each.text)
    start = FERRY[place].text.index(content)
    span = (place, start, start + len(content))
    point = AnchorPoint(AnchorType.CRITICAL_FACT, content, 0.9, *span)
    assert content in Account(FERRY, count).write(60, [point])


def test_tags_are_terms_and_no_heads_of_sentences() -> None:
    turns = [
        turn(
            "Use React for the page and PostgreSQL for the data; then write the deployment notes."
        ),
        agent(
            "I will write the deployment notes. React and PostgreSQL are set up in `deploy.yml`."
        ),
    ]
    account = Account(turns, count)
    tags = tag_list(account.moments, account.state, 30, count)
    assert {"React", "PostgreSQL", "deploy.yml"} <= set(tags)
    assert any("deployment" in tag for tag in tags)
    assert not any(tag.lower().startswith(("i ", "the ", "we ")) for tag in tags)


@pytest.mark.parametrize(
    "turns",
    [
        [],
        [turn("")],
        [call("Bash", "ls")],
        [result("Bash", "a\nb")],
        [*run("ls"), *run("ls")],
        [call("TodoWrite", {"todos": "no list"})],
        [call("Edit", '{"file_path": 3}')],
        [call("Bash", {"command": ["git", "push"]})],
        [turn("潮の時刻表を一枚に収めてください。夜の船は太字のままにしてください。")],
    ],
)
def test_odd_turns_are_no_error(turns: list[Turn]) -> None:
    assert count(written(turns, 100)) <= 100


def test_ten_thousand_turns_of_one_kind_are_summarized() -> None:
    turns = [agent(f"Sheet {number} of the ferry has {number} rows.") for number in range(10_000)]
    assert count(written(turns, 500)) <= 500


def test_the_same_turns_give_the_same_summary() -> None:
    assert written(FERRY) == written(FERRY)
