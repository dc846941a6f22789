from reviewer.extraction.candidates import Candidate
from reviewer.extraction.ranking import best_first

from .making import candidate, record

SUBJECTS = (
    "invoices parser checks every currency code", "gateway retries payments thrice on failure",
    "nightly backups land inside cold storage", "search index rebuilds after each deploy",
    "mobile client caches avatars on disk", "audit trail keeps signatures for auditors",
)  # fmt: skip


def contents(*found: Candidate) -> list[str]:
    return [row.candidate.content for row in best_first(found)]


def test_more_confidence_or_length_comes_first() -> None:
    plain = candidate(SUBJECTS[0])
    sure = candidate(SUBJECTS[1], confidence=0.7)
    assert contents(plain, sure) == [sure.content, plain.content]
    long = candidate(SUBJECTS[3] + " and then tells the caches of every region about it")
    assert contents(plain, long) == [long.content, plain.content]


def test_the_same_in_other_words_is_one_row_with_all_its_evidence() -> None:
    better = candidate(
        "The importer must hold the lock while it renames the shard",
        confidence=0.9,
        record=record(SUBJECTS[0], key="a"),
    )
    worse = candidate(
        "The importer must hold a lock while it is renaming the shards.",
        record=record(SUBJECTS[0], key="b"),
    )
    (row,) = best_first([worse, better])
    assert (row.candidate, row.also, row.seen) == (better, (worse,), 2)


def test_known_facts_rank_lower_and_only_those_that_may_come_next_are_compared() -> None:
    known, *others = (
        candidate(text, confidence=0.9 - number / 10) for number, text in enumerate(SUBJECTS)
    )
    asked: list[Candidate] = []

    def novelty(item: Candidate) -> float:
        asked.append(item)
        return 0.1 if item is known else 1.0

    first = next(best_first([*others, known], novelty))
    assert first.candidate is others[0]
    assert asked == [known, others[0]]
