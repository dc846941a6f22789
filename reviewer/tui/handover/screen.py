"""The hand-over of a session or a context, and what a compaction of it must keep."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from reviewer.compression.handover import (
    BRIEF_TOKENS,
    HEADINGS,
    KEEP_TOKENS,
    LEAST_TOKENS,
    Handover,
    WrittenHandover,
    brief_of,
    keep_of,
    take_back,
    write_file,
)
from reviewer.engine import Engine
from reviewer.errors import ReviewerError
from reviewer.text.display import display_line
from reviewer.tui.handover import keys
from reviewer.tui.kit.actor import unless
from reviewer.tui.kit.screen import TextScreen
from reviewer.tui.kit.text import Run, TextBlock
from reviewer.tui.theme import glyphs

if TYPE_CHECKING:
    from reviewer.compression.values import SegmentTurn

FILE, KEEP_FILE = "HANDOVER.md", "COMPACT.md"
STEPS = (200, 350, 500, 700, 1_000, 1_500, 2_000, 3_000, 5_000, 8_000)
"""Sizes in tokens between which `<` and `>` step."""
Named = tuple[str, "Sequence[SegmentTurn]"]
"""The name of a session or context, such as `the session 7505c804`, and its turns."""
READING = "The session is still being read, try again."


class HandoverScreen(TextScreen, pane=keys.HANDOVER):
    """Reads the turns once in a thread, and writes the text again for other sizes."""

    def __init__(self, engine: Engine, read: Callable[[], Named]) -> None:
        """`read` is called in a thread."""
        super().__init__(engine)
        self._read = read
        self._named: Named | None = None
        self._keeps = False
        """What a compaction must keep is shown, not the hand-over."""
        self._sizes = {False: BRIEF_TOKENS, True: KEEP_TOKENS}
        self.found: Handover | None = None
        self._why_not = READING
        """Why there is no text; empty where there is one."""
        self._written: list[WrittenHandover] = []

    def on_mount(self) -> None:
        self._note("Reading what was said and done ...")
        self._write_again()

    def _note(self, sentence: str, style: str = "dim") -> None:
        self.text.show([TextBlock(sentence, style, first=(Run(" "),))], title=self._title)

    @property
    def _title(self) -> str:
        return "What a compaction must keep" if self._keeps else "Hand-over"

    # the text

    def _write_again(self) -> None:
        """Write the text of the chosen kind and size in a thread."""
        keeps, size, known = self._keeps, self._sizes[self._keeps], self._named
        self.found, self._why_not = None, READING

        def work() -> tuple[Named, Handover]:
            name, turns = named = self._read() if known is None else known
            if keeps:
                return named, keep_of(turns, max_tokens=size)
            return named, brief_of(turns, name, max_tokens=size)

        self.read(work, lambda found: self._show_text(*found), failed=self._failed)

    def _failed(self, sentence: str) -> None:
        self._why_not = sentence
        self._note(sentence, "warm")
        self.say_trouble(sentence)

    def _show_text(self, named: Named, found: Handover) -> None:
        self._named = named
        if not found.text:
            self._why_not = "There is nothing to hand over here."
            self._note(self._why_not)
            self.show_footer()
            return
        # Copied and written without escape sequences, too.
        safe = "\n".join(map(display_line, found.text.split("\n")))
        found = self.found = structs.replace(found, text=safe)
        self._why_not = ""
        signs = glyphs(self.app)
        blocks = [
            TextBlock(line, "strong" if line in HEADINGS or line.startswith("# ") else "text",
                  first=(Run(" "),))
            for line in found.text.split("\n")
        ]  # fmt: skip
        figures = f"{found.tokens:,} of {found.original_tokens:,} tokens"
        self.text.show(
            blocks,
            title=f"{self._title} {signs.dot} {figures}",
        )
        self.show_footer()

    def action_refresh(self) -> None:
        """Read the session again."""
        self._named = None
        self._write_again()

    def action_handover_other(self) -> None:
        """Show what a compaction must keep, or the hand-over again."""
        self._keeps = not self._keeps
        self._write_again()
        self.say(
            "Paste this after /compact, or have a hook print it (reviewer connect)."
            if self._keeps
            else "The hand-over for the next session of an agent."
        )

    def action_handover_less(self) -> None:
        self._resize(-1)

    def action_handover_more(self) -> None:
        self._resize(1)

    def _resize(self, step: int) -> None:
        size = self._sizes[self._keeps]
        steps = [each for each in STEPS if (each < size if step < 0 else each > size)]
        if not steps:
            self.say(f"{size:,} tokens is the {'least' if step < 0 else 'most'} here.")
            return
        self._sizes[self._keeps] = max(steps[-1] if step < 0 else steps[0], LEAST_TOKENS)
        self._write_again()
        self.say(f"At most {self._sizes[self._keeps]:,} tokens.")

    def _no_text(self) -> str | None:
        return self._why_not or None

    # using it

    @unless(_no_text)
    def action_copy(self) -> None:
        """Copy the text to the clipboard."""
        if self.found is not None:
            self.copy_text(self.found.text, f"Copied {self.found.tokens:,} tokens.")

    @unless(_no_text)
    async def action_handover_write(self) -> None:
        """Ask for the name of the file, and write it."""

        async def then(text: str) -> None:
            found, path = self.found, Path(text).expanduser()
            if found is None:
                raise ReviewerError(READING)
            self._written.append(await to_thread(write_file, found.text, path))
            undo = keys.TAKE_BACK.key
            self.say(f"Wrote {found.tokens:,} tokens to {display_line(str(path))} - {undo} to undo")

        await self.ask_text("Write to", then, text=KEEP_FILE if self._keeps else FILE)

    def _nothing_written(self) -> str | None:
        return None if self._written else "No file was written here."

    @unless(_nothing_written)
    async def action_handover_take_back(self) -> None:
        """Take back the file that was written last."""
        written = self._written[-1]
        await to_thread(take_back, written)
        self._written.remove(written)
        done = "Removed" if written.before is None else "Put back what was in"
        self.say(f"{done} {display_line(str(written.path))}")
