"""Reading for the Packet screen: the source in a thread, then budgets, tasks and dates of it."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from reviewer.storeless import assemble, context_folder

if TYPE_CHECKING:
    from reviewer.storeless import Packet, Prepared
    from reviewer.tui.screens.packet import PacketScreen

SMALL = 3_000
"""Items. A packet of no more is assembled at once; one of more in a thread."""


class PacketReading:
    """Holds the prepared source of a `PacketScreen`."""

    def __init__(self, screen: PacketScreen) -> None:
        self._screen = screen
        self.near = context_folder(Path.cwd())
        """The context folder where reviewer was started."""
        self.folder: Path | None = None
        """The folder that is read; None for the store."""
        self.budget = 8_000
        self.task = ""
        self.now: datetime | None = None
        self.marks = False
        self.prepared: Prepared | None = None
        self.was_read = False
        self.trouble = ""
        self._version = screen.engine.version()

    @property
    def source(self) -> Path:
        """What is read: the folder, or the file of the store."""
        return self.folder or self._screen.engine.path

    def begin(self) -> None:
        """Read the store; a folder that is near where the store holds nothing."""
        if self.near is None:
            self.refresh()
            return
        engine, project = self._screen.engine, self._screen.project

        def take(holds: bool) -> None:
            if not holds:
                self.folder = self.near
            self.refresh()

        self._screen.read(
            lambda: bool(engine.holdings.groups(project) or engine.state.all(project)),
            take,
            group="begin",
        )

    def refresh(self) -> None:
        """Read the source again."""
        self.trouble = ""
        folder, task, now, marks = self.folder, self.task, self.now, self.marks
        engine, project, budget = self._screen.engine, self._screen.project, self.budget
        pinned, muted = self._chosen()
        moment = now or datetime.now().astimezone()

        def work() -> tuple[Prepared, Packet]:
            if folder is None:
                prepared = engine.packets.prepare_own(project, task=task, now=moment, marks=marks)
            else:
                prepared = engine.packets.prepare_folder(folder, task=task, now=moment, marks=marks)
            packet = assemble(prepared, budget, pinned=pinned, muted=muted)
            if prepared.small:
                prepared.count_ahead()
            prepared.keep_counts()
            return prepared, packet

        self._version = engine.version()
        self._screen.read(work, self._take, failed=self._failed)

    def _take(self, found: tuple[Prepared, Packet]) -> None:
        self.prepared, packet = found
        self.was_read, self.trouble = True, ""
        if packet.budget != self.budget or packet.task != self.task:
            self.again()
        else:
            self._screen.showing.show_packet(packet)

    def _failed(self, sentence: str) -> None:
        self.was_read, self.trouble = True, sentence
        self.prepared = None
        self._screen.say(sentence, bad=True)
        self._screen.showing.show_nothing()

    def again(self) -> None:
        """The same source with the budget, the task, the date, the pins of now."""
        prepared = self.prepared
        if prepared is None:
            return
        task, now, budget = self.task, self.now, self.budget
        pinned, muted = self._chosen()

        def work() -> tuple[Prepared, Packet]:
            ready: Prepared = prepared
            moment = now or datetime.now().astimezone()
            if task != ready.task or moment.date() != ready.now.date():
                ready = ready.again(task=task, now=moment)
            return ready, assemble(ready, budget, pinned=pinned, muted=muted)

        if len(prepared.items) <= SMALL and prepared.small:
            self.prepared, packet = work()
            self._screen.showing.show_packet(packet)
        else:
            self._screen.read(work, self._take_again, group="again")

    def _take_again(self, found: tuple[Prepared, Packet]) -> None:
        self.prepared, packet = found
        self._screen.showing.show_packet(packet)

    def _chosen(self) -> tuple[frozenset[str], frozenset[str]]:
        return frozenset(self._screen.model.pinned), frozenset(self._screen.model.muted)

    def watch(self) -> None:
        """Read again when somebody has written to the store. Below another screen it waits."""
        screen = self._screen
        if not screen.is_active or not self.was_read or self.folder is not None:
            return
        if screen.engine.version() != self._version:
            self.refresh()

    def switch(self) -> None:
        """From the store to the folder, or back."""
        self.open(None if self.folder is not None else self.near)

    def open(self, folder: Path | None) -> None:
        """Read a folder, or the store."""
        self.folder = folder
        model = self._screen.model
        model.pinned.clear()
        model.muted.clear()
        model.compare(False)
        model.cursor = 0
        self.refresh()

    def switch_marks(self) -> None:
        """Provenance in the packet, or no longer."""
        self.marks = not self.marks
        self.refresh()

    @property
    def source_words(self) -> str:
        """What is read, in a few words."""
        if self.folder is None:
            return self._screen.project or "all projects"
        folder = self.folder.absolute()
        return f"{folder.parent.name}/{folder.name}" if folder.name == ".context" else folder.name
