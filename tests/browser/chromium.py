"""A headless Chromium, driven over its own debugging protocol."""

from __future__ import annotations

import asyncio
import base64
import json
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pyte

from tests.waiting import until_async

NAMES = ("chromium", "chromium-browser", "google-chrome")
PROGRAM = next((found for name in NAMES if (found := shutil.which(name))), None)
STARTS_IN = 90
COLUMNS, ROWS = 200, 100
"""The largest screen that a page is read as."""
CODES = {"Enter": 13, "Escape": 27}
TYPED = {"Enter": "\r", "Escape": ""}


class Page:
    """A tab: keys and mouse go in, and what the terminal was sent is read as text."""

    def __init__(self, browser: Browser, session: str, target: str) -> None:
        self._browser = browser
        self._session = session
        self.target = target
        self._screen = pyte.Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self._screen)

    async def call(self, method: str, **values: Any) -> dict[str, Any]:
        return await self._browser.call(method, session=self._session, **values)

    def take(self, message: dict[str, Any]) -> None:
        if message["method"] != "Network.webSocketFrameReceived":
            return
        frame = message["params"]["response"]
        if frame["opcode"] == 2:
            self._stream.feed(base64.b64decode(frame["payloadData"]))

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip()

    async def shows(self, words: str) -> None:
        await until_async(lambda: words in self.text)

    async def press(self, *keys: str) -> None:
        for key in keys:
            values: dict[str, Any] = {"key": key, "code": key}
            values["windowsVirtualKeyCode"] = CODES.get(key) or ord(key.upper())
            text = {"text": TYPED.get(key, key)}
            await self.call("Input.dispatchKeyEvent", type="keyDown", **values, **text)
            await self.call("Input.dispatchKeyEvent", type="keyUp", **values)

    async def run(self, script: str) -> Any:
        found = await self.call(
            "Runtime.evaluate",
            expression=script,
            awaitPromise=True,
            returnByValue=True,
            userGesture=True,
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    async def resize(self, width: int, height: int) -> None:
        """In pixels."""
        await self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    async def picture(self, path: Path) -> None:
        found = await self.call("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(found["data"]))

    async def close(self) -> None:
        await self._browser.call("Target.closeTarget", targetId=self.target)


class Browser:
    """One browser with its tabs."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._number = 0
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._pages: dict[str, Page] = {}

    async def listen(self) -> None:
        async for message in self._socket:
            found = json.loads(message.data)
            if (number := found.get("id")) is not None:
                self._answers.pop(number).set_result(found)
            elif found.get("sessionId") in self._pages:
                self._pages[found["sessionId"]].take(found)

    async def call(self, method: str, *, session: str = "", **values: Any) -> dict[str, Any]:
        self._number += 1
        request: dict[str, Any] = {"id": self._number, "method": method, "params": values}
        if session:
            request["sessionId"] = session
        answer = asyncio.get_running_loop().create_future()
        self._answers[self._number] = answer
        await self._socket.send_str(json.dumps(request))
        found: dict[str, Any] = await asyncio.wait_for(answer, STARTS_IN)
        assert "error" not in found, found
        result: dict[str, Any] = found["result"]
        return result

    async def open(self, address: str, size: tuple[int, int] = (1200, 800)) -> Page:
        made = await self.call("Target.createTarget", url="about:blank")
        attached = await self.call("Target.attachToTarget", targetId=made["targetId"], flatten=True)
        page = Page(self, attached["sessionId"], made["targetId"])
        self._pages[attached["sessionId"]] = page
        await page.call("Network.enable")
        await page.call("Page.enable")
        await page.call("Emulation.setFocusEmulationEnabled", enabled=True)
        await page.resize(*size)
        await page.call("Page.navigate", url=address)
        return page

    async def allow_clipboard(self) -> None:
        await self.call(
            "Browser.grantPermissions",
            permissions=["clipboardReadWrite", "clipboardSanitizedWrite"],
        )


@asynccontextmanager
async def chromium(folder: Path) -> AsyncIterator[Browser]:
    """A browser with a profile of its own."""
    assert PROGRAM is not None
    process = subprocess.Popen(
        [
            PROGRAM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--no-first-run", "--disable-extensions", "--disable-background-networking",
            "--remote-debugging-port=0", f"--user-data-dir={folder}", "about:blank",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        told = folder / "DevToolsActivePort"
        await until_async(lambda: told.exists() and told.read_text().count("\n") >= 1)
        port, path = told.read_text().splitlines()[:2]
        async with (
            aiohttp.ClientSession() as client,
            client.ws_connect(
                f"ws://127.0.0.1:{port}{path}", max_msg_size=0, heartbeat=None
            ) as socket,
        ):
            browser = Browser(socket)
            listening = asyncio.create_task(browser.listen())
            try:
                yield browser
            finally:
                listening.cancel()
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
