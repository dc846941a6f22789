"""One fact, one row: which statements are one, and which wording leads."""

import time
from pathlib import Path

from reviewer.extraction.candidates import MemoryType
from reviewer.proposing.same_fact import KnownTexts, grouped, known_in_texts, same_fact
from reviewer.proposing.values import (
    Proof,
    Proposal,
    Proposer,
    Proved,
    Quote,
    QuoteProof,
)
from reviewer.sources.events import Speaker


def proved(statement: str, *, path: str = "a.jsonl", found: bool = True) -> Proved:
    quote = Quote(1, statement)
    return Proved(
        Path(path),
        Proposal(
            statement=statement,
            type=MemoryType.PROJECT,
            quotes=(quote,),
            speaker=Speaker.AGENT,
            proposer=Proposer.MODEL,
            rule="model.test",
        ),
        Proof(quotes=(QuoteProof(1, statement, found),)),
    )


def statements(groups: list[list[Proved]]) -> list[list[str]]:
    return [[each.proposal.statement for each in group] for group in groups]


def test_wordings_of_one_fact_are_one_group() -> None:
    groups = grouped(
        [
            proved("Run `make lint` before every commit."),
            proved("The cache is shared"),
            proved("Before each commit, run make lint", path="b.jsonl"),
            proved("Run make lint after every commit"),
        ]
    )
    assert [len(group) for group in groups] == [2, 1, 1]
    assert {each.path.name for each in groups[0]} == {"a.jsonl", "b.jsonl"}


def test_the_best_wording_comes_first() -> None:
    groups = grouped(
        [
            proved("We always deploy from main", found=False),
            proved("Deploy from main"),
        ]
    )
    assert statements(groups) == [["Deploy from main", "We always deploy from main"]]


def test_facts_that_look_alike_are_apart() -> None:
    texts = [
        "The production cluster is deployed from main",
        "The staging cluster is deployed from main",
        "Prefer tabs over spaces",
        "Prefer spaces over tabs",
        "No network access",
        "No disk access",
        "Long commit messages",
        "Short commit messages",
    ]
    assert statements(grouped([proved(text) for text in texts])) == [[text] for text in texts]


def test_same_fact_is_symmetric() -> None:
    one, other = "Never push to main", "Do not push to main."
    assert same_fact(one, other)
    assert same_fact(other, one)


CLAUDE = """# Project

- **Lint**: run `make lint` before every commit, because CI does.
- Use tabs.
  Never amend a commit!

The deploy runs from `main`. If CI is red, do not merge.
"""


def test_what_a_file_says_already_is_found_with_its_line() -> None:
    texts = {"CLAUDE.md": CLAUDE, "AGENTS.md": "Nothing here.\nUse tabs"}
    assert known_in_texts("Run make lint before each commit.", texts) == ("CLAUDE.md:3",)
    assert known_in_texts("Never amend commits", texts) == ("CLAUDE.md:5",)
    assert known_in_texts("Use tabs", texts) == ("CLAUDE.md:4", "AGENTS.md:2")
    assert known_in_texts("The deploy runs from main", texts) == ("CLAUDE.md:7",)


def test_half_of_what_a_file_says_is_not_known() -> None:
    texts = {"CLAUDE.md": CLAUDE}
    assert known_in_texts("Do not merge", texts) == ()
    assert known_in_texts("Run make lint", texts) == ()
    assert known_in_texts("", texts) == ()


def test_five_thousand_statements_are_grouped_in_seconds() -> None:
    many = [
        proved(f"The module part_{number % 2500}.py waits for lock {number % 2500} of the importer")
        for number in range(5_000)
    ]
    start = time.thread_time()
    groups = grouped(many)
    assert time.thread_time() - start < 5.0  # 0.6 s
    assert len(groups) == 2_500


def test_many_statements_are_looked_up_quickly() -> None:
    texts = {
        "CLAUDE.md": "\n".join(f"- Rule {number} is about part {number}." for number in range(2000))
    }
    start = time.thread_time()
    known = KnownTexts(texts)
    found = [known.places(f"rule {number} is about part {number}") for number in range(2000)]
    assert time.thread_time() - start < 3.0
    assert found[41] == ("CLAUDE.md:42",)
