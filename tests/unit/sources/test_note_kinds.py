"""What kind of note a text is; whatever is repeated in it, the answer comes at once."""

from __future__ import annotations

import pytest

from reviewer.sources.note_kinds import is_template


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    ["<a href='x'>" * 20_000, "<a" + "- " * 100_000, "<!-- INDEX:START -->" * 50_000,
     "<!-- x -->" + "\n" * 100_000, "<!-- x -->" + " " * 100_000, "{" * 100_000 + "[ab" * 50_000],
    ids=["tags", "open tag", "indexes", "line ends", "spaces", "brackets"],
)  # fmt: skip
def test_repetition_is_judged_in_a_moment(text: str) -> None:
    assert is_template(text) in (True, False)


def test_a_label_and_a_place_to_fill_in_say_nothing() -> None:
    assert is_template(
        "# Note\n\n- **Status**: [fill in]\n  1. Owner: <your name>\n\nDate: YYYY-MM-DD"
    )
    assert not is_template("# Note\n\n- **Status**: accepted because <b>printers</b> jam")
    index = "<!-- INDEX:START -->\n| a < b |\n<!-- INDEX:END -->\n"
    assert is_template(index)
    assert not is_template(f"{index}We decided so.")
