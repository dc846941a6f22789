"""The first start: the agents' sessions on this machine, and one key to read them."""

from __future__ import annotations

import os
from asyncio import to_thread
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from reviewer.engine import Engine
from reviewer.start import FoundProject, WaitingProject
from reviewer.text.display import display_line
from reviewer.tui.kit.action import Action
from reviewer.tui.kit.actor import unless
from reviewer.tui.kit.bars import HeaderBar
from reviewer.tui.kit.line import Part, entitle
from reviewer.tui.kit.row_list import LoadedList
from reviewer.tui.kit.screen import KitScreen
from reviewer.tui.kit.text import count, cut, tail
from reviewer.tui.queue import keys as queue_keys
from reviewer.tui.queue.reading import ReadingAct
from reviewer.tui.start import keys
from reviewer.tui.theme import Glyphs, RowStyles, glyphs

if TYPE_CHECKING:
    from reviewer.promotion.views import Counts
    from reviewer.start import FoundProjects, ReadSum, Start

WIDEST = 92
"""Maximum width of a paragraph in cells."""
NAME_CELLS = 26
NARROW, VERY_NARROW = 100, 70
"""Widths in cells below which a row omits its date, and also its sessions and size."""
GONE = " (gone)"
MAX_ROWS = 8
FEW = 10
"""Statements up to which the message about a reading names where to find more."""
LINES_BESIDE_ROWS = 17
"""Lines needed for the bars and the longest text."""

DEMO = "reviewer demo shows everything on sample data, without touching your files."
ELSEWHERE = "This folder has no sessions of its own: choose another project."
MASKED = "Secrets are masked before anything is stored or sent."
FORMER = "Meant for a folder where this project was before, or one of its worktrees or clones."


