"""Which entries fit a task: rare words, fields, near-forms, and what follows from them."""

from __future__ import annotations

import pytest

from reviewer.packets.relevance import Index, Relevance, query_of

Entry = tuple[str, str, str]

SHOP: tuple[Entry, ...] = (
    ("Receipts are printed twice", "", "Thermal paper runs out faster."),
    ("Add the hall lamp to the list", "", "Run the check of the shop and add a lamp."),
    ("The shop opens at nine", "", "Run the door check."),
    ("Drawers jam", "", "The shop has add-on drawers; run them dry."),
    ("Coins are counted in the back room", "", "Add a second count for the shop."),
    ("Voucher codes expire", "", "Add thirty days in the shop."),
)


def matches(entries: tuple[Entry, ...], task: str) -> list[Relevance]:
    return Index(entries).matches(query_of(task))[0]


@pytest.mark.parametrize(
    ("more", "task", "best"),
    [
        # near forms are one word; those of most entries decide nothing
        ([], "printing a receipt", "Receipts are printed twice"),
        ([], "drawers of the shop", "Drawers jam"),
        # an identifier is found by its parts, and as a whole
        ([("A guard", "", "Set AllowOutsideCwd first.")], "who may work outside?", "A guard"),
        ([("A guard", "", "See docs/allow/outside/cwd.md.")], "who may work outside?", "A guard"),
        ([("P5.2: Sweep", "", ""), ("P5.3: Sweep", "", "")], "P5.2", "P5.2: Sweep"),
        # the title counts more than the text; the heading above counts
        ([("Tills", "", ""), ("Coins", "", "A till is below.")], "till", "Tills"),
        ([("Use both hands", "Tills", ""), ("Use gloves", "Paper", "")], "till", "Use both hands"),
        # other languages
        (
            [("領収書の印刷", "", "紙が切れる"), ("引き出し", "", "硬貨")],
            "領収書が印刷されない 印刷",
            "領収書の印刷",
        ),
        ([("Die Schublade klemmt", "", "")], "Schubladen ölen, Schublade", "Die Schublade klemmt"),
    ],
)
def test_the_best_entry_for_a_task(more: list[Entry], task: str, best: str) -> None:
    entries = (*more, *SHOP)
    found = matches(entries, task)
    assert entries[max(range(len(found)), key=lambda at: found[at].score)][0] == best


def test_in_a_small_memory_common_words_tell_nothing() -> None:
    entries = (
        ("Count coins twice", "", "Coins stick together."),
        ("Open at nine", "", "Customers wait outside."),
        ("Vouchers lie in the drawer below the till", "", "It is in the hall."),
        ("Print labels in one run", "", "Labels curl otherwise."),
    )
    found = matches(entries, "mend the labels in the hall of the shop")
    assert not {"the", "in", "of"} & {word for each in found for word in each.words}


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


@pytest.mark.parametrize("task", ["", "...", "2026", "Müllabfuhr", '"', "a* OR (b"])
def test_a_task_without_a_word_of_the_entries_matches_nothing(task: str) -> None:
    assert {each.score for each in matches(SHOP, task)} == {0.0}
    assert matches((), task) == []
