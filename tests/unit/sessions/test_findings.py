"""What cost something in a session, from its events alone."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from reviewer.sessions.findings import Finding, Findings, Kind, findings_of
from tests.unit.sessions.told import Told

LINT = "a/rows.go:88:15: Error return value of `rows.Close` is not checked (errcheck)"


@pytest.fixture
def told(tmp_path: Path) -> Told:
    told = Told(folder=tmp_path)
    told.user("Please do it")
    return told


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


def test_of_several_changes_that_nothing_points_to_none_is_told(told: Told) -> None:
    told.run("mise run lint", LINT, failed=True)
    told.edit("/work/shop/a/rows.go", "one := 1", "one := 2")
    told.edit("/work/shop/a/rows.go", "two := 1", "two := 2")
    told.run("mise run lint")

    assert (only(told).passed, only(told).fix) == (True, "")


def test_the_change_since_a_test_failed_last_has_mended_it(told: Told) -> None:
    failing = "--- FAIL: TestRows (0.0s)\n    rows_test.go:12: 3 rows, want 2"
    told.run("go test ./...", failing, failed=True)
    told.edit("/work/shop/rows.go", "limit = 3", "limit = 4")
    told.run("go test ./...", failing, failed=True)
    told.edit("/work/shop/store.go", "limit = 4", "limit = 2")
    told.run("go test ./...")

    assert only(told).fix == "store.go: `limit = 4` → `limit = 2`"


@pytest.mark.parametrize(
    ("count", "fix"),
    [(2, "a0.go: `x = 1` → `x = 2`; a1.go: `x = 1` → `x = 2`"), (3, "")],
)
def test_two_changes_since_a_test_failed_have_mended_it_together(
    told: Told, count: int, fix: str
) -> None:
    told.run("go test ./...", "--- FAIL: TestRows (0.0s)", failed=True)
    for number in range(count):
        told.edit(f"/work/shop/a{number}.go", "x = 1", "x = 2")
    told.run("go test ./...")

    assert only(told).fix == fix


def test_of_what_a_test_logged_the_last_line_says_why_it_failed(told: Told) -> None:
    logged = "=== RUN TestRows\n    rows_test.go:8: three rows\n    rows_test.go:9: want 2 rows"
    told.run("go test -v ./...", f"{logged}\n--- FAIL: TestRows (0.0s)\n", failed=True)

    assert only(told).text == "rows_test.go:9: want 2 rows"


def test_the_text_is_that_of_the_failure_that_was_mended(told: Told) -> None:
    for name in ("a", "b"):
        line = LINT.replace("a/rows.go", f"{name}/{name}.go")
        told.run("mise run lint", line, failed=True)
        told.edit(f"/work/shop/{name}.go", "rows.Close()", f"{name} = rows.Close()")
        told.run("mise run lint")

    finding = only(told)

    assert finding.text.startswith("b/b.go")
    assert finding.fix == "b.go: `rows.Close()` → `b = rows.Close()`"
    assert [each.text for each in finding.evidence][:2] == [finding.text, finding.fix]


def test_of_a_failure_that_was_mended_twice_the_latest_change_is_told(told: Told) -> None:
    for change in ("_ = rows.Close()", "closed(rows.Close())"):
        told.run("mise run lint", LINT, failed=True)
        told.edit("C:\\shop\\a\\rows.go", "rows.Close()", change)
        told.run("mise run lint")

    finding = only(told)

    assert finding.fix == "rows.go: `rows.Close()` → `closed(rows.Close())`"
    assert [each.text for each in finding.evidence] == [LINT, finding.fix, LINT]


def test_a_call_repeated_in_vain_counts_each_time(told: Told) -> None:
    for _ in range(3):
        told.run("make build", "error: the widget is missing", failed=True)

    finding = only(told)

    assert (finding.times, finding.cost, finding.passed, finding.fix) == (3, 3, False, "")


def test_a_command_is_not_blamed_for_another_part_of_its_line(told: Told) -> None:
    told.run("go vet ./... && make lint", LINT, failed=True)
    told.run("git fetch && git merge main && npm ci", "fatal: not something", failed=True)

    assert [each.command for each in found(told)] == ["", ""]


def test_the_part_that_says_it_failed_is_blamed(told: Told) -> None:
    told.run("make build && deploy --now", "deploy: the target is missing", failed=True)

    assert only(told).command == "deploy"


def test_a_failure_that_a_pipe_hides_is_seen_by_its_rule(told: Told) -> None:
    told.run("golangci-lint run | tail -5", LINT)

    assert only(told).signature.startswith("errcheck")


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


def test_what_succeeded_with_such_words_did_not_fail(told: Told) -> None:
    told.run("deploy --now", "error: none\n")
    told.run("go test -v ./... | tail -5", "    rows_test.go:12: a log\nok  \tshop/a\t0.3s\n")
    told.run("make | tail -5", "rows.c:1:2: warning: unused variable\n")
    told.run("cat notes.txt | head -5", "error: in the notes\n")

    assert not found(told)


def test_a_command_behind_which_lines_are_filtered_out_passes_nothing(told: Told) -> None:
    told.run("cargo test", "error[E0432]: unresolved import `shop::rows`", failed=True)
    told.edit("/work/shop/a.rs", "use shop::rows;", "use crate::rows;")
    told.run('cargo test 2>&1 | grep -A 5 "running"')

    assert not only(told).passed


def test_a_narrower_command_that_passes_proves_nothing(told: Told) -> None:
    told.run("go test ./store", "--- FAIL: TestRows (0.0s)", failed=True)
    told.run("go test ./web")

    assert not only(told).passed


def test_a_way_out_of_the_environment_is_the_command_that_did_the_same(told: Told) -> None:
    told.run("python tools/count.py --all", "bash: python: command not found", failed=True)
    told.run("python3 tools/count.py --all")

    finding = only(told)

    assert finding.kind is Kind.ENVIRONMENT
    assert finding.fix == "`python3 tools/count.py --all`"


def test_running_the_same_command_beside_another_is_no_remedy(told: Told) -> None:
    told.run("mise run lint", LINT, failed=True)
    told.run("mise run lint && mise run test")

    assert (only(told).passed, only(told).fix) == (True, "")


def test_what_the_code_lacks_has_no_command_as_its_remedy(told: Told) -> None:
    told.run("go test ./...", "--- FAIL: TestRows (0.0s)", failed=True)
    told.run("git fetch")
    told.run("go test ./... -count=1")

    assert (only(told).passed, only(told).fix) == (True, "")


def test_a_way_out_that_cannot_be_told_from_the_failure_is_not_told(told: Told) -> None:
    told.run("python3 - <<'E'\nprint(one\nE", "error: the file is not closed", failed=True)
    told.run("python3 - <<'E'\nprint(one)\nE")

    assert (only(told).passed, only(told).fix) == (True, "")


def test_commands_that_only_look_cost_nothing(told: Told) -> None:
    told.run("cat missing.txt", "cat: missing.txt: No such file or directory", failed=True)
    told.run("grep -n word file", "", failed=True)
    told.run("ls && rg -n word src", "src/log.ts:7:function word(text: string) {", failed=True)
    told.call("Read", "<tool_use_error>File does not exist.</tool_use_error>", failed=True)

    assert not found(told)


def test_a_refused_call_has_the_persons_words(told: Told) -> None:
    told.refuse("Bash", "never push to main", command="git push origin main")

    finding = only(told)

    assert (finding.kind, finding.command) == (Kind.REFUSAL, "git push")
    assert finding.words == "never push to main"
    assert [each.text for each in finding.evidence] == [
        "git push origin main", "never push to main",
    ]  # fmt: skip


def test_the_words_of_a_refusal_may_be_the_next_message(told: Told) -> None:
    told.refuse("Bash", command="git push")
    told.user("[Request interrupted by user for tool use]")
    told.user("commit first")

    assert only(told).words == "commit first"


def test_what_went_well_was_not_refused_by_an_interruption(told: Told) -> None:
    told.run("git commit -m done", "[main f0bf20a] done")
    told.user("[Request interrupted by user]")
    told.user("we already have another plugin")

    assert not found(told)


def test_a_refusal_without_words_is_counted(told: Told) -> None:
    told.refuse("Bash", command="git push")
    told.run("make something")

    finding = only(told)

    assert (finding.kind, finding.signature, finding.words) == (Kind.REFUSAL, "git push", "")


def test_a_message_after_which_the_last_act_is_changed_is_a_correction(told: Told) -> None:
    told.edit("/work/shop/x.py", "pass", 'print("starting the server")')
    told.user("no prints, use the logger")
    told.edit("/work/shop/x.py", 'print("starting the server")', 'log.info("starting")')

    finding = only(told)

    assert (finding.kind, finding.words) == (Kind.CORRECTION, "no prints, use the logger")
    assert finding.text.startswith("Edit x.py: `pass`")
    assert finding.fix.startswith("Edit x.py: `print")


def test_a_command_run_otherwise_after_a_message_that_names_how_is_a_correction(told: Told) -> None:
    told.run("npm test")
    told.user("run it with coverage please")
    told.run("npm test -- --coverage")

    assert only(told).kind is Kind.CORRECTION


def test_another_message_of_a_commit_is_none(told: Told) -> None:
    told.run("git commit -m 'Number the quays'")
    told.user("number the gates as well")
    told.run("git commit -m 'Number the gates'")

    assert not found(told)


def test_a_message_about_something_else_is_none(told: Told) -> None:
    told.edit("/work/shop/x.py", "pass", "value = compute(rows)")
    told.user("now the readme please")
    told.edit("/work/shop/README.md", "old words here", "new words here")
    told.run("git status")

    assert not found(told)


def test_a_failure_that_the_person_pastes_is_found(told: Told) -> None:
    told.user(f"CI says\n{LINT}\nplease fix")

    assert only(told).text == LINT


def test_secrets_are_masked(told: Told) -> None:
    told.run("deploy", "error: login failed with ghp_abcdefghijklmnopqrstuvwxyz0123456789",
             failed=True)  # fmt: skip

    assert "ghp_abcdef" not in repr(found(told))


def test_a_session_of_failures_only_takes_little_memory(told: Told) -> None:
    for _ in range(1_500):
        told.run("make build", "error: the widget is missing", failed=True)
    findings = Findings()
    events = told.events()
    tracemalloc.start()
    for event in events:
        findings.add(event)
    (finding,) = findings.close()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert finding.times == 1_500
    assert len(finding.evidence) <= 4
    assert peak < 6_000_000


@pytest.mark.parametrize(
    "line", ["\x1b[31merror: the widget is missing\x1b[0m", "完了\x07", "=" * 99]
)
def test_an_output_of_many_megabytes_is_read_in_part(line: str, told: Told) -> None:
    told.run("make build", f"{line}\n" * 200_000, failed=True)

    assert len(found(told)) <= 1
