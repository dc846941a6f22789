"""Contexts on the Commits screen: none, imported by key, several, written by others."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.tui.compress.screen import CompressScreen
from tests.present import present
from tests.tui.commits.driving import at, chain, commits, status_text, typed, written
from tests.tui.conftest import NOW, opened


async def test_without_a_context_the_screen_says_how_to_get_one(engine: Engine) -> None:
    async with opened(engine, size=(80, 24), project="acme") as screen:
        await screen.press("f3", *"jGpinSrevCtowEyR*", "space", "enter", "slash", "u", "Z")
        assert "No contexts yet" in screen.text
        assert "reviewer context import FILE" in screen.text
        assert present(commits(screen).model).current is None


async def test_a_file_is_imported_by_key(engine: Engine, transcript: Path) -> None:
    async with opened(engine, project="acme") as screen:
        await screen.press("f3", "I")
        assert "type the path of a transcript" in screen.text
        typed(screen, "#choice Field", f"{transcript.parent}/fai")
        await screen.settle()
        assert "fair.jsonl" in screen.text
        await screen.press("enter")
        await screen.until(lambda: "6 commits imported" in status_text(screen))
        assert "fair" in screen.text
        assert engine.contexts.all("acme")[0].commits == 6
        await screen.press("I", "enter")
        await screen.until(lambda: "nothing was added" in status_text(screen))
        assert [each.commits for each in engine.contexts.all("acme")] == [6]


async def test_what_cannot_be_imported_is_a_sentence(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    async with opened(engine, project="acme") as screen:
        await screen.press("f3", "I")
        typed(screen, "#choice Field", f"{tmp_path}/empty.jsonl")
        await screen.settle()
        await screen.press("enter")
        await screen.until(lambda: "contains nothing" in status_text(screen))
        assert "No contexts yet" in screen.text


async def test_a_folder_opens_in_the_chooser(
    engine: Engine, transcript: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    os.rename(transcript, inner / "fair.jsonl")
    monkeypatch.chdir(tmp_path)
    async with opened(engine, project="acme") as screen:
        await screen.press("f3", "I", *"inn")
        assert "inner/" in screen.text
        await screen.press("enter", "enter")
        await screen.until(lambda: "6 commits imported" in status_text(screen))


async def test_t_and_the_chooser_go_to_other_contexts_and_places_are_kept(
    fair: Engine, tmp_path: Path
) -> None:
    other = written(tmp_path / "other.jsonl", (("user", "Another thing."), ("user", "And more.")))
    fair.contexts.import_file(other, project="acme")
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "C", *"fair", "enter", "j", "j")
        await screen.press("t")
        assert "─ other ─" in screen.text
        await screen.press("t")
        assert "─ fair ─" in screen.text
        assert at(screen) == 2
        await screen.press("q", "f3")
        assert "─ fair ─" in screen.text
        assert at(screen) == 2
        await screen.press("t", "f4")
        levels = screen.app.screen
        assert isinstance(levels, CompressScreen)
        assert levels.context is not None
        assert levels.context.name == "other"


async def test_t_with_one_context_says_so(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "t")
        assert status_text(screen) == "This is the only context: I imports another transcript."


async def test_what_others_write_appears_and_the_cursor_stays(fair: Engine) -> None:
    ids = chain(fair)
    other = Engine.open(fair.path, clock=lambda: NOW)
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "j", "space")
        await screen.settle()
        other.contexts.annotate(ids[1], priority="important")
        other.contexts.add(1, role="user", text="One more thing.")
        commits(screen).watch_store()
        await screen.settle()
        model = commits(screen).model
        assert len(present(model).ids) == 7
        assert at(screen) == 3
        assert present(model).marks == {ids[2]}
        assert "One more thing." in screen.text
        assert "7 commits" in screen.text
    other.close()


async def test_the_queue_below_is_not_drawn_until_it_is_shown_again(
    fair: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "p", "i")
        read: list[str] = []
        monkeypatch.setattr(screen.queue, "reload", lambda: read.append("rows"))
        screen.queue.watch_store()
        assert read == []
        await screen.press("q")
        assert read == ["rows"]
