"""Two changes at once on the Commits screen: another context, a filter, a number, a draft."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reviewer.engine import Engine
from reviewer.tui.commits import screen as commits_screen
from reviewer.tui.commits.retention_form import RetentionForm
from tests.present import present
from tests.tui.commits.driving import TURNS, commits, typed, written
from tests.tui.conftest import opened
from tests.tui.test_at_once import Held


@pytest.fixture
def market(fair: Engine, tmp_path: Path) -> int:
    """Another context."""
    path = written(tmp_path / "market.jsonl", (*TURNS, ("user", "The market has 40 stalls.")))
    return fair.contexts.import_file(path, project="acme").context.id


@pytest.mark.parametrize("meanwhile", ["another program writes", "a filter is typed"])
async def test_a_context_that_is_being_opened_is_shown_whatever_comes_meanwhile(
    fair: Engine, market: int, meanwhile: str
) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3")
        shown = present(commits(screen).context).id
        other = market if shown != market else 1
        commits(screen).open_context(other)
        if meanwhile == "a filter is typed":
            commits(screen).run_filter("deposit", here=None)
        else:
            commits(screen).reload()
        await screen.settle()
        assert present(commits(screen).context).id == other
        assert ("deposit" in screen.text.splitlines()[2]) is (meanwhile == "a filter is typed")


async def test_the_outlook_of_the_context_before_does_not_arrive_in_the_next(
    fair: Engine, market: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3")
        shown = commits(screen)
        outlook = Held(fair.compression.outlook)
        monkeypatch.setattr(type(fair.compression), "outlook", lambda _, number: outlook(number))
        shown._read_outlook()
        await screen.until(lambda: outlook.calls)
        monkeypatch.setattr(commits_screen, "UNASKED_TOKENS", 0)
        other = market if present(shown.context).id != market else 1
        shown.open_context(other)
        await screen.until(lambda: present(shown.context).id == other)
        before = shown.outlook_line.render_line(0).text
        outlook.go_on.set()
        await screen.settle()
        assert shown.outlook_line.render_line(0).text == before


async def test_what_fits_one_number_is_not_offered_for_the_next(
    fair: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3")
        reach = Held(fair.compression.reach)
        monkeypatch.setattr(commits_screen, "TARGET_SECONDS", 0.001)
        monkeypatch.setattr(type(fair.compression), "reach", lambda _, *given: reach(*given))
        await commits(screen).what_fits()
        chooser = present(commits(screen)._choices)
        chooser.field.fill("8")
        await screen.until(lambda: reach.calls)
        monkeypatch.setattr(commits_screen, "TARGET_SECONDS", 3_600)
        chooser.field.fill("80")
        await screen.until(lambda: chooser.list.options[0].name == "80")
        reach.go_on.set()
        await screen.settle()
        assert [each.name for each in chooser.list.options] == ["80"]


async def test_checks_of_one_commit_do_not_arrive_in_the_form_of_another(
    fair: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3")
        check = Held(fair.contexts.check)
        shown = commits(screen)
        await screen.press("g", "r")
        form = present(shown._form)
        monkeypatch.setattr(type(fair.contexts), "check", lambda _, *given: check(*given))
        typed(screen, "#retain-patterns", "deposits")
        await screen.until(lambda: check.calls)
        monkeypatch.undo()
        await screen.pilot.press("escape", "G")
        monkeypatch.setattr(form.checked, "_want_checks", lambda: None)
        await shown.retain()
        typed(screen, "#retain-patterns", "deposits")
        check.go_on.set()
        await screen.settle()
        assert form.checked.checks == []


async def test_a_draft_that_comes_after_the_saving_is_not_kept(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "r")
        form = present(commits(screen)._form)
        typed(screen, "#retain-patterns", "stage")
        await screen.press("ctrl+s")
        late: Any = RetentionForm.DraftChanged(form.commits, form.criteria, changed=True)
        form.post_message(late)
        await screen.settle()
        assert fair.retention_drafts.load(form.commits[0]) is None
