import pytest

from reviewer.extraction import screens
from reviewer.extraction.passages import wording
from reviewer.extraction.screens import screen


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("Ok fine", screens.TOO_SHORT),
        ("word " * 57, screens.TOO_LONG),
        ("Should the cache be shared?", screens.QUESTION),
        ("**Should the cache be shared?**", screens.QUESTION),
        ("Let me run the tests.", screens.NARRATION),
        ("Now let me look at the loader.", screens.NARRATION),
        ("Good, now I'll check the other callers.", screens.NARRATION),
        ("I need to check the other callers.", screens.NARRATION),
        ("All tests pass.", screens.NARRATION),
        ("Committed and pushed.", screens.NARRATION),
        ("Done. ", screens.TOO_SHORT),
        ("Thanks, that was quick work", screens.THANKS),
        ("Let me know if the order matters.", screens.THANKS),
        ("TBD by the team", screens.PLACEHOLDER),
        ("Describe <your project> in two lines", screens.PLACEHOLDER),
        ("a/b/c/d", screens.TOO_SHORT),
        ("{}()[]!@#$%^&*+= of it all", screens.FRAGMENT),
        ("![a diagram of the parts](parts.png)", screens.FRAGMENT),
        ("[the guide of the team](https://example.org/a)", screens.FRAGMENT),
        ("12 34 56 78", screens.FRAGMENT),
        ("[Request interrupted by user for tool use]", screens.CLIENT_TEXT),
    ],
)
def test_what_nobody_would_keep_is_named(raw: str, reason: str) -> None:
    assert screen(wording(raw), raw) == reason


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
    assert screen(wording(raw), raw) is None


def test_the_longest_and_the_shortest_allowed() -> None:
    assert screen("a" * 3 + " bc de", "") is None  # 9 characters
    longest = "word " * 55 + "words"
    assert len(longest) == 280
    assert screen(longest, longest) is None
    assert screen(longest + "s", longest + "s") == screens.TOO_LONG
