"""When a memory is needed: derived from its words and evidence, or chosen."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.errors import ReviewerError
from reviewer.recall.moments import derived, doubts, offers, read_moment
from reviewer.sources.shell import heads


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("git push origin main", ("git push",)),
        ("cd web && FOO=1 git push", ("git push",)),
        ("git -C web push", ("git push",)),
        ("make -C web check", ("make check",)),
        ("/usr/bin/git push", ("git push",)),
        ("mise run lint | tee log.txt", ("mise run lint", "tee")),
        ("npm --silent run -s lint", ("npm run lint", "npm lint")),
        ("git --git-dir web/.git --no-pager push", ("git push",)),
        ("npm --prefix web --silent publish", ("npm web", "npm publish")),
        ("if ! git push; then echo late; fi", ("git push", "echo late")),
        ("docker --context far compose up", ("docker far", "docker compose up")),
        ("pytest -q tests/unit", ("pytest",)),
        ("echo 'git push'", ("echo",)),
        ("eval 'git' push", ("git push",)),
        ('eval "$(till env)"', ("till env", "eval")),
        ("git branch | xargs -n 1 git push till", ("git branch", "git push")),
        ("/usr/bin/sudo -u ada env A=1 timeout -k 3 60 nohup git push", ("git push",)),
        ("bash -euo pipefail -c 'command git push'", ("git push",)),
        ("true\n" * 40 + "git push", ("true", "git push")),
        *(
            (f"{prefix} git push", ("git push",))
            for prefix in (
                "sudo -P", "sudo -n", "sudo -nu ada", "sudo --user ada", "doas -n", "time -a",
                "time -f %e", "nice -d", "nice -n 5", "stdbuf -L", "stdbuf -o L", "env -iu HOME",
                "exec -a till", "timeout -k 3 60", "gtimeout --signal KILL 60", "xargs -E END",
                "xargs --max-args 1", "xargs -0n 1", "eval", "eval --",
            )
        ),
        *(
            (f"bash {options} 'git push'", ("git push",))
            for options in ("-O extglob -c", "-ce", "-c -e", "--rcfile till -c", "--norc +e -c")
        ),
        *(
            (f"{shell} <<EOF\ncd web\ngit push\nEOF", ("git push",))
            for shell in ("bash", "bash -e", "sudo sh -eu", "bash -s -- till", "bash -o pipefail")
        ),
        ("find . -name '*.till' -exec git push {} \\;", ("git push",)),
        ("sudo /usr/bin/find . -ok nice git push \\;", ("git push",)),
        ("find web -maxdepth 1 -type d -execdir git push +", ("git push",)),
        ("find . -name push", ("find",)),
        ("bash till.sh <<EOF\ngit push\nEOF", ("bash",)),
        ("bash till.sh -c 'git push'", ("bash",)),
        ("bash -C till.sh 'git push'", ("bash",)),
        ("sudo --edit till.conf", ("till.conf",)),
        ("eval git push origin $BRANCH", ("git push",)),
        ("eval 'git push' \"$OPTIONS\"", ("git push",)),
        ("eval git push $(till name)", ("till name", "git push")),
        ("eval $TILL git push", ("eval",)),
        ("", ()),
    ],
)  # fmt: skip
def test_a_command_is_known_by_program_and_subcommand(line: str, commands: tuple[str, ...]) -> None:
    assert heads(line) == commands


@pytest.mark.parametrize(
    ("content", "moments"),
    [
        ("Run `git fetch` before pushing.", []),
        ("Trailers are read in `till/paper.go` only.", ["path till/paper.go"]),
        ("What lies in docs/guides/ is generated.", ["path docs/guides/"]),
        ("See https://example.org/a/b.html, e.g. twice.", []),
        ("Receipts are printed in black.", []),
        ("Rebase feature/coins onto origin/main.", []),
        ("Branches are named till/<ticket>.", []),
        ("Coins are read in till/coin.go.", ["path till/coin.go"]),
        ("The first sale lies in 0/ and the next in 1/.", []),
        ("Weights are kept in till/coin.rs<T>, or in coin.rs/<unit>.", ["path till/coin.rs"]),
    ],
)
def test_a_statement_names_its_paths(content: str, moments: list[str]) -> None:
    assert [str(each) for each in derived(content)] == moments


def test_the_failure_in_the_evidence_is_a_moment() -> None:
    quote = "till/coin.go:41:3: error is not nil (line 50) but it returns nil (nilerr)"
    (moment,) = derived("A swallowed error needs a directive.", [quote])
    assert moment.kind == "error"
    assert moment.value.startswith("nilerr: ")
    assert "50" not in moment.value
    assert derived("A till has no paper.", ["Error: the till 7 has no paper"])
    assert not derived("A till has no paper.", ["Till 7: no paper"])
    assert not derived("Wash trays.", ["Error: ENOENT: no such file or directory, open '/a/b'"])


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("command git push --force", "command git push"),
        ("path ./src/pay/", "path src/pay/"),
        ("Error nilerr", "error nilerr"),
        ("guard git push --force", "guard git push --force"),
        ("before git push", "guard git push"),
        ("before rm -rf /", "guard rm -rf"),
        ("stops the first git push --force", "guard git push --force"),
        ("before editing src/deploy.go", "guard src/deploy.go"),
        ("guard src/pay/", "guard src/pay/"),
        ("edit ./src/pay/", "edit src/pay/"),
        ("edit README.md", "edit README.md"),
        ("guard src\\pay\\coin.py", "guard src/pay/coin.py"),
        ("path /home/till/src/pay/", "path home/till/src/pay/"),
        ("guard $(git push)", "guard git push"),
        ("tool mcp__db__query", "tool mcp__db__query"),
        ("always", "always"),
        ("only", "only"),
        ("no packet", "only"),
        ("No prompt", "unprompted"),
    ],
)
def test_a_person_writes_moments(written: str, read: str) -> None:
    assert str(read_moment(written)) == read


def test_of_two_possible_commands_a_person_says_which() -> None:
    with pytest.raises(ReviewerError, match=r"npm web or npm publish\. .* guard npm publish\."):
        read_moment("guard npm --prefix web publish")


@pytest.mark.parametrize(
    "written",
    ["", "git push", "command", "always now", "later x", "tool mcp__db__.*", 'command ""',
     "guard 'a;b'", 'guard "git push && git pull"', "command cd web"],
)  # fmt: skip
def test_what_is_no_moment_is_refused_with_what_is(written: str) -> None:
    with pytest.raises(ReviewerError, match=r"Examples: command git push|takes|such as"):
        read_moment(written)


@pytest.mark.parametrize(
    ("written", "separate"),
    [
        ("before git push, before gh pr create", "before git push; before gh pr create"),
        ("path src/pay/ and edit src/b.go", "path src/pay/; edit src/b.go"),
        ("guard git push --force and no prompt", "guard git push --force; no prompt"),
    ],
)
def test_two_moments_in_one_are_refused_with_their_separate_form(
    written: str, separate: str
) -> None:
    with pytest.raises(ReviewerError) as refused:
        read_moment(written)
    assert str(refused.value) == f"Separate moments with a semicolon: {separate}."


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("before git push and when src/pay/ is named", "guard src/pay/"),
        ("before Edit cmd/till/hooks.go", "guard cmd/till/hooks.go"),
        ("edit of src/pay/coin.go", "edit src/pay/coin.go"),
    ],
)
def test_a_path_with_a_blank_is_that_of_a_file(written: str, right: str, tmp_path: Path) -> None:
    roots = [str(tmp_path)]
    with pytest.raises(ReviewerError, match=f"no file of the project. Write {right}, and further"):
        read_moment(written, roots)
    (tmp_path / "night shift").mkdir()
    assert read_moment("before night shift/", roots).value == "night shift/"


@pytest.mark.parametrize("text", ["banana", "never", "when it fails", "guar", "no prompt"])
def test_words_without_a_command_or_path_are_taken_for_no_moment(text: str) -> None:
    assert offers(text) == ()


def test_what_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "bin").mkdir()
    for program in ("git", "mkfs.ext4"):
        (tmp_path / "bin" / program).touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    texts = ("path src/", "edit SRC/PAY.GO", "guard frobnicate --all", "command git push",
             "guard mkfs.ext4", "always")  # fmt: skip
    moments = [read_moment(each) for each in texts]
    assert [each.partition(":")[0] for each in doubts(moments, [str(tmp_path)])] == [
        "edit SRC/PAY.GO",
        "guard frobnicate --all",
    ]


@pytest.mark.parametrize("text", ["guard git push and npm test", "command git push origin"])
def test_words_after_a_command_that_would_not_count_are_named(text: str) -> None:
    with pytest.raises(
        ReviewerError, match=r"sees the program .* only: write (guard|command) git push,"
    ):
        read_moment(text)
