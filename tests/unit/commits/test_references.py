"""Commits are named by number, by hash, or by the first characters of one."""

from __future__ import annotations

import pytest

from reviewer.commits.contexts import Contexts
from reviewer.commits.references import AmbiguousReferenceError
from reviewer.engine import Engine
from reviewer.errors import UnknownIdError
from tests.stored import planted
from tests.unit.commits.conftest import Say


def plant_commits(engine: Engine, context: int, *hashes: str, text: str = "Words.") -> int:
    """Commits whose hashes are chosen, as collisions of the first characters cannot be awaited;
    the id of the last one.
    """
    with planted(engine.path) as act:
        known = act.query("SELECT id FROM content WHERE sha256 = ?", (text,))
        content = known[0][0] if known else act.insert("content", sha256=text, text=text, tokens=1)
        row = {
            "context_id": context, "position": 0, "role": "user", "type": "dialogue",
            "content_id": content,
        }  # fmt: skip
        rows = [{**row, "hash": each.ljust(64, "0")} for each in hashes]
        return act.insert_many("commit_", rows)[-1]


@pytest.mark.parametrize("length", [4, 8, 63, 64])
def test_the_first_characters_of_a_hash_suffice(
    engine: Engine, contexts: Contexts, context: int, length: int
) -> None:
    number = plant_commits(engine, context, "abcdef" * 10)
    plant_commits(engine, context, "bbbb")
    whole = ("abcdef" * 10).ljust(64, "0")
    assert contexts.resolve(whole[:length]) == number
    assert contexts.resolve(whole[:length].upper()) == number


def test_a_number_names_a_row(contexts: Contexts, say: Say) -> None:
    number = say("One.")
    assert contexts.resolve(f"#{number}") == contexts.resolve(str(number)) == number


def test_an_ambiguous_hash_names_who_may_be_meant(
    engine: Engine, contexts: Contexts, context: int
) -> None:
    plant_commits(engine, context, "abcd11", text="The first.")
    two = plant_commits(engine, context, "abcd22", text="The second.")
    with pytest.raises(AmbiguousReferenceError) as refused:
        contexts.resolve("abcd")
    for words in ("abcd11", "abcd22", "The first.", "The second.", "more of the hash"):
        assert words in str(refused.value)
    assert contexts.resolve("abcd2") == two


def test_digits_may_be_a_number_or_a_hash(engine: Engine, contexts: Contexts, context: int) -> None:
    number = plant_commits(engine, context, *(f"f{n:x}".rjust(6, "e") for n in range(1000)))
    other = plant_commits(engine, context, f"{number:04}" + "ab")
    with pytest.raises(AmbiguousReferenceError, match="the number with #"):
        contexts.resolve(f"{number:04}")
    assert contexts.resolve(f"#{number}") == number
    assert contexts.resolve(f"{number:04}a") == other


@pytest.mark.parametrize("reference", ["", "#", "zz", "99", "#99", "abcd", "0001", "-1", "é" * 9])
def test_an_unknown_commit_is_said(contexts: Contexts, say: Say, reference: str) -> None:
    say("One.")
    with pytest.raises(UnknownIdError, match="no commit"):
        contexts.resolve(reference)
