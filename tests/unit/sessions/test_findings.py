"""What cost something in a session, from its events alone."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from reviewer.sessions.findings import Finding, Findings, Kind
from reviewer.sources.events import Event
from tests.memory import peak_of
from tests.unit.sessions.told import Step, Told, calls, edits, fails, refuses, runs, user

LINT = "a/rows.go:88:15: Error return value of `rows.Close` is not checked (errcheck)"


@pytest.fixture
def told(tmp_path: Path) -> Told:
    told = Told(folder=tmp_path)
    told.user("Please do it")
    return told


def findings_of(events: Iterable[Event]) -> list[Finding]:
    findings = Findings()
    for event in events:
        findings.add(event)
    return findings.close()


def found(told: Told) -> list[Finding]:
    return findings_of(told.events())


def only(told: Told) -> Finding:
    (finding,) = found(told)
    return finding


def test_a_failure_has_what_made_the_same_command_pass(told: Told) -> None:
    told.run("mise run lint", LINT, failed=True)
    told.edit("/work/shop/b.go", "unrelated", "other")
    told.edit("/work/shop/a/rows.go", "rows.Close()", "_ = rows.Close()")
    told.run("mise run lint")

    finding = only(told)

    assert finding.kind is Kind.FAILURE
    assert finding.signature == "errcheck: error return value of * is not checked"
    assert (finding.command, finding.text) == ("mise run lint", LINT)
    assert finding.fix == "rows.go: `rows.Close()` → `_ = rows.Close()`"
    assert finding.passed
    assert (finding.times, finding.cost, finding.session) == (1, 3, "s1")
    assert [(each.line, each.text) for each in finding.evidence] == [(2, LINT), (5, finding.fix)]
    assert finding.first == finding.last == "2026-02-14T10:00:02Z"


def test_a_failure_that_a_poll_shows_is_one_of_the_command_in_the_background(told: Told) -> None:
    for end in ("1\nerror: unknown port\n", "0\n3 passed\n"):
        told.call("Bash", "Command running in background with ID: b1", command="make spool")
        told.call("BashOutput", f"Process exited with code {end}", bash_id="b1")
    finding = only(told)
    assert (finding.command, finding.text) == ("make spool", "error: unknown port")
    assert finding.passed


def test_an_end_that_several_polls_show_is_one_failure_and_a_lost_task_is_none(told: Told) -> None:
    told.call("Bash", "Command running in background with ID: b1", command="make spool")
    ended = "<status>failed</status>\n\n<exit_code>1</exit_code>\n\nerror: unknown port"
    for _ in range(3):
        told.call("BashOutput", ended, bash_id="b1")
    told.call("Bash", "Command running in background with ID: b2", command="make check")
    lost = "<tool_use_error>No task found with ID: b2</tool_use_error>"
    told.call("TaskOutput", lost, failed=True, task_id="b2")
    assert (only(told).command, only(told).times) == ("make spool", 1)


def test_a_remedy_is_told_as_it_was_when_the_command_passed(told: Told) -> None:
    file = "/work/shop/a/rows.go"
    told.run("mise run lint", f"{LINT}\n\trows.Close() // done with it", failed=True)
    told.edit(file, "rows.Close() // done with it", "err := rows.Close() //nolint:errcheck")
    told.edit(file, "err := rows.Close() //nolint:errcheck", "closed := rows.Close() == nil")
    told.run("mise run lint")
    finding = only(told)
    assert (
        finding.fix == "rows.go: `rows.Close() // done with it` → `closed := rows.Close() == nil`"
    )
    assert [each.line for each in finding.evidence] == [2, 5]


def test_a_change_for_another_rule_is_no_remedy(told: Told) -> None:
    other = "a/rows.go:9:2: error is not nil but it returns nil (nilerr)"
    told.run("mise run lint", f"{LINT}\n\trows.Close()\n{other}\n\treturn nil", failed=True)
    told.edit("/work/shop/a/rows.go", "return nil", "return nil //nolint:nilerr")
    told.edit("/work/shop/a/rows.go", "    rows.Close()", "    if err := done(); err != nil {}")
    told.edit("/work/shop/b/rows_list.go", "is Error value", "is Error value of rows checked")
    told.run("mise run lint")

    assert [(each.text, each.fix) for each in found(told)] == [
        (LINT, "rows.go: `rows.Close()` → `if err := done(); err != nil {}`"),
        (other, "rows.go: `return nil` → `return nil //nolint:nilerr`"),
    ]


TESTS, FAIL = "go test ./...", "--- FAIL: TestRows (0.0s)\n    rows_test.go:12: 3 rows, want 2"
NO_DEBUG = """error[E0277]: `shop::Index` doesn't implement `Debug`
  --> db.rs:9:17
   |
 9 | #[derive(Clone, Debug)]
   |                 ^^^^^ the trait `Debug` is not implemented for `Index`

