"""What belongs to a moment, who sees it, and what came of it."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from reviewer.engine import Engine
from reviewer.errors import ReviewerError
from reviewer.recall.at_call import MAX_MEMORIES, found_at, note_uses
from reviewer.recall.moments import read_moment
from reviewer.recall.service import event_of
from tests.waiting import until

FACTS = (
    "An error that is swallowed on purpose needs a nolint directive for the linter nilerr.",
    "Fetch and rebase first: run `git fetch` when others have pushed.",
    "The drawer in `till/drawer.go` opens twice unless DEBOUNCE_MS is set.",
    "Receipts are printed in black only.",
    "Coins are weighed in the evening.",
    "The hall is cold in winter, and displays start slowly.",
    "`receiptPaperWidth` has to be set before the first sale.",
)
MORE = [f"Ticket{number} is printed{number}." for number in range(16)]
FAILURE = "till/coin.go:41:3: error is not nil (line 50) but it returns nil (nilerr)"


@pytest.fixture
def engine(engine: Engine) -> Engine:
    for text in FACTS:
        engine.triage.promote(engine.entities.author("kiosk", "knowledge", text).ids)
    return engine


def recalled(
    engine: Engine, kind: str, text: str, session: str = "", limit: int = MAX_MEMORIES
) -> list[int]:
    found = engine.recall.at("kiosk", event_of(kind, text, session), limit)
    return [each.id for each in found]


@pytest.mark.parametrize(
    ("kind", "text", "first"),
    [
        ("error", FAILURE, 1),
        ("path", "/home/ada/kiosk/till/drawer.go", 3),
        ("prompt", "Why is DEBOUNCE_MS there, and the drawer opening twice?", 3),
        ("error", "the width of the paper is not one of 58 and 80", 7),
    ],
)
def test_each_moment_has_its_memory(engine: Engine, kind: str, text: str, first: int) -> None:
    assert recalled(engine, kind, text)[:1] == [first]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("error", "ls: cannot access '/nope': No such file or directory"),
        ("error", "till/receipts.ts black ━━━━━━━━━━"),
        ("error", "drawer drawers drawer's"),
        ("command", "git fetch --all"),
        ("command", "git commit -m 'the drawer opens twice in winter'"),
        ("path", "docs/drawer.md"),
        ("prompt", "Make it faster, please."),
        ("error", ""),
        ("error", "\x00\xff" * 50_000),
        ("command", "x" * 100_000),
        ("prompt", 'a" OR b* NEAR('),
    ],
)
def test_nothing_is_said_where_nothing_belongs(engine: Engine, kind: str, text: str) -> None:
    assert recalled(engine, kind, text) == []


def test_what_another_hook_of_the_session_recorded_meanwhile_is_not_given_again(
    engine: Engine,
) -> None:
    event = event_of("error", FAILURE, "s1")
    engine.recall.derive()
    with closing(sqlite3.connect(engine.path)) as store:
        key, found = found_at(store, 1, event)
        first, second = (note_uses(store, event, key, found, "2026-03-02") for _ in range(2))
    assert (bool(first), second) == (True, [])


def test_the_same_failure_comes_before_words(engine: Engine) -> None:
    engine.recall.set_moments(4, [read_moment("error nilerr")])
    found = engine.recall.at("kiosk", event_of("error", FAILURE))
    assert [each.id for each in found][:2] == [4, 1]
    assert found[0].why == "this failure nilerr"


def test_each_failure_of_a_call_has_its_memory_before_a_second_one(engine: Engine) -> None:
    for number, rule in ((1, "nilerr"), (4, "nilerr"), (5, "exhaustive")):
        engine.recall.set_moments(number, [read_moment(f"error {rule}")])
    other = "till/coin.go:7:2: missing cases in switch of type Coin (exhaustive)"
    assert recalled(engine, "error", f"{FAILURE}\n{other}", limit=3) == [5, 4, 1]


def test_a_memory_with_a_word_alone_and_in_a_name_has_it_once(engine: Engine) -> None:
    those = [
        f"The {each} wait for sessionGracePeriod: grace." for each in ("doors", "lamps", "tills")
    ]
    for text in (*MORE, *those):
        engine.triage.promote(engine.entities.author("kiosk", "knowledge", text).ids)
    assert len(recalled(engine, "prompt", "session grace period", limit=4)) == 3


def test_words_that_share_their_first_letters_count_once(engine: Engine) -> None:
    for text in ("Fold a banner.", "`bannersFolded` is set at nine.", *MORE):
        engine.triage.promote(engine.entities.author("kiosk", "knowledge", text).ids)
    assert recalled(engine, "prompt", "banner banners") == []
    assert recalled(engine, "prompt", "fold a banner") == [8]


def test_the_name_of_the_project_says_nothing(engine: Engine) -> None:
    for text in (*FACTS, "A shop-till-app without a config shows the default theme."):
        engine.triage.promote(engine.entities.author("shop-till-app", "knowledge", text).ids)

    def said(text: str) -> list[int]:
        return [each.id for each in engine.recall.at("shop-till-app", event_of("error", text))]

    assert said("cd: no main module in /home/ada/shop-till-app, try shop-till-app init") == []
    assert len(said("shop-till-app: no default theme in this config")) == 1


@pytest.mark.parametrize("memories", [1, 2, 3, 4])
def test_in_a_small_store_two_words_of_a_memory_recall_it(engine: Engine, memories: int) -> None:
    engine.triage.restore(range(memories + 1, len(FACTS) + 1))
    assert recalled(engine, "prompt", "How is the swallowed error of a linter silenced?") == [1]
    assert recalled(engine, "prompt", "Print the error, please.") == []


def test_a_long_prompt_has_words_in_common_with_any_memory(engine: Engine) -> None:
    asked = "Why are receipts printed in black?"
    assert recalled(engine, "prompt", asked) == [4]
    plan = " ".join(f"step{number} is to be done" for number in range(200))
    assert recalled(engine, "prompt", f"{asked} {plan}") == []


def test_a_reworded_memory_has_the_moments_of_its_words(engine: Engine) -> None:
    engine.triage.edit(3, "The drawer in `till/slide.go` opens twice.")
    assert recalled(engine, "path", "till/drawer.go") == []
    assert recalled(engine, "path", "till/slide.go") == [3]


def test_a_reworded_memory_is_found_by_the_words_that_it_keeps(engine: Engine) -> None:
    engine.triage.edit(6, f"{FACTS[5]} That is how it is.")
    assert recalled(engine, "prompt", "The displays in the cold hall start slowly") == [6]


@pytest.mark.parametrize("moment", ["path src/pay", "path src/pay/", "path ./src/pay/"])
def test_a_folder_is_named_with_and_without_its_slash(engine: Engine, moment: str) -> None:
    engine.recall.set_moments(4, [read_moment(moment)])
    for folder in ("src/pay/", "src/pay", "till\\src\\pay"):
        assert recalled(engine, "prompt", f"Tidy up {folder}, please") == [4]
    assert recalled(engine, "prompt", "Tidy up src/payday/, please") == []


@pytest.mark.parametrize("named", ["L31", "ledger-contract", "L31 (ledger-contract)"])
def test_a_rule_is_named_by_its_code_or_by_its_name(engine: Engine, named: str) -> None:
    engine.recall.set_moments(1, [read_moment(f"error {named}")])
    failure = "till.py:1:1: L31 contract of till.change is not in the ledger (ledger-contract)"
    assert recalled(engine, "error", failure) == [1]


def test_a_moment_that_is_none_any_more_stops_no_other(engine: Engine) -> None:
    """Stores have such moments: commands were read differently when they were chosen."""
    with closing(sqlite3.connect(engine.path)) as other:
        stored = "guard git push && git pull\nguard a;b\nlater\ncommand\nwords night shift"
        other.execute("UPDATE memory SET moments = ? WHERE id = 1", (stored,))
        other.commit()
    engine.recall.set_moments(4, [read_moment("guard git push")])
    assert recalled(engine, "command", "git push") == [4]
    assert recalled(engine, "prompt", "Who has the night shift?") == [1]
    assert str(engine.recall.moments(1)[0]) == "guard git push && git pull"
    engine.recall.set_moments(1, [])
    assert recalled(engine, "error", FAILURE) == [1]


def test_what_belongs_to_every_start_is_not_said_in_between(engine: Engine) -> None:
    assert recalled(engine, "error", FAILURE) == [1]
    engine.recall.set_moments(1, [read_moment("always")])
    assert recalled(engine, "error", FAILURE) == []


def test_what_is_pinned_keeps_its_moments_and_is_left_out_no_more(engine: Engine) -> None:
    before = engine.recall.moments(1)
    engine.recall.leave_out(1)
    engine.recall.pin(1)
    assert engine.recall.moments(1) == (*before, read_moment("pinned"))
    assert not engine.recall.left_out(None)
    engine.recall.pin(1, pinned=False)
    assert engine.recall.moments(1) == before
    engine.recall.set_moments(1, [read_moment("always"), read_moment("pinned")])
    assert recalled(engine, "error", FAILURE) == []


def test_what_is_left_out_of_packets_keeps_its_moments(engine: Engine) -> None:
    before = engine.recall.moments(1)
    engine.recall.leave_out(1)
    assert engine.recall.moments(1) == (*before, read_moment("only"))
    assert recalled(engine, "error", FAILURE) == [1]
    assert engine.recall.left_out(None) == {1}
    engine.recall.leave_out(1, out=False)
    assert engine.recall.moments(1) == before
    with pytest.raises(ReviewerError, match="no packet excludes"):
        engine.recall.set_moments(1, [read_moment("always"), read_moment("only")])
    engine.recall.leave_out(1)
    engine.triage.restore([1])
    assert engine.recall.left_out(None) == set()


def test_what_is_wanted_without_prompts_keeps_its_other_moments(engine: Engine) -> None:
    engine.recall.set_moments(3, [read_moment("no prompt")])
    assert 3 not in recalled(engine, "prompt", "Why is DEBOUNCE_MS there, and till/drawer.go?")
    assert recalled(engine, "path", "/home/ada/kiosk/till/drawer.go") == [3]


def test_what_nothing_would_hand_out_is_refused(engine: Engine) -> None:
    moments = [read_moment(each) for each in ("path till/", "no packet", "no prompt")]
    with pytest.raises(ReviewerError, match=r"Nothing would hand out #4: .* Write edit"):
        engine.recall.set_moments(4, moments)
    engine.recall.set_moments(4, [read_moment("edit till/"), *moments[1:]])
    assert recalled(engine, "path", "/home/ada/kiosk/till/drawer.go") == [3, 4]


def test_what_is_left_out_while_another_program_writes_keeps_what_that_wrote(
    engine: Engine,
) -> None:
    with closing(sqlite3.connect(engine.path)) as other, ThreadPoolExecutor() as pool:
        other.execute("BEGIN IMMEDIATE")
        other.execute("UPDATE memory SET moments = 'command git push' WHERE id = 1")
        leaving = pool.submit(engine.recall.leave_out, 1)
        until(engine.waits_to_write)
        other.commit()
        leaving.result()
    assert engine.recall.moments(1) == (read_moment("command git push"), read_moment("only"))


def test_other_projects_stay_out(engine: Engine) -> None:
    words = "nilerr is a linter of ovens"
    (number,) = engine.entities.author("bakery", "knowledge", words, promote=True).ids
    assert number not in recalled(engine, "error", FAILURE)
    assert engine.recall.at("nowhere", event_of("error", FAILURE)) == []


def test_a_memory_of_a_packet_is_no_use_and_still_comes_with_its_failure(engine: Engine) -> None:
    engine.recall.note_start([1, 2, 99], "s1", "2026-11-24T09:00:00Z")
    engine.recall.note_start([1], "s1", "2026-11-24T10:00:00Z")
    assert engine.recall.use(1) == "given once (1 in packets)"
    assert recalled(engine, "error", FAILURE, session="s1") == [1]
    assert engine.recall.use(1) == "given twice (1 in packets)"


def test_a_packet_begins_with_what_was_needed_most(engine: Engine) -> None:
    from reviewer.packets.assembly import assemble

    for session in ("s1", "s2"):
        recalled(engine, "error", FAILURE, session=session)
    text = assemble(engine.packets.prepare_own("kiosk"), 2_000).markdown
    assert text.index("nilerr") < text.index("displays start slowly")
