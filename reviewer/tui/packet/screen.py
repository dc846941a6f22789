"""The packet that an agent would get within a budget: sections, items and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on
from textual.timer import Timer
from textual.widget import Widget

from reviewer.clock import from_iso
from reviewer.engine import Engine
from reviewer.errors import ReviewerError
from reviewer.packets.assembly import assemble, assemble_within
from reviewer.packets.context_folder import context_folder_at, context_folder_near
from reviewer.packets.output import write_packet
from reviewer.packets.prepared import read_task
from reviewer.packets.presets import PRESETS, Limits, read_limits
from reviewer.packets.service import SourceChoice
from reviewer.packets.values import DEFAULT_BUDGET
from reviewer.settings import load_settings
from reviewer.text.display import display_line
from reviewer.tui.kit import keys as shared
from reviewer.tui.kit.action import Action
from reviewer.tui.kit.actor import PacketChoices, runs
from reviewer.tui.kit.line import TitleRule
from reviewer.tui.kit.row_list import RowList
from reviewer.tui.kit.screen import ListScreen
from reviewer.tui.kit.text import Block, count
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.packet import keys
from reviewer.tui.packet.model import FINE, HIGHEST, PacketModel, step_budget
from reviewer.tui.packet.panes import (
    AboutLine,
    AboutWords,
    BudgetLine,
    PacketList,
    PacketPane,
    PromptBar,
    SectionBars,
    compare_blocks,
    packet_blocks,
    row_of,
    why_blocks,
)
from reviewer.tui.theme import glyphs

if TYPE_CHECKING:
    from reviewer.packets.prepared import Prepared
    from reviewer.packets.rerank import Reranked
    from reviewer.packets.values import Packet

SYNC_ITEMS = 3_000
"""A packet of at most this many items is assembled on the event loop, a larger one in a thread."""
DRAW_SECONDS = 0.02
"""Delay before the packet's text follows the budget, so that a held key stays fast."""
TYPING_SECONDS = 0.03
LOADING = "Still loading, try again."
TASK = "task"
FILE = "context-packet.md"


@dataclass(frozen=True)
class Request:
    """Everything a packet depends on; an answer to an earlier request is not shown."""

    folder: Path | None
    """The folder that is read; None for the store."""
    beside: Path | None
    """A folder that is read together with the store."""
    marks: bool
    task: str
    date: datetime | None
    budget: int
    max_chars: int | None
    pinned: frozenset[str]
    muted: frozenset[str]

    @property
    def now(self) -> datetime:
        """The date from which ages are counted."""
        return self.date or datetime.now().astimezone()

    def same_source(self, other: Request) -> bool:
        """Whether both can be answered from one reading of the source."""
        mine = (self.folder, self.beside, self.marks)
        return mine == (other.folder, other.beside, other.marks)


@dataclass(frozen=True)
class Question:
    """A question for the field below the list."""

    name: str
    text: str
    hint: str
    take: Callable[[str], str]
    """Takes the typed text on enter; returns the problem with it, or an empty string."""
    preview: Callable[[str], str] | None = None
    """Takes the text while it is being typed."""
    restore: Callable[[], object] | None = None
    """Called when the field is left with escape."""


