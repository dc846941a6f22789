"""A summary by hand on the Compress screen: live checks, refused and repaired, drafts."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.commits.values import CommitQuery
from reviewer.engine import Engine
from reviewer.tui.compress import summary_edit
from reviewer.tui.compress.summary_edit import SummaryEditPane
from reviewer.tui.kit import edit_pane
from reviewer.tui.kit.edit_pane import EditPane
from tests.present import present
from tests.tui.compress.driving import chain, compress, status_text, stocked
from tests.tui.conftest import Screen, opened


@pytest.fixture(autouse=True)
def panes_follow_immediately(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary_edit, "CHECK_AFTER", 0.001)
    monkeypatch.setattr(edit_pane, "DRAFT_AFTER", 0.001)


@pytest.fixture
def kiosk(engine: Engine, tmp_path: Path) -> Engine:
    """One segment, of which an amount must survive."""
    stocked(engine, tmp_path)
    first = engine.contexts.ids(CommitQuery(1))[0]
    engine.contexts.annotate(first, retain_match=["$50k"], retain_regex=[r"\d{4}-\d{2}-\d{2}"])
    return engine


def pane(screen: Screen) -> SummaryEditPane:
    return compress(screen).query_one(SummaryEditPane)


async def write(screen: Screen, text: str) -> None:
    pane(screen).put(text)
    await screen.settle()


async def test_the_checks_follow_the_text(kiosk: Engine) -> None:
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "e")
        assert '✓ "$50k"' in pane(screen).checks.plain_text
        await write(screen, "The receipts are slow, and 2026-03-31 is the end.")
        shown = pane(screen).checks.plain_text
        assert '✗ "$50k" missing' in shown
        assert "✓ regex" in shown
        assert "✗ 1 of 10 anchors" in shown, "the date is one that was asked for"
        assert "{+" in pane(screen).difference.plain_text


async def test_a_summary_that_misses_a_criterion_is_refused_with_a_diagnosis(kiosk: Engine) -> None:
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "e")
        await write(screen, "The receipts are slow.")
        await screen.press("ctrl+s")
        assert compress(screen).overlay is compress(screen).editor, "it stays open"
        assert 'substring not found: "$50k"' in status_text(screen)
        assert "regex not found" in status_text(screen)
        assert present(compress(screen).data.choice).content is None
        assert chain(kiosk).count("summary") == 0


async def test_missing_parts_are_appended_and_the_text_is_accepted(kiosk: Engine) -> None:
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "e")
        await write(screen, "The receipts are slow.")
        await screen.press("ctrl+s", "ctrl+t")
        text = pane(screen).content
        assert text.startswith("The receipts are slow.")
        assert "$50k" in text
        assert "2026-03-31" in text
        assert "Key Points" in text
        assert "We decided to keep the connection" in text, "anchors as well"
        await screen.press("ctrl+s")
        assert compress(screen).overlay is None
        assert "by hand" in status_text(screen)
        assert (
            compress(screen)
            .summary.plain_text.split("\n", 1)[1]
            .lstrip()
            .startswith("The receipts are slow.")
        )
        await screen.press("A")
        written = kiosk.contexts.commit(kiosk.contexts.ids(CommitQuery(1))[0])
        assert written.text == text
        assert kiosk.summary_drafts.ids() == set(), "an applied draft is no draft"


async def test_a_summary_by_hand_may_leave_anchors_out_and_says_so(kiosk: Engine) -> None:
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "e")
        await write(screen, "Budget $50k until 2026-03-31.")
        await screen.press("ctrl+s")
        assert "anchors left out" in status_text(screen)
        assert "✗" in compress(screen).checks.plain_text


async def test_escape_keeps_a_draft_that_can_be_continued(kiosk: Engine) -> None:
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "e")
        await write(screen, "The receipts")
        await screen.press("escape")
        assert "draft" in status_text(screen)
        assert "✎" in compress(screen).list.render_line(0).text
        assert present(compress(screen).data.choice).content is None, (
            "a draft is nothing that is applied"
        )
        await screen.press("f3", "f4", "e")
        assert pane(screen).content == "The receipts"


async def test_a_draft_is_there_after_a_crash(kiosk: Engine) -> None:
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "e", "end", "x")
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "e")
        assert pane(screen).content.endswith("x")


async def test_leaving_an_unchanged_text_keeps_no_draft(kiosk: Engine) -> None:
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "e", "escape")
        assert kiosk.summary_drafts.ids() == set()
        assert "left unchanged" in status_text(screen)


async def test_another_level_leaves_the_text_by_hand_as_a_draft(kiosk: Engine) -> None:
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "e")
        await write(screen, "Budget $50k until 2026-03-31.")
        await screen.press("ctrl+s", "2")
        assert "kept as a draft" in status_text(screen)
        assert compress(screen).data.writer(present(compress(screen).data.choice)) == "offline"
        await screen.press("e")
        assert pane(screen).content == "Budget $50k until 2026-03-31."


async def test_secrets_are_masked_before_they_are_kept(kiosk: Engine) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "e")
        await write(screen, f"Budget $50k until 2026-03-31, token {secret}.")
        await screen.press("ctrl+s", "A")
        stored = kiosk.contexts.commit(kiosk.contexts.ids(CommitQuery(1))[0]).text
        assert "$50k" in stored
        assert secret not in stored


async def test_full_cannot_be_written_by_hand(kiosk: Engine) -> None:
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "1", "e")
        assert "Full is the original" in status_text(screen)
        assert compress(screen).overlay is None


async def test_an_empty_summary_is_refused(kiosk: Engine) -> None:
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "e")
        await write(screen, "  ")
        await screen.press("ctrl+s")
        assert compress(screen).overlay is compress(screen).editor
        assert "needs words" in status_text(screen)


async def test_a_draft_that_comes_after_the_editor_was_left_is_not_kept(kiosk: Engine) -> None:
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "e")
        editor, commit = pane(screen), pane(screen).memory
        await screen.press("escape")
        editor.post_message(EditPane.DraftChanged(commit, "Half a word", changed=True))
        await screen.settle()
        assert kiosk.summary_drafts.load(commit) is None
