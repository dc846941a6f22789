"""Which entries fit a task: rare words, fields, near-forms, and what follows from them."""

from __future__ import annotations

import pytest

from reviewer.packets.relevance import Index, Relevance, query_of

SHOP = (
    ("Receipts are printed twice", "", "Thermal paper runs out faster."),
    ("Add the hall lamp to the list", "", "Run the check of the shop and add a lamp."),
    ("The shop opens at nine", "", "Run the door check."),
    ("Drawers jam", "", "The shop has add-on drawers; run them dry."),
    ("Coins are counted in the back room", "", "Add a second count for the shop."),
    ("Voucher codes expire", "", "Add thirty days in the shop."),
)


def matches(entries: tuple[tuple[str, str, str], ...], task: str) -> list[Relevance]:
    return Index(entries).matches(query_of(task))[0]


def best(entries: tuple[tuple[str, str, str], ...], task: str) -> str:
    found = matches(entries, task)
    return entries[max(range(len(found)), key=lambda at: found[at].score)][0]


@pytest.mark.parametrize(
    "name", ["allow_outside_cwd", "outside cwd", "AllowOutsideCwd", "docs/allow/outside/cwd.md"]
)
def test_an_identifier_is_found_by_its_parts(name: str) -> None:
    entries = (*SHOP, ("A guard", "", f"Set {name} first."))
    assert best(entries, "who may work outside?") == "A guard"


def test_an_identifier_of_the_task_is_found_as_a_whole() -> None:
    entries = (("P5.2: Sweep", "", ""), ("P5.3: Sweep", "", ""), *SHOP)
    assert best(entries, "P5.2") == "P5.2: Sweep"


def test_near_forms_are_one_word() -> None:
    assert best(SHOP, "printing a receipt") == "Receipts are printed twice"


def test_words_of_most_entries_decide_nothing() -> None:
    assert best(SHOP, "drawers of the shop") == "Drawers jam"


def test_a_word_in_the_title_counts_more_than_one_in_the_text() -> None:
    entries = (("Lamps", "", "They are bright."), ("Coins", "", "A lamp is above them."), *SHOP[2:])
    lamps, coins, *_ = matches(entries, "lamp")
    assert lamps.score > coins.score > 0


def test_the_heading_above_counts() -> None:
    entries = (("Use both hands", "Drawers", ""), ("Use gloves", "Paper", ""), *SHOP[4:])
    assert best(entries, "drawer") == "Use both hands"


def test_what_shares_rare_words_with_the_best_follows_in_one_step() -> None:
    entries = (
        ("A full drawer rings the gong", "", "The gong hangs above the till."),
        ("The gong needs a brass clapper", "", "Felt is too quiet."),
        ("Brass clappers come from the foundry", "", "It delivers on Mondays."),
        *SHOP,
        *((f"Lane {n} is swept", "", f"Every morning at {n}.") for n in range(9)),
    )
    first, second, third, *_ = matches(entries, "too many notes in the drawer: a full drawer")
    assert first.score > second.score > 0
    assert second.score > third.score


def test_the_telling_words_are_told_as_they_are_spelled() -> None:
    _, telling = Index(SHOP).matches(query_of("the PostgreSQL vouchers of the shop"))
    assert telling[0] == "vouchers"
    assert "postgresql" not in telling


@pytest.mark.parametrize("task", ["", "...", "2026", "Müllabfuhr", '"', "a* OR (b"])
def test_a_task_without_a_word_of_the_entries_matches_nothing(task: str) -> None:
    assert {each.score for each in matches(SHOP, task)} == {0.0}


def test_other_languages_match() -> None:
    entries = (("領収書の印刷", "", "紙が切れる"), ("引き出し", "", "硬貨"), *SHOP)
    assert best(entries, "領収書が印刷されない 印刷") == "領収書の印刷"
    entries = (("Die Schublade klemmt", "", ""), ("Der Drucker streikt", "", ""), *SHOP)
    assert best(entries, "Schubladen ölen, Schublade") == "Die Schublade klemmt"


def test_no_entries_give_no_matches() -> None:
    assert matches((), "lamp") == []