class PacketScreen(ListScreen, pane=keys.PACKET):
    """Sections over items on the left; the reasons for an item over the packet on the right."""

    tab = "packet"
    FILTER_HINT = "words  state:title  in:tasks  -word"

    def __init__(self, engine: Engine, project: str | None) -> None:
        self.packets = PacketModel()
        self.why = TextPane(title="Why", id="packet-why")
        self.text = PacketPane(title="Packet", id="packet-text")
        rows = PacketList(self.packets, id="items")
        super().__init__(engine, project, rows, [self.why, self.text], title="Items")
        self.list.empty = ("Loading ...",)
        self.budget_line = BudgetLine(self.packets, id="packet-budget")
        self.about_line = AboutLine(id="packet-about")
        self.bars_rule = TitleRule("Sections", id="bars-title")
        self.bars = SectionBars(self.packets, id="bars")
        self.prompt = PromptBar(id="packet-prompt")
        self.local_folder = context_folder_near(Path.cwd())
        """The .context folder where reviewer was started, or at the root of its work tree."""
        self.folder: Path | None = None
        """The folder that is read; None for the store."""
        self.beside: Path | None = None
        """A folder that is read together with the store."""
        self.offered = ""
        """The task for which the cost of asking the model was shown last."""
        self.ordered_by = ""
        """The model whose order is shown."""
        self.budget = DEFAULT_BUDGET
        self.max_chars: int | None = None
        """The limit in characters beside the budget; None for none."""
        self.limits_of = ""
        """The agent whose limits these are; empty for none."""
        self.packet_task, self.task_typed = "", ""
        """The task, and as it was typed: itself, or `@` and the path of its file."""
        self.date: datetime | None = None
        """The date from which ages are counted; None for today."""
        self.marks = False
        self.tried = False
        """Whether a source has been read, or could not be."""
        self.trouble = ""
        """Why the source cannot be read."""
        self._prepared: Prepared | None = None
        self._blocks: list[Block] = []
        self._draw_timer: Timer | None = None
        self._typing_timer: Timer | None = None
        self._question: Question | None = None

    def compose_above(self) -> Iterable[Widget]:
        return self.budget_line, self.about_line

    def compose_left(self) -> Iterable[Widget]:
        return self.bars_rule, self.bars, self.title_rule, self.list

    def compose_below(self) -> Iterable[Widget]:
        return (self.prompt,)

    def on_mount(self) -> None:
        self.title_rule.show("Items", focused=True)
        self._choose_as_before()
        self._draw_above()

    def _choose_as_before(self) -> None:
        """Go on with the task, the limits and the pins that the screen was left with."""
        kept = self.host.packet_choices
        if kept is None:
            return
        self.packet_task, self.task_typed = kept.task, kept.task_typed
        self.budget, self.max_chars, self.limits_of = kept.budget, kept.max_chars, kept.limits_of
        self.date = kept.date
        self.packets.pinned, self.packets.muted = set(kept.pinned), set(kept.muted)

    def keep_now(self) -> None:
        """Keep what was chosen, also a task that is still being typed."""
        super().keep_now()
        question = self._question
        if question is not None and question.name == TASK and self.prompt.is_open:
            self._stop_typing()
            self._take_task(self.prompt.field.value)
        self.host.packet_choices = PacketChoices(
            self.packet_task,
            self.task_typed,
            self.budget,
            self.max_chars,
            self.limits_of,
            self.date,
            frozenset(self.packets.pinned),
            frozenset(self.packets.muted),
        )

    def arranged(self) -> None:
        """The bars make room when the list fills the screen."""
        for bar in (self.bars, self.bars_rule):
            bar.set_class(self.zoomed is self.list, "-off")

    # reading the source

    @property
    def source(self) -> Path:
        """The path of the source: the folder, or the file of the store."""
        return self.folder or self.beside or self.engine.path

    def reload(self) -> None:
        """Read the source again; the first time choose the source."""
        if self.tried or self.host.packet_source is not None or self.local_folder is None:
            if not self.tried and self.host.packet_source is not None:
                self.folder = self.host.packet_source.folder
                self.beside = self.host.packet_source.beside
            self._prepare()
            return
        local = self.local_folder

        def then(near: SourceChoice) -> None:
            self.folder = near.folder
            self._prepare()
            more = "" if near.folder else f": {keys.BOTH.key} reads it too."
            if near.words:
                self.say(f"{display_line(near.words)}{more}")

        self.read(lambda: self.engine.packets.source_near(self.project, local), then)

    def watch_store(self) -> None:
        """A folder does not change with the store."""
        if self.tried and self.folder is None:
            super().watch_store()

    @property
    def request(self) -> Request:
        """The present choices."""
        pinned, muted = frozenset(self.packets.pinned), frozenset(self.packets.muted)
        return Request(
            self.folder,
            self.beside,
            self.marks,
            self.packet_task,
            self.date,
            self.budget,
            self.max_chars,
            pinned,
            muted,
        )

    def _prepare(self) -> None:
        """Read the source and assemble a packet of it."""
        self.trouble = ""
        self._prepared = None
        self.offered = self.ordered_by = ""
        self.host.remember_packet_source(self.folder, self.beside)
        self.note_version()
        engine, project, request = self.engine, self.project, self.request

        def work() -> tuple[Prepared, Packet]:
            folder, task, now, marks = request.folder, request.task, request.now, request.marks
            if folder is None:
                prepared = engine.packets.prepare_own(
                    project, task=task, now=now, marks=marks, folder=request.beside
                )
            else:
                prepared = engine.packets.prepare_folder(folder, task=task, now=now, marks=marks)
            packet = _assembled(prepared, request)
            if prepared.small:
                prepared.count_ahead()
            prepared.save_counts()
            return prepared, packet

        def then(found: tuple[Prepared, Packet]) -> None:
            if not request.same_source(self.request):
                return
            self.tried = True
            self._take(request, *found)

        self.read(work, then, failed=self._cannot_read)

    def _cannot_read(self, sentence: str) -> None:
        self.tried, self.trouble = True, sentence
        self._prepared = None
        self.say_trouble(sentence)
        self.packets.forget()
        self._draw()

    def _assemble(self) -> None:
        """Assemble a packet of the same source with the present budget, task, date and pins.

        While the source is being read this waits: its answer is followed by a new packet if the
        choices have changed in the meantime.
        """
        prepared, request = self._prepared, self.request
        if prepared is None:
            self._draw_above()
            return

        def work() -> tuple[Prepared, Packet]:
            ready: Prepared = prepared
            if request.task != ready.task or request.now.date() != ready.now.date():
                ready = ready.with_task(task=request.task, now=request.now)
            return ready, _assembled(ready, request)

        if self.ordered_by and request.task != prepared.task:
            self.ordered_by = ""
        if len(prepared.items) <= SYNC_ITEMS and prepared.small and request.max_chars is None:
            self._take(request, *work())
        else:
            # in the group of the reads of a source, so that reading a source voids it
            self.read(work, lambda found: self._take(request, *found))

    def _take(self, request: Request, prepared: Prepared, packet: Packet) -> None:
        """Show the answer to a request, or assemble again if the choices have changed since."""
        self._prepared = prepared
        if request == self.request:
            self._show(packet)
        else:
            self._assemble()

    def _open_folder(self, folder: Path | None) -> None:
        """Read a folder, or the store."""
        self.folder, self.beside = folder, None
        self._read_another()

    def _read_another(self) -> None:
        """Read the source that was chosen, without the choices made for the one before."""
        self.packets.pinned.clear()
        self.packets.muted.clear()
        self.packets.compare(False)
        self.packets.cursor = 0
        self._prepare()

    # drawing

    def _show(self, packet: Packet) -> None:
        self.packets.show(packet)
        self._draw()

    def _draw(self) -> None:
        """Draw the lines above and the list immediately, the packet right after."""
        self._draw_above()
        self._draw_list()
        if self._draw_timer is None:
            self._draw_timer = self.set_timer(DRAW_SECONDS, self._draw_text)

    def _draw_above(self) -> None:
        packet = self.packets.packet
        self.budget_line.show(self.budget)
        problems = len(packet.problems) if packet else 0
        moment = packet.as_of if packet else None
        more = [self._limit_words(packet)] if self.max_chars is not None else []
        more += [f"ordered by {display_line(self.ordered_by)}"] if self.ordered_by else []
        more += [count(problems, "problem")] if problems else []
        self.about_line.show(
            AboutWords(
                self.task_typed,
                f"{moment:%Y-%m-%d}" if moment else "today",
                display_line(self._source_words()),
                ", ".join(more),
            )
        )

    def _limit_words(self, packet: Packet | None) -> str:
        """The limit in characters, and by how much tier 1 alone exceeds it."""
        most = self.max_chars or 0
        owner = f" ({self.limits_of})" if self.limits_of else ""
        over = len(packet.markdown) - most if packet else 0
        return f"{most:,} characters{owner}" + (f": {over:,} over" if over > 0 else "")

    def _source_words(self) -> str:
        own = f"store: {self.project}" if self.project else "store: all projects"
        if self.folder is not None:
            return self._folder_words(self.folder)
        return own if self.beside is None else f"{own} and {self._folder_words(self.beside)}"

    def _folder_words(self, folder: Path) -> str:
        folder = folder.absolute()
        return f"{folder.parent.name}/{folder.name}" if folder.name == ".context" else folder.name

    def _draw_list(self) -> None:
        """Draw the sections, the list, and the reasons for its row."""
        self.list.empty = self._empty()
        self.bars.refresh()
        pair = self.packets.smaller_larger
        arrow = glyphs(self.app).arrow
        compared = f"{pair[0].budget:,} {arrow} {pair[1].budget:,}" if pair else ""
        self.bars_rule.show("Sections", compared or "used / at most")
        shown = f"{self.packets.shown:,} shown" if self.packets.filter else ""
        self.title_rule.show("Items", shown or compared, focused=self.list.has_focus)
        if not pair:
            dot = glyphs(self.app).dot
            self.title_rule.name_columns(f"how much of it {dot} score {dot} tokens")
        self.show_empty(empty=not self.packets.rows and not self.packets.filter)
        self.list.rows_changed()
        self._draw_why()

    def _empty(self) -> tuple[str, ...]:
        if not self.tried:
            return ("Loading ...",)
        if self.trouble:
            return (
                self.trouble,
                f"{keys.FOLDER.key} opens another folder, {keys.OTHER_SOURCE.key} "
                "goes to the other source.",
            )
        if self.packets.filter:
            return ("No item matches.", f"{shared.BACK.key} clears the filter.")
        if self.folder is not None:
            return (
                "This folder has no entries yet.",
                f"{shared.REFRESH.key} reads it again, {keys.OTHER_SOURCE.key} goes to the store.",
            )
        local = (
            f"{keys.OTHER_SOURCE.key} reads the .context folder here"
            if self.local_folder
            else f"{keys.FOLDER.key} opens a .context folder"
        )
        return ("Nothing is active or trusted yet.", f"Promote candidates (F2), or {local}.")

    def follow(self) -> None:
        """Show the item under the cursor beside the list."""
        self.bars.follow()
        self._draw_why()
        self._show_packet_text()

    def _draw_why(self) -> None:
        title, blocks = why_blocks(self.packets, glyphs(self.app))
        self.why.show(blocks, title=title)

    def _draw_text(self) -> None:
        """The packet, or the gain of the larger of two budgets."""
        self._draw_timer = None
        packet, pair = self.packets.packet, self.packets.smaller_larger
        if packet is None:
            self.text.show([], title="Packet")
        elif pair is not None:
            self._blocks = []
            title = f"What {pair[1].budget - pair[0].budget:,} more tokens buy"
            self.text.show(compare_blocks(*pair, glyphs(self.app)), title=title)
        else:
            self._blocks = packet_blocks(packet.markdown)
            self._show_packet_text()

    def _show_packet_text(self) -> None:
        """Scroll the packet to the item under the cursor."""
        packet, item = self.packets.packet, self.packets.item
        if packet is None or not self._blocks:
            return
        row = row_of(self._blocks, item) if item is not None else None
        self.text.show(
            self._blocks,
            title=f"Packet {glyphs(self.app).dot} {packet.tokens_used:,} tokens",
            hints=(
                f"{shared.COPY.key} copy  {keys.WRITE_FILE.key} write",
                f"{shared.COPY.key} copy",
            ),
            top=None if row is None else max(row - 1, 0),
            keep_scroll=True,
        )

    # why a key cannot be used now

    def why_not(self, action: Action) -> str | None:
        if self.prompt.is_open:
            return (
                f"Finish the field first: {shared.KEEP_FILTER.key} accepts "
                f"it, {keys.LEAVE_FIELD.key} leaves."
            )
        return super().why_not(action)

    def no_packet(self) -> str | None:
        if not self.tried:
            return LOADING
        return (
            f"There is no packet: {keys.OTHER_SOURCE.key} reads another "
            f"source, {keys.FOLDER.key} a folder."
            if self.trouble
            else None
        )

    def no_item(self) -> str | None:
        if not self.packets.rows:
            return self.no_packet() or "The list is empty."
        if self.packets.item is None:
            return (
                self.no_packet() or f"This is a section: {shared.LINE_DOWN.key} goes to its items."
            )
        return self.no_packet()

    def not_optional(self) -> str | None:
        item = self.packets.item
        if item is not None and item.section == "constitution":
            return "The constitution is always in full, whatever the budget is."
        return self.no_item()

    def no_choices(self) -> str | None:
        if not self.packets.pinned | self.packets.muted:
            return (
                self.no_packet()
                or f"No item is pinned or muted: {keys.PIN.key} pins an "
                f"item, {keys.MUTE.key} mutes it."
            )
        return self.no_packet()

    def no_second_source(self) -> str | None:
        if self.beside is None and self.folder is None:
            return self.no_other_source()
        return None

    def no_question(self) -> str | None:
        if not self.packet_task.strip() and not self.ordered_by:
            return (
                self.no_packet()
                or f"The model orders the titles for a task: {keys.TASK.key} types it."
            )
        return self.no_packet()

    def no_other_source(self) -> str | None:
        if self.folder is None and self.local_folder is None:
            return (
                "There is no .context folder where reviewer was started: "
                f"{keys.FOLDER.key} reads another."
            )
        return None

    # the budget

    def set_budget(self, budget: int, agent: str = "") -> None:
        """Take a budget, which may be that of an agent, and assemble the packet again."""
        self.budget, self.limits_of = max(0, min(budget, HIGHEST)), agent
        self._assemble()

    @on(BudgetLine.Chosen)
    def _slider_clicked(self, message: BudgetLine.Chosen) -> None:
        self.set_budget(message.budget)

    @runs(keys.LESS, unless=no_packet)
    def less(self) -> None:
        self.set_budget(step_budget(self.budget, -1))

    @runs(keys.MORE, unless=no_packet)
    def more(self) -> None:
        self.set_budget(step_budget(self.budget, 1))

    @runs(keys.LESS_FINE, unless=no_packet)
    def less_fine(self) -> None:
        self.set_budget(self.budget - FINE)

    @runs(keys.MORE_FINE, unless=no_packet)
    def more_fine(self) -> None:
        self.set_budget(self.budget + FINE)

    @runs(keys.COMPARE, unless=no_packet)
    def compare(self) -> None:
        """Keep this budget for comparison with the next, or show one again."""
        self.packets.compare(self.packets.kept is None)
        kept = self.packets.kept
        if kept is not None:
            self.say(
                f"{kept.budget:,} tokens are kept: {keys.LESS.key} or {keys.MORE.key} "
                f"or {keys.BUDGET.key} set the other budget."
            )
            self.set_budget(step_budget(kept.budget, 1))
        else:
            self.say(f"One budget again: {self.budget:,} tokens.")
            self._draw()

    # pins and mutes

    @runs(keys.PIN, unless=not_optional)
    def pin(self) -> None:
        """Put the item first in its section, or stop doing so."""
        self._toggle(self.packets.pinned, self.packets.muted, ("Pinned", "No longer pinned"), "P")

    @runs(keys.MUTE, unless=not_optional)
    def mute(self) -> None:
        """Leave the item out, or stop doing so."""
        self._toggle(self.packets.muted, self.packets.pinned, ("Muted", "No longer muted"), "m")

    def _toggle(self, chosen: set[str], other: set[str], words: tuple[str, str], key: str) -> None:
        item = self.packets.item
        if item is None:
            return
        title = display_line(item.title)
        if item.id in chosen:
            chosen.discard(item.id)
            sentence = f"{words[1]}: {title}"
        else:
            chosen.add(item.id)
            other.discard(item.id)
            sentence = f"{words[0]} for this packet ({key} again reverts it): {title}"
        self._assemble()
        now = self.packets.item
        if now is not None and now.id in self.packets.pinned and now.state != "full":
            sentence = f"Pinned, but {now.reason}: {title}"
        self.say(sentence)

    @runs(keys.CLEAR_CHOICES, unless=no_choices)
    def clear_choices(self) -> None:
        """Remove all pins and mutes."""
        number = len(self.packets.pinned | self.packets.muted)
        self.packets.pinned.clear()
        self.packets.muted.clear()
        self._assemble()
        self.say(f"Removed {count(number, 'choice')}.")

    # the source

    @runs(keys.OTHER_SOURCE, unless=no_other_source)
    def other_source(self) -> None:
        """Change from the store to the folder, or back."""
        self._open_folder(None if self.folder is not None else self.local_folder)

    @runs(keys.BOTH, unless=no_second_source)
    def both_sources(self) -> None:
        """Read the folder together with the store, or the store alone."""
        if self.beside is not None:
            self._open_folder(None)
            return
        self.folder, self.beside = None, self.folder or self.local_folder
        self._read_another()

    @runs(keys.ASK_MODEL, unless=no_question)
    def ask_model(self) -> None:
        """Say what an order by the model costs; then ask for it; then go back."""
        if self.ordered_by:
            self._prepare()
            self.say("The order without the model again.")
        elif self.offered == self.packet_task:
            self._ask_for_order()
        else:
            self._offer_order()

    def _offer_order(self) -> None:
        prepared, task = self._prepared, self.packet_task
        if prepared is None:
            self.say(LOADING)
            return

        def work() -> str:
            from reviewer.llm.configured import configured_model
            from reviewer.packets.rerank import ANSWER_TOKENS, question

            model = configured_model()
            asked = question(prepared)
            of = "" if len(asked.order) == len(prepared.items) else f" of {len(prepared.items):,}"
            price = asked.cost(model.price_in, model.price_out)
            money = f", at most ${price:.4f}" if price else "; no prices are set"
            return (
                f"{model.name or model.command[0]} would read {len(asked.order):,}{of} titles: "
                f"about {asked.tokens:,} tokens in, at most {ANSWER_TOKENS:,} out{money}. "
                f"{self.key_of(keys.ASK_MODEL)} again asks it."
            )

        def then(sentence: str) -> None:
            if task == self.packet_task and prepared is self._prepared:
                self.offered = task
                self.say(sentence)

        self.read(work, then, group="model")

    def _ask_for_order(self) -> None:
        prepared, request = self._prepared, self.request
        if prepared is None:
            self.say(LOADING)
            return
        self.offered, asks = "", self.key_of(keys.ASK_MODEL)
        self.say("Asking the model ...")

        def work() -> tuple[Reranked, Packet]:
            from reviewer.llm.open_model import open_model
            from reviewer.packets.rerank import rerank

            done = rerank(prepared, open_model(load_settings()))
            return done, _assembled(done.prepared, request)

        def then(found: tuple[Reranked, Packet]) -> None:
            done, packet = found
            if request.task != self.packet_task or not request.same_source(self.request):
                return
            if self._prepared is not prepared:
                self.say(f"The source was read again meanwhile: {asks} asks for its order.")
                return
            self.void("read")  # packets that are being assembled in the order before
            self.ordered_by = done.model
            self._take(request, done.prepared, packet)
            self.say(
                f"{display_line(done.model)} chose {done.chosen} of {done.asked:,} titles: "
                f"{done.prompt_tokens:,} tokens in, {done.completion_tokens:,} out."
            )

        self.read(work, then, group="model")

    @runs(keys.MARKS, unless=no_packet)
    def toggle_marks(self) -> None:
        """Show where each item comes from in the packet, or hide it."""
        self.marks = not self.marks
        self._prepare()

    @on(RowList.Opened)
    @runs(keys.OPEN_ITEM, unless=no_item)
    @runs(shared.OPEN_SOURCE, unless=no_item)
    def open_source(self) -> None:
        """Show the file at the line of the item, or the evidence of a memory."""
        item, packet = self.packets.item, self.packets.packet
        if item is None or packet is None:
            return
        kind, _, number = item.place.rpartition(":")
        folder = self.folder or self.beside
        if folder is not None and kind not in ("m", "s"):
            self.host.open_line(f"{context_folder_at(folder) or folder}/{kind}", int(number) - 1)
            return
        evidence = self.engine.queue.evidence(int(number)) if kind == "m" else []
        if evidence:
            self.host.open_source(evidence[0])
        else:
            self.say("This was written by hand and has no source.")

    @runs(shared.COPY, unless=no_packet)
    def copy(self) -> None:
        packet = self.packets.packet
        if packet is not None:
            self.copy_text(packet.markdown, f"Copied the packet: {packet.tokens_used:,} tokens.")

    @runs(keys.NEXT_SECTION, unless=no_packet)
    def next_section(self) -> None:
        self._to_section(1)

    @runs(keys.PREVIOUS_SECTION, unless=no_packet)
    def previous_section(self) -> None:
        self._to_section(-1)

    def _to_section(self, step: int) -> None:
        index = self.packets.next_section(step)
        if index is not None:
            self.list.move_to(index)

    def back(self) -> None:
        """Leave the comparison after everything else."""
        idle = self.zoomed is None and self.focused is self.list and not self.filter_text
        if idle and self.packets.kept is not None:
            self.compare()
        else:
            super().back()

    # the filter

    @property
    def filter_text(self) -> str:
        return self.packets.filter

    def run_filter(self, text: str, *, here: int | None) -> None:
        self.packets.filter_by(text)
        self._draw_list()

    # typing a budget, a task, a date, a folder, a file

    @runs(keys.BUDGET, unless=no_packet)
    def ask_budget(self) -> None:
        before = Limits(self.budget, self.max_chars, self.limits_of)
        take = partial(self._take_budget, before)
        chars = f" {before.chars} chars" if before.chars is not None else ""
        self._ask(
            Question(
                "budget",
                before.agent or f"{before.tokens}{chars}",
                "8000, 8k, 8k 10,000 chars, or an agent: codex",
                take,
                take,
                lambda: self._limit(before),
            )
        )

    @runs(keys.TASK, unless=no_packet)
    def ask_task(self) -> None:
        before = self.task_typed
        hint = "what the agent is to do, or @FILE; empty: the open tasks decide"
        restore = lambda: self._take_task(before)  # noqa: E731
        self._ask(Question(TASK, before, hint, self._take_task, self._take_task, restore))

    @runs(keys.DATE, unless=no_packet)
    def ask_date(self) -> None:
        before = f"{self.date:%Y-%m-%d}" if self.date else ""
        hint = "2026-02-14; empty: today"
        restore = lambda: self._take_date(before)  # noqa: E731
        self._ask(Question("as of", before, hint, self._take_date, self._take_date, restore))

    @runs(keys.FOLDER)
    def ask_folder(self) -> None:
        path = str(self.folder or "")
        self._ask(Question("folder", path, "path of a .context folder", self._take_folder))

    @runs(keys.WRITE_FILE, unless=no_packet)
    def ask_file(self) -> None:
        self._ask(Question("write to", FILE, "path of a file", self._take_file))

    def _ask(self, question: Question) -> None:
        self._question = question
        self.prompt.open(question.name, question.text, question.hint)
        self.show_footer()

    @on(PromptBar.Typed)
    def _typed(self, message: PromptBar.Typed) -> None:
        """Use the text once typing pauses; incomplete text gets no complaint."""
        question = self._question
        if question is not None and question.preview is not None:
            preview, text = question.preview, message.text
            self._stop_typing()
            self._typing_timer = self.set_timer(TYPING_SECONDS, lambda: preview(text) and None)

    @on(PromptBar.Taken)
    def _taken(self, message: PromptBar.Taken) -> None:
        """Use the typed text; a problem keeps the field open and is shown."""
        self._stop_typing()
        self.status.say("")
        question = self._question
        problem = question.take(message.text) if question is not None else ""
        if problem:
            self.status.say(problem, bad=True)
        else:
            self._close_prompt()

    @on(PromptBar.Left)
    def _left(self) -> None:
        self._stop_typing()
        self.status.say("")
        question = self._question
        self._close_prompt()
        if question is not None and question.restore is not None:
            question.restore()

    def _stop_typing(self) -> None:
        if self._typing_timer is not None:
            self._typing_timer.stop()
            self._typing_timer = None

    def _close_prompt(self) -> None:
        self._question = None
        self.prompt.close()
        self.set_focus(self.list, scroll_visible=False)
        self.show_footer()

    def _take_budget(self, before: Limits, text: str) -> str:
        """`before`: the limits when the field was opened."""
        limits = read_limits(text)
        if limits is None:
            return (
                "A budget is a number of tokens, such as 8000, 8,000 or 8k, with or without a "
                f"limit such as 10,000 chars, or an agent: {', '.join(PRESETS)}."
            )
        if (limits.tokens or 0) > HIGHEST:
            return f"A budget has at most {HIGHEST:,} tokens."
        if limits.tokens is None:  # typing has gone through other budgets
            limits = Limits(before.tokens, limits.chars)
        self._limit(limits)
        return ""

    def _limit(self, limits: Limits) -> None:
        self.max_chars = limits.chars
        self.set_budget(self.budget if limits.tokens is None else limits.tokens, limits.agent)

    def _take_task(self, text: str) -> str:
        typed = text.strip()
        task = typed
        if typed.startswith("@"):
            try:
                task = read_task(Path(typed[1:]).expanduser())
            except (ReviewerError, OSError) as problem:
                reason = getattr(problem, "strerror", None) or str(problem)
                return f"{typed[1:]} cannot be read: {reason}"
        self.task_typed, self.packet_task = typed, task
        self._assemble()
        return ""

    def _take_date(self, text: str) -> str:
        moment = from_iso(text.strip()) if text.strip() else None
        if text.strip() and moment is None:
            return "Write a date such as 2026-02-14."
        self.date = moment
        self._assemble()
        return ""

    def _take_folder(self, text: str) -> str:
        if not text.strip():
            return "Type the path of a .context folder, or leave with escape."
        self._open_folder(Path(text.strip()).expanduser())
        return ""

    def _take_file(self, text: str) -> str:
        packet = self.packets.packet
        if packet is None or not text.strip():
            return "Type the path of a file, or leave with escape."
        path = Path(text.strip()).expanduser()
        try:
            write_packet(packet.markdown, path, made_from=self.source)
        except ReviewerError as problem:
            return str(problem)
        self.status.say(f"Wrote {packet.tokens_used:,} tokens to {path}.")
        return ""


def _assembled(prepared: Prepared, request: Request) -> Packet:
    pinned, muted = request.pinned, request.muted
    if request.max_chars is None:
        return assemble(prepared, request.budget, pinned=pinned, muted=muted)
    return assemble_within(prepared, request.budget, request.max_chars, pinned=pinned, muted=muted)
