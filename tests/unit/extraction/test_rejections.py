import pytest

from reviewer.extraction import rejections
from reviewer.extraction.passages import wording
from reviewer.extraction.rejections import rejection


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("Ok fine", rejections.TOO_SHORT),
        ("word " * 57, rejections.TOO_LONG),
        ("Should the cache be shared?", rejections.QUESTION),
        ("**Should the cache be shared?**", rejections.QUESTION),
        ("Let me run the tests.", rejections.NARRATION),
        ("Now let me look at the loader.", rejections.NARRATION),
        ("Good, now I'll check the other callers.", rejections.NARRATION),
        ("I need to check the other callers.", rejections.NARRATION),
        ("All tests pass.", rejections.NARRATION),
        ("Committed and pushed.", rejections.NARRATION),
        ("Done. ", rejections.TOO_SHORT),
        ("Thanks, that was quick work", rejections.THANKS),
        ("Let me know if the order matters.", rejections.THANKS),
        ("TBD by the team", rejections.PLACEHOLDER),
        ("Describe <your project> in two lines", rejections.PLACEHOLDER),
        ("a/b/c/d", rejections.TOO_SHORT),
        ("{}()[]!@#$%^&*+= of it all", rejections.FRAGMENT),
        ("![a diagram of the parts](parts.png)", rejections.FRAGMENT),
        ("[the guide of the team](https://example.org/a)", rejections.FRAGMENT),
        ("12 34 56 78", rejections.FRAGMENT),
        ("[Request interrupted by user for tool use]", rejections.CLIENT_TEXT),
    ],
)
def test_useless_text_is_rejected_with_its_reason(raw: str, reason: str) -> None:
    assert rejection(wording(raw), raw) == reason


@pytest.mark.parametrize(
    "raw",
    [
        "The loader ignores unknown keys.",
        "I prefer tabs.",
        "Now I need to widen `parse()` because the header may be empty.",
        "Looking at the output: the second run reuses the cache.",
        "Run `make fmt` before every commit.",
    ],
)
def test_statements_pass(raw: str) -> None:
    assert rejection(wording(raw), raw) is None


def test_the_longest_and_the_shortest_allowed() -> None:
    assert rejection("a" * 3 + " bc de", "") is None  # 9 characters
    longest = "word " * 55 + "words"
    assert len(longest) == 280
    assert rejection(longest, longest) is None
    assert rejection(longest + "s", longest + "s") == rejections.TOO_LONG


OPENERS = ("", "OK, ", "great. ", "Now ", "All green, then ", "while testing it, ")


@pytest.mark.parametrize("opener", OPENERS)
@pytest.mark.parametrize("start", ["let me check the file", "I'll go", "now fix it, and the rest"])
def test_narration_is_recognised_behind_openers(opener: str, start: str) -> None:
    assert rejections.narrated(opener + start)


@pytest.mark.parametrize("text", ["thanks for the file", "Thanks for the file", "ſorry, file"])
def test_case_does_not_matter_in_any_alphabet(text: str) -> None:
    assert rejection(text, text) == rejections.THANKS
