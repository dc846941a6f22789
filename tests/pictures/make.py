"""Draws the README's pictures from the sample data: `python tests/pictures/make.py`."""

from __future__ import annotations

import asyncio
import re
import tempfile
from pathlib import Path

from reviewer.engine import Engine
from reviewer.resources import sample_data_folder
from reviewer.tui.app import ReviewerApp
from tests.tui.conftest import Screen

HERE = Path(__file__).parent
SIZE = (118, 34)
PICTURES = {
    "queue.svg": ("j", "a", "x", "j"),
    "compress.svg": ("f3", "t", "f4", "j", "j"),
}
"""File -> the keys that lead to what it shows."""


async def draw(name: str, keys: tuple[str, ...]) -> None:
    """One picture, without the web fonts that the exporter links to."""
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine.open(Path(folder) / "store.db")
        engine.intake.ingest([sample_data_folder()], project="ledger-api")
        for transcript in sorted(sample_data_folder().rglob("*-*.jsonl")):
            engine.contexts.import_file(transcript, project="ledger-api")
        app = ReviewerApp(engine, "ledger-api")
        async with app.run_test(size=SIZE) as pilot:
            screen = Screen(pilot, app)
            await screen.settle()
            for key in keys:
                await screen.press(key)
            svg = app.export_screenshot(title="reviewer demo")
        engine.close()
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    (HERE / name).write_text(svg.replace("Fira Code", "Menlo, Consolas, DejaVu Sans Mono"))


def main() -> None:
    """All pictures."""
    for name, keys in PICTURES.items():
        asyncio.run(draw(name, keys))


if __name__ == "__main__":
    main()
