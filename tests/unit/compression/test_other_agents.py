"""The calls of every agent are told as what they did: files, runs, lists, questions, commits."""

from __future__ import annotations

import pytest
from msgspec import structs

from reviewer.compression.anchor_types import Section
from reviewer.compression.handover import brief_of
from reviewer.compression.offline.events import command_events
from reviewer.compression.offline.state import short_paths
from tests.unit.compression.making import turn
from tests.unit.compression.test_shape import agent, call, edit, result, run, section, written

ASKED = turn("Make the lamp of the lighthouse blink twice and check it.")

PATCH = (
    "*** Begin Patch\n*** Update File: lamp/blink.py\n@@\n-def once():\n+def twice():\n"
    "*** Add File: lamp/notes.md\n+# Notes\n*** Delete File: lamp/old.py\n*** End Patch"
)


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("apply_patch", PATCH),
        ("apply_patch", {"patchText": PATCH}),
        ("shell", {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF"]}),
        ("exec_command", f"bash -lc 'apply_patch <<EOF\n{PATCH}\nEOF'"),
    ],
)
def test_a_patch_names_the_files_that_it_changes(tool: str, given: object) -> None:
    text = written([ASKED, agent("It blinks once so far."), call(tool, given), agent("Patched.")])
    assert "lamp/blink.py (with twice)" in text
    assert "lamp/notes.md (new" in text
    assert "deleted lamp/old.py" in text


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("edit", {"path": "lamp.py", "oldText": "a", "newText": "def twice():\n    pass"}),
        ("edit", {"filePath": "lamp.py", "oldString": "a", "newString": "def twice():\n    pass"}),
        ("str_replace_editor", {"path": "lamp.py", "new_str": "def twice():\n    pass"}),
        (
            "multiedit",
            {
                "file_path": "lamp.py",
                "edits": [{"old_string": "", "new_string": "def twice():\n    pass"}],
            },
        ),
        ("write_file", {"TargetFile": '"lamp.py"', "content": "def twice():\n    pass"}),
        ("create_file", {"filePath": "lamp.py", "content": "def twice():\n    pass"}),
    ],
)
def test_an_edit_of_any_agent_names_its_file_and_what_it_adds(tool: str, given: object) -> None:
    text = written([ASKED, agent("I change the lamp."), call(tool, given)])
    assert "lamp.py (" in text
    assert "twice)" in section(text, Section.NOW)


def test_an_edit_that_did_not_match_changed_nothing() -> None:
    given = {"path": "lamp.py", "oldText": "a", "newText": "b"}
    failing = [call("edit", given), result("edit", "old_string not found in file. Be exact.")]
    text = written([ASKED, *failing, agent("The lamp has other code than I thought it had.")])
    assert "lamp.py" not in section(text, Section.NOW)


def test_a_file_that_a_script_writes_is_edited() -> None:
    script = "python3 - <<'PY'\nfrom pathlib import Path\nPath('lamp.py').write_text('x')\nPY"
    now = section(written([ASKED, agent("I rewrite it."), *run(script, "")]), Section.NOW)
    assert "not yet checked or committed: lamp.py" in now


def test_the_shell_around_a_command_is_not_part_of_it() -> None:
    turns = [ASKED, call("shell", "bash -lc pytest -q"), result("shell", "2 passed in 0.1s")]
    text = written([*turns, agent("The lamp blinks.")])
    assert "`pytest -q`" in text
    assert "bash" not in text


def test_later_output_of_a_command_says_how_it_went() -> None:
    turns = [
        ASKED,
        *edit("lamp.py"),
        call("exec_command", "cargo test", "c1"),
        result("exec_command", "   Compiling lamp v0.1.0", "c1"),
        call("write_stdin", {"session_id": 7, "chars": ""}, "c2"),
        result("write_stdin", "test result: FAILED. 1 passed; 1 failed", "c2"),
    ]
    assert "Failing at the last run: `cargo test`" in section(written(turns), Section.NOW)


