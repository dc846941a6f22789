"""The reversibility table by key: every way back, graduation, supersession."""

from __future__ import annotations

from asyncio import create_task
from pathlib import Path
from threading import Event

import pytest

from reviewer.engine import Engine
from reviewer.promotion.views import QueueQuery
from reviewer.recall.moments import read_moment
from tests.tui.conftest import SET_A_VALUE, Screen, opened, status_of
from tests.tui.memory.driving import memory_screen, rows
from tests.waiting import until_async


async def test_a_candidate_that_was_written_is_deleted_by_undoing_its_act(engine: Engine) -> None:
    (number,) = engine.entities.author("acme", "decision", "We ship on Mondays only").ids
    async with opened(engine) as screen:
        await screen.press("f8", "x")
        assert number not in engine.queue.ids(QueueQuery(status="all"))


@pytest.mark.parametrize("kind", ["memory", "entity"])
async def test_an_active_memory_goes_back_to_the_queue(
    known: Engine, memory: int, entity: int, kind: str
) -> None:
    number = memory if kind == "memory" else entity
    async with opened(known, project="acme") as screen:
        await screen.press("f5", *("jj" if kind == "memory" else "j"))
        await screen.press("x", *"queue", "enter")
        assert status_of(known, number) == "candidate"
        assert screen.status == f"Put #{number} back into the queue - u to undo"
        assert "F2 Queue 1" in screen.text
        await screen.press("u")
        assert "F2 Queue 0" in screen.text
        assert status_of(known, number) == "active"
        assert memory_screen(screen).facts.current_id == number
        await screen.press("Z")
        assert status_of(known, number) == "candidate"
        await screen.press("f2")
        await screen.until(lambda: "1 new candidate" in screen.status or screen.model.ids)


async def test_marked_memories_are_retired_in_one_act_and_come_back_with_it(
    known: Engine, memory: int, entity: int, screen: Screen
) -> None:
    await screen.press("f5", "space")
    assert "1 marked" not in screen.status, "trusted state cannot be marked"
    await screen.press("space", "space", "x")
    assert "What to do with 2 memories" in screen.text
    await screen.press(*"retire", "enter")
    assert {status_of(known, each) for each in (memory, entity)} == {"invalid"}
    assert screen.status.startswith("Retired 2 memories")
    await screen.press("u")
    assert {status_of(known, each) for each in (memory, entity)} == {"active"}
    await screen.press("G", "space", "g", "x")
    assert "What to do with #" in screen.text, "the marked one, not the value at the cursor"


async def test_a_retired_memory_goes_back_to_the_memories(known: Engine, memory: int) -> None:
    moments = known.recall.set_moments(memory, [read_moment("guard git push")])
    assert moments.act
    known.triage.retire([memory])
    async with opened(known, project="acme", size=(120, 40)) as screen:
        await screen.choose("other rows")
        await screen.press(*"rejected", "enter", "/", *f"#{memory}", "enter")
        assert "✗ retired" in screen.text
        await screen.choose("put back into Memory")
        assert screen.status == f"Put #{memory} back into Memory - u to undo"
        assert status_of(known, memory) == "active"
        assert known.recall.moments(memory) == (read_moment("guard git push"),)
        await screen.press("u")
        assert status_of(known, memory) == "invalid"
        await screen.press("Z", "u", "Z", "u", "f5", "/", *"is:retired", "enter")
        assert rows(screen) == ["Deploys need two approvals"]
        await screen.press("e")
        assert screen.status == "Retired: x puts it back first."
        await screen.press("space", "x", *"put back into mem", "enter")
        assert status_of(known, memory) == "active"
        assert "marked" not in screen.text


async def test_a_candidate_rejected_after_it_was_retired_is_not_retired(
    known: Engine, memory: int
) -> None:
    known.triage.retire([memory])
    known.triage.restore([memory])
    known.triage.reject([memory])
    async with opened(known, project="acme", size=(120, 40)) as screen:
        await screen.press("f5", "/", *"is:retired", "enter")
        assert "Nothing matches" in screen.text


async def test_history_shows_what_was_done_to_a_memory(known: Engine, memory: int) -> None:
    known.triage.retire([memory])
    known.triage.keep_again([memory])
    async with opened(known, project="acme", size=(120, 40)) as screen:
        await screen.press("f5", "G", "full_stop", *"hist", "enter")
        await screen.until(lambda: "/ #" in screen.text)
        number = screen.text.partition("/ #")[2].split()[0]
        acts = known.history.acts_on(int(number))
        await screen.until(lambda: f" of {len(acts)}" in screen.text)
        await screen.press("escape")
        assert memory_screen(screen).facts.current_id == int(number)


