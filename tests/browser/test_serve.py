"""`reviewer serve`: who may open it, and what a person does in the browser."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.conftest import NOTE

aiohttp = pytest.importorskip("aiohttp", reason="the extra serve is not installed")
pytest.importorskip("textual_serve", reason="the extra serve is not installed")

from reviewer.engine import Engine  # noqa: E402
from tests.browser.chromium import PROGRAM, Browser, Page, chromium  # noqa: E402

needs_browser = pytest.mark.skipif(
    PROGRAM is None or not os.environ.get("PYTEST_BROWSER"),
    reason="Chromium is not installed, or PYTEST_BROWSER is not set",
)


class Serving:
    """A running `reviewer serve`."""

    def __init__(self, folder: Path, editor: str) -> None:
        self.db = folder / "store.db"
        engine = Engine.open(self.db)
        note = folder / "kiosk-decisions.md"
        note.write_text(NOTE, encoding="utf-8")
        engine.intake.ingest([note], project="kiosk")
        engine.close()
        home = folder / "home"
        home.mkdir()
        self.opened = folder / "opened"
        """The arguments of the editor `code`, once it was started."""
        programs = folder / "programs"
        programs.mkdir()
        for name in ("code", "vim"):
            program = programs / name
            program.write_text(f'#!/bin/sh\necho "$@" > {self.opened}\n', encoding="utf-8")
            program.chmod(0o755)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("REVIEWER_", "XDG_"))}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "reviewer", "--db", self.db, "--project", "kiosk", "serve"],
            cwd=folder,
            env={
                **kept,
                "HOME": str(home),
                "TERM": "dumb",
                "PATH": f"{programs}:{os.environ['PATH']}",
                "VISUAL": editor,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip()

    @property
    def origin(self) -> str:
        return "/".join(self.address.split("/")[:3])

    def statuses(self) -> list[str]:
        engine = Engine.open(self.db)
        try:
            from reviewer.promotion.views import QueueQuery

            ids = engine.queue.ids(QueueQuery(project="kiosk", status="all"))
            return sorted(str(engine.queue.candidate(one).status) for one in ids)
        finally:
            engine.close()

    def end(self) -> int:
        """As Ctrl-C does."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        try:
            return self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise
        finally:
            assert self._process.stdout is not None
            self._process.stdout.close()


@pytest.fixture
def editor() -> str:
    return "vim"


@pytest.fixture
def serving(tmp_path: Path, editor: str) -> Iterator[Serving]:
    running = Serving(tmp_path, editor)
    yield running
    running.end()


@pytest.fixture
async def browser(tmp_path: Path) -> AsyncIterator[Browser]:
    folder = tmp_path / "profile"
    folder.mkdir()
    async with chromium(folder) as running:
        yield running


@pytest.fixture
async def page(browser: Browser, serving: Serving) -> Page:
    """The queue, in a tab."""
    opened = await browser.open(serving.address)
    await opened.shows("promote")
    return opened


# who may ask


async def status_of(address: str, **headers: str) -> int:
    async with (
        aiohttp.ClientSession() as client,
        client.get(address, headers=headers, allow_redirects=False) as answer,
    ):
        return int(answer.status)


async def test_the_address_answers_on_this_machine_only(serving: Serving) -> None:
    assert serving.address.startswith("http://127.0.0.1:")
    assert await status_of(serving.address) == 200


async def test_without_the_token_nothing_is_answered(serving: Serving) -> None:
    for path in ("/", "/wrong/", "/wrong/ws", "/wrong/static/js/textual.js", "/wrong/page.js"):
        assert await status_of(serving.origin + path) in (403, 404), path


async def test_another_host_name_is_refused(serving: Serving) -> None:
    port = serving.origin.rsplit(":", 1)[1]
    for host in (f"evil.example:{port}", f"localhost:{port}", "127.0.0.1", "127.0.0.1:1"):
        assert await status_of(serving.address, Host=host) == 403, host


async def test_another_origin_is_refused(serving: Serving) -> None:
    for origin in ("https://evil.example", "null", "http://127.0.0.1:1"):
        assert await status_of(serving.address, Origin=origin) == 403, origin


