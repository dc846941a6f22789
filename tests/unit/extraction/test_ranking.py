from reviewer.extraction.ranking import rank

from .making import candidate, record

SUBJECTS = (
    "invoices parser checks every currency code", "gateway retries payments thrice on failure",
    "nightly backups land inside cold storage", "search index rebuilds after each deploy",
    "mobile client caches avatars on disk", "audit trail keeps signatures for auditors",
)  # fmt: skip


def contents(ranked: object) -> list[str]:
    return [row.candidate.content for row in ranked.kept]  # type: ignore[attr-defined]


def test_more_confidence_or_length_comes_first() -> None:
    plain = candidate(SUBJECTS[0])
    sure = candidate(SUBJECTS[1], confidence=0.7)
    assert contents(rank([plain, sure])) == [sure.content, plain.content]
    long = candidate(SUBJECTS[3] + " and then tells the caches of every region about it")
    assert contents(rank([plain, long])) == [long.content, plain.content]


def test_exact_duplicates_are_one_row_with_all_their_evidence() -> None:
    first = candidate(SUBJECTS[0], record=record(SUBJECTS[0], key="a"))
    again = candidate(SUBJECTS[0].upper() + ".", record=record(SUBJECTS[0], key="b"))
    ranked = rank([first, again])
    (row,) = ranked.kept
    assert row.seen == 2
    assert {item.record.key for item in (row.candidate, *row.also)} == {"a", "b"}
    assert ranked.repeated == 1


def test_near_duplicates_stay_under_the_better_one() -> None:
    better = candidate("The importer must hold the lock while it renames the shard", confidence=0.9)
    worse = candidate("The importer must hold a lock while it is renaming the shards")
    other = candidate(SUBJECTS[0])
    found = [(row.candidate, row.leader) for row in rank([worse, other, better]).kept]
    assert found == [(better, None), (worse, 0), (other, None)]


def test_the_cap_counts_members_and_the_rest_is_kept_apart() -> None:
    many = [candidate(text, confidence=0.9 - number / 10) for number, text in enumerate(SUBJECTS)]
    ranked = rank(many, cap=4)
    assert contents(ranked) == list(SUBJECTS[:4])
    assert [row.candidate.content for row in ranked.over_cap] == list(SUBJECTS[4:])


def test_known_facts_rank_lower() -> None:
    known, new = candidate(SUBJECTS[0], confidence=0.9), candidate(SUBJECTS[1], confidence=0.5)
    ranked = rank([known, new], novelty=lambda item: 0.1 if item is known else 1.0)
    assert contents(ranked) == [new.content, known.content]
    assert [row.novelty for row in ranked.kept] == [1.0, 0.1]