def test_the_report_of_a_sub_agent_in_the_background_is_labelled() -> None:
    output = (
        "<retrieval_status>success</retrieval_status>\n<task_type>local_agent</task_type>\n"
        "<status>completed</status>\n<output>\n[Tool: Read] {}\nThe fog horn shares its relay with "
        "the lamp of the north tower.\n</output>"
    )
    turns = [
        ASKED,
        call("Task", {"description": "Look at the relay", "prompt": "Look"}, "c1"),
        result("Task", "Async agent launched successfully. agentId: a1", "c1"),
        call("TaskOutput", {"task_id": "a1"}, "c2"),
        result("TaskOutput", output, "c2"),
        agent("The relay is shared."),
    ]
    assert "A sub-agent: The fog horn shares its relay" in written(turns)


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("write_todos", {"todos": [{"description": "Oil the lamp", "status": "in-progress"}]}),
        ("update_plan", {"plan": [{"step": "Oil the lamp", "status": "in_progress"}]}),
        ("update_todo_list", {"todos": "[x] Clean the glass\n[-] Oil the lamp"}),
        ("todo_list", {"items": '[{"title": "Oil the lamp", "status": "doing"}]'}),
    ],
)
def test_the_list_of_any_agent_says_what_comes_next(tool: str, given: object) -> None:
    following = section(written([ASKED, agent("I made a list."), call(tool, given)]), Section.NEXT)
    assert "in progress: Oil the lamp" in following


def test_a_question_comes_with_its_choices_and_its_answer() -> None:
    asked = {"question": "Which colour shall the lamp have?", "choices": ["red", "green"]}
    turns = [
        ASKED,
        agent("I need to know one thing."),
        call("ask_user", asked, "c1"),
        result("ask_user", "green", "c1"),
        agent("Then it is green."),
        turn("Now write the note to the harbour office about it."),
    ]
    decisions = section(written(turns), Section.DECISIONS)
    assert '"green" - to: "(Choices: red / green) Which colour shall the lamp have?"' in decisions


def test_a_change_in_another_system_is_told() -> None:
    calls = [
        call("mcp__tickets__ticket_create", {"title": "Oil the lamp every week"}),
        call("mcp__tickets__ticket_list", {"state": "open"}),
        call("update_reservation", {"reservation_id": "Q8", "seats": 3}),
    ]
    text = written([ASKED, agent("I keep the office informed."), *calls])
    assert "ticket create: Oil the lamp every week" in text
    assert "update reservation: reservation_id Q8, seats 3" in text
    assert "ticket list" not in text


def test_a_commit_that_was_taken_back_is_not_done() -> None:
    turns = [
        ASKED,
        *edit("lamp.py"),
        *run("pytest -q", "3 passed"),
        *run("git commit -am 'Blink twice'", "[lamp 1a2b3c4] Blink twice"),
        turn("Take that commit back, keep the changes."),
        *run("git reset --soft HEAD~1", ""),
        agent("The commit is taken back."),
    ]
    text = written(turns)
    assert "Edited and checked, not yet committed: lamp.py" in section(text, Section.NOW)
    assert "Committed [lamp 1a2b3c4]" not in text


def test_an_amended_commit_counts_once() -> None:
    turns = [
        ASKED,
        *edit("lamp.py"),
        *run("git commit -am 'Blink'", "[lamp 1a2b3c4] Blink"),
        *run("git commit --amend -m 'Blink twice'", "[lamp 5d6e7f8] Blink twice"),
        agent("It is amended."),
    ]
    done = section(written(turns), Section.DONE)
    assert "Committed [lamp 5d6e7f8]: Blink twice" in done
    assert "Committed [lamp 1a2b3c4]" not in done


@pytest.mark.parametrize("command", ["git checkout -- lamp.py", "git restore .", "rm -f lamp.py"])
def test_changes_that_were_thrown_away_are_not_open(command: str) -> None:
    turns = [ASKED, *edit("lamp.py"), *run(command, ""), agent("That idea was no good.")]
    assert "not yet" not in section(written(turns), Section.NOW)


def test_a_stash_and_a_merged_pull_request_are_part_of_the_state() -> None:
    created = "https://example.org/light/pull/7"
    turns = [
        ASKED,
        *edit("lamp.py"),
        *run("git commit -am 'Blink twice'", "[lamp 1a2b3c4] Blink twice"),
        *run('gh pr create --title "Blink twice" --body ""', created),
        *run("gh pr merge 7 --squash", "Merged"),
        *run("git stash", "Saved working directory"),
    ]
    now = section(written(turns), Section.NOW)
    assert f"pull request Blink twice ({created}), merged" in now
    assert "Changes are stashed" in now


