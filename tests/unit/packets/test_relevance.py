"""Which entries fit a task: rare words, fields, near-forms, phrases, and what follows from them."""

from __future__ import annotations

import pytest

from reviewer.packets.language import stem, tokens
from reviewer.packets.relevance import Index, Match, field_of, query_of

SHOP = (
    ("Receipts are printed twice", "", "Thermal paper runs out faster."),
    ("Add the hall lamp to the list", "", "Run the check of the shop and add a lamp."),
    ("The shop opens at nine", "", "Run the door check."),
    ("Drawers jam", "", "The shop has add-on drawers; run them dry."),
    ("Coins are counted in the back room", "", "Add a second count for the shop."),
    ("Voucher codes expire", "", "Add thirty days in the shop."),
)


def matches(entries: tuple[tuple[str, str, str], ...], task: str) -> list[Match]:
    return Index([field_of(*each) for each in entries]).matches(query_of([(task, 1.0)]))


def best(entries: tuple[tuple[str, str, str], ...], task: str) -> str:
    found = matches(entries, task)
    return entries[max(range(len(found)), key=lambda at: found[at].score)][0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("hook", "hooks"), ("config", "configuration"), ("configure", "configuration"),
        ("merging", "merged"), ("policy", "policies"), ("duplicate", "duplication"),
        ("repo", "repository"), ("docs", "documentation"), ("select", "selection"),
        ("stopping", "stop"), ("parser", "parse"), ("archive", "archival"),
    ],
)  # fmt: skip
def test_near_forms_have_one_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize(("one", "other"), [("hook", "hood"), ("class", "clash"), ("is", "as")])
def test_other_words_have_other_stems(one: str, other: str) -> None:
    assert stem(one) != stem(other)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("allow_outside_cwd", {"allow", "outsid", "cwd"}),
        ("DefaultDrawerWidth", {"default", "draw", "width"}),
        ("receipt/paper.go", {"receipt", "paper"}),
        ("dry-run", {"dry", "run"}),
    ],
)
def test_identifiers_are_split(name: str, parts: set[str]) -> None:
    assert {each for token in tokens(name) for each in token.stems} == parts


def test_what_may_be_a_key_is_no_word() -> None:
    assert not any(token.stems or token.name for token in tokens("ab12cd34ef56ab12cd34ef56"))


def test_generic_words_and_the_name_of_the_project_decide_nothing() -> None:
    assert best(SHOP, "add and run a check of the drawer in the shop") == "Drawers jam"


def test_a_word_in_the_title_counts_more_than_one_in_the_text() -> None:
    entries = (("Lamps", "", "They are bright."), ("Coins", "", "A lamp is above them."), *SHOP[2:])
    lamps, coins, *_ = matches(entries, "lamp")
    assert lamps.score > coins.score > 0


def test_the_heading_above_counts() -> None:
    entries = (("Use both hands", "Drawers", ""), ("Use gloves", "Paper", ""), *SHOP[4:])
    assert best(entries, "drawer") == "Use both hands"


def test_a_phrase_counts_more_than_its_words_apart() -> None:
    entries = (
        ("One", "", "The paper of a receipt is thermal, and so on."),
        ("Two", "", "The receipt paper is thermal, and on it goes."),
        *SHOP[2:],
    )
    assert best(entries, "receipt paper") == "Two"


def test_an_identifier_of_the_task_is_found_as_a_whole() -> None:
    entries = (("P5.2: Sweep", "", ""), ("P5.3: Sweep", "", ""), *SHOP)
    assert best(entries, "P5.2") == "P5.2: Sweep"


def test_the_folders_of_a_file_count_less_than_a_word() -> None:
    entries = (
        ("Till code lies in its own folder", "", "Every till has one."),
        ("Paper is white", "", "Never grey."),
        ("Receipts jam", "", "A jam ends by itself."),
        *SHOP[3:],
    )
    assert best(entries, "the jam in src/till/notes.md") == "Receipts jam"


@pytest.mark.parametrize(
    ("task", "related"),
    [
        ("lamp", {"Add the hall lamp to the list"}),
        ("Translate the voucher page into Portuguese", {"Voucher codes expire"}),
        ("the lamp, the coins, the drawers and the vouchers", {each for each, *_ in SHOP}),
    ],
)
def test_a_weak_task_leads_only_to_entries_that_have_its_words(
    task: str, related: set[str]
) -> None:
    found = {
        title for (title, *_), each in zip(SHOP, matches(SHOP, task), strict=True)
        if not each.unrelated
    }  # fmt: skip
    assert found <= related
    assert found


def test_what_shares_rare_names_with_the_best_follows_in_one_step() -> None:
    entries = (
        ("A full drawer rings the gong", "", "The gong hangs above the till."),
        ("The gong needs a brass clapper", "", "Felt is too quiet."),
        ("Brass clappers come from the foundry", "", "It delivers on Mondays."),
        *SHOP,
    )
    first, second, third, *_ = matches(entries, "too many notes in the drawer: a full drawer")
    assert first.score > second.score > 0
    assert "gong" in second.through
    assert second.score > third.score


def test_a_task_without_a_telling_word_matches_nothing() -> None:
    index = Index([field_of(*each) for each in SHOP])
    for task in ("the", "", "2026", "Müllabfuhr"):
        assert index.telling(query_of([(task, 1.0)])) == ()
        assert {each.score for each in index.matches(query_of([(task, 1.0)]))} == {0.0}


def test_other_languages_match() -> None:
    entries = (("领収書の印刷", "", "紙が切れる"), ("引き出し", "", "硬貨"), *SHOP)
    assert best(entries, "領収書が印刷されない 印刷") == "领収書の印刷"
    entries = (("Die Schublade klemmt", "", ""), ("Der Drucker streikt", "", ""), *SHOP)
    assert best(entries, "Schubladen ölen, Schublade") == "Die Schublade klemmt"


def test_no_entries_give_no_matches() -> None:
    assert Index([]).matches(query_of([("lamp", 1.0)])) == []
