"""One key reads the sessions of the project that agents have left on this machine."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from textual.widgets import TextArea

from reviewer.engine import Engine
from reviewer.tui.session.screen import SessionScreen
from tests.tui.conftest import opened
from tests.unit.sessions.told import Told
from tests.unit.sources.families import Json, lines


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a project, and a home folder without sessions."""
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    monkeypatch.chdir(folder)
    return folder


def typed(message: str) -> Json:
    return {"type": "event_msg", "payload": {"type": "user_message", "message": message}}


def session(shop: Path, name: str = "a") -> Path:
    return lines(
        f".codex/sessions/rollout-{name}.jsonl",
        {"type": "session_meta", "payload": {"id": name, "cwd": str(shop)}},
        typed("Always weigh the trays twice before you print the label."),
    )(shop.parent / "home")


async def test_the_empty_queue_offers_to_read_the_sessions_and_r_reads_them(
    engine: Engine, shop: Path
) -> None:
    session(shop)
    async with opened(engine, project="shop") as screen:
        assert "r looks for sessions to read" in screen.text
        here = "1 session of this project on this machine, 1 to read in."
        await screen.until(lambda: here in screen.text)
        await screen.press("r")
        await screen.until(lambda: screen.status.startswith("Read 1 file"))
        await screen.settle()
        assert screen.status == "Read 1 file, 0 unchanged: 1 new candidate - F8 takes it back"
        assert "weigh the trays twice" in screen.text
        await screen.press("r")
        await screen.until(lambda: "1 unchanged" in screen.status)


async def test_what_failed_in_the_sessions_is_listed_and_read_where_it_failed(
    engine: Engine, tmp_path: Path
) -> None:
    async with opened(engine, project="shop") as screen:
        await screen.choose("refusals and failures")
        assert screen.status.startswith("No findings yet")
    told = Told("s1")
    told.user("Tidy up")
    told.run("make labels", "labels.py:3:1: tray 4 is not weighed", failed=True)
    told.edit("/work/shop/labels.py", "tray", "weighed(tray)")
    told.run("make labels")
    engine.intake.ingest([told.write(tmp_path / "s1.jsonl")], project="shop")
    async with opened(engine, project="shop") as screen:
        await screen.until(lambda: "f lists what you refused" in screen.text)
        await screen.press("f")
        assert "tray 4 is not weighed" in screen.text
        await screen.press("enter")
        await screen.settle()
        assert isinstance(screen.app.screen, SessionScreen)
        assert "make labels" in screen.text


async def test_what_was_opened_from_the_list_of_findings_leads_back_to_it(
    engine: Engine, tmp_path: Path
) -> None:
    for name, request in (("s1", "Tidy up"), ("s2", "Weigh the trays")):
        told = Told(name)
        told.user(request)
        told.run("make labels", "labels.py:3:1: tray 4 is not weighed", failed=True)
        engine.intake.ingest([told.write(tmp_path / f"{name}.jsonl")], project="shop")
    async with opened(engine, project="shop") as screen:
        await screen.press("f", *"tray")
        findings = screen.text
        await screen.press("enter")
        assert "Tidy up · line " in screen.text
        assert "Weigh the trays · line " in screen.text
        assert screen.text.count(" 2026-") == 2, "each with the day of its last turn"
        await screen.press("down")
        sessions = screen.text
        await screen.press("enter")
        await screen.settle()
        assert isinstance(screen.app.screen, SessionScreen)
        await screen.press("escape")
        assert screen.text == sessions
        await screen.press("escape")
        assert screen.text == findings
        await screen.press("enter", "enter")
        await screen.settle()
        await screen.press("f2")
        assert "r read sessions" in screen.text, "the footer is the queue's again"


