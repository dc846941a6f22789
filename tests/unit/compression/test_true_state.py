"""What an offline summary says of runs, edits, requests and commits is what the session shows."""

from __future__ import annotations

import pytest
from msgspec import structs

from reviewer.compression.anchor_types import Section
from reviewer.compression.offline.needs import carried
from reviewer.compression.offline.shape import Account
from tests.unit.compression.making import count, turn
from tests.unit.compression.test_shape import agent, call, edit, run, section, written

ASKED = turn("Fix the parser of the tide tables and run its tests.")


@pytest.mark.parametrize(
    ("output", "how"),
    [
        ("", "no result"),
        ("(Bash completed with no output)", "no output"),
        ("Killed", "killed"),
        ("Exit code 137\nKilled", "killed"),
        ("Command timed out after 2m 0.0s", "timed out"),
        ("Exit code 124\nCommand timed out after 2m 0.0s\ncollecting", "timed out"),
        ("Command running in background with ID: bash_1", "in background"),
        ("3 passed in 0.1s", "passed"),
        ("test result: ok. 4 passed; 0 failed", "passed"),
        ("2 failed, 3 passed\nFAILED test_tide.py::test_ebb", "failed"),
    ],
)
def test_a_run_is_told_by_what_it_printed(output: str, how: str) -> None:
    text = written([ASKED, agent("Now I run them."), *run("pytest -q", output), agent("Done.")])
    assert f"`pytest -q`: {how}" in text or f"`pytest -q` ({how}" in text
    assert ("passed" in text) is (how == "passed")


def test_output_that_shows_no_success_is_only_ran() -> None:
    text = written([ASKED, *run("make build", "cc -o tide tide.c"), agent("Built the tide tool.")])
    assert "`make build` (ran)" in text
    assert "passed" not in text


def test_a_run_without_a_result_is_no_success() -> None:
    text = written([ASKED, *edit("tide.py"), call("Bash", "cargo test")])
    assert "Edited and not verified (`cargo test`: no result), not yet committed: tide.py" in text
    assert "Edited and checked" not in text


def test_an_edit_is_checked_only_by_a_later_run_that_passed() -> None:
    text = written([ASKED, *edit("tide.py"), *run("pytest -q", "3 passed")])
    assert "Edited and checked, not yet committed: tide.py" in text
    text = written([ASKED, *run("pytest -q", "3 passed"), *edit("tide.py")])
    assert "Edited and checked" not in text
    assert "not yet checked" in text


def test_an_edit_whose_check_fails_stands_with_what_failed() -> None:
    failing = run("pytest -q", "1 failed, 3 passed\nFAILED test_tide.py::test_ebb - assert")
    text = written([ASKED, *edit("tide.py"), *failing])
    now = section(text, Section.NOW)
    assert "Failing at the last run: `pytest -q`: test_tide.py::test_ebb" in now
    assert "not yet committed: tide.py" in now
    assert "Edited and checked" not in text
    text = written([ASKED, *edit("tide.py"), *failing, *run("pytest -q", "4 passed")])
    assert "Edited and checked, not yet committed: tide.py" in text
    assert "Failing" not in text


def test_a_suggestion_is_not_done() -> None:
    review = "1. Long function. Fix: Extract a helper.\n\nFix: Extract a printing helper from it.\n"
    text = written([turn("Review the tide module."), agent(review), turn("What else is there?")])
    assert section(text, Section.DONE) == ""
    assert "Review the tide module" in section(text, Section.REQUEST)


def test_every_commit_is_done_with_its_subject() -> None:
    turns = [ASKED]
    for number in range(8):
        turns += [agent(f"Step {number} follows the note of the harbour office."), *edit("tide.py")]
        turns += run(f"git commit -am 'Step {number} of the tables'", f"[main 1a2b3c{number}] S")
    done = section(written(turns, 1200), Section.DONE)
    assert all(f"Step {number} of the tables" in done for number in range(8))


def test_a_question_on_the_way_comes_before_its_answer() -> None:
    middle = turn("What happens to the tables of the northern harbour in winter?")
    turns = [
        ASKED,
        agent("It works."),
        middle,
        agent("They stay there."),
        turn("Print the spring page."),
    ]
    text = written(turns)
    assert "northern harbour" not in section(text, Section.DONE) + section(text, Section.REQUEST)
    found = section(text, Section.FOUND)
    assert found.index("northern harbour") < found.index("They stay there.")


@pytest.mark.parametrize("reply", ["ok", "Yes!", "continue", "go on", "ok, go ahead", "继续", "ja"])
def test_a_reply_without_content_is_no_request(reply: str) -> None:
    turns = [turn(reply), agent("Hello."), ASKED, agent("The parser works."), turn(reply)]
    request = section(written(turns), Section.REQUEST)
    assert "Fix the parser of the tide tables" in request
    assert f'"{reply}"' not in request.split(" - to:")[0].replace("Then: ", "")


@pytest.mark.parametrize(
    ("first", "rule", "latest"),
    [
        ("请把登录页面改成使用OAuth。", "不要动数据库。", "先运行测试，然后提交。"),
        ("أضف زر تسجيل الخروج إلى الصفحة", "لا تغير الألوان في الصفحة", "شغل الاختبارات كلها الآن"),
        ("Bitte stelle den Export um.", "Die Datei schema.sql nicht ändern!", "Jetzt die Tests."),
        ("Change le format de sortie.", "Ne touche pas au schéma SQL.", "Lance tous les tests."),
    ],
)
def test_requests_and_prohibitions_in_other_languages_are_kept(
    first: str, rule: str, latest: str
) -> None:
    turns = [turn(first), agent("OK."), turn(rule), agent("OK."), turn(latest), agent("OK.")]
    text = written(turns)
    request = section(text, Section.REQUEST)
    assert f'First: "{first}"' in request
    assert f'Latest: "{latest}"' in request
    assert rule in section(text, Section.INSTRUCTIONS)


def test_scratch_files_wait_for_no_commit() -> None:
    scratch = "C:\\Users\\a\\AppData\\Local\\Temp\\x.py"
    text = written([ASKED, *edit(scratch), *edit("/private/tmp/y.py")])
    assert "not yet checked" not in text


def test_windows_paths_are_shortened() -> None:
    changed = edit("C:\\work\\tide\\src\\ebb.py")
    turns = [ASKED, *(structs.replace(each, folder="C:\\work\\tide") for each in changed)]
    assert "committed: src\\ebb.py" in written(turns)


def test_thinking_aloud_and_pasted_lines_are_no_findings() -> None:
    said = "Wait, the table is odd.\n\nI'm waiting for the tests of it.\n\n132→ </details>"
    text = written([ASKED, agent(said), turn("Print the page of the spring tide.")])
    assert "Wait," not in text
    assert "waiting for" not in text
    assert "132→" not in text


def test_a_summary_without_the_persons_words_misses_the_request() -> None:
    account = Account([ASKED, *edit("tide.py")], count)
    assert carried(account, "Something else entirely.", 100).missing == ("request", "state")
    assert carried(account, "Something else entirely.", 100).share == 0
    tools = Account(edit("tide.py"), count)
    assert carried(tools, "Something else entirely.", 100).missing == ("state",)


def test_a_commit_without_a_message_has_the_subject_that_git_printed() -> None:
    printed = "[main 1a2b3c4] Merge the northern tables"
    done = section(written([ASKED, *run("git commit --no-edit", printed)]), Section.DONE)
    assert "Merge the northern tables" in done
