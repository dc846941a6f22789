"""What stays the same when a failure comes up again."""

from __future__ import annotations

import pytest

from reviewer.sessions.signatures import failing_lines, is_environment, signature


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "pkg/store/rows.go:88:15: Error return value of `rows.Close` is not checked (errcheck)",
            "errcheck: error return value of * is not checked",
        ),
        (
            "a/b.go:7:2: SA4006: this value of err is never used (staticcheck)",
            "SA4006 (staticcheck): this value of err is never used",
        ),
        ("src/app.py:3:1: F401 `os` imported but unused", "F401: * imported but unused"),
        ("src/app.ts(12,5): error TS2304: Cannot find name 'rows'.", "TS2304: cannot find name *."),
        (
            "reviewer/x.py:4: error: Incompatible return value  [return-value]",
            "return-value: incompatible return value",
        ),
        ("  12:5  error  'a' is assigned a value  no-unused-vars", "no-unused-vars: * is assigned"),
        ("error[E0277]: the trait bound `A: B` is not satisfied", "E0277: the trait bound *"),
        ("web/App.tsx:9:2 lint/style/useConst ━━━━━━━━━━━", "lint/style/useConst"),
        ("ModuleNotFoundError: No module named 'pytz'", "ModuleNotFoundError: no module named *"),
        ("fatal: ambiguous argument 'ddfa7c25a183': unknown revision", "fatal: ambiguous argument"),
        ("/bin/bash: line 1: python: command not found", "python: command not found"),
        (
            " ! [rejected] main -> main (fetch first)\nerror: failed to push some refs to 'x'",
            "! [rejected] main -> main (fetch first)",
        ),
        (
            "[hook] Snapshots must be reviewed\nerror: failed to push some refs to 'x'",
            "[hook] snapshots must be reviewed",
        ),
        ("No such file or directory: /home/ann/x/y.txt (17 tries)", "no such file or directory: *"),
    ],
)
def test_a_signature_keeps_the_rule_and_the_words_but_no_names(line: str, expected: str) -> None:
    assert signature(line).startswith(expected)


def test_a_rule_behind_a_line_break_is_kept() -> None:
    broken = "cmd/a.go:3:1: Function name: run,\nCyclomatic Complexity: 36 (maintidx)"

    assert failing_lines(broken)[0].rule == "maintidx"


def test_the_plainest_lines_of_an_output_are_the_failures() -> None:
    output = (
        "Exit code 1\n[lint] $ golangci-lint run ./...\nfirst.go:1:2: unused thing (unused)\n"
        "second.go:9:2: other words here (revive)\nthird.go:1:9: unused thing (unused)\n"
        "[lint] ERROR task failed\n"
    )

    first, second = output.split("\n")[2:4]
    found = failing_lines(output)
    assert [(each.number, each.text, each.signature, each.path, each.rule) for each in found] == [
        (2, first, "unused: unused thing", "first.go", "unused"),
        (3, second, "revive: other words here", "second.go", "revive"),
    ]


def test_lines_of_an_output_are_counted_from_its_beginning_however_long_it_is() -> None:
    output = "ok\n" * 100_000 + "x.go:1:2: message here (lint)\n"

    assert [each.number for each in failing_lines(output)] == [100_000]


def test_a_failure_amid_many_short_lines_is_read() -> None:
    middle = "ok\n" * 1_500
    output = f"{middle}error: the paper is not found\n{middle}"
    assert [each.number for each in failing_lines(output)] == [1_500]
    assert not failing_lines(output, most_lines=1_000)


def test_the_output_of_a_command_that_need_not_have_failed_fails_only_with_a_rule() -> None:
    assert not failing_lines("error: something or other\nlog.go:12: done (all)", plain=True)
    assert failing_lines("log.go:12:1: do it (revive)", plain=True)


@pytest.mark.parametrize(
    "below",
    ["INFO  quays > A new version of quays is available", "Warning: hooks.before is deprecated",
     "npm notice Access token expired.", "hint: Use -f to add them.", "-- Looking for ffi.h"],
)  # fmt: skip
def test_what_a_tool_tells_beside_the_failure_is_none(below: str) -> None:
    output = f"{below}\nQuays Error at quays.txt (find_quay)\nSee the log."
    assert [each.text for each in failing_lines(output)] == ["Quays Error at quays.txt (find_quay)"]


def test_what_an_agent_writes_in_place_of_an_output_is_no_failure() -> None:
    assert signature("<tool_use_error>Sibling tool call errored</tool_use_error>") == ""


def test_an_output_without_words_has_no_signature() -> None:
    assert signature("") == signature("Exit code 1") == signature("===\n---\n") == ""


def test_missing_programs_and_files_belong_to_the_environment() -> None:
    assert is_environment("zsh: command not found: npx")
    assert is_environment("Error: listen EADDRINUSE: :::3000")
    assert not is_environment("a.go:1:2: Error return value is not checked (errcheck)")
