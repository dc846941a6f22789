"""Typing on the Packet screen: a budget, a task, a date, a folder, a file to write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from textual.timer import Timer

from reviewer.clock import from_iso
from reviewer.tui.screens.packet_model import HIGHEST

if TYPE_CHECKING:
    from reviewer.tui.screens.packet import PacketScreen

REST_SECONDS = 0.03
FILE = "context-packet.md"


class PacketAsking:
    """One question at a time; what is typed shows at once where that is cheap."""

    def __init__(self, screen: PacketScreen) -> None:
        self._screen = screen
        self._try: Callable[[str], str] = lambda _: ""
        self._take: Callable[[str], str] = lambda _: ""
        self._undo: Callable[[], None] = lambda: None
        self._rest: Timer | None = None

    @property
    def open(self) -> bool:
        """Whether a field is open."""
        return self._screen.prompt.is_open

    def ask_budget(self) -> None:
        """The budget as a number."""
        reading = self._screen.reading
        before = reading.budget
        self._ask(
            "budget", str(before), "tokens, such as 8000 or 8k", self._budget, self._budget,
            lambda: self._screen.budgeting.set_to(before),
        )  # fmt: skip

    def ask_task(self) -> None:
        """What the packet is for."""
        before = self._screen.reading.task
        self._ask(
            "task", before, "what it is for; empty: the open tasks say", self._task, self._task,
            lambda: self._nothing(self._task(before)),
        )  # fmt: skip

    def ask_date(self) -> None:
        """The date that ages are counted to."""
        before = self._screen.reading.now
        text = f"{before:%Y-%m-%d}" if before else ""
        self._ask(
            "as of", text, "2026-02-14; empty: today", self._date, self._date,
            lambda: self._nothing(self._date(text)),
        )  # fmt: skip

    def ask_folder(self) -> None:
        """Another context folder."""
        held = self._screen.reading.folder
        self._ask("folder", str(held or ""), "path of a .context folder", None, self._folder)

    def ask_file(self) -> None:
        """Where to write the packet."""
        self._ask("write to", FILE, "path of a file", None, self._file)

    def _ask(
        self,
        name: str,
        text: str,
        placeholder: str,
        during: Callable[[str], str] | None,
        at_end: Callable[[str], str],
        undo: Callable[[], None] = lambda: None,
    ) -> None:
        self._try = during or (lambda _: "")
        self._take, self._undo = at_end, undo
        self._screen.prompt.open(name, text, placeholder)
        self._screen.show_footer()

    def typed(self, text: str) -> None:
        """Show what is typed when the typing rests for a moment."""
        if self._rest is not None:
            self._rest.stop()
        self._rest = self._screen.set_timer(REST_SECONDS, lambda: self._nothing(self._try(text)))

    def taken(self, text: str) -> None:
        """Take what was typed; what cannot be taken keeps the field and says why."""
        if self._rest is not None:
            self._rest.stop()
        self._screen.say("")
        problem = self._take(text)
        if problem:
            self._screen.say(problem, bad=True)
        else:
            self._close()

    def left(self) -> None:
        """Leave; everything is as before."""
        if self._rest is not None:
            self._rest.stop()
        self._screen.say("")
        self._close()
        self._undo()

    def _close(self) -> None:
        self._screen.prompt.close()
        self._screen.list.focus(scroll_visible=False)
        self._screen.show_footer()

    def _nothing(self, _: str) -> None:
        """What is half typed needs no complaint."""

    def _budget(self, text: str) -> str:
        plain = text.lower().replace(",", "").replace("_", "").replace(" ", "")
        times = 1_000 if plain.endswith("k") else 1
        digits = plain.removesuffix("k")
        if not digits.isascii() or not digits.isdigit():
            return "A budget is a number of tokens, such as 8000 or 8k."
        if int(digits[:16]) * times > HIGHEST:
            return f"A budget has at most {HIGHEST:,} tokens here."
        self._screen.budgeting.set_to(int(digits) * times)
        return ""

    def _task(self, text: str) -> str:
        self._screen.reading.task = text.strip()
        self._screen.reading.again()
        return ""

    def _date(self, text: str) -> str:
        moment = from_iso(text.strip()) if text.strip() else None
        if text.strip() and moment is None:
            return "A date is written 2026-02-14."
        self._screen.reading.now = moment
        self._screen.reading.again()
        return ""

    def _folder(self, text: str) -> str:
        if not text.strip():
            return "Type the path of a .context folder, or leave with escape."
        self._screen.reading.open(Path(text.strip()).expanduser())
        return ""

    def _file(self, text: str) -> str:
        from reviewer.errors import ReviewerError
        from reviewer.storeless import write_packet

        packet = self._screen.model.packet
        if packet is None or not text.strip():
            return "Type the path of a file, or leave with escape."
        path = Path(text.strip()).expanduser()
        try:
            write_packet(packet.markdown, path, made_from=self._screen.reading.source)
        except ReviewerError as problem:
            return str(problem)
        self._screen.say(f"Wrote {packet.tokens_used:,} tokens to {path}.")
        return ""
