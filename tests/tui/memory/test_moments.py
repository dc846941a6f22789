"""When a memory is recalled, and that it is wrong: both said on the Memory screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.recall.at_call import HookEvent, memories_at
from reviewer.recall.event_kinds import GUARD
from reviewer.recall.moments import Moment, MomentKind
from reviewer.recall.service import event_of
from reviewer.sharing import personal
from reviewer.tui.evidence.structure import moment_words
from reviewer.tui.theme import GLYPHS
from tests.tui.conftest import opened, status_of
from tests.tui.memory.driving import SIZES, memory_screen


async def test_e_changes_when_a_memory_is_recalled(known: Engine, memory: int) -> None:
    push = event_of("command", "git push origin main")
    async with opened(known, project="acme", size=(80, 24)) as screen:
        await screen.press("f5", "d")
        assert screen.status == "You wrote this value: e writes a new one, x unsets it."
        await screen.press("G", "question_mark", *"recall", "enter")
        assert "When agents get it" in screen.text
        await screen.press("escape")
        assert "at a prompt or failure about it" in " ".join(screen.text.split())
        await screen.press("e", *"when", "enter", *"comm", "enter")
        assert "comm is not a kind of moment" in screen.text
        assert not known.recall.at("acme", push)
        await screen.press("ctrl+u", *"command git push; path src/pay/", "enter")
        assert f"Set when agents get #{memory}" in screen.status
        assert "when git push fails · when prompts name src/pay/" in " ".join(screen.text.split())
        assert [each.id for each in known.recall.at("acme", push)] == [memory]
        await screen.press("e", *"when", "enter", "ctrl+u")
        await screen.press(*"path src/pay/; when `git push` is called")
        assert "stops the first git push" in screen.text
        await screen.press("enter")
        assert "when prompts name src/pay/ · when git push fails" in " ".join(screen.text.split())
        await screen.press("u", "f4", "G", *"kk")
        await screen.until(lambda: "in packets · when git push fails" in screen.text)
        await screen.press("f5", "e", *"when", "enter")
        assert "error nilerr" in screen.text, "the examples"
        await screen.press("home", *"path doc/; ", "enter")
        assert next(str(each) for each in known.recall.moments(memory)) == "path doc/"
        await screen.press("u", "u")
        assert not known.recall.at("acme", push)
        await screen.press("Z", "e", *"when", "enter", "ctrl+u", "enter")
        assert screen.status.endswith("derived - u to undo")
        assert not known.recall.at("acme", push)


async def test_a_hook_follows_the_screen_while_it_is_open(
    known: Engine, memory: int, tmp_path: Path
) -> None:
    folder = tmp_path / "acme"
    (folder / ".git").mkdir(parents=True)
    known.work_in(known.choose_project("acme", folder))
    personal(known.path, "-agents").mkdir()
    push = HookEvent(GUARD, "s1", str(folder), command="git push")
    async with opened(known, project="acme", size=(80, 24)) as screen:
        await screen.press("f5", "G", "e", *"when", "enter", "ctrl+u")
        await screen.press(*"guard git push", "enter")
        assert "; no agent is connected (F7) - u to undo" in screen.status
        await screen.until(lambda: "two approvals" in memories_at(str(known.path), None, push))


async def test_what_is_typed_is_added_to_the_moments_that_a_memory_has(engine: Engine) -> None:
    (number,) = engine.entities.author("acme", "preference", "Weigh before src/pay/ is run.").ids
    engine.triage.promote([number])
    async with opened(engine, project="acme", size=(80, 24)) as screen:
        await screen.press("f5", "e", *"when", "enter", *"guard git push", "enter")
        moments = ["path src/pay/", "guard git push"]
        assert [str(each) for each in engine.recall.moments(number)] == moments
        kept = "in packets · when prompts name src/pay/ · stops the first git push"
        assert kept in " ".join(memory_screen(screen).fact.plain_text.split())
        await screen.press("e", *"when", "enter", "enter")
        assert [str(each) for each in engine.recall.moments(number)] == moments
        assert "PATH" not in screen.status
        await screen.press("e", *"when", "enter", *"command coinpress", "enter")
        assert "there is no program coinpress on the PATH" in screen.status


async def test_all_moments_are_said_while_they_are_typed(known: Engine, memory: int) -> None:
    async with opened(known, project="acme", size=(60, 24)) as screen:
        await screen.press("f5", "G", "e", *"when", "enter", "ctrl+u")
        await screen.press(*"command make; edit src/pay/; error nilerr; guard git push")
        text = " ".join(screen.text.replace("│", " ").split())
        assert "when make fails" in text
        assert "stops the first git push" in text


async def test_no_packet_stays_so_beside_a_clause_that_is_no_moment_yet(
    known: Engine, memory: int
) -> None:
    async with opened(known, project="acme", size=(80, 24)) as screen:
        await screen.press("f5", "G", "e", *"when", "enter", "ctrl+u")
        await screen.press(*"no packet; make", "enter")
        command = Moment(MomentKind.COMMAND, "make")
        assert set(known.recall.moments(memory)) == {Moment(MomentKind.ONLY), command}


@pytest.mark.parametrize("width", [60, 80])
async def test_the_examples_of_moments_name_the_guard(
    known: Engine, memory: int, width: int
) -> None:
    async with opened(known, project="acme", size=(width, 24)) as screen:
        await screen.press("f5", "G", "e", *"when", "enter")
        assert "such as error nilerr; edit src/pay/" in screen.text


async def test_a_command_in_the_wording_is_offered(engine: Engine) -> None:
    (number,) = engine.entities.author("acme", "preference", "Rebase before `git push`.").ids
    engine.triage.promote([number])
    async with opened(engine, project="acme", size=(80, 24)) as screen:
        await screen.press("f5", "e", *"when", "enter", "down", "enter")
        assert engine.recall.moments(number) == (Moment(MomentKind.COMMAND, "git push"),)


async def test_every_kind_of_moment_is_said_in_words(known: Engine, memory: int) -> None:
    examples = {
        MomentKind.COMMAND: "git push",
        MomentKind.PATH: "src/pay/",
        MomentKind.EDIT: "src/pay/",
        MomentKind.ERROR: "nilerr",
        MomentKind.GUARD: "git push",
        MomentKind.TOOL: "mcp__db__query",
        MomentKind.WORDS: "night shift",
        MomentKind.ALWAYS: "",
        MomentKind.ONLY: "",
        MomentKind.UNPROMPTED: "",
        MomentKind.PINNED: "",
    }
    assert set(examples) == set(MomentKind)
    async with opened(known, project="acme", size=(120, 40)) as screen:
        await screen.press("f5", "G")
        for kind, value in examples.items():
            known.recall.set_moments(memory, [Moment(kind, value)])
            await screen.press("ctrl+l")
            shown = moment_words([Moment(kind, value)], GLYPHS)
            assert value in shown
            assert shown in " ".join(memory_screen(screen).fact.plain_text.split())


async def test_a_filter_finds_memories_by_their_moments(known: Engine, memory: int) -> None:
    known.recall.set_moments(memory, [Moment(MomentKind.GUARD, "git push --force")])
    async with opened(known, project="acme", size=(120, 40)) as screen:
        await screen.press("f5", "/", *"when:guard", "enter")
        assert list(memory_screen(screen).facts.ids) == [memory]
        await screen.press("/", "ctrl+u", *"when:merge", "enter")
        assert not memory_screen(screen).facts.ids


@pytest.mark.parametrize(
    ("typed", "moments"),
    [
        ("only when it runs git push", ["command git push", "only", "unprompted"]),
        ("command git push; no packet", ["command git push", "only"]),
        ("command git push; only", ["command git push", "only"]),
    ],
)
async def test_only_at_a_command_is_previewed_whole_and_set(
    known: Engine, memory: int, typed: str, moments: list[str]
) -> None:
    async with opened(known, project="acme", size=(80, 24)) as screen:
        await screen.press("f5", "G", "e", *"when", "enter", "ctrl+u", *typed)
        prompts = "unprompted" not in moments
        words = "in no packet · when git push fails"
        assert words in screen.text
        assert (f"{words} · at a prompt about it" in screen.text) is prompts
        await screen.press("enter")
        assert [str(each) for each in known.recall.moments(memory)] == moments
        await screen.press("e", *"when", "enter")
        assert "".join(f"{each.shown}; " for each in known.recall.moments(memory)) in screen.text


async def test_only_at_an_edit_is_previewed_and_set(known: Engine, memory: int) -> None:
    async with opened(known, project="acme", size=(80, 24)) as screen:
        await screen.press("f5", "G", "e", *"when", "enter", "ctrl+u")
        await screen.press(*"only when editing cmd/main.go")
        assert "in no packet · with the first edit of cmd/main.go" in screen.text
        await screen.press("enter")
        assert "; no agent is connected (F7)" in screen.status
        moments = ["edit cmd/main.go", "only", "unprompted"]
        assert [str(each) for each in known.recall.moments(memory)] == moments


async def test_a_memory_that_nothing_hands_out_says_so(engine: Engine) -> None:
    (number,) = engine.entities.author("acme", "preference", "Weigh before src/pay/ is run.").ids
    engine.triage.promote([number])
    engine.recall.set_moments(number, [Moment(MomentKind.UNPROMPTED)])
    async with opened(engine, project="acme", size=(80, 24)) as screen:
        await screen.press("f5", "x", *"packets")
        assert "then nothing hands it out" in screen.text
        await screen.press("enter")
        await screen.until(lambda: "nothing hands it out" in memory_screen(screen).fact.plain_text)


@pytest.mark.parametrize("kind", [MomentKind.PINNED, MomentKind.ALWAYS])
async def test_what_leaving_out_of_packets_previews_comes_true(
    engine: Engine, kind: MomentKind
) -> None:
    (number,) = engine.entities.author("acme", "preference", "Weigh before src/pay/ is run.").ids
    engine.triage.promote([number])
    engine.recall.set_moments(number, [Moment(kind)])
    words = "in no packet · when prompts name src/pay/ · at a prompt or failure about it"
    async with opened(engine, project="acme", size=(120, 40)) as screen:
        await screen.press("f5", "x", *"packets")
        assert f"then {words[:40]}" in screen.text
        await screen.press("enter")
        shown = memory_screen(screen).fact
        await screen.until(lambda: words in " ".join(shown.plain_text.split()))


@pytest.mark.parametrize("size", SIZES)
async def test_a_memory_that_is_wrong_waits_with_the_reason_until_it_is_decided(
    known: Engine, memory: int, size: tuple[int, int]
) -> None:
    async with opened(known, project="acme", size=size) as screen:
        await screen.press("f5", "G", "d", *"one is enough", "enter")
        assert status_of(known, memory) == "candidate"
        back = f"#{memory} is back in the queue (F2), called wrong - u to undo"
        assert screen.status == back
        assert "Deploys need two approvals" not in screen.text
        waiting = known.queue.counts("acme").waiting
        await screen.press("f3", "escape")
        assert f"Queue {waiting}" in screen.text
        await screen.press("f2")
        await screen.until(lambda: "called wrong (one is enough)" in screen.text)
        await screen.press("f5", "u")
        assert status_of(known, memory) == "active"


async def test_a_memory_is_called_wrong_without_a_reason(known: Engine, memory: int) -> None:
    async with opened(known, project="acme", size=(80, 24)) as screen:
        await screen.press("f5", "G", "d")
        assert "Wrong, no reason given" in screen.text
        await screen.press("enter")
        assert status_of(known, memory) == "candidate"
        await screen.press("f2")
        await screen.until(lambda: "called wrong (no reason given)" in screen.text)


async def test_marked_memories_are_called_wrong_one_at_a_time(known: Engine, memory: int) -> None:
    async with opened(known, project="acme", size=(80, 24)) as screen:
        await screen.press("f5", "G", "space", "d")
        assert screen.status == "Memories are disputed one at a time: esc clears the marks."
        assert status_of(known, memory) == "active"


async def test_keys_typed_ahead_of_the_reading_edit_the_row_under_the_cursor(
    known: Engine, memory: int
) -> None:
    async with opened(known, project="acme", on="f5") as screen:
        for key in ("G", "e"):
            screen.app.simulate_key(key)
        await screen.settle()
        assert f"Edit #{memory}" in screen.text


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("git push; no packet", "in no packet · when git push fails"),
        ("git push; no p", "no is not a kind of moment"),
        ("src/foo/; no packet", "in no packet · when prompts name src/foo/"),
        ("command ; no p", "command takes a value"),
        ("git; pa", "pa is not a kind of moment"),
        ("banana", "banana is not a kind of moment. Examples: command git push"),
        ("never", "always, pinned, no packet, no prompt."),
    ],
)
async def test_a_clause_that_is_no_moment_is_the_nearest_one_or_said(
    known: Engine, memory: int, typed: str, shown: str
) -> None:
    async with opened(known, project="acme", size=(120, 40)) as screen:
        await screen.press("f5", "G", "e", *"when", "enter", "ctrl+u", *typed)
        assert shown in " ".join(screen.text.split())
