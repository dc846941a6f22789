"""A web server on the loopback address that shows the screen in a browser.

Each tab runs its own program on the same store. The address has a token: requests without it, for
another host name or from another origin are refused.
"""

from __future__ import annotations

import hmac
import os
import secrets
import shlex
import socket
import subprocess
from collections.abc import Awaitable, Callable, Sequence
from html import escape
from pathlib import Path

import textual_serve
from aiohttp import WSMsgType, web
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

from reviewer.errors import ReviewerError

HOST = "127.0.0.1"
HEARTBEAT = 15
"""Seconds after which a lost browser is noticed."""
CELLS = (20, 500)
"""The minimum and maximum of columns or rows that a browser may ask for."""
SHUTDOWN = 3.0
"""Seconds for open tabs to end."""
HERE = Path(__file__).parent
STATIC = Path(str(textual_serve.__file__)).parent / "static"
OWN_FILES = {"page.css": "text/css", "page.js": "text/javascript"}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Server:
    """Serves one command until Ctrl-C."""

    def __init__(self, command: Sequence[str], port: int = 0, token: str | None = None) -> None:
        """`port`: 0 for a free one. Raises ReviewerError if the port is taken."""
        self._command = _shell_line(command)
        self._token = token or secrets.token_urlsafe(24)
        self._socket = _listen(port)
        self._port: int = self._socket.getsockname()[1]
        self._downloads = DownloadManager()
        self._open: set[web.WebSocketResponse] = set()

    @property
    def address(self) -> str:
        """The address of the screen; whoever knows it can use it on this machine."""
        return f"http://{HOST}:{self._port}/{self._token}/"

    def run(self) -> None:
        """Serve until Ctrl-C."""
        web.run_app(
            self.app(),
            sock=self._socket,
            print=None,
            access_log=None,
            shutdown_timeout=SHUTDOWN,
        )

    def app(self) -> web.Application:
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            return await self._guard(request, handler)  # a bound method cannot be decorated

        app = web.Application(middlewares=[web.middleware(guard)])
        app.router.add_get("/{token}/", self._page)
        app.router.add_get("/{token}/ws", self._session)
        app.router.add_get("/{token}/static/{path:.+}", self._static)
        app.router.add_get("/{token}/{name:page\\.(?:css|js)}", self._own_file)
        app.on_shutdown.append(self._close_all)
        return app

    # access

    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse other hosts (a DNS name pointing here), other origins and wrong tokens."""
        if not self._is_allowed(request):
            raise web.HTTPForbidden(text="Open the address that `reviewer serve` printed.\n")
        response = await handler(request)
        if not isinstance(response, web.WebSocketResponse):
            response.headers.update(self._headers())
        return response

    def _is_allowed(self, request: web.Request) -> bool:
        here = f"{HOST}:{self._port}"
        origin = request.headers.get("Origin")
        if request.headers.get("Host") != here or origin not in (None, f"http://{here}"):
            return False
        if request.path.endswith("/ws") and origin is None:
            return False
        given = request.path.split("/")[1]
        return hmac.compare_digest(given.encode(), self._token.encode())

    def _headers(self) -> dict[str, str]:
        return {
            "Cache-Control": "no-store",
            "Content-Security-Policy": (
                "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline';"
                f" font-src 'self'; img-src 'self' data:; connect-src ws://{HOST}:{self._port};"
                " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            ),
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
        }

    # answers

    async def _page(self, _: web.Request) -> web.StreamResponse:
        values = {
            "base": f"/{self._token}/",
            "socket": f"ws://{HOST}:{self._port}/{self._token}/ws",
        }
        text = (HERE / "page.html").read_text("utf-8")
        for name, value in values.items():
            text = text.replace("{{ " + name + " }}", escape(value))
        return web.Response(text=text, content_type="text/html")

    async def _own_file(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        text = (HERE / name).read_text("utf-8")
        return web.Response(text=text, content_type=OWN_FILES[name])

    async def _static(self, request: web.Request) -> web.StreamResponse:
        path = (STATIC / request.match_info["path"]).resolve()
        if not path.is_relative_to(STATIC.resolve()) or not path.is_file():
            raise web.HTTPNotFound
        return web.FileResponse(path)

    async def _session(self, request: web.Request) -> web.StreamResponse:
        """Run a program for a tab; it ends with the tab, and keeps typed text."""
        tab = web.WebSocketResponse(heartbeat=HEARTBEAT)
        await tab.prepare(request)
        self._open.add(tab)
        service = AppService(
            self._command,
            write_bytes=tab.send_bytes,
            write_str=tab.send_str,
            close=tab.close,
            download_manager=self._downloads,
        )
        try:
            await service.start(
                _cells(request.query.get("width"), 80), _cells(request.query.get("height"), 24)
            )
            await _pass_on(tab, service)
        finally:
            self._open.discard(tab)
            await service.stop()
        return tab

    async def _close_all(self, _: web.Application) -> None:
        for tab in [*self._open]:
            await tab.close()


async def _pass_on(tab: web.WebSocketResponse, service: AppService) -> None:
    """Forward the browser's messages to the program: keys, mouse, size, focus."""
    async for message in tab:
        if message.type != WSMsgType.TEXT:
            continue
        try:
            match message.json():
                case ["stdin", str(data)]:
                    await service.send_bytes(data.encode("utf-8", "replace"))
                case ["resize", {"width": width, "height": height}]:
                    await service.set_terminal_size(_cells(width, 80), _cells(height, 24))
                case ["ping", data]:
                    await tab.send_json(["pong", data])
                case ["blur", *_]:
                    await service.blur()
                case ["focus", *_]:
                    await service.focus()
        except (ValueError, RecursionError):
            continue  # not JSON


def _cells(value: object, otherwise: int) -> int:
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 6:
        value = int(value)
    if not isinstance(value, int):
        return otherwise
    return min(max(value, CELLS[0]), CELLS[1])


def _shell_line(command: Sequence[str]) -> str:
    """A command as one line for the system's shell, which starts it."""
    if os.name == "nt":
        return subprocess.list2cmdline(command)
    return f"exec {shlex.join(command)}"


def _listen(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name != "nt":  # Windows would let two programs share a port
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
    except OSError as problem:
        listening.close()
        raise ReviewerError(
            f"Port {port} cannot be used: {problem.strerror}. Leave out --port to take a free one."
        ) from problem
    listening.listen()
    return listening