def test_paths_leave_out_the_folder_that_all_of_them_share() -> None:
    files = ("src/lamp.py", "src/horn.py", "README.md")
    turns = [ASKED, agent("I change three files.")]
    for name in files:
        turns += edit(f"/home/ann/work/light/{name}")
    text = written(turns)
    assert "/home/ann" not in text
    assert all(name in text for name in files)


def test_files_outside_a_known_folder_keep_their_whole_paths() -> None:
    turns = [ASKED, agent("The hooks come first.")]
    for name in ("pre-push", "post-commit", "post-merge"):
        turns += edit(f"/home/ann/harbour/.git/hooks/{name}")
    turns = [structs.replace(each, folder="/home/ann/harbour/trees/2") for each in turns]
    assert "/home/ann/harbour/.git/hooks/" in written(turns)


def test_files_at_the_top_of_the_project_are_listed_without_a_folder() -> None:
    assert short_paths(["lamp.py", "horn.py"]) == ["lamp.py, horn.py"]


def test_a_look_with_an_editor_is_no_edit_and_a_replacement_is_one() -> None:
    look = {"command": "view", "path": "lamp/blink.py"}
    change = {"command": "str_replace", "path": "lamp/post.py", "old_str": "a", "new_str": "b"}
    tool = "str_replace_editor"
    text = written([ASKED, call(tool, look), call(tool, change), agent("The post is changed.")])
    assert "lamp/post.py" in text
    assert "blink.py" not in text


def test_an_edit_that_the_linter_of_the_agent_refused_changed_nothing() -> None:
    given = {"path": "lamp.py", "old_string": "a", "new_string": "b)"}
    refused = "Your proposed edit has introduced new syntax error(s). Please retry your edit."
    text = written([ASKED, call("edit", given), result("edit", refused), agent("I try again.")])
    assert "Edited" not in section(text, Section.NOW)


def test_a_script_that_the_agent_wrote_and_ran_is_a_check() -> None:
    wrote = call("create", {"path": "try_lamp.py", "file_text": "import lamp\nlamp.blink()"})
    turns = [ASKED, agent("I write a script."), wrote, *edit("lamp.py")]
    assert "checked" in section(written([*turns, agent("Next.")]), Section.NOW)
    ran = run("cd /sea && python try_lamp.py --twice", "it blinks")
    text = written([*turns, *ran, agent("It blinks.")])
    assert "python try_lamp.py --twice" in text
    assert "not yet checked" not in text
    reading = written([ASKED, *run("python other.py", "fine"), agent("It is fine.")])
    assert "other.py" not in section(reading, Section.COMMANDS)


@pytest.mark.parametrize("command", ["make", "make -j4 all", "bunx biome format lamp.ts"])
def test_a_bare_build_is_a_check(command: str) -> None:
    text = written([ASKED, *edit("lamp.c"), *run(command, "ok"), agent("It is built.")])
    assert f"`{command}`" in text


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ('bd close lamp-12 --reason "it blinks"', "bd close lamp-12"),
        ('glab mr create --title "Blink" --description "twice"', "glab mr create"),
    ],
)
def test_changes_in_a_tracker_are_told(command: str, told: str) -> None:
    text = written([ASKED, *run(command, "done"), agent("The issue is closed.")])
    assert told in text


@pytest.mark.parametrize("command", ["bd create --help", "gh pr merge -h", "npm install --help"])
def test_asking_for_help_changes_nothing(command: str) -> None:
    assert list(command_events(1, command)) == []


def test_an_item_of_a_tracker_is_told_without_its_fields() -> None:
    assert [
        each.what for each in command_events(1, 'bd create "Blink twice" -t task -p 1 --notes "x"')
    ] == ['bd create "Blink twice"']


def test_last_steps_name_the_folder_that_all_changed_files_share() -> None:
    turns = [ASKED, agent("I change three files.")]
    for name in ("src/lamp.py", "src/horn.py", "README.md"):
        turns += edit(f"/home/ann/work/light/{name}")
    steps = brief_of(turns, "it", max_tokens=1_000).text.partition("## Last steps")[2]
    assert "In /home/ann/work/light." in steps
    assert steps.count("/home/ann") == 1


