"""The state of the work, as a person would read it off the session."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.sessions.work_state import WorkState, WorkTracker
from reviewer.sources.events import Outcome
from tests.unit.sessions.told import Step, Told, calls, creates, edits, fails, runs

HOME = "/work/shop"
MADE = "[main 1a2b3c4] Keep the port open\n 1 file changed, 2 insertions(+)"


@pytest.fixture
def made(tmp_path: Path) -> Told:
    return Told(folder=tmp_path)


def state(made: Told) -> WorkState:
    tracker = WorkTracker()
    for event in made.events():
        tracker.add(event)
    return tracker.state()


def files(found: WorkState) -> list[str]:
    return [each.path.removeprefix(f"{HOME}/") for each in found.uncommitted]


def in_doubt(found: WorkState) -> list[str]:
    return [e.path.removeprefix(f"{HOME}/") for e in found.files if not e.uncommitted]


def test_a_session_without_calls_has_no_state(made: Told) -> None:
    made.user("What is a kiosk?")
    assert state(made) == WorkState(folder=HOME, branch="main")


# Files


def test_edited_files_are_uncommitted_each_with_the_line_of_its_last_edit(
    made: Told,
) -> None:
    made.edit(f"{HOME}/queue.py")
    last = made.create("spool/driver.py")
    again = made.edit(f"{HOME}/queue.py")
    found = state(made)
    assert files(found) == ["spool/driver.py", "queue.py"]
    assert [each.line for each in found.files] == [last, again]
    assert (found.last_change, found.changed_by) == (again, "queue.py")


FILES: dict[str, tuple[list[Step], list[str], list[str]]] = {
    "a command that writes": ([runs("sed -i 's/a/b/' queue.py")], ["queue.py"], []),
    "a text for a file": (
        [runs("cat > spool/new.py <<'END'\na = 1\nEND")], ["spool/new.py"], [],
    ),
    "more lines in a folder": ([runs("cd spool && echo 1 >> driver.py")], ["spool/driver.py"], []),
    "an output that is kept": ([runs("date | tee log.txt")], ["log.txt"], []),
    "only looking": ([runs("grep -rn 'a > b' ."), runs("python -c 'print(1)' 2>&1")], [], []),
    "temporary files": (
        [creates("/tmp/notes.txt"), creates("/private/var/folders/x/notes.txt"),
         runs("echo 1 > /dev/null && date > /tmp/x")], [], [],
    ),
    "a session that began in a temporary folder, but not its scratch files": (
        [lambda told: setattr(told, "cwd", "/tmp/shop"), runs("sed -i s/a/b/ queue.py"),
         creates("/tmp/notes.txt"), runs("git commit -am 'Keep it'", MADE), creates("new.py")],
        ["/tmp/shop/new.py"], [],
    ),
    "the project's own folder for temporary or device files": (
        [runs("sed -i s/a/b/ dev/setup.py"), creates("tmp/seed.sql")],
        ["dev/setup.py", "tmp/seed.sql"], [],
    ),
    "a web site": ([creates("/var/www/shop/index.php")], ["/var/www/shop/index.php"], []),
    "a hook, but no other file of Git's own": (
        [creates(".git/hooks/pre-push"), creates(".git/MERGE_MSG")], [".git/hooks/pre-push"], [],
    ),
    "an end that is not known": (
        [runs("cd nowhere && sed -i 's/a/b/' queue.py; ls")], [], ["nowhere/queue.py"],
    ),
    "edits that failed, were refused or have no result": (
        [lambda told: told.call("Edit", "no match", failed=True, file_path="a.py", old_string="x"),
         lambda told: told.refuse("Write", file_path="b.py", content="x"),
         lambda told: told.call("Write", None, file_path="c.py", content="x")],
        [], [],
    ),
    "a known file removed": ([creates("new.py"), runs("rm known.py")], ["new.py", "known.py"], []),
    "the same by git": ([creates("new.py"), runs("git rm known.py")], ["new.py", "known.py"], []),
    "a new file removed": ([creates("new.py"), runs("rm new.py")], [], []),
    "the same by force": ([creates("new.py"), runs("rm -f new.py")], [], ["new.py"]),
    "many others removed": ([creates("new.py"), runs("rm -f build/*")], ["new.py"], []),
    "a known file moved": (
        [runs("mv known.py spool/new.py")], ["known.py", "spool/new.py"], [],
    ),
    "the same where it may have failed": (
        [runs("mv known.py spool/new.py; ls")], [], ["spool/new.py"],
    ),
    "a text for a file before a command that failed": (
        [fails("cat > new.py <<'END'\na = 1\nEND\npython new.py", "boom")], ["new.py"], [],
    ),
    "a checkout of the file": ([edits("queue.py"), runs("git checkout -- queue.py")], [], []),
    "a commit of all, and a new file": (
        [edits("queue.py"), creates("new.py"), runs("git commit -am 'Keep the port open'", MADE)],
        [], ["new.py"],
    ),
    "a commit whose making was not seen": (
        [edits("queue.py"), runs("git add queue.py; git commit -q -m x | cat; ls")],
        [], ["queue.py"],
    ),
    "a commit that a hook refused": (
        [edits("queue.py"), fails("git commit -am 'Keep'", "lint failed")], ["queue.py"], [],
    ),
    "a hard reset": ([edits("queue.py"), runs("git reset --hard")], [], ["queue.py"]),
    "a silent checkout of files whose folder is not known": (
        [lambda told: setattr(told, "cwd", ""), edits("queue.py"),
         runs("git checkout -- queue.py | cat; ls"), runs("git restore queue.py")],
        [], [],
    ),
    "one that may have failed": (
        [edits("queue.py"), runs("git checkout -- queue.py; ls")], [], ["queue.py"],
    ),
    "what git lists at the end of other output": (
        [edits("queue.py"), edits("driver.py"),
         runs("pytest -q; git status --short", "3 passed\n M driver.py")],
        ["driver.py"], [],
    ),
    "a clean tree among other output": (
        [edits("queue.py"), runs("git status --porcelain; date", "Sun Mar 1 2026")], [], [],
    ),
    "a list that went into a file": (
        [edits("queue.py"), runs("git status --short > /tmp/list")], ["queue.py"], [],
    ),
    "a list that was cut": (
        [edits("queue.py"), runs("git status --short; date", "[9 lines truncated]")],
        ["queue.py"], [],
    ),
    "a stash": (
        [edits("queue.py"), edits("driver.py"), runs("git stash && git stash pop | cat; ls")],
        [], ["queue.py", "driver.py"],
    ),
    "what git lists after it": (
        [edits("queue.py"), edits("driver.py"), runs("git stash && git stash pop | cat; ls"),
         runs("git status --short", " M queue.py")],
        ["queue.py"], [],
    ),
}  # fmt: skip
"""What was done, the files that are changed then, and those that may be."""


@pytest.mark.parametrize("what", FILES)
def test_files_that_are_changed_and_in_doubt(made: Told, what: str) -> None:
    steps, changed, doubtful = FILES[what]
    found = state(made.go(steps))
    assert (files(found), in_doubt(found)) == (changed, doubtful)


def test_edits_whose_file_is_not_named_are_counted(made: Told) -> None:
    made.call("Edit", "updated", instruction="make it faster")
    assert (state(made).unnamed_edits, state(made).files) == (1, ())


# Commits


def test_a_commit_takes_what_was_staged(made: Told) -> None:
    made.edit("queue.py")
    made.edit("driver.py")
    line = made.run("git add queue.py && git commit -m 'Keep the port open'", MADE)
    found = state(made)
    assert files(found) == ["driver.py"]
    [commit] = found.commits
    assert (commit.id, commit.subject, commit.branch) == ("1a2b3c4", "Keep the port open", "main")
    assert (commit.line, commit.pushed) == (line, "not pushed")


def test_quiet_commits_are_proved_by_a_log_with_their_subjects(made: Told) -> None:
    made.edit("queue.py")
    made.edit("driver.py")
    made.run(
        "git add queue.py && git commit -q -F - <<'END'\nKeep the port open\n\nIt was slow.\nEND\n"
        "git add driver.py && git commit -q -m 'Ask the driver less'\ngit log --oneline -3",
        "2222222 Ask the driver less\n1111111 Keep the port open\n0000000 Before both",
    )
    found = state(made)
    assert found.files == ()
    assert [(each.id, each.subject) for each in found.commits] == [
        ("1111111", "Keep the port open"),
        ("2222222", "Ask the driver less"),
    ]


def test_a_commit_counts_though_a_later_command_of_the_line_failed(made: Told) -> None:
    made.edit("queue.py")
    made.run(
        "git add -A && git commit -m x && git push",
        f"{MADE}\nfatal: no upstream",
        failed=True,
        code=128,
    )
    [commit] = state(made).commits
    assert (commit.id, commit.pushed) == ("1a2b3c4", "rejected")


def test_a_push_names_the_last_of_the_commits_that_it_sent(made: Told) -> None:
    made.edit("queue.py")
    made.run("git commit -q -am 'Keep the port open'")
    made.run("git push", "   0a0a0a0..1b1b1b1  main -> main")
    assert [(each.id, each.pushed) for each in state(made).commits] == [("1b1b1b1", "unknown")]


def test_a_message_in_a_file_is_no_subject(made: Told) -> None:
    made.edit("queue.py")
    made.run("git commit -q -a -F /tmp/message.txt")
    assert [each.subject for each in state(made).commits] == [""]


@pytest.mark.parametrize(
    ("command", "printed", "pushed"),
    [
        ("git push", "   1a2b3c4..5d6e7f8  main -> main", "pushed"),
        ("git push", "", "pushed"),
        ("git push | tail -3; ls", "done", "unknown"),
        ("git push --dry-run", "", "not pushed"),
        ("git push", "error: failed to push some refs", "rejected"),
    ],
)
def test_pushes(made: Told, command: str, printed: str, pushed: str) -> None:
    made.edit("queue.py")
    made.run("git commit -am x", MADE)
    made.run(command, printed, failed=pushed == "rejected")
    assert [each.pushed for each in state(made).commits] == [pushed]


def test_a_rebase_may_have_rewritten_commits(made: Told) -> None:
    made.edit("queue.py")
    made.run("git commit -am x", MADE)
    made.run("git rebase -i HEAD~3")
    assert [each.rewritten for each in state(made).commits] == [True]


@pytest.mark.parametrize(
    ("command", "rewritten", "changed"),
    [
        ("git reset --soft HEAD~1", [], ["queue.py"]),
        ("git reset HEAD^", [], ["queue.py"]),
        ("git reset --hard HEAD~1", [True], []),
        ("git reset", [False], []),
        ("git reset HEAD", [False], []),
        ("git reset 0a1b2c3", [True], []),
    ],
)
def test_resets(made: Told, command: str, rewritten: list[bool], changed: list[str]) -> None:
    made.edit("queue.py")
    made.run("git commit -am x", MADE)
    made.run(command)
    found = state(made)
    assert [each.rewritten for each in found.commits] == rewritten
    assert files(found) == changed


def test_a_check_holds_after_a_commit_is_taken_back(made: Told) -> None:
    made.edit("queue.py")
    made.run("pytest -q", "3 passed")
    made.run("git commit -am x", MADE)
    made.run("git reset --soft HEAD~1")
    assert [check.stale for check in state(made).checks] == [False]


def test_the_branch_is_that_of_the_format_or_of_the_last_switch(made: Told) -> None:
    made.run("ls")
    assert state(made).branch == "main"
    made.run("git checkout -b faster")
    assert state(made).branch == "faster"


BRANCHES: dict[str, tuple[list[Step], str]] = {
    "a script that switches": (
        [runs("scripts/begin.sh faster", "Switched to a new branch 'faster'")], "faster",
    ),
    "a switch within other output": (
        [runs("git switch faster; ls", "Switched to branch 'faster'\nqueue.py")], "faster",
    ),
    "a switch that says nothing, of a name that may be a file": (
        [runs("git checkout queue.py")], "main",
    ),
    "the commit itself": ([runs("git commit -am x", "[faster 1a2b3c4] x")], "faster"),
    "a question for the branch": ([runs("git branch --show-current", "faster\n")], "faster"),
    "a switch in another repository": (
        [runs("git -C ../bar switch drinks && ls", "Switched to branch 'drinks'")], "main",
    ),
    "a detached head": ([runs("git status", "HEAD detached at 1a2b3c4\n M a.py")], "HEAD"),
    "a detached head in short": ([runs("git status -sb", "## HEAD (no branch)")], "HEAD"),
    "a commit there": ([runs("git commit -am x", "[detached HEAD 1a2b3c4] x")], "HEAD"),
    "the same folder in two spellings": (
        [lambda told: setattr(told, "cwd", "D:\\shop"),
         runs("cd /d/shop && git switch faster", "Switched to branch 'faster'"),
         runs("git switch slower", "Switched to branch 'slower'")],
        "slower",
    ),
    "the headers of two repositories": (
        [runs("git switch faster", "Switched to branch 'faster'"),
         runs("git status && cd ../bar && git status", "On branch drinks\n\nOn branch main\n")],
        "main",
    ),
}  # fmt: skip
"""What was done on the branch `main`, and the branch then."""


@pytest.mark.parametrize("what", BRANCHES)
def test_the_branch_that_the_latest_evidence_names(made: Told, what: str) -> None:
    steps, branch = BRANCHES[what]
    assert state(made.go(steps)).branch == branch


def test_work_in_another_worktree_is_where_its_calls_ran(made: Told) -> None:
    tree = "/work/shop.trees/faster"
    made.run(f"cd {tree} && git status -sb", "## faster\n M port.py")
    made.edit(f"{tree}/src/port.py")
    made.run("ls")
    found = state(made)
    assert (found.folder, found.branch) == (tree, "faster")


def test_the_branch_that_git_names_in_the_folder_of_the_session(made: Told) -> None:
    made.run("git status -sb", "## faster...origin/faster [ahead 1]\n M port.py")
    made.run("cd /elsewhere && git status", "On branch other\nnothing to commit")
    made.run(f"cd {HOME}/.worktrees/1 && git status", "On branch third\nnothing to commit")
    made.run("cat README.md && git status --short", "## Cloud\n M port.py")
    assert state(made).branch == "faster"


def test_a_status_lists_files_of_a_session_without_a_folder(made: Told) -> None:
    made.cwd = ""
    made.run("echo 1 > src/port.py")
    made.run("git status", "On branch main\n\tmodified:   src/port.py\n")
    assert [each.path for each in state(made).files] == ["src/port.py"]


def test_a_push_after_a_quiet_commit_on_a_branch_that_git_named(made: Told) -> None:
    made.run("git status -sb", "## faster\n M port.py")
    made.run("git commit -q -m 'Keep the port open' && git push", "   1a2..3b4  faster -> faster")
    [commit] = state(made).commits
    assert (commit.branch, commit.pushed) == ("faster", "pushed")


def test_conflicts_and_what_was_done_to_each(made: Told) -> None:
    clash = "".join(
        f"CONFLICT (content): Merge conflict in {name}\n"
        for name in ("a.py", "b.py", "c.py", "d.py")
    )
    made.run("git merge origin/main", f"Auto-merging\n{clash}", failed=True)
    made.edit(f"{HOME}/a.py")
    made.run("git add b.py")
    made.call("Edit", None, file_path=f"{HOME}/d.py", old_string="b = 1", new_string="b = 2")
    found = {each.path.removeprefix(f"{HOME}/"): each.touched for each in state(made).conflicts}
    pending = "edited since, no result seen"
    assert found == {
        "a.py": "edited since",
        "b.py": "staged since",
        "c.py": "",
        "d.py": pending,
    }
    made.run("git merge --abort")
    assert state(made).conflicts == ()


# Checks


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("pytest -q", "test"),
        ("python -m pytest tests", "test"),
        (".venv/bin/python3.12 -m pytest tests", "test"),
        ("uv run ruff check .", "lint"),
        ("ruff format .", "format"),
        ("npm run test:unit", "test"),
        ("mise run lint", "lint"),
        ("npx tsc --noEmit", "types"),
        ("go vet ./...", "lint"),
        ("cargo build --release", "build"),
        ("make", "build"),
        ("xcodebuild -scheme Kiosk -quiet build", "build"),
        ("xcodebuild -list", ""),
        ("make -n build", ""),
        ("npm install jest", ""),
        ("ruff --version", ""),
        ("grep -rn test .", ""),
    ],
)
def test_kinds_of_checks(made: Told, command: str, kind: str) -> None:
    made.run(command)
    assert [each.kind for each in state(made).checks] == [kind] * bool(kind)


def test_a_check_says_how_it_ended_and_whether_files_changed_since(made: Told) -> None:
    line = made.run("pytest -q", "1 failed, 3 passed", failed=True)
    made.edit("queue.py")
    [check] = state(made).checks
    assert (check.outcome, check.exit_code, check.line) == (Outcome.FAILED, 1, line)
    assert (check.said, check.stale) == ("1 failed, 3 passed", True)


GO = "--- FAIL: TestPort (0.00s)\n    port_test.go:7: got 80, want 8080\nFAIL"
CHECKS: dict[str, tuple[list[Step], list[tuple[Outcome, str]]]] = {
    "the lines that name a failure tell it": (
        [fails("go test ./...", GO)], [(Outcome.FAILED, "port_test.go:7: got 80, want 8080")],
    ),
    "a failure is history once the same check passes": (
        [fails("pytest -q tests/test_queue.py", "1 failed"), runs("pytest -q", "4 passed")],
        [(Outcome.OK, "4 passed")],
    ),
    "a narrower check that passes puts nothing else right": (
        [fails("pytest -q", "2 failed"), runs("pytest -q tests/test_queue.py", "1 passed")],
        [(Outcome.FAILED, "2 failed"), (Outcome.OK, "1 passed")],
    ),
    "another program says nothing of it": (
        [fails("npm test", "2 failed"), runs("pytest", "4 passed")],
        [(Outcome.FAILED, "2 failed"), (Outcome.OK, "4 passed")],
    ),
    "another task says nothing of it": (
        [fails("npm run test:integration", "2 failed"), runs("npm test", "4 passed")],
        [(Outcome.FAILED, "2 failed"), (Outcome.OK, "4 passed")],
    ),
    "fewer files are narrower": (
        [fails("pytest tests/a tests/b", "1 failed"), runs("pytest tests/a", "4 passed")],
        [(Outcome.FAILED, "1 failed"), (Outcome.OK, "4 passed")],
    ),
    "a selection is narrower": (
        [fails("go test ./...", "FAIL"), runs("go test -run=TestPort ./...", "ok")],
        [(Outcome.FAILED, "FAIL"), (Outcome.OK, "ok")],
    ),
    "everything is wider": (
        [fails("go test ./queue/... -v", "FAIL"), runs("go test ./...", "ok")],
        [(Outcome.OK, "ok")],
    ),
    "all below a folder is wider": (
        [fails("go test ./till/queue -run TestPort", "FAIL"), runs("go test ./till/...", "ok")],
        [(Outcome.OK, "ok")],
    ),
    "but not than another folder": (
        [fails("go test ./till/queue ./web", "FAIL"), runs("go test ./till/...", "ok")],
        [(Outcome.FAILED, "FAIL"), (Outcome.OK, "ok")],
    ),
    "a build settles no check of another kind": (
        [fails("npm run check", "2 errors"), runs("npm run build", "done")],
        [(Outcome.FAILED, "2 errors"), (Outcome.OK, "done")],
    ),
    "a part of the tests is not all of them": (
        [fails("mise run test", "FAIL"), runs("mise run test:unit", "ok")],
        [(Outcome.FAILED, "FAIL"), (Outcome.OK, "ok")],
    ),
    "what is to run in a folder that is missing does not": (
        [fails("cd web && npm test", "bash: line 1: cd: web: No such file or directory")], [],
    ),
    "checks of two folders are two": (
        [fails("cd web && npm test", "1 failed"), runs("cd server && npm test", "4 passed")],
        [(Outcome.FAILED, "1 failed"), (Outcome.OK, "4 passed")],
    ),
    "behind a pipe it is unknown": (
        [runs("pytest -q | tail -1", "4 passed")], [(Outcome.UNKNOWN, "4 passed")],
    ),
    "the last line of two checks is told of neither": (
        [runs("mise run fmt && mise run lint", "0 issues.\n[fmt] $ gofmt")],
        [(Outcome.OK, ""), (Outcome.OK, "")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", CHECKS)
def test_how_checks_ended(made: Told, what: str) -> None:
    steps, ended = CHECKS[what]
    found = state(made.go(steps))
    assert [(each.outcome, each.said) for each in found.checks] == ended
    assert len(found.failing) == sum(outcome is Outcome.FAILED for outcome, _ in ended)


# Plan, refusals, background

STARTED = "Command running in background with ID: b1"
BACKGROUND: dict[str, tuple[list[Step], list[Outcome]]] = {
    "a command that ran again to its end": (
        [calls("Bash", STARTED, command="bd show", run_in_background=True),
         calls("Bash", "shown", command="bd show", run_in_background=False)],
        [],
    ),
    "a command that only looks": (
        [calls("Bash", STARTED, command="tail -f spool.log", run_in_background=True)], [],
    ),
    "a check that was stopped has not passed": (
        [calls("Bash", STARTED, command="pytest -q", run_in_background=True),
         calls("KillShell", '{"message":"Successfully killed shell: b1"}', shell_id="b1")],
        [Outcome.UNKNOWN],
    ),
    "a check that was killed has not failed": (
        [calls("Bash", STARTED, command="pytest -q"),
         calls("BashOutput", "<status>killed</status>\n\n<exit_code>137</exit_code>\n\n"
               "<stdout>..</stdout>", bash_id="b1")],
        [Outcome.UNKNOWN],
    ),
}  # fmt: skip
"""Of which nothing runs any more, and how their checks ended."""


@pytest.mark.parametrize("what", BACKGROUND)
def test_what_runs_no_more(made: Told, what: str) -> None:
    steps, ended = BACKGROUND[what]
    found = state(made.go(steps))
    assert found.running == ()
    assert [each.outcome for each in found.checks] == ended


def test_the_plan_is_the_last_one_with_its_numbers(made: Told) -> None:
    items = [{"content": "Measure", "status": "completed"}, {"content": "Fix", "status": "pending"}]
    line = made.call("TodoWrite", "ok", todos=items)
    found = state(made)
    assert [(each.number, each.text) for each in found.open_items] == [("2", "Fix")]
    assert found.plan_line == line


def test_an_interruption_stands_until_the_person_speaks(made: Told) -> None:
    made.user("[Request interrupted by user]")
    assert state(made).interrupted
    made.user("Do the other one first.")
    assert not state(made).interrupted


def test_a_question_waits_until_it_is_answered(made: Told) -> None:
    asked = [{"question": "Which port?"}]
    made.call("AskUserQuestion", None, questions=asked)
    waiting = state(made).waiting
    assert waiting is not None
    assert waiting.query == "Which port?"


def test_a_task_ends_with_a_poll_whose_result_names_it(made: Told) -> None:
    launched = "Async agent launched successfully.\nagentId: a7"
    made.call("Task", launched, description="Read the queue")
    assert [each.query for each in state(made).running] == ["Read the queue"]
    made.call("TaskOutput", "<task_id>a7</task_id>\n\n<status>completed</status>")
    assert state(made).running == ()


def test_a_sub_agent_may_have_changed_files_up_to_its_last_trace(made: Told) -> None:
    made.edit("queue.py")
    made.call("Task", "Async agent launched successfully.\nagentId: a7", prompt="Fix the port")
    made.run("pytest -q", "3 passed")
    assert state(made).last_delegated > state(made).last_change
    made.edit("queue.py")
    assert state(made).last_delegated < state(made).last_change
    made.user("<task-notification>\n<task-id>a7</task-id>\n<status>completed</status>")
    assert state(made).last_delegated > state(made).last_change


def test_a_check_in_the_background_ends_with_the_poll_that_shows_its_exit_code(
    made: Told,
) -> None:
    made.call("Bash", STARTED, command="pytest -q", run_in_background=True)
    (begun,) = state(made).checks
    assert (begun.outcome, begun.said) == (Outcome.UNKNOWN, "")
    made.cwd = "/elsewhere"
    running = "<status>running</status>\n\n<stdout>\ncollected 3 items</stdout>"
    made.call("BashOutput", running, bash_id="b1")
    assert state(made).checks == (begun,)
    ended = "<status>failed</status>\n\n<exit_code>1</exit_code>\n\n<stdout>2 failed</stdout>"
    line = made.call("BashOutput", ended, bash_id="b1")
    assert [(each.outcome, each.line) for each in state(made).checks] == [(Outcome.FAILED, line)]
    assert state(made).running == ()


def test_a_poll_shows_a_commit_of_a_command_in_the_background(made: Told) -> None:
    made.edit("queue.py")
    made.call("Bash", STARTED, command="git commit -am 'Keep the port open'")
    made.call("BashOutput", f"Process exited with code 0\n{MADE}", bash_id="b1")
    assert [each.id for each in state(made).commits] == ["1a2b3c4"]


def test_a_commit_that_two_results_show_is_made_once_and_holds_nothing_changed_later(
    made: Told,
) -> None:
    made.edit("queue.py")
    started = f"Process running with session ID 7\n{MADE}"
    made.call("exec_command", started, cmd="git commit -am 'Keep the port open' && git push")
    made.edit("queue.py")
    for _ in range(2):
        made.call("write_stdin", "Process exited with code 0\nok", session_id=7)
    assert [(each.id, each.pushed) for each in state(made).commits] == [("1a2b3c4", "pushed")]
    assert files(state(made)) == ["queue.py"]


def test_what_a_quiet_commit_in_the_background_holds_was_changed_before_it(made: Told) -> None:
    made.edit("queue.py")
    made.call("Bash", STARTED, command="git add -A && git commit -qm x && make check")
    made.edit("queue.py")
    made.call("BashOutput", "Process exited with code 0\nok", bash_id="b1")
    assert files(state(made)) == ["queue.py"]