async def test_a_socket_needs_the_origin_of_the_page(serving: Serving) -> None:
    async with aiohttp.ClientSession() as client:
        for headers in ({}, {"Origin": "https://evil.example"}):
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                await client.ws_connect(serving.address + "ws", headers=headers)
            assert refused.value.status == 403


async def test_files_outside_the_static_folder_are_not_given_out(serving: Serving) -> None:
    for path in (
        "static/..%2f..%2fserver.py",
        "static/%2e%2e/app_service.py",
        "static//etc/passwd",
    ):
        assert await status_of(serving.address + path) in (403, 404), path


async def test_the_page_loads_nothing_from_elsewhere(serving: Serving) -> None:
    async with (
        aiohttp.ClientSession() as client,
        client.get(serving.address) as answer,
    ):
        text = await answer.text()
        policy = answer.headers["Content-Security-Policy"]
    assert "https://" not in text
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy


async def test_what_is_no_message_of_ours_does_no_harm(serving: Serving) -> None:
    async with (
        aiohttp.ClientSession() as client,
        client.ws_connect(
            serving.address + "ws?width=99999&height=x", headers={"Origin": serving.origin}
        ) as tab,
    ):
        for sent in ("", "{}", "[", '["stdin"]', '["resize", {"width": "a"}]', '["ping", 1]'):
            await tab.send_str(sent)
        while (await tab.receive(timeout=100)).type is not aiohttp.WSMsgType.TEXT:
            pass  # the pong comes after all of them


def test_ctrl_c_ends_it_in_good_order(serving: Serving) -> None:
    assert serving.end() in (0, 130)


# in the browser


@needs_browser
async def test_keys_decide(page: Page, serving: Serving) -> None:
    await page.press("a")
    await page.shows("Promoted #1")
    await page.press("x")
    await page.shows("Rejected #2")
    await page.press("u")
    await page.shows("Undone: Rejected #2")
    assert serving.statuses().count("active") == 1


@needs_browser
async def test_copying_reaches_the_clipboard_of_the_browser(browser: Browser, page: Page) -> None:
    await browser.allow_clipboard()
    await page.call("Page.bringToFront")
    await page.press("y")
    await page.shows("Copied #")
    copied = ""
    for _ in range(100):
        copied = await page.run("navigator.clipboard.readText()")
        if copied:
            break
        await asyncio.sleep(0.1)
    assert len(copied) > 20
    assert copied.split()[0] in page.text


@needs_browser
async def test_what_was_typed_is_kept_when_the_tab_is_closed(
    browser: Browser, page: Page, serving: Serving
) -> None:
    await page.press("e")
    await page.shows("Edit #1")
    await page.call("Input.insertText", text="Unfinished words ")
    await page.shows("Unfinished")
    await page.close()
    again = await browser.open(serving.address)
    await again.shows("promote")
    await again.press("e")
    await again.shows("Unfinished words")


@needs_browser
async def test_a_lost_connection_says_so_and_can_be_opened_again(
    page: Page, serving: Serving
) -> None:
    assert await page.run("getComputedStyle(document.getElementById('closed')).display") == "none"
    serving.end()
    shown = "none"
    for _ in range(300):
        shown = await page.run("getComputedStyle(document.getElementById('closed')).display")
        if shown != "none":
            break
        await asyncio.sleep(0.1)
    assert shown == "block"
    assert "kept" in await page.run("document.getElementById('closed').innerText")
    with suppress(ConnectionError):
        assert await page.run("document.getElementById('again').disabled") is False


@needs_browser
async def test_what_needs_a_terminal_says_so_with_the_command_for_a_shell(
    page: Page, serving: Serving
) -> None:
    await page.press("o")
    await page.shows("E in editor")
    await page.press("E")
    await page.shows("A browser has no terminal. In a shell:")
    await page.press("Escape")
    await page.shows("a promote")
    await page.press("a")
    await page.shows("Promoted #1")
    assert not serving.opened.exists()
