"""What holds, on the screen: every way back by key, values that are typed and never copied."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.cells import cell_len

from reviewer.engine import Engine, QueueQuery
from reviewer.tui.screens.export import ExportScreen
from reviewer.tui.screens.source import SourceScreen
from reviewer.tui.screens.state import StateScreen
from reviewer.tui.state_model import Head, StateModel, states_with
from reviewer.tui.widgets.bars import StatusBar
from reviewer.tui.widgets.state_form import FIELDS, StateForm
from tests.tui.conftest import Screen, opened
from tests.tui.views import HOSTILE
from tests.unit.promotion.graph import dump


@pytest.fixture(autouse=True)
def in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Moments are shown in local time: make that the same everywhere."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


SIZES = [(118, 34), (80, 24), (60, 20)]


def status_of(engine: Engine, number: int) -> str:
    return engine.queue.candidate(number).status.value


def state(screen: Screen) -> StateScreen:
    found = screen.app.screen
    assert isinstance(found, StateScreen)
    return found


def said(screen: Screen) -> str:
    return screen.app.screen.query_one(StatusBar).text


def rows(screen: Screen) -> list[str]:
    """The list as it is: heads by their title, facts by their words."""
    model = state(screen).model
    found = []
    for index in range(model.total):
        row = model.row(index)
        assert row is not None
        if isinstance(row, Head):
            found.append(f"{row.layer} {row.title} {row.count}")
        else:
            found.append(getattr(row, "content", "") or f"{row.key} = {row.value}")
    return found


@pytest.fixture
def memory(engine: Engine) -> int:
    """An active memory."""
    (number,) = engine.entities.author("acme", "preference", "Deploys need two approvals").ids
    engine.triage.promote([number])
    return number


@pytest.fixture
def entity(engine: Engine) -> int:
    """An active entity."""
    (number,) = engine.entities.author("acme", "decision", "We ship on Mondays only").ids
    engine.triage.promote([number])
    return number


@pytest.fixture
def known(engine: Engine, memory: int, entity: int, notes: Path) -> Engine:
    """A store with one of each: state, entity, memory."""
    engine.state.set("acme", "db", "Tapes", note="for now", evidence=f"{notes}:5")
    return engine


# the list


async def test_groups_come_in_the_order_of_trust_with_their_counts(known: Engine) -> None:
    async with opened(known, project="acme") as screen:
        await screen.press("f7")
        assert rows(screen) == [
            "L3 Trusted state 1", "db = Tapes",
            "L2 decision 1", "We ship on Mondays only",
            "L1 preference 1", "Deploys need two approvals",
        ]  # fmt: skip
        assert "Trusted state  1" in screen.text
        assert "1 of 3" in screen.text


async def test_an_empty_store_says_what_trusted_state_is(engine: Engine) -> None:
    async with opened(engine, size=(60, 20)) as screen:
        await screen.press("f7", "j", "G", "x", "r", "p", "l", "S", "h", "o", "E", "y", "enter")
        assert "Trusted state (L3): values that only you write by hand." in screen.text
        assert "n writes one; what you promote (F2) stands below them." in screen.text


async def test_the_cursor_passes_over_heads_and_braces_go_by_type(known: Engine) -> None:
    async with opened(known, project="acme") as screen:
        await screen.press("f7")
        kinds = []
        for key in ("j", "j", "k", "g", "}", "}", "}", "{"):
            await screen.press(key)
            kinds.append(state(screen).reading.kind)
        assert kinds == [
            "entity", "memory", "entity", "state", "entity", "memory", "memory", "entity",
        ]  # fmt: skip


async def test_search_goes_over_all_groups_and_escape_clears_it(known: Engine) -> None:
    async with opened(known, project="acme") as screen:
        await screen.press("f7", "/", *"mondays")
        assert rows(screen) == ["L2 decision 1", "We ship on Mondays only"]
        await screen.press("escape", "/", *"tapes", "enter")
        assert rows(screen) == ["L3 Trusted state 1", "db = Tapes"]
        await screen.press("escape")
        assert len(rows(screen)) == 6
        await screen.press("/", *"zzz")
        assert "Nothing matches / zzz" in screen.text
        await screen.press("escape", "/", *"type:preference", "enter")
        assert rows(screen) == ["L1 preference 1", "Deploys need two approvals"]


def test_only_the_window_is_read() -> None:
    from array import array

    from reviewer.promotion.holdings import Holding
    from reviewer.promotion.views import Kind

    asked: list[int] = []
    model = StateModel(lambda ids: asked.extend(ids) or [])
    model.load([], [Holding(Kind.MEMORY, "project", array("q", range(1, 100_001)))])
    model.window(50_000, 50_040)
    assert len(asked) == 40
    assert model.total == 100_001


def test_a_field_search_finds_no_state_and_a_minus_leaves_out(known: Engine) -> None:
    held = known.state.all("acme")
    assert states_with(held, "TAPES db") == held
    assert states_with(held, "tapes -db") == []
    assert states_with(held, "type:decision") == []


async def test_others_writing_is_noticed_and_the_cursor_stays(
    known: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reviewer.tui.screens.state.WATCH_SECONDS", 0.05)
    async with opened(known, project="acme") as screen:
        await screen.press("f7", "G")
        before = state(screen).model.current_key
        other = Engine.open(known.path, actor="script")
        other.state.set("acme", "region", "eu-north")
        other.close()
        await screen.until(lambda: "eu-north" in screen.text)
        assert state(screen).model.current_key == before


# why


async def test_every_fact_is_walked_down_to_its_line(stocked: Engine, notes: Path) -> None:
    number = stocked.queue.ids(QueueQuery(filter="kind:memory"))[0]
    stocked.triage.promote([number])
    stocked.state.set("acme", "db", "Tapes", evidence=f"{notes}:5")
    async with opened(stocked) as screen:
        await screen.press("f7")
        assert "L3  db" in screen.text
        assert "decisions.md:5" in screen.text
        assert "We decided to use PostgreSQL 16" in screen.text
        await screen.press("o")
        assert isinstance(screen.app.screen, SourceScreen)
        assert "line 5 of" in screen.text
        await screen.press("escape", "G")
        assert f"#{number} · active" in screen.text
        await screen.press("o")
        assert isinstance(screen.app.screen, SourceScreen)


async def test_what_was_written_by_hand_says_so(known: Engine) -> None:
    async with opened(known, project="acme") as screen:
        await screen.press("f7", "G")
        assert "hand-authored" in screen.text
        await screen.press("o")
        assert said(screen) == "This names no line of a file: it was written by hand."


# the reversibility table, by key


@pytest.mark.parametrize("kind", ["memory", "entity"])
@pytest.mark.parametrize(("key", "status"), [("a", "active"), ("x", "invalid")])
@pytest.mark.parametrize("back", ["u", "r"])
async def test_a_decision_is_taken_back_in_the_queue(
    engine: Engine, kind: str, key: str, status: str, back: str
) -> None:
    type_ = {"memory": "preference", "entity": "decision"}[kind]
    (number,) = engine.entities.author("acme", type_, "We ship on Mondays only").ids
    async with opened(engine) as screen:
        await screen.press(key)
        assert status_of(engine, number) == status
        await screen.press(back)
        assert status_of(engine, number) == "candidate"
        assert engine.history.verify().ok


async def test_a_candidate_that_was_written_is_deleted_by_undoing_its_act(engine: Engine) -> None:
    (number,) = engine.entities.author("acme", "decision", "We ship on Mondays only").ids
    async with opened(engine) as screen:
        await screen.press("f8", "x")
        assert number not in engine.queue.ids(QueueQuery(status="all"))


@pytest.mark.parametrize("kind", ["memory", "entity"])
@pytest.mark.parametrize("key", ["r", "b"])
async def test_what_is_active_goes_back_to_the_queue(
    known: Engine, memory: int, entity: int, kind: str, key: str
) -> None:
    number = memory if kind == "memory" else entity
    async with opened(known, project="acme") as screen:
        await screen.press("f7", *("jj" if kind == "memory" else "j"), key)
        assert status_of(known, number) == "candidate"
        assert said(screen) == f"Put back #{number} - u to undo"
        await screen.press("u")
        assert status_of(known, number) == "active"
        assert state(screen).model.current_key == (False, number)
        await screen.press("Z")
        assert status_of(known, number) == "candidate"
        await screen.press("f2")
        await screen.until(lambda: "1 new candidate" in screen.status or screen.model.ids)


async def test_graduating_freezes_the_memory_and_undo_deletes_the_candidate(
    known: Engine, memory: int
) -> None:
    async with opened(known, project="acme") as screen:
        await screen.press("f7", "G", "p")
        assert "the likeliest first" in screen.text
        await screen.press(*"vendor", "enter")
        assert status_of(known, memory) == "graduated"
        (candidate,) = known.queue.ids(QueueQuery(filter="kind:entity"))
        assert known.queue.candidate(candidate).type == "vendor"
        assert said(screen).startswith(f"Graduated #{memory} to vendor #{candidate}")
        await screen.press("u")
        assert status_of(known, memory) == "active"
        assert not known.queue.ids(QueueQuery(status="all", filter=f"id:{candidate}"))


async def test_leaving_the_choice_changes_nothing(known: Engine) -> None:
    acts = known.history.acts_total()
    async with opened(known, project="acme") as screen:
        await screen.press("f7", "G", "p", "down", "escape", "k", "l", "escape", "X", "escape")
        assert said(screen) == "Nothing was changed."
        assert known.history.acts_total() == acts


async def test_an_active_entity_is_superseded_by_a_new_one(known: Engine, entity: int) -> None:
    (new,) = known.entities.author("acme", "decision", "We ship on Tuesdays too").ids
    async with opened(known, project="acme") as screen:
        await screen.press("f7", "j", "S", *"tuesdays", "enter")
        assert (status_of(known, entity), status_of(known, new)) == ("superseded", "active")
        assert state(screen).model.current_key == (False, new)
        await screen.press("u")
        assert (status_of(known, entity), status_of(known, new)) == ("active", "candidate")


async def test_a_wording_is_kept_when_it_is_edited(known: Engine, memory: int) -> None:
    async with opened(known, project="acme") as screen:
        await screen.press("f7", "G", "e", *" each", "ctrl+s")
        assert known.queue.candidate(memory).content == "Deploys need two approvals each"
        assert "before" in screen.text
        await screen.press("h")
        assert said(screen) == "Shown: all 1 earlier wording."
        await screen.press("u")
        assert known.queue.candidate(memory).content == "Deploys need two approvals"


async def test_a_relation_is_chosen_and_walked(known: Engine, entity: int) -> None:
    (other,) = known.entities.author("acme", "system", "The shop", name="shop").ids
    known.triage.promote([other])
    async with opened(known, project="acme") as screen:
        await screen.press("f7", "}", "j", "l", *"part", "enter", *"shop", "enter")
        chosen = known.entities.get(entity).relations
        assert [(each.kind, each.target_id) for each in chosen] == [("part_of", other)]
        assert "part of shop" in screen.text
        await screen.press("enter")
        assert state(screen).model.current_key == (False, other)
        await screen.press("u")
        assert known.entities.get(entity).relations == ()


async def test_a_circle_of_relations_is_refused_in_a_sentence(known: Engine, entity: int) -> None:
    (other,) = known.entities.author("acme", "system", "The shop", name="shop").ids
    known.triage.promote([other])
    known.entities.relate(other, "part_of", entity)
    async with opened(known, project="acme") as screen:
        await screen.press("f7", "}", "j", "l", *"part", "enter", *"shop", "enter")
        assert "circle" in said(screen)
        assert known.entities.get(entity).relations == ()


# trusted state


async def test_a_value_is_typed_and_superseded_and_unset(known: Engine) -> None:
    async with opened(known, project="acme") as screen:
        await screen.press("f7", "n", *"region", "tab", *"eu-north", "tab", *"legal", "ctrl+s")
        (held,) = known.state.get("acme", "region")
        assert (held.value, held.note, held.evidence) == ("eu-north", "legal", "")
        assert said(screen) == "Set region - u to undo"
        assert "region" in screen.text
        await screen.press("e", "end", *"-1", "ctrl+s")
        assert [each.value for each in known.state.get("acme", "region")] == [
            "eu-north-1", "eu-north",
        ]  # fmt: skip
        assert "before" in screen.text
        await screen.press("x")
        assert [each.key for each in known.state.all("acme")] == ["db"]
        await screen.press("u")
        assert {each.key for each in known.state.all("acme")} == {"db", "region"}


@pytest.mark.parametrize("steps", ["", "j", "jj"], ids=["state", "entity", "memory"])
async def test_the_form_starts_empty_whatever_is_chosen(known: Engine, steps: str) -> None:
    async with opened(known, project="acme") as screen:
        await screen.press("f7", *steps, "n")
        values = screen.app.screen.query_one(StateForm).values
        assert {name: text for name, text in values.items() if name != "project"} == {
            "key": "", "value": "", "note": "", "evidence": "",
        }  # fmt: skip
        words = {"": "Tapes", "j": "We ship on Mondays only", "jj": "Deploys need two"}[steps]
        assert words in screen.text, "the chosen fact stands beside the form"


@pytest.mark.parametrize("steps", ["j", "jj"], ids=["entity", "memory"])
async def test_no_key_writes_a_memory_or_entity_into_state(
    known: Engine, steps: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reviewer.tui.actions import actions_of

    monkeypatch.chdir(tmp_path)
    before = dump(known, "state")
    keys = [
        key
        for one in actions_of(["state"])
        if one.group != "Move" and one.id not in ("state_undo", "state_redo", "leave_state")
        for key in one.keys.split(",")
    ]
    async with opened(known, project="acme", size=(80, 24)) as screen:
        for key in keys:
            await screen.press("f7")
            await screen.pilot.press("g", *steps)
            await screen.press(key)
            await screen.pilot.press("enter", "ctrl+s", "escape", "escape", "f2")
    assert dump(known, "state") == before


async def test_what_is_missing_is_said_and_what_was_typed_stays(known: Engine) -> None:
    async with opened(known, project="acme") as screen:
        await screen.press("f7", "n", *"region", "ctrl+s")
        assert said(screen) == "The value is empty: type it, or leave with escape."
        await screen.press("escape", "n")
        assert screen.app.screen.query_one(StateForm).values["key"] == "region"


async def test_without_a_project_the_form_asks_for_it(engine: Engine) -> None:
    async with opened(engine) as screen:
        await screen.press("f7", "n", *"acme", "enter", *"db", "enter", *"Tapes", "ctrl+s")
        assert [(one.project, one.value) for one in engine.state.all()] == [("acme", "Tapes")]


async def test_reasons_are_sentences(known: Engine) -> None:
    async with opened(known, project="acme") as screen:
        await screen.press("f7", "r")
        assert said(screen).endswith("x unsets it.")
        await screen.press("p", "j", "x")
        assert said(screen) == "This is no trusted state: r puts this entity back into the queue."
        await screen.press("p")
        assert said(screen) == "This is an entity already."
        await screen.press("j", "l")
        assert said(screen) == "Only entities have relations: p graduates this memory."


# export


async def test_the_difference_comes_before_the_writing(
    known: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "AGENTS.md"
    file.write_text("# Mine\n\nKeep this.\n", "utf-8")
    async with opened(known, project="acme") as screen:
        await screen.press("f7", "X", *"agents", "enter")
        assert isinstance(screen.app.screen, ExportScreen)
        assert "+- **db**: Tapes" in screen.text
        assert file.read_text("utf-8") == "# Mine\n\nKeep this.\n"
        await screen.press("escape")
        assert file.read_text("utf-8") == "# Mine\n\nKeep this.\n"
        await screen.press("X", *"agents", "enter", "ctrl+s")
        text = file.read_text("utf-8")
        assert text.startswith("# Mine\n\nKeep this.\n")
        assert "Tapes" in text
        (backup,) = Path(f"{known.path}-backups").iterdir()
        assert backup.read_text("utf-8") == "# Mine\n\nKeep this.\n"
        assert said(screen).startswith(f"Wrote {file}")
        assert backup.name in said(screen)
        await screen.press("X", *"agents", "enter", "enter")
        assert "Nothing would change" in said(screen)
        assert file.read_text("utf-8") == text


@pytest.mark.parametrize(
    ("words", "name"),
    [("mark", "reviewer-export.md"), ("lines", "reviewer-export.ndjson"), ("context", ".context")],
)
async def test_the_other_forms_are_written_too(
    known: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(known, project="acme") as screen:
        await screen.press("f7", "X", *words)
        if words == "mark":
            await screen.press("backspace", "backspace", "backspace", "backspace")
        await screen.press("enter")
        assert not (tmp_path / name).exists()
        await screen.press("enter")
        assert (tmp_path / name).exists()
    if name.endswith(".ndjson"):
        lines = (tmp_path / name).read_text("utf-8").splitlines()
        assert {json.loads(line)["layer"] for line in lines} == {"state", "entity", "memory"}


async def test_a_file_that_changed_meanwhile_is_left_alone(
    known: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "AGENTS.md"
    file.write_text("# Mine\n", "utf-8")
    async with opened(known, project="acme") as screen:
        await screen.press("f7", "X", *"agents", "enter")
        file.write_text("# Yours\n", "utf-8")
        await screen.press("enter")
        assert file.read_text("utf-8") == "# Yours\n"
        assert "changed" in said(screen) or "Enter writes" in said(screen)
        await screen.press("enter")
        assert file.read_text("utf-8").startswith("# Yours\n")


async def test_a_broken_block_is_named_and_cannot_be_written(
    known: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "CLAUDE.md"
    broken = "<!-- reviewer:end -->\nmine\n"
    file.write_text(broken, "utf-8")
    async with opened(known, project="acme") as screen:
        await screen.press("f7", "X", *"claude", "enter", "enter", "ctrl+s")
        assert file.read_text("utf-8") == broken
        assert "Line 1 ends a block that does not begin before it" in said(screen)


async def test_another_place_can_be_named(
    known: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(known, project="acme") as screen:
        await screen.press("f7", "X", *"json", "enter", "p", "ctrl+u", *"facts.ndjson", "enter")
        await screen.press("enter")
        assert (tmp_path / "facts.ndjson").exists()
        assert not (tmp_path / "reviewer-export.ndjson").exists()


# how it looks


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_state_screen(
    engine: Engine, memory: int, entity: int, snapshot: object, size: tuple[int, int]
) -> None:
    engine.state.set("acme", "db", "Tapes", note="for now", evidence="the minutes of March")
    engine.state.set("acme", "db", "Disks", note="for now", evidence="the minutes of April")
    async with opened(engine, project="acme", size=size) as screen:
        await screen.press("f7")
        assert screen.text == snapshot


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_form(
    engine: Engine, memory: int, snapshot: object, size: tuple[int, int]
) -> None:
    async with opened(engine, project="acme", size=size) as screen:
        await screen.press("f7", "n", *"approvals")
        assert screen.text == snapshot


async def test_the_state_screen_in_ascii(engine: Engine, memory: int, snapshot: object) -> None:
    async with opened(engine, project="acme", size=(100, 24), ascii=True) as screen:
        await screen.press("f7", "p")
        assert screen.text == snapshot


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_hostile_text_stays_text_in_every_pane(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.chdir(tmp_path)
    project = f"ac{HOSTILE}"
    for type_ in ("preference", "decision", "system"):
        (number,) = engine.entities.author(project, type_, f"{type_} {HOSTILE}", name=HOSTILE).ids
        engine.triage.promote([number], alone=True)
    engine.state.set(project, f"k {HOSTILE}", HOSTILE, note=HOSTILE, evidence=HOSTILE)
    engine.state.set(project, f"k {HOSTILE}", HOSTILE + " 2", note=HOSTILE, evidence=HOSTILE)
    walk = (
        "f7", "h", "e", "tab", "escape", "n", "escape", "j", "l", "enter", "enter", "enter", "k",
        "j", "e", "escape", "S", "escape", "G", "p", "escape", "o", "r", "u", "tab", "tab", "tab",
        "X", "enter", "escape", "escape", "W", "escape",
    )  # fmt: skip
    async with opened(engine, size=size) as screen:
        for key in walk:
            await screen.press(key)
            strips = screen.app.screen._compositor.render_strips()
            assert {cell_len(strip.text) for strip in strips} == {size[0]}
            shown = "".join(strip.text for strip in strips)
            assert not set(shown) & set("\x1b\x07\x9b\u202e\u2066"), key
        assert screen.app.return_code is None


def test_the_form_has_the_fields_of_a_value() -> None:
    assert [name for name, _ in FIELDS] == ["project", "key", "value", "note", "evidence"]