async def test_what_the_person_refused_comes_first_and_its_words_begin_a_memory(
    engine: Engine, tmp_path: Path
) -> None:
    told = Told("s1")
    told.user("Tidy up")
    told.run("make labels", "labels.py:3:1: tray 4 is not weighed", failed=True)
    told.edit("/work/shop/labels.py", "tray", "weighed(tray)")
    told.run("make labels")
    said = "The user doesn't want to proceed with this tool use. (none). the user said:\n"
    told.call("Bash", f"{said}never push by yourself", failed=True, command="git push")
    engine.intake.ingest([told.write(tmp_path / "s1.jsonl")], project="shop")
    async with opened(engine, project="shop") as screen:
        await screen.until(lambda: "f: 1 you refused or corrected" in screen.text)
        await screen.press("f")
        assert screen.text.index("you refused") < screen.text.index("tray 4 is not weighed")
        await screen.press("enter")
        await screen.settle()
        await screen.press("e")
        await screen.settle()
        assert screen.app.screen.query_one(TextArea).text == "never push by yourself"
        await screen.press("ctrl+s", "f2")
        await screen.until(lambda: "you refused or corrected" not in screen.text)
        await screen.press("f")
        assert "promoted: never push by yourself" in screen.text


@pytest.mark.parametrize("name", ["depot", "attic"])
async def test_another_project_gets_its_own_sessions_never_those_of_this_folder(
    engine: Engine, shop: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    depot = shop.parent / "depot"
    (depot / ".git").mkdir(parents=True)
    session(depot, "d")
    session(shop)
    engine.state.set("attic", "db", "Discs")  # bound to no folder
    for folder in (depot, shop):
        monkeypatch.chdir(folder)
        engine.work_in(engine.choose_project(None))
        engine.state.set(folder.name, "db", "Discs")
    async with opened(engine, project="shop") as screen:
        await screen.press("p", *name, "enter", "f2")
        own = "1 session of this project" if name == "depot" else "There are no sessions"
        await screen.until(lambda: own in screen.text)
        await screen.press("r")
        await screen.settle()
        paths = [Path(each).name for each in engine.sources.stamps(name)]
        assert paths == (["rollout-d.jsonl"] if name == "depot" else [])


async def test_a_project_named_at_the_start_gets_its_own_sessions(
    engine: Engine, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    depot = shop.parent / "depot"
    (depot / ".git").mkdir(parents=True)
    session(depot, "d")
    session(shop)
    for folder in (depot, shop):
        monkeypatch.chdir(folder)
        engine.work_in(engine.choose_project(None))
        engine.state.set(folder.name, "db", "Discs")
    engine.work_in(engine.choose_project("depot"))
    async with opened(engine, project="depot") as screen:
        await screen.press("r")
        await screen.until(lambda: screen.status.startswith("Read 1 file"))
        paths = [Path(each).name for each in engine.sources.stamps("depot")]
        assert paths == ["rollout-d.jsonl"]


async def test_without_sessions_the_key_leads_to_the_start_screen_which_says_so(
    engine: Engine, shop: Path
) -> None:
    async with opened(engine, project="shop") as screen:
        await screen.press("r")
        await screen.until(lambda: "No agents' sessions were found" in screen.text)
        await screen.press("escape")
        assert screen.status == '. "start screen" goes back there.'


async def test_the_start_screen_is_in_the_menu_and_in_the_help(engine: Engine, shop: Path) -> None:
    session(shop)
    async with opened(engine, project="shop") as screen:
        await screen.choose("start screen")
        await screen.until(lambda: "shop (this project)" in screen.text)
        await screen.press("escape", "f5", "question_mark", *"start", "enter")
        await screen.until(lambda: "shop (this project)" in screen.text)


async def test_the_key_reads_again_what_was_read_from_elsewhere(
    engine: Engine, shop: Path, tmp_path: Path
) -> None:
    path = tmp_path / "notes.md"
    path.write_text("- [Decision] We use tapes.\n", "utf-8")
    engine.intake.ingest([path], project="shop")
    path.write_text("- [Decision] We use tapes.\n- Always label each tape twice.\n", "utf-8")
    async with opened(engine, project="shop", size=(120, 30)) as screen:
        await screen.press("r")
        await screen.until(lambda: "1 new candidate" in screen.status)
        await screen.settle()
        assert "Always label each tape twice" in screen.text
        await screen.press("r")
        await screen.until(lambda: "1 unchanged" in screen.status)


async def test_the_open_screen_reads_on_in_sessions_that_were_read_before(
    engine: Engine, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reviewer.tui.queue.screen.LOOK_SECONDS", 0.5)
    path = session(shop)
    engine.intake.ingest([path], project="shop")
    async with opened(engine, project="shop") as screen:
        with path.open("a") as file:
            file.write(json.dumps(typed("We never open the shop before nine o'clock.")) + "\n")
        await screen.until(lambda: "1 new candidate" in screen.status)
        await screen.press("ctrl+l")
        await screen.until(lambda: "before nine" in screen.text)


async def test_the_open_screen_reads_nothing_before_the_person_has_asked_for_it(
    engine: Engine, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []
    monkeypatch.setattr(
        "reviewer.tui.queue.screen.read_on", lambda _, project: started.append(project)
    )
    monkeypatch.setattr("reviewer.tui.queue.screen.LOOK_SECONDS", 0.3)
    session(shop)
    async with opened(engine, project="shop") as screen:
        await screen.until(lambda: "1 session of this project" in screen.text)
        await screen.settle()
        assert started == []


async def test_a_file_or_folder_of_ones_own_is_found_and_read(
    engine: Engine, shop: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "tapes.md").write_text("- Always label each tape twice.\n", "utf-8")
    (folder / "trays.md").write_text("- Always weigh the trays first.\n", "utf-8")
    async with opened(engine, project="shop") as screen:
        await screen.choose("read a file")
        await screen.press(*f"{tmp_path}/no", "enter", *"tapes", "enter")
        await screen.until(lambda: screen.status.startswith("Read 1 file, 0 unchanged"))
        assert "label each tape twice" in screen.text
        await screen.choose("read a file")
        await screen.press(*f"{folder}/", "enter")
        await screen.until(lambda: screen.status.startswith("Read 1 file, 1 unchanged"))


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("nowhere/", "cannot be read"),
        ("empty.md", "Nothing matches."),
        ("~nobody-here/", "cannot be read"),
    ],
)
async def test_a_path_that_leads_nowhere_says_so(
    engine: Engine, shop: Path, path: str, said: str
) -> None:
    async with opened(engine, project="shop") as screen:
        await screen.choose("read a file")
        await screen.press(*path)
        assert said in " ".join(screen.text.split())


async def test_a_folder_is_listed_whatever_is_in_it(
    engine: Engine, shop: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    (folder / "loop").symlink_to("loop")
    (folder / "red\x1b[31m").mkdir()
    (folder / "red\x1b[31m" / "tapes.md").write_text("- Always label each tape twice.\n", "utf-8")
    (folder / os.fsdecode(b"latin-\xe9")).mkdir()
    async with opened(engine, project="shop") as screen:
        await screen.choose("read a file")
        await screen.press(*f"{folder}/")
        assert all(name in screen.text for name in ("all of it", "loop", "red␛[31m", "latin-"))
        await screen.press("down", "down", "enter")
        await screen.until(lambda: screen.status.startswith("Read 1 file"))
        assert "\x1b" not in screen.text


async def test_a_name_is_found_among_any_number_of_others(
    engine: Engine, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reviewer.tui.queue.reading.MAX_ENTRIES", 1)
    for name in ("one.md", "two.md", "three.md"):
        (tmp_path / name).touch()
    async with opened(engine, project="shop") as screen:
        await screen.choose("read a file")
        for name in ("one.md", "two.md", "three.md"):
            await screen.press(*f"{tmp_path}/{name}")
            assert "Nothing matches" not in screen.text
            await screen.press("ctrl+u")


async def test_what_the_system_refuses_while_the_screen_looks_around_ends_nothing(
    engine: Engine, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied", str(shop))

    monkeypatch.setattr("reviewer.tui.queue.screen.find_here", refused)
    async with opened(engine, project="shop") as screen:
        await screen.until(lambda: "Permission denied" in screen.status)
