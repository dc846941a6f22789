import pytest

from reviewer.extraction.similarity import NEAR, similarity


def test_texts_equal_up_to_case_space_and_punctuation_have_similarity_one() -> None:
    assert similarity("The  cache is SHARED.", "the cache is shared") == 1.0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "The importer must hold the lock while it renames the shard",
            "The importer must hold the lock while it is renaming shards",
        ),
        (
            "Renamed `load_all()` to `load_shards()` in the importer and its tests",
            "Rename load_all() to load_shards() in our importer and its tests.",
        ),
    ],
)
def test_another_wording_of_the_same_fact_is_near_but_not_equal(one: str, other: str) -> None:
    assert NEAR <= similarity(one, other) < 1.0
    assert similarity(one, other) == similarity(other, one)


def test_texts_without_common_words_have_similarity_zero() -> None:
    assert similarity("alpha beta gamma", "delta epsilon zeta") == 0.0