class StartScreen(KitScreen, pane=keys.START):
    """Covers the empty queue until sessions are read or the person skips it."""

    AUTO_FOCUS = "#projects"

    def __init__(self, engine: Engine, project: str | None, start: Start) -> None:
        super().__init__(engine, project)
        self.start = start
        self.found: FoundProjects | None = None
        self.list = ProjectList(id="projects")
        self.words = Static(id="start-words")
        self._reader = "" if start.sample else display_line(_reader_here())
        self._act: ReadingAct | None = None

    def compose(self) -> ComposeResult:
        yield HeaderBar()
        yield self.list
        yield self.words
        yield self.status
        yield self.footer

    def on_mount(self) -> None:
        what = "sample data" if self.start.sample else "your agents' sessions"
        entitle(self.list, "Start", what)
        self.words.update("Looking where agents keep their sessions ...")
        self.read(self.start.find, self._show_found, group="find")

    def _show_found(self, found: FoundProjects) -> None:
        self.found = found
        self.list.show(found.rows)
        unread = (isinstance(each, FoundProject) and each.unread for each in found.rows)
        if found.here and not found.projects[0].unread:
            self.list.move_to(next((at for at, each in enumerate(unread) if each), 0))
        self._show_words()
        self.show_footer()

    def on_resize(self) -> None:
        self.list.fit()

    def on_row_list_moved(self) -> None:
        self._show_words()
        self.show_footer()

    def offers(self, action: Action) -> bool:
        return action is not keys.READ or self.list.current is not None

    def title_of(self, action: Action) -> str:
        opens = action is keys.READ and isinstance(self.list.current, WaitingProject)
        return "open" if opens else action.title

    def _show_words(self) -> None:
        """Explain what the key does with the project under the cursor."""
        found, here = self.found, self.list.current
        if self._act is not None or found is None:
            return
        if here is None:
            why, instead = found.nothing
            self._say([(why, "bold"), (instead, ""), (DEMO, "")])
            return
        key = keys.READ.key
        if isinstance(here, WaitingProject):
            rows = count(here.waiting, "candidate")
            self._say([(f"{key} opens {display_line(here.name)}: {rows} to decide on.", "bold")])
            return
        what = f"{_sessions(here)}, {here.bytes / 1e6:,.1f} MB"
        if self.start.sample:
            first = f"{key} reads this sample project ({what}, and its notes)."
            where = "We wrote it ourselves; its folder is removed when you quit."
        else:
            into = " into this project" if here.gone else ""
            again = "" if here.unread else " again"
            first = f"{key} reads the sessions of {self._named(here)} ({what}){into}{again}."
            where = f"Your sessions are only read. Proposals go into {_in_home(self.engine.path)}"
        lines = [
            (f"{first} Then you decide what to keep, one row and one key at a time.", "bold"),
            (where, ""),
            (f"Nothing leaves this machine{self._unless()}. {MASKED}", ""),
        ]
        if here.gone:
            lines.insert(1, (FORMER, ""))
        if not found.here and not self.start.sample:
            lines.insert(0, (ELSEWHERE, ""))
        if found.elsewhere:
            more = (
                f"{count(found.elsewhere, 'more session')}, of folders that are gone or elsewhere"
            )
            lines.append((f"reviewer sources --all lists {more}.", "$dim"))
        self._say(lines)

    def _unless(self) -> str:
        if not self._reader:
            return ""
        key = queue_keys.LET_READ.key
        return f", unless you let {self._reader} read the sessions ({key} in the queue, cost first)"

    def _say(self, lines: Sequence[tuple[str, str]]) -> None:
        self.words.update(Content("\n").join([Content.styled(*line) for line in lines]))

    def _named(self, row: FoundProject) -> str:
        """The name of a project for a sentence, with its folder if the name is ambiguous."""
        if row.parts:
            what = "folders that are gone" if row.gone else "projects, each into its own"
            return f"all {len(row.parts)} {what}"
        if row.gone:
            return _in_home(row.folder)
        name = cut(display_line(row.name), WIDEST // 2, glyphs(self.app).ellipsis)
        others = self.found.projects if self.found is not None else ()
        if any(each.name == row.name and each is not row for each in others):
            return f"{name} in {_in_home(row.folder)}"
        return name

    def _cannot_read(self) -> str | None:
        if self._act is not None:
            return "Sessions are being read."
        if self.list.current is None:
            return "Nothing to read here."
        reads = isinstance(self.list.current, FoundProject)
        return self.host.refuses_to_write() if reads else None

    @unless(_cannot_read)
    async def action_start_reading(self) -> None:
        """Read the project under the cursor, then open the queue at its best row; one of the store
        is only opened.
        """
        here = self.list.current
        if here is None:
            return
        if isinstance(here, WaitingProject):
            self.host.change_project(here.name)
            return
        self.start.begin(here)
        if here.parts and not here.gone:
            self.project = self.host.project = None
        else:
            self.project = self.host.project = self.engine.project or self.host.project
        act = self._act = ReadingAct(glyphs(self.app))
        stops = f"{keys.SKIP.key} stops and keeps the results so far."
        self._say([(f"Reading {display_line(here.name)} ...", "bold"), (stops, "$dim")])
        try:
            report = await self.host.accompany(
                self, act, lambda: self.start.read(here, act.show, act.is_stopped)
            )
            counts = await to_thread(self.engine.queue.counts, self.project)
        finally:
            self._act = None
            self._show_words()  # after a failure, offer to read again
        words = f"{words_of(report, counts)} {self.engine.say_binding()}".rstrip()
        self.host.begin_queue(words, read=True)

    def action_start_empty(self) -> None:
        if not self.host.stop_running() and self._act is None:
            self.host.begin_queue(f"{queue_keys.START.key} goes back there.", read=False)

    async def action_quit(self) -> None:
        await self.host.action_quit()


def _reader_here() -> str:
    """`Claude Code`; empty without a reader. Raises SettingsError."""
    from reviewer.llm.readers import readers
    from reviewer.settings import load_settings

    return next((each.title for each in readers(load_settings().model)), "")


def words_of(read: ReadSum, counts: Counts) -> str:
    """The result of reading, in one line."""
    stopped = "Stopped; results so far are kept. " if read.stopped else ""
    if counts.waiting:
        came = f"{count(counts.waiting, 'statement')} to decide on, the best first."
        if counts.waiting <= FEW:
            came += f" {queue_keys.FINDINGS.key} lists what you refused and what failed."
    else:
        came = "nothing in them to decide on."
    left_out = "".join(f" Left out: {display_line(each)}" for each in read.left_out)
    what = f"Read {count(read.files, 'file')}" if read.files else "Nothing new to read"
    return f"{stopped}{what}: {came}{left_out}"


def _in_home(place: Path) -> str:
    """A path with `~` for the home folder."""
    path, home = str(place), str(Path.home())
    short = "~" + path[len(home) :] if path.startswith(home + os.sep) else path
    return display_line(short)


class ProjectList(LoadedList["FoundProject | WaitingProject"]):
    """Projects: name, sessions, size, age, agents; of the store, how much waits."""

    _longest = 0
    """Length of the longest name in cells."""

    def show(self, rows: Sequence[FoundProject | WaitingProject]) -> None:
        self.rows = rows
        self._longest = max((cell_len(_shown_name(row, WIDEST)) for row in rows), default=0)
        self.fit()
        self.rows_changed()

    def fit(self) -> None:
        """Limit the height, so that the text below fits."""
        most = max(min(MAX_ROWS, self.app.size.height - LINES_BESIDE_ROWS), 3)
        self.styles.height = min(len(self.rows), most) + 2

    def row_parts(self, at: int, width: int, style: RowStyles, sign: Glyphs) -> list[Part]:
        row, dim = self.rows[at], style.dim
        text = style.strong if at == self.cursor else style.text
        narrow, very_narrow = width < NARROW, width < VERY_NARROW
        most = max(NAME_CELLS, width // 3)
        name = cut(_shown_name(row, most, sign.ellipsis), most, sign.ellipsis)
        room = max(min(self._longest, most) - cell_len(name), 0)
        begin = (f" {name}{' ' * room} ", text)
        if isinstance(row, WaitingProject):
            return [begin, (f"{f'{row.waiting:,} waiting':>12}", dim)]
        newest = datetime.fromtimestamp(row.newest_ns / 1e9, UTC).date().isoformat()
        agents = ", ".join(f"{display_line(agent)} {times:,}" for agent, times in row.agents)
        return [
            begin,
            ("" if very_narrow else f"{_sessions(row):>12}  ", dim),
            ("" if very_narrow else f"{row.bytes / 1e6:5,.1f} MB  ", dim),
            (f"{agents}  ", text),
            ("" if narrow else newest, dim),
        ]


def _sessions(row: FoundProject) -> str:
    return count(row.sessions, "session") if row.unread else f"all {row.sessions:,} read"


def _shown_name(row: FoundProject | WaitingProject, width: int, ellipsis: str = "") -> str:
    if isinstance(row, WaitingProject):
        return display_line(row.name)
    if row.gone and not row.parts:
        return f"{tail(_in_home(row.folder), width - len(GONE), ellipsis)}{GONE}"
    return display_line(row.name) + (" (this project)" if row.here else "")
