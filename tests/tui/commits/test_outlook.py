"""What would be left of a context, what must be let go for a size, and what survives anyway."""

from __future__ import annotations

import pytest

from reviewer.commits.values import Priority
from reviewer.compression.fit import Outlook, Reach
from reviewer.engine import Engine
from reviewer.text.token_numbers import read_tokens
from reviewer.tui.commits import screen as commits_screen
from reviewer.tui.commits.panes import outlook_wordings
from reviewer.tui.theme import ASCII
from tests.tui.commits.driving import at, chain, commits, status_text, styled
from tests.tui.conftest import Screen, opened


@pytest.fixture(autouse=True)
def _measured_immediately(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commits_screen, "OUTLOOK_SECONDS", 0.001)
    monkeypatch.setattr(commits_screen, "TARGET_SECONDS", 0.001)


def line(screen: Screen) -> str:
    return commits(screen).outlook_line.render_line(0).text.strip()


async def test_the_line_says_what_every_level_would_leave(fair: Engine) -> None:
    outlook = fair.compression.outlook(1)
    async with opened(fair, project="acme") as screen:
        await screen.press("f3")
        await screen.until(lambda: "Brief" in line(screen))
        for level in ("Detailed", "Brief", "Tags"):
            tokens = next(
                size for one, size in outlook.at_level.items() if one.name.title() == level
            )
            assert f"{level} {tokens}" in line(screen)
        assert f"pins and anchors need {outlook.floor}" in line(screen)
        before = line(screen)
        await screen.press("*", "p")
        await screen.until(lambda: line(screen) != before)
        assert f"pins and anchors need {fair.contexts.totals(1).total}" in line(screen)


async def test_a_large_context_is_measured_only_when_asked(
    fair: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commits_screen, "UNASKED_TOKENS", 10)
    async with opened(fair, project="acme") as screen:
        await screen.press("f3")
        assert "w does it" in line(screen)
        await screen.press("w", *"20")
        await screen.until(lambda: "20" in status_text(screen))
        await screen.press("enter")
        await screen.until(lambda: "Brief" in line(screen))


async def test_w_lists_the_largest_costs_and_enter_goes_there(fair: Engine) -> None:
    ids = chain(fair)
    fair.contexts.annotate(ids[3], priority="pinned")
    reach = fair.compression.reach(1, 5)
    heaviest = [cost.commit for cost in reach.costly]
    assert set(heaviest) == {ids[0], ids[3]}
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "G", "w", *"5")
        await screen.until(lambda: "no: it needs about" in screen.text)
        assert status_text(screen) == reach.message
        await screen.press("down", "enter")
        assert at(screen) == ids.index(heaviest[0])
        assert "n lets it be compressed" in status_text(screen)
        await screen.until(lambda: "5 is too few" in line(screen))


async def test_w_goes_to_a_commit_that_the_filter_hides(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "/", *"role:user", "enter", "w", *"5")
        await screen.until(lambda: "no: it needs about" in screen.text)
        await screen.press("down", "enter")
        assert at(screen) == 0
        assert commits(screen).filter_text == ""


async def test_leaving_the_question_keeps_the_target_as_it_was(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "w", *"abc")
        assert "such as 8000 or 8k" in screen.text
        await screen.press("escape")
        assert commits(screen).target is None


async def test_what_survives_anyway_is_marked_lightly(fair: Engine) -> None:
    number = chain(fair)[1]
    view = fair.contexts.commit(number)
    found = fair.compression.anchor_spans(view.text, view.row.role)
    assert found
    fair.contexts.annotate(number, retain_match=[found[0].content[:3]])
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j")
        assert found[0].content[:3] in "".join(styled(screen, "kept"))
        assert styled(screen, "anchor")
        await screen.press("p")
        assert not styled(screen, "anchor")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("8000", 8_000), ("8,000", 8_000), ("8.000", 8_000), ("8k", 8_000), ("8.5K", 8_500),
        ("8,5k", 8_500), ("1.2M", 1_200_000), ("1_000", 1_000), ("12,345,678", 12_345_678),
        ("", None), ("abc", None), ("-5", None), ("8kk", None), ("9" * 400, None),
    ],
)  # fmt: skip
def test_a_size_as_people_write_it(text: str, tokens: int | None) -> None:
    assert read_tokens(text) == tokens


def outlook() -> Outlook:
    from reviewer.compression.values import Level

    sizes = {Level.FULL: 48_120, Level.DETAILED: 16_000, Level.BRIEF: 9_240, Level.TAGS: 8_500}
    return Outlook(48_120, {Priority.NORMAL: 48_120}, sizes, 8_400)


def test_wordings_become_shorter() -> None:
    found = outlook_wordings(outlook(), None, ASCII)
    assert found[0].endswith("Tags 8.5k - pins and anchors need 8.4k - w: what would fit")
    assert found[-1] == "Detailed 16k - Brief 9.2k - Tags 8.5k"
    assert list(found) == sorted(found, key=len, reverse=True)


@pytest.mark.parametrize(
    ("target", "words"), [(9_000, "+ 9,000 can be reached"), (8_000, "x 8,000 is too few")]
)
def test_a_target_is_always_in_the_shortest_wording(target: int, words: str) -> None:
    reach = Reach(target, target >= 8_500, 8_500, (), "")
    found = outlook_wordings(outlook(), reach, ASCII)
    assert found[-1] == words
    assert all(words in each for each in found)


async def test_before_a_size_is_typed_the_field_says_how_one_is_written(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "w")
        assert "such as 8000 or 8k" in screen.text
        assert "pins and anchors that need most" in screen.text
        assert "Nothing matches" not in screen.text


async def test_typing_replaces_the_number_that_is_there(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "w", *"5", "enter")
        assert commits(screen).target == 5
        await screen.press("w", *"900", "enter")
        assert commits(screen).target == 900


async def test_no_number_keeps_the_target_and_an_empty_field_forgets_it(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "w", *"5", "enter", "w", *"abc", "enter")
        assert status_text(screen).startswith("Nothing was changed: type a number of tokens")
        assert commits(screen).target == 5
        await screen.press("w", "backspace", "enter")
        assert commits(screen).target is None