async def test_what_comes_late_of_an_act_is_said_where_the_person_is_by_then(
    known: Engine, memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_end = Event()

    def late(*_: object) -> list[str]:
        may_end.wait(30)
        return ["The hooks of Codex were edited since."]

    monkeypatch.setattr("reviewer.agents.memory_updates.update_call_hooks", late)
    monkeypatch.setattr("reviewer.tui.kit.screen.PATIENCE_SECONDS", 0.01)
    Path(f"{known.path}-agents").mkdir(mode=0o700)
    async with opened(known, project="acme") as screen:
        await screen.press("f5", "G", "x", *"retire")
        pressed = create_task(screen.press("enter"))
        await until_async(lambda: "Retired" in screen.status)
        screen.app.action_show_queue()
        await until_async(lambda: not screen.status)
        may_end.set()
        await pressed
        assert screen.status == "Done. The hooks of Codex were edited since."
        await screen.press("f5", "y")
        assert screen.status == "Copied 23 characters."


@pytest.mark.parametrize("where", ["f2", "f5"])
async def test_a_memory_is_written_and_promoted(known: Engine, where: str, screen: Screen) -> None:
    await screen.press(where, "n")
    assert "text or changes" not in screen.text, "there is nothing to compare it with"
    await screen.press(*"Always close the shutter.", "ctrl+s")
    (number,) = known.queue.ids(QueueQuery("acme", "active", "shutter"))
    assert known.queue.candidate(number).hand_authored
    if where == "f5":
        assert memory_screen(screen).facts.current_id == number
    await screen.press("u")
    assert not known.queue.ids(QueueQuery("acme", "active", "shutter"))


async def test_graduating_freezes_the_memory_and_undo_deletes_the_candidate(
    known: Engine, memory: int, screen: Screen
) -> None:
    await screen.press("f5", "G")
    await screen.choose("graduate")
    assert f"Graduate #{memory}" in screen.text
    await screen.press(*"vendor", "enter")
    assert "Name of the vendor" in screen.text
    await screen.press(*"Northwind", "enter")
    assert status_of(known, memory) == "graduated"
    (candidate,) = known.queue.ids(QueueQuery(filter="kind:entity"))
    assert known.queue.candidate(candidate).type == "vendor"
    assert known.entities.get(candidate).name == "Northwind"
    assert screen.status.startswith(f"Graduated #{memory} to vendor #{candidate}")
    await screen.press("u")
    assert status_of(known, memory) == "active"
    assert not known.queue.ids(QueueQuery(status="all", filter=f"id:{candidate}"))


async def test_saving_the_same_wording_offers_no_undo(
    known: Engine, memory: int, screen: Screen
) -> None:
    await screen.press("f5", "G", "e", "enter", "ctrl+s")
    assert screen.status == f"#{memory} is like that already."


async def test_a_wording_is_kept_when_it_is_edited(
    known: Engine, memory: int, screen: Screen
) -> None:
    await screen.press("f5", "G", "e", "enter", *" each", "ctrl+s")
    assert known.queue.candidate(memory).content == "Deploys need two approvals each"
    assert "before" in screen.text
    await screen.press("u")
    assert known.queue.candidate(memory).content == "Deploys need two approvals"


async def test_a_memory_is_forgotten_from_the_menu_once_it_is_confirmed(
    known: Engine, memory: int, screen: Screen
) -> None:
    await screen.press("f5", "j", "j")
    await screen.choose("forget", "Keep")
    assert status_of(known, memory) == "active"
    await screen.choose("forget", "Erase")
    await until_async(lambda: "for good" in screen.status)
    assert memory not in known.queue.ids(QueueQuery(status="all"))
    assert known.history.verify().ok


async def test_what_was_redone_elsewhere_is_not_redone_here_again(
    known: Engine, screen: Screen
) -> None:
    await screen.press("f5", *SET_A_VALUE, *"one", "enter", *"1", "ctrl+s")
    await screen.press(*SET_A_VALUE, *"two", "enter", *"2", "ctrl+s", "u", "u")
    other = Engine.open(known.path)
    other.history.redo()
    other.close()
    assert [each.key for each in known.state.all("acme")] == ["db", "one"]
    await screen.press("Z")
    assert screen.status == "Redone: Set two - u to undo"
    await screen.press("Z")
    assert screen.status == "There is nothing to redo."