def test_a_read_that_only_its_description_names_is_told_as_one() -> None:
    read = call("read_file_v2", {"description": "Read file: src/lamp.py"})
    turns = [ASKED, agent("First the lamp."), read, result("read_file_v2", "")]
    steps = brief_of(turns, "it", max_tokens=1_000).text.partition("## Last steps")[2]
    assert "First the lamp. -> read src/lamp.py" in steps


def test_tests_that_an_edit_changes_are_named_without_their_lines() -> None:
    turns = [ASKED, agent("The tests of the lamp get a second argument.")]
    for name in ("bright", "dark", "red"):
        old = f"def test_{name}() -> None:\n    assert lamp({name!r})"
        given = {"file_path": "tests/test_lamp.py", "old_string": old}
        given["new_string"] = old.replace(")", ", 2)", 2).replace("(, 2)", "()")
        turns += [call("Edit", given), result("Edit", "updated")]
    text = written(turns)
    assert "changes in the tests test_bright, test_dark, test_red" in text
    assert "assert lamp" not in text


def test_code_in_the_report_of_a_sub_agent_is_left_out() -> None:
    report = (
        "The lamp flickers because its wire is loose.\n\n"
        "struct Lamp { let wire: Wire }\n\nlet lamp = Lamp(wire: .loose)\n"
    )
    turns = [
        ASKED,
        call("Task", {"description": "Look at the lamp", "prompt": "Look."}, "c1"),
        result("Task", report, "c1"),
        *edit("src/lamp.py"),
    ]
    text = written(turns)
    assert "A sub-agent: The lamp flickers because its wire is loose." in text
    assert "struct Lamp" not in text


def test_separators_inside_quotes_do_not_split_a_command() -> None:
    noted = 'bd update sea-1 --notes "Verified; make test. Keep it open && wait" --json'
    found = list(command_events(1, f"{noted}; make test"))
    assert [each.what for each in found] == ["bd update sea-1", "make test"]


def test_ids_in_the_json_of_a_tracker_are_told_with_what_was_made() -> None:
    made = '{\n  "id": "sea-gsa.2.1",\n  "title": "Bell"\n}\n<exited with exit code 0>'
    turns = [
        ASKED,
        *run('bd create "Bell" -t task --json', made),
        agent("The bell is written down."),
    ]
    assert "[sea-gsa.2.1]" in section(written(turns, 600), Section.DONE)
    assert "sea-gsa.2.1" in brief_of(turns, "it", max_tokens=1_000).text


def test_changes_outside_the_folder_of_the_session_say_where_they_are() -> None:
    turns = [structs.replace(ASKED, folder="/home/ann/work/light")]
    for name in ("src/lamp.py", "src/horn.py", "README.md"):
        turns += edit(f"/home/ann/other/light/{name}")
    text = brief_of(turns, "it", max_tokens=1_000).text
    assert "The changed files are in /home/ann/other/light/, not where the session works." in text
    assert "src/lamp.py" in text.partition("## Last steps")[0]


def test_functions_in_quoted_texts_are_not_the_files() -> None:
    code = (
        "package pier\n\nconst prompt = `\nfunc Imagined() {}\n`\n\nfunc Lamp() int { return 2 }\n"
    )
    turns = [ASKED, call("Write", {"file_path": "pier.go", "content": code}), result("Write", "ok")]
    text = written(turns)
    assert "Lamp" in text
    assert "Imagined" not in text


def test_the_report_that_a_sub_agent_gave_last_is_told_at_length() -> None:
    findings = "\n".join(
        f"{n}. Plank {n} of the pier is loose near post {n}." for n in range(1, 20)
    )
    turns = [
        ASKED,
        call("Task", {"description": "Look at the pier", "prompt": "Look."}, "c1"),
        result("Task", f"Critical issues:\n\n{findings}", "c1"),
    ]
    steps = brief_of(turns, "it", max_tokens=2_000).text.partition("## Last steps")[2]
    assert "Plank 1 of the pier is loose" in steps
    assert "Plank 19 of the pier is loose" in steps


def test_copied_records_are_no_words_of_the_agent() -> None:
    record = '{"parentUuid":"ef26","type":"user","message":"The lamp is made of brass and glass."}'
    text = written([ASKED, agent(record), *edit("src/lamp.py"), agent("The lamp blinks twice.")])
    assert "brass" not in text
    assert "blinks twice" in text
