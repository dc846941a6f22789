"""The packet an agent would get within a budget: sections, items and reasons."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import structs
from textual import on
from textual.widget import Widget

from reviewer.agents.recalled import START_TOKENS
from reviewer.engine import Engine
from reviewer.packets.assembly import assemble
from reviewer.packets.context_folder import context_folder_at, context_folder_near
from reviewer.packets.prepared import prepare_folder
from reviewer.promotion.decisions.history import Undone
from reviewer.system import working_folder
from reviewer.text.display import display_line
from reviewer.text.token_numbers import read_tokens
from reviewer.tui.evidence.structure import moment_words
from reviewer.tui.kit import keys as shared
from reviewer.tui.kit.actor import unless
from reviewer.tui.kit.line import entitle
from reviewer.tui.kit.list_screen import ListScreen, nothing_matches
from reviewer.tui.kit.option import Option
from reviewer.tui.kit.row_list import RowList
from reviewer.tui.kit.text import TextBlock, moment
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.memory.model import INTO_PACKETS, OUT_OF_PACKETS, take_out, ways_out
from reviewer.tui.packet import keys
from reviewer.tui.packet.model import (
    PacketChoices,
    PacketModel,
    PacketSource,
    in_no_packet,
    step_budget,
)
from reviewer.tui.packet.panes import (
    PacketHead,
    PacketList,
    packet_blocks,
    row_of,
    why_blocks,
)
from reviewer.tui.theme import glyphs

if TYPE_CHECKING:
    from reviewer.packets.prepared import Prepared
    from reviewer.packets.values import Packet, PacketItem
    from reviewer.recall.moments import Moment
    from reviewer.recall.service import UseCount

LOADING = "Still loading, try again."
NO_BUDGET = "A budget is a number of tokens, such as 8000, 8,000 or 8k."


class PacketScreen(ListScreen, pane=keys.PACKET):
    """Items by section; beside them, why an item is shown, above the text of the packet."""

    tab = "packet"

    def __init__(self, engine: Engine, project: str | None) -> None:
        self.packets = PacketModel()
        self.why = TextPane(title="Why", id="packet-why")
        self.text = TextPane(title="Packet", id="packet-text")
        self.items = PacketList(self.packets, id="items")
        super().__init__(engine, project, self.items, [self.why, self.text], title="Items")
        self.head = PacketHead(id="packet-head")
        self.local_folder = context_folder_near(working_folder())
        """The .context folder in the working folder or at the root of its work tree."""
        self.choices = PacketChoices()
        self.source = PacketSource()
        """The current source."""
        self.trouble = ""
        """Why the source cannot be read."""
        self._prepared: Prepared | None = None
        self._blocks: list[TextBlock] = []

    def compose_above(self) -> Iterable[Widget]:
        return (self.head,)

    def on_mount(self) -> None:
        self._draw_above()

    def _choose(self, choices: PacketChoices) -> None:
        """Assemble the packet with other choices."""
        before, self.choices = self.choices, choices
        if choices.source != before.source:
            self.packets.cursor = 0
            self._read_source(quiet=True)
        else:
            self._assemble()

    # reading the source

    def reload(self) -> None:
        self._read_source(quiet=False)

    def show_reversed(self, undone: Undone) -> None:
        """Go to the restored memory."""
        here = [f"{kind}:{each}" for each in undone.ids for kind in ("m", "out")]
        self._read_source(quiet=True, here=here)

    def _read_source(self, *, quiet: bool, here: Collection[str] = ()) -> None:
        """Read the source: the chosen one, else the command line's default, which is named unless
        `quiet`. The cursor goes to the first of the items `here`.
        """
        self._prepared = None
        self.note_version()
        self.void("packet")
        engine, project, choices = self.engine, self.project, self.choices
        local, folder_named = self.local_folder, self.source.folder

        def work() -> tuple[PacketSource, str, Prepared, list[PacketItem]]:
            now, words, source = datetime.now().astimezone(), "", choices.source
            if source is None:
                near = engine.packets.source_near(project, local)
                source, words = PacketSource(near.folder), near.words
            if source.folder is None:
                # Estimated, as for the start of a session: this is what is sent.
                prepared = engine.packets.prepare_own(
                    project, task=choices.task, now=now, estimated=True
                )
            else:
                prepared = prepare_folder(source.folder, now=now, task=choices.task)
            problems = prepared.material.problems
            left_out = [] if source.folder else in_no_packet(engine, project, problems)
            return source, words, prepared, left_out

        def then(found: tuple[PacketSource, str, Prepared, list[PacketItem]]) -> None:
            source, words, self._prepared, self.packets.left_out = found
            first, self.trouble = self.packets.packet is None, ""
            if words and not quiet and (first or source.folder != folder_named):
                more = "" if source.folder else f" ({keys.OTHER_SOURCE.key} reads that one)."
                self.say(f"{display_line(words)}{more}")
            self.source = source
            self._assemble(here)

        self.read(work, then, failed=self._cannot_read)

    def _cannot_read(self, sentence: str) -> None:
        self.trouble = sentence
        self.source = self.choices.source or self.source
        self.say_trouble(sentence)
        self.packets.show(None)
        self._draw()

    def come_back(self) -> None:
        if self.source.folder is not None:
            self.reload()

    def watch_store(self) -> None:
        """Watch the store only if it is the source."""
        if self.choices.source is None or self.source.folder is None:
            super().watch_store()

    def _assemble(self, here: Collection[str] = ()) -> None:
        """Assemble the packet with the current choices, unless the source is being read, which
        ends with that.
        """
        prepared, choices = self._prepared, self.choices
        if prepared is None:
            self._draw_above()
            return

        def work() -> tuple[Prepared, Packet]:
            same = choices.task == prepared.task
            ready = prepared if same else prepared.with_task(choices.task)
            return ready, assemble(ready, choices.budget)

        def then(found: tuple[Prepared, Packet]) -> None:
            self._prepared, packet = found
            self.packets.show(packet, self.packets.filter)
            self.packets.go_to(here)
            self._draw()

        self.read(work, then, group="packet")

    def _memory_here(self) -> int:
        """The memory under the cursor; 0 for a section, trusted state or a folder entry."""
        item = self.packets.item
        kind, _, number = item.place.rpartition(":") if item is not None else ("", "", "")
        return int(number) if kind == "m" else 0

    # drawing

    def _draw(self) -> None:
        self._draw_above()
        packet = self.packets.packet
        self._blocks = packet_blocks(packet.markdown) if packet is not None else []
        self._draw_list()
        self._show_packet_text()

    def _draw_above(self) -> None:
        packet = self.packets.packet
        problems = len(packet.problems) if packet is not None else 0
        self.head.show(self.packets, self.choices, self._source_words(), problems)

    def _source_words(self) -> str:
        if self.source.folder is None:
            if self.project is None:
                return "of all projects"
            if self.choices.task:
                return "a trial: starts have no task"
            if self.choices.budget != START_TOKENS:
                return f"a trial: starts have {START_TOKENS:,} tokens"
            return "as sent when a session starts"
        path = self.source.folder.absolute()
        return f"{path.parent.name}/{path.name}" if path.name == ".context" else path.name

    def _draw_list(self) -> None:
        self.list.empty = self._empty()
        words = self.packets.filter
        entitle(self.list, "Items", f"/ {words}" if words else "tokens")
        self.show_empty(empty=not self.packets.rows and not words)
        self.list.rows_changed()
        self._draw_why()

    def _empty(self) -> tuple[str, ...]:
        other = keys.OTHER_SOURCE.key
        if self.trouble:
            return self.trouble, f"{other} reads another source."
        if self.packets.packet is None:
            return ("Loading ...",)
        if self.packets.filter:
            return nothing_matches(self.packets.filter)
        if self.source.folder is not None:
            again = f"{shared.REFRESH.key} reloads it, {other} reads another source."
            return "This folder has no entries yet.", again
        queue = f"Promote candidates ({shared.SHOW_QUEUE.key}), or {other} opens a .context folder."
        return "Nothing promoted yet.", queue

    def follow(self) -> None:
        """Show the item under the cursor beside the list."""
        self._draw_why()
        self._show_packet_text()

    def _draw_why(self) -> None:
        """Show why the item has this form; for a memory, also its uses and moments."""
        self._show_why()
        item, memory = self.packets.item, self._memory_here()
        if not memory:
            self.void("when")
            return

        def work() -> tuple[tuple[Moment, ...], list[UseCount]]:
            return self.engine.recall.moments(memory), self.engine.recall.uses(None, memory)

        def then(found: tuple[tuple[Moment, ...], list[UseCount]]) -> None:
            if self.packets.item is item:
                moments, uses = found
                used = [f"{each.words}, last on {moment(each.last)}" for each in uses]
                when = moment_words(moments, glyphs(self.app))
                self._show_why(f"{', '.join(used) or 'not given yet'}; {when}")

        self.read(work, then, group="when")

    def _show_why(self, use: str = "") -> None:
        title, blocks = why_blocks(self.packets, glyphs(self.app), use)
        self.why.show(blocks, title=title, keep_scroll=bool(use))

    def _show_packet_text(self) -> None:
        """Scroll the packet to the item under the cursor."""
        packet, item = self.packets.packet, self.packets.item
        if packet is None:
            self.text.show([], title="Packet")
            return
        row = row_of(self._blocks, item) if item is not None else None
        headings = packet.tokens_used - sum(each.tokens for each in packet.items)
        tokens = f"{packet.tokens_used:,} tokens, {headings:,} for headings"
        self.text.show(
            self._blocks,
            title=f"Packet {glyphs(self.app).dot} {tokens}",
            top=None if row is None else max(row - 1, 0),
            keep_scroll=True,
        )

    # why a key cannot run now

    def no_packet(self) -> str | None:
        if self.trouble:
            return f"No packet: {keys.OTHER_SOURCE.key} reads another source."
        return LOADING if self.packets.packet is None else None

    def no_item(self) -> str | None:
        if reason := self.no_packet() or self.no_rows():
            return reason
        return None if self.packets.item else "This row is a heading: choose an item."

    def not_a_memory(self) -> str | None:
        item = self.packets.item
        if item is not None and item.section == "constitution":
            return "The constitution is always in full, whatever the budget."
        return self.no_item() or (None if self._memory_here() else "Only memories can be pinned.")

    def not_in_store(self) -> str | None:
        item = self.packets.item
        if item is None or item.place.startswith(("m:", "s:")):
            return self.no_item()
        place, key = display_line(item.place), shared.OPEN_SOURCE.key
        return f"This is from a file: remove it at {place} ({key} opens it)."

    # choices

    @unless(no_packet)
    def action_packet_less(self) -> None:
        self._limit(step_budget(self.choices.budget, -1))

    @unless(no_packet)
    def action_packet_more(self) -> None:
        self._limit(step_budget(self.choices.budget, 1))

    def _limit(self, budget: int) -> None:
        self._choose(structs.replace(self.choices, budget=budget))

    @unless(no_packet)
    async def action_packet_budget(self) -> None:
        def problem(text: str) -> str:
            return "" if read_tokens(text) else NO_BUDGET

        async def then(text: str) -> None:
            self._limit(read_tokens(text) or 0)

        await self.ask_text(
            f"Budget to try here; sessions always start with {START_TOKENS:,}",
            then,
            problem=problem,
            hint="8000, 8,000 or 8k",
        )

    @unless(no_packet)
    async def action_packet_task(self) -> None:
        async def then(text: str) -> None:
            self._choose(structs.replace(self.choices, task=text))

        await self.ask_text(
            "Task",
            then,
            text=self.choices.task,
            hint="the agent's task",
            empty="No task: most needed first",
        )

    @unless(not_a_memory)
    async def action_packet_pin(self) -> None:
        """Put the memory first in every packet, or not any more."""
        memory, item = self._memory_here(), self.packets.item
        pinned = item is not None and item.pinned
        out = memory in await to_thread(self.engine.recall.left_out, self.project)
        done = await self.write(lambda: self.engine.recall.pin(memory, pinned=not pinned))
        self.say_done(done, ", and put into packets again" if out else "")
        self._read_source(quiet=True, here=[f"m:{memory}"])

    @unless(not_in_store)
    async def action_take_out(self) -> None:
        """Leave the memory out of packets, retire it or put it back into the queue; unset a key of
        trusted state.
        """
        item, memory, engine = self.packets.item, self._memory_here(), self.engine
        if not memory:
            states = engine.state.all(self.project)
            value = next((each for each in states if item and item.place == f"s:{each.id}"), None)
            if value is not None:
                self.say_done(
                    await self.write(lambda: engine.state.unset(value.project, value.key))
                )
            self._read_source(quiet=True)
            return

        async def then(option: Option) -> None:
            unpins = option.key == OUT_OF_PACKETS and item is not None and item.pinned
            done = await self.write(lambda: take_out(engine, [memory], option.key))
            self.say_done(done, ", no longer pinned" if unpins else "")
            here = [f"m:{memory}"] if option.key == INTO_PACKETS else []
            self._read_source(quiet=True, here=here)

        ways = await to_thread(ways_out, engine, [memory], glyphs(self.app))
        await self.choose(f"What to do with #{memory}", ways, then)

    async def action_packet_source(self) -> None:
        """Choose the store, or the folder here."""
        local, options = self.local_folder, [Option("store", "The store")]
        if local is not None:
            options.append(Option("folder", "The .context folder here", display_line(str(local))))

        async def then(option: Option) -> None:
            source = PacketSource(local if option.key == "folder" else None)
            self._choose(structs.replace(self.choices, source=source))

        await self.choose("Read", options, then)

    # looking

    @on(RowList.Opened)
    @unless(no_packet)
    def action_packet_read(self) -> None:
        """Fill the screen with the text of the packet, or return to the items."""
        self.read_pane(self.text)

    @unless(no_item)
    def action_open_source(self) -> None:
        """Show the file at the line of the item, or the evidence of a memory."""
        item, folder = self.packets.item, self.source.folder
        if item is None:
            return
        kind, _, number = item.place.rpartition(":")
        if folder is not None and kind not in ("m", "s"):
            self.host.open_line(f"{context_folder_at(folder) or folder}/{kind}", int(number) - 1)
            return
        evidence = self.engine.queue.evidence(int(number)) if kind == "m" else []
        if evidence:
            self.host.open_source(evidence[0])
        else:
            self.say("Written by hand: it has no source.")

    @unless(no_packet)
    def action_copy(self) -> None:
        packet = self.packets.packet
        if packet is not None:
            self.copy_text(packet.markdown, f"Copied the packet: {packet.tokens_used:,} tokens.")

    # the filter

    @property
    def filter_text(self) -> str:
        return self.packets.filter

    def run_filter(self, text: str, *, here: int | None) -> None:
        self.packets.show(self.packets.packet, text)
        self._draw_list()