error: could not compile `shop`"""
UNSORTED = f"./src/a.ts organizeImports {'━' * 40}"
REMEDIES: dict[str, tuple[list[Step], bool, str]] = {
    "of several changes that nothing points to none": (
        [fails("mise run lint", LINT), edits("a/rows.go", "one := 1", "one := 2"),
         edits("a/rows.go", "two := 1", "two := 2"), runs("mise run lint")],
        True, "",
    ),
    "the change since a test failed last": (
        [fails(TESTS, FAIL), edits("rows.go", "limit = 3", "limit = 4"), fails(TESTS, FAIL),
         edits("store.go", "limit = 4", "limit = 2"), runs(TESTS)],
        True, "store.go: `limit = 4` → `limit = 2`",
    ),
    "of two changes since a test failed none": (
        [fails(TESTS, FAIL), *(edits(name, "x = 1", "x = 2") for name in ("a.go", "b.go")),
         runs(TESTS)],
        True, "",
    ),
    "the same change in two places": (
        [fails(TESTS, FAIL), *(edits("a.go", "x = 1", "x = 2") for _ in range(2)), runs(TESTS)],
        True, "a.go: `x = 1` → `x = 2`",
    ),
    "the change where the compiler points": (
        [fails("cargo test", NO_DEBUG), edits("db.rs", "use shop::Index;", "use Index;"),
         edits("db.rs", "#[derive(Clone, Debug)]", "#[derive(Clone)]"),
         edits("db.rs", "let index = 1;", "let index = Index::new();"),
         runs("cargo test")],
        True, "db.rs: `#[derive(Clone, Debug)]` → `#[derive(Clone)]`",
    ),
    "not a change that was not made": (
        [fails(TESTS, FAIL), calls("Edit", "old_string not found", failed=True, file_path="rows.go",
               old_string="limit = 3", new_string="limit = 4"),
         edits("store.go", "limit = 4", "limit = 2"), runs(TESTS)],
        True, "store.go: `limit = 4` → `limit = 2`",
    ),
    "a line that was moved": (
        [fails("bun run lint", UNSORTED), edits("a.ts", "two,\none,", "one,\ntwo,"),
         runs("bun run lint")],
        True, "a.ts: moved `one,`",
    ),
    "the formatter of the file, and no check": (
        [fails("bun run lint", UNSORTED), runs("bun run typecheck"),
         runs("bunx biome check --write src/a.ts"), edits("b.ts", "x = 1", "x = 2"),
         runs("bun run lint")],
        True, "`bunx biome check --write src/a.ts`",
    ),
    "not one of two commands": (
        [fails("git push", "! [rejected] main -> main"), runs("git fetch"), runs("git rebase"),
         runs("git push")],
        True, "",
    ),
    "nothing passed with another script": (
        [fails("python3 - <<'E'\nprint(one\nE", "error: the file is not closed"),
         runs("python3 - <<'E'\nprint(one)\nE")],
        False, "",
    ),
    "nothing passed with another argument": (
        [fails("workmux capture quay", "Error: No agent running in worktree 'quay'"),
         runs("workmux capture pier")],
        False, "",
    ),
    "nothing passed where help is shown": (
        [fails("bd list --short", "Error: unknown flag: --short"), runs("bd list --help")],
        False, "",
    ),
    "other options for the same things": (
        [fails("gh pr diff 104 --stat", "unknown flag: --stat"),
         runs("gh pr diff 104 --name-only")],
        True, "`gh pr diff 104 --name-only`",
    ),
    "a check that covers the failed one": (
        [fails("pytest tests/quays.py", "E   KeyError: 'quay'"), edits("a.py", "x = 1", "x = 2"),
         runs("pytest")],
        True, "a.py: `x = 1` → `x = 2`",
    ),
    "not the same command beside another": (
        [fails("mise run lint", LINT), runs("mise run lint && mise run test")], True, "",
    ),
    "not a command, where the code lacks something": (
        [fails(TESTS, FAIL), runs("git fetch"), runs(TESTS)], True, "",
    ),
    "nothing passed with a narrower command": (
        [fails("go test ./store", FAIL), runs("go test ./web")], False, "",
    ),
    "nothing passed where lines are filtered out": (
        [fails("cargo test", "error[E0432]: unresolved import `shop::rows`"),
         edits("a.rs", "use shop::rows;", "use crate::rows;"),
         runs('cargo test 2>&1 | grep -A 5 "running"')],
        False, "",
    ),
}  # fmt: skip
"""What was done about a failure, whether its command passed then, and what counts as the remedy."""


@pytest.mark.parametrize("what", REMEDIES)
def test_the_remedy_of_a_failure(told: Told, what: str) -> None:
    steps, passed, fix = REMEDIES[what]
    finding = only(told.go(steps))
    assert (finding.passed, finding.fix) == (passed, fix)


NOTHING: dict[str, list[Step]] = {
    "such words in what succeeded": [
        runs("deploy --now", "error: none\n"),
        runs("go test -v ./... | tail -5", "    rows_test.go:12: a log\nok  \tshop/a\t0.3s\n"),
        runs("make | tail -5", "rows.c:1:2: warning: unused variable\n"),
        runs("cat notes.txt | head -5", "error: in the notes\n"),
    ],
    "commands that only look": [
        fails("cat missing.txt", "cat: missing.txt: No such file or directory"),
        fails("grep -n word file", ""),
        fails("ls && rg -n word src", "src/log.ts:7:function word(text: string) {"),
        lambda told: told.call("Read", "<tool_use_error>No file.</tool_use_error>", failed=True),
    ],
    "an interruption after what went well": [
        runs("git commit -m done", "[main f0bf20a] done"),
        user("[Request interrupted by user]"),
        user("we already have another plugin"),
    ],
    "another message of a commit": [
        runs("git commit -m 'Number the quays'"),
        user("number the gates as well"),
        runs("git commit -m 'Number the gates'"),
    ],
    "help asked for before a message": [
        runs("workmux add --help"),
        user("a review of the quays, too"),
        runs("workmux add review/quays"),
    ],
    "a plan that other work goes through": [
        edits("plan.md", "", "- [ ] write the parser of quays\n- [ ] write its tests"),
        user("looks amazing, start"),
        edits("parser.py", "pass", "value = compute(rows)"),
        edits("plan.md", "- [ ] write the parser of quays", "- [x] write the parser of quays"),
    ],
    "a message about something else": [
        edits("x.py", "pass", "value = compute(rows)"),
        user("now the readme please"),
        edits("README.md", "old words here", "new words here"),
        runs("git status"),
    ],
}


@pytest.mark.parametrize("what", NOTHING)
def test_nothing_is_found_in(told: Told, what: str) -> None:
    assert not found(told.go(NOTHING[what]))


LOGGED = "=== RUN TestRows\n    rows_test.go:8: three rows\n    rows_test.go:9: want 2 rows"
FOUND: dict[str, tuple[list[Step], dict[str, object]]] = {
    "the last line that a test logged": (
        [fails("go test -v ./...", f"{LOGGED}\n--- FAIL: TestRows (0.0s)\n")],
        {"text": "rows_test.go:9: want 2 rows"},
    ),
    "a way out of the environment": (
        [fails("python tools/count.py --all", "bash: python: command not found"),
         runs("python3 tools/count.py --all")],
        {"kind": Kind.ENVIRONMENT, "fix": "`python3 tools/count.py --all`"},
    ),
    "a call repeated in vain, each time": (
        [fails("make build", "error: the widget is missing")] * 3,
        {"times": 3, "cost": 3, "passed": False, "fix": ""},
    ),
    "the part of a line that says it failed": (
        [fails("make build && deploy --now", "deploy: the target is missing")],
        {"command": "deploy"},
    ),
    "a rule in what a pipe lets through": (
        [runs("golangci-lint run | tail -5", LINT)],
        {"signature": "errcheck: error return value of * is not checked"},
    ),
    "a refusal with the words of the next message": (
        [refuses("Bash", command="git push"),
         user("[Request interrupted by user for tool use]"), user("commit first")],
        {"kind": Kind.REFUSAL, "words": "commit first"},
    ),
    "a refusal without words": (
        [refuses("Bash", command="git push"), runs("make something")],
        {"kind": Kind.REFUSAL, "signature": "git push", "words": ""},
    ),
    "a command run otherwise after a message that names how": (
        [runs("npm test"), user("run it with coverage please"), runs("npm test -- --coverage")],
        {"kind": Kind.CORRECTION},
    ),
    "a failure that the person pastes": (
        [user(f"CI says\n{LINT}\nplease fix")], {"text": LINT},
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", FOUND)
def test_it_is_found(told: Told, what: str) -> None:
    steps, fields = FOUND[what]
    finding = only(told.go(steps))
    assert {name: getattr(finding, name) for name in fields} == fields


def test_of_a_failure_that_was_mended_twice_the_latest_change_is_told(told: Told) -> None:
    for change in ("_ = rows.Close()", "closed(rows.Close())"):
        told.run("mise run lint", LINT, failed=True)
        told.edit("C:\\shop\\a\\rows.go", "rows.Close()", change)
        told.run("mise run lint")

    finding = only(told)

    assert finding.fix == "rows.go: `rows.Close()` → `closed(rows.Close())`"
    assert [each.text for each in finding.evidence] == [LINT, finding.fix, LINT]


def test_a_command_is_not_blamed_for_another_part_of_its_line(told: Told) -> None:
    told.run("go vet ./... && make lint", LINT, failed=True)
    told.run("git fetch && git merge main && npm ci", "fatal: not something", failed=True)

    assert [each.command for each in found(told)] == ["", ""]


@pytest.mark.parametrize(
    "command",
    ["go test ./... 2>&1 | tail -20", "go test ./... | head -40", "go test ./... || true",
     "go test ./...; echo done"],
)  # fmt: skip
@pytest.mark.parametrize(
    "line",
    ["--- FAIL: TestRows (0.02s)", "a/rows.go:9:2: undefined: rows", "FAIL\tshop/a\t0.3s",
     "error[E0432]: unresolved import `shop::rows`", "error: could not compile `shop`"],
)  # fmt: skip
def test_a_failure_whose_exit_code_another_command_hides_is_found(
    told: Told, command: str, line: str
) -> None:
    told.run(command, f"building\n{line}\n")

    finding = only(told)

    assert (finding.text, finding.command) == (line, "go test")


def test_a_refused_call_has_the_persons_words(told: Told) -> None:
    told.refuse("Bash", "never push to main", command="git push origin main")

    finding = only(told)

    assert (finding.kind, finding.command) == (Kind.REFUSAL, "git push")
    assert finding.words == "never push to main"
    assert [each.text for each in finding.evidence] == [
        "git push origin main", "never push to main",
    ]  # fmt: skip


def test_a_message_after_which_the_last_act_is_changed_is_a_correction(told: Told) -> None:
    told.edit("/work/shop/x.py", "pass", 'print("starting the server")')
    told.user("no prints, use the logger")
    told.edit("/work/shop/x.py", 'print("starting the server")', 'log.info("starting")')

    finding = only(told)

    assert (finding.kind, finding.words) == (Kind.CORRECTION, "no prints, use the logger")
    assert finding.text.startswith("Edit x.py: `pass`")
    assert finding.fix.startswith("Edit x.py: `print")


def test_secrets_are_masked(told: Told) -> None:
    told.run("deploy", "error: login failed with ghp_abcdefghijklmnopqrstuvwxyz0123456789",
             failed=True)  # fmt: skip

    assert "ghp_abcdef" not in repr(found(told))


def test_a_session_of_failures_only_takes_little_memory(told: Told) -> None:
    for _ in range(1_500):
        told.run("make build", "error: the widget is missing", failed=True)
    events = told.events()

    peak, (finding,) = peak_of(lambda: findings_of(events))

    assert finding.times == 1_500
    assert len(finding.evidence) <= 4
    assert peak < 6_000_000


@pytest.mark.parametrize(
    "line", ["\x1b[31merror: the widget is missing\x1b[0m", "完了\x07", "=" * 99]
)
def test_an_output_of_many_megabytes_is_read_in_part(line: str, told: Told) -> None:
    told.run("make build", f"{line}\n" * 200_000, failed=True)

    assert len(found(told)) <= 1
