"""The budget of a packet, its task and its date: by step, typed, by click; two side by side."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.text.tokens import counter
from reviewer.tui.packet.model import BUDGETS, ItemRow, step_budget
from reviewer.tui.packet.panes import budget_at, place_of
from tests.present import present
from tests.tui.conftest import opened
from tests.tui.packet.driving import go_to, model, packet_text, shown, status_text, typed


async def test_a_step_of_the_budget_changes_every_pane(engine: Engine, kiosk: Path) -> None:
    async with opened(engine) as screen:
        await screen.press("f4")
        await typed(screen, "b", "500")
        assert shown(screen).budget == 500
        before = model(screen).packet
        await screen.press("<", "<")
        packet = model(screen).packet
        assert packet is not None
        assert before is not None
        assert packet.budget == 0 < before.budget
        assert packet.tokens_used == counter().count(packet.markdown) < before.tokens_used
        assert "over: tier 1 alone needs that" in screen.text
        await screen.press("right", ")")
        assert present(model(screen).packet).budget == 350
        assert f"used {present(model(screen).packet).tokens_used}" in screen.text
        await screen.press("(")
        assert present(model(screen).packet).budget == 250


@pytest.mark.parametrize(
    ("words", "budget"),
    [("12k", 12_000), ("1,500", 1_500), ("1.2M", 1_200_000), ("8.5K", 8_500), ("0", 0), ("7", 7)],
)
async def test_a_budget_is_typed(engine: Engine, kiosk: Path, words: str, budget: int) -> None:
    async with opened(engine) as screen:
        await screen.press("f4")
        await typed(screen, "b", words)
        assert present(model(screen).packet).budget == budget
        assert screen.app.focused is shown(screen).list


async def test_typing_replaces_the_budget_that_is_filled_in(engine: Engine, kiosk: Path) -> None:
    async with opened(engine) as screen:
        await screen.press("f4", "b", *"500", "enter")
        assert present(model(screen).packet).budget == 500


async def test_text_that_is_not_a_budget_keeps_the_field_open(engine: Engine, kiosk: Path) -> None:
    async with opened(engine) as screen:
        await screen.press("f4")
        await typed(screen, "b", "-5")
        assert status_text(screen).startswith("A budget is a number of tokens, such as 8000")
        assert shown(screen).prompt.is_open
        await screen.press("escape")
        assert present(model(screen).packet).budget == 8_000


async def test_a_complaint_goes_when_the_next_budget_is_taken(engine: Engine, kiosk: Path) -> None:
    async with opened(engine) as screen:
        await screen.press("f4")
        await typed(screen, "b", "9" * 14)
        assert status_text(screen) == "A budget has at most 1,000,000,000,000 tokens."
        await typed(screen, "ctrl+u", "900")
        assert status_text(screen) == ""
        assert present(model(screen).packet).budget == 900


async def test_the_packet_follows_while_a_task_is_typed_and_escape_takes_it_back(
    engine: Engine, kiosk: Path
) -> None:
    async with opened(engine) as screen:
        await screen.press("f4", "t", *"scale")
        assert present(model(screen).packet).task == "scale"
        assert 'task   "scale"' in screen.text
        await screen.press("escape")
        assert present(model(screen).packet).task == ""
        await typed(screen, "t", "coins scale weight")
        scores = {
            i.title: i.score.relevance for i in present(model(screen).packet).items if i.score
        }
        assert scores["Coins are counted by weight"] == 1.0


async def test_another_screen_and_back_keeps_the_task_the_budget_and_the_pins(
    engine: Engine, kiosk: Path
) -> None:
    async with opened(engine) as screen:
        await screen.press("f4")
        await typed(screen, "b", "900")
        await typed(screen, "t", "coins scale weight")
        await go_to(screen, "Coins are counted by weight")
        await screen.press("P")
        pinned = set(model(screen).pinned)
        assert pinned
        await screen.press("f2", "f4")
        assert present(model(screen).packet).task == "coins scale weight"
        assert present(model(screen).packet).budget == 900
        assert model(screen).pinned == pinned
        assert 'task   "coins scale weight"' in screen.text


async def test_a_task_that_is_being_typed_is_kept_by_a_key_that_leaves(
    engine: Engine, kiosk: Path
) -> None:
    async with opened(engine) as screen:
        await screen.press("f4", "t", *"scale", "f2", "f4")
        assert present(model(screen).packet).task == "scale"


async def test_a_task_is_read_from_a_file(engine: Engine, kiosk: Path) -> None:
    (kiosk / "change.diff").write_text("diff --git a/jam.c b/jam.c\n+++ b/jam.c\n+sensor(forty)\n")
    async with opened(engine) as screen:
        await screen.press("f4")
        await typed(screen, "t", f"@{kiosk / 'change.diff'}")
        packet = present(model(screen).packet)
        best = max(packet.items, key=lambda item: item.score.total if item.score else 0.0)
        assert best.title == "A paper jam looks like a slow printer"
        assert 'task   "@' in screen.text
        await typed(screen, "t", "@/nowhere/at/all")
        assert "/nowhere/at/all cannot be read: No such file" in status_text(screen)


async def test_a_date_changes_the_ages(engine: Engine, kiosk: Path) -> None:
    async with opened(engine) as screen:
        await screen.press("f4")
        await typed(screen, "D", "2026-07-26")
        assert "as of 2026-07-26" in screen.text
        await go_to(screen, "Receipts before drawers")
        assert "recency 1.0 (2 days)" in shown(screen).why.plain_text
        await typed(screen, "D", "2030-01-01")
        assert "recency 0.2" in shown(screen).why.plain_text
        await typed(screen, "D", "soon")
        assert status_text(screen) == "Write a date such as 2026-02-14."


async def test_two_budgets_show_what_more_tokens_buy(engine: Engine, kiosk: Path) -> None:
    async with opened(engine) as screen:
        await screen.press("f4")
        await typed(screen, "b", "400")
        await screen.press("d")
        assert "400 → 500" in screen.text
        bought = packet_text(screen)
        assert "tokens more buy:" in bought
        changed = [r for r in model(screen).rows if isinstance(r, ItemRow) and r.before]
        assert any(present(row.before).state != row.item.state for row in changed)
        await typed(screen, "b", "300")
        assert "300 → 400" in screen.text
        await screen.press("d")
        assert status_text(screen) == "One budget again: 300 tokens."
        await screen.press("d", "escape")
        assert model(screen).kept is None
        assert "# Context packet" in packet_text(screen)


async def test_clicking_the_slider_chooses_a_budget(engine: Engine, kiosk: Path) -> None:
    async with opened(engine) as screen:
        await screen.press("f4")
        line = shown(screen).budget_line
        start = line.render_line(0).text.index("━")
        await screen.pilot.click(line, offset=(start, 0))
        await screen.settle()
        assert present(model(screen).packet).budget == 0


async def test_clicking_an_arrow_of_the_slider_goes_one_step(engine: Engine, kiosk: Path) -> None:
    async with opened(engine) as screen:
        await screen.press("f4")
        line = shown(screen).budget_line
        for arrow, budget in (("▶", 12_000), ("▶", 16_000), ("◀", 12_000)):
            await screen.pilot.click(line, offset=(line.render_line(0).text.index(arrow), 0))
            await screen.settle()
            assert present(model(screen).packet).budget == budget


def test_the_slider_goes_through_its_steps() -> None:
    seen = [0]
    while seen[-1] < BUDGETS[-1]:
        seen.append(step_budget(seen[-1], 1))
    assert tuple(seen) == BUDGETS
    assert step_budget(0, -1) == 0
    assert step_budget(8_100, -1) == 8_000
    assert step_budget(BUDGETS[-1], 1) == 2 * BUDGETS[-1]
    assert step_budget(10**12, 1) == 10**12
    assert step_budget(2 * BUDGETS[-1], -1) == BUDGETS[-1]


def test_a_place_of_the_slider_and_its_budget_agree() -> None:
    cells = len(BUDGETS)
    assert [budget_at(place_of(budget, cells), cells) for budget in BUDGETS] == list(BUDGETS)
    places = [place_of(budget, 22) for budget in range(0, 210_000, 37)]
    assert places == sorted(places)
    assert set(places) <= set(range(22))


@pytest.mark.parametrize(
    ("words", "tokens", "chars"),
    [
        ("1k chars", 8_000, 1_000),
        ("4k 1,200 chars", 4_000, 1_200),
        ("4,000 tokens, 1200 characters", 4_000, 1_200),
        ("codex", 2_400, 9_500),
    ],
)
async def test_a_limit_in_characters_is_typed_beside_the_budget(
    engine: Engine, kiosk: Path, words: str, tokens: int, chars: int
) -> None:
    async with opened(engine) as screen:
        await screen.press("f4")
        await typed(screen, "b", words)
        assert (shown(screen).budget, shown(screen).max_chars) == (tokens, chars)
        packet = present(model(screen).packet)
        assert len(packet.markdown) <= chars
        assert f"{chars:,} characters" in screen.text
        await screen.press("b")
        assert shown(screen).prompt.field.value in (words, f"{tokens} {chars} chars")
        await typed(screen, "escape", "")
        await typed(screen, "b", "8k")
        assert shown(screen).max_chars is None


async def test_a_step_away_from_an_agents_budget_keeps_its_limit_in_characters(
    engine: Engine, kiosk: Path
) -> None:
    async with opened(engine) as screen:
        await screen.press("f4")
        await typed(screen, "b", "codex")
        assert "9,500 characters (codex)" in screen.text
        await screen.press(">")
        assert (shown(screen).budget, shown(screen).max_chars) == (3_000, 9_500)
        assert "(codex)" not in screen.text
