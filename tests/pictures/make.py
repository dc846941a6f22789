"""Draws the pictures of the documentation from the sample data: `python -m tests.pictures.make`,
and every screen as text: `docs/screens.md`, alone with `screens` behind it.

`browser.png` needs the extra `serve` and Chromium; without them it is left as it is.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from reviewer.cli.demo import PROJECT, SampleStart
from reviewer.engine import Engine
from reviewer.resources import sample_data_folder
from reviewer.tui.app import ReviewerApp
from tests.tui.conftest import Screen

FOLDER = Path(__file__).parent.parent.parent / "docs" / "pictures"
SIZE = (118, 34)
SMALL = (92, 24)
WRITTEN = 1_795_000_000
"""The time of the sample files in the pictures."""
START = (118, 16)
PICTURES = {
    "start.svg": (),
    "queue.svg": ("enter", "j", "a", "x", "j"),
    "context.svg": ("enter", "f3", "f", *"1200", "enter", "g", "j"),
    "packet.svg": ("enter", "a", "a", "a", "f4"),
    "memory.svg": ("enter", "a", "a", "j", "j", "j", "a", "f5"),
}
"""File -> the keys that lead to what it shows."""
TEXT = (80, 24)
SCREENS = {
    "Queue": ("enter", "j", "a", "x", "j"),
    "Help": ("enter", "question_mark"),
    "Session": ("enter", "enter"),
    "Context": ("enter", "f3", "f", *"1200", "enter", "g", "j"),
    "Packet": ("enter", "a", "a", "a", "f4"),
    "Memory": ("enter", "a", "a", "j", "j", "j", "a", "f5"),
    "Pipelines": ("enter", "f6"),
    "Agents": ("enter", "f7"),
    "History": ("enter", "a", "x", "u", "f8"),
}
"""Screen -> the keys that lead to it."""
MINUTE = ("", "enter", "a", "x", "u", "j", "a", "f5")
"""The keys of the recording, a frame after each."""
FRAME_SECONDS = 2.4


@asynccontextmanager
async def begun(size: tuple[int, int]) -> AsyncIterator[Screen]:
    """The first screen of the demo."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        samples = Path(folder) / PROJECT
        shutil.copytree(sample_data_folder(), samples)
        for path in samples.rglob("*"):
            os.utime(path, (WRITTEN, WRITTEN))
        engine = Engine.open(Path(folder) / "store.db")
        app = ReviewerApp(engine, PROJECT, start=SampleStart(engine, samples))
        try:
            async with app.run_test(size=size) as pilot:
                screen = Screen(pilot, app)
                await screen.settle()
                yield screen
        finally:
            os.chdir(before)
            engine.close()


async def press(screen: Screen, key: str) -> None:
    await screen.press(key)
    while screen.app.running is not None:
        await asyncio.sleep(0.05)
    await screen.settle()


def drawn(screen: Screen, title: str) -> str:
    """The screen as SVG, without the web fonts that the exporter links to."""
    svg = screen.app.export_screenshot(title=title)
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return svg.replace("Fira Code", "Menlo, Consolas, DejaVu Sans Mono")


async def draw(name: str, keys: Sequence[str]) -> None:
    async with begun(SIZE if keys else START) as screen:
        for key in keys:
            await press(screen, key)
        (FOLDER / name).write_text(drawn(screen, "reviewer demo"), "utf-8")


async def page() -> None:
    """Every screen as text."""
    lines = ["# Screens", "", "Every screen on the sample data of `reviewer demo`, at 80 x 24."]
    for name, keys in SCREENS.items():
        lines += ["", f"## {name}"]
        async with begun(TEXT) as screen:
            for key in keys:
                await press(screen, key)
            shown = [re.sub(r"/tmp/tmp\w+", "~", line) for line in screen.text.splitlines()]
            lines += ["", "```text", *shown, "```"]
    (FOLDER.parent / "screens.md").write_text("\n".join([*lines, ""]), "utf-8")


async def record() -> None:
    """One SVG that shows a frame after the other."""
    frames = []
    async with begun(SMALL) as screen:
        for key in MINUTE:
            if key:
                await press(screen, key)
            frames.append(drawn(screen, f"reviewer demo   {key}"))
    (FOLDER / "minute.svg").write_text(film(frames), "utf-8")


def film(frames: Sequence[str]) -> str:
    """Several SVGs of one size as one that shows them in turn."""
    first = re.match(r"<svg[^>]*viewBox=\"([^\"]+)\"[^>]*>", frames[0])
    assert first is not None
    part = 100 / len(frames)
    seconds = FRAME_SECONDS * len(frames)
    styles = [
        "@keyframes turn { 0% { visibility: visible } "
        f"{part:.3f}% {{ visibility: hidden }} 100% {{ visibility: hidden }} }}",
        f".frame {{ visibility: hidden; animation: turn {seconds:.1f}s step-end infinite }}",
    ]
    styles += [
        f".frame:nth-of-type({at + 1}) {{ animation-delay: {at * FRAME_SECONDS:.1f}s }}"
        for at in range(len(frames))
    ]
    inner = [re.sub(r"</?svg[^>]*>", "", frame) for frame in frames]
    groups = "".join(f'<g class="frame">{each}</g>' for each in inner)
    return f"{first[0]}<style>{' '.join(styles)}</style>{groups}</svg>\n"


async def browser() -> None:
    """The queue in Chromium, as `reviewer serve` shows it."""
    try:
        from tests.browser.chromium import PROGRAM, chromium
    except ModuleNotFoundError:
        print("browser.png: left as it is, the extra serve is not installed")
        return
    if PROGRAM is None:
        print("browser.png: left as it is, Chromium is not installed")
        return
    from tests.browser.demo import serving_demo

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, serving_demo() as at:
        async with chromium(Path(folder)) as running:
            page = await running.open(at, (1120, 640))
            await page.shows("enter reads")
            await page.press("Enter")
            await page.shows("promote")
            await page.press("j", "a", "j")
            await page.shows("Promoted #")
            await asyncio.sleep(1)
            await page.picture(FOLDER / "browser.png")


def main() -> None:
    """All pictures, the recording and the browser."""
    os.environ |= {"TERM": "xterm-256color", "COLORTERM": "truecolor"}  # wherever they are drawn
    FOLDER.mkdir(exist_ok=True)
    asyncio.run(page())
    if sys.argv[1:] == ["screens"]:
        return
    for name, keys in PICTURES.items():
        asyncio.run(draw(name, keys))
    asyncio.run(record())
    asyncio.run(browser())


if __name__ == "__main__":
    main()
