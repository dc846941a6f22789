"""`reviewer help TOPIC`: the documentation comes with the program."""

from __future__ import annotations

from tests.cli.conftest import Reviewer
from tests.generate_docs import DOCS

TOPICS = sorted(path.stem for path in DOCS.glob("*.md"))


def test_the_pages_are_listed_with_their_titles(reviewer: Reviewer) -> None:
    done = reviewer.succeeds("help", db=False)
    assert [line.split()[0] for line in done.stdout.splitlines()[: len(TOPICS)]] == TOPICS


def test_a_page_is_printed_as_it_is(reviewer: Reviewer) -> None:
    done = reviewer.succeeds("help", "forgetting", db=False)
    assert done.stdout == (DOCS / "forgetting.md").read_text("utf-8")


def test_a_command_is_sent_to_its_own_help(reviewer: Reviewer) -> None:
    assert "reviewer promote --help" in reviewer.fails("help", "promote", db=False)


def test_an_unknown_page_names_the_nearest(reviewer: Reviewer) -> None:
    assert "Did you mean settings?" in reviewer.fails("help", "setings", db=False)


def test_all_pages_are_in_the_wheel() -> None:
    project = (DOCS.parent / "pyproject.toml").read_text("utf-8")
    for topic in TOPICS:
        assert f'"docs/{topic}.md" = "reviewer/_docs/{topic}.md"' in project
