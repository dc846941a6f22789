"""The Memory screen: trusted state, then memories and entities by worth; beside the list, the uses
and the provenance of each.

Values of trusted state are always typed: no method here copies text from a candidate, a memory or
an entity into a value.
"""

from __future__ import annotations

import os
from asyncio import to_thread
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from msgspec import structs
from textual import on
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from reviewer.engine import Engine
from reviewer.errors import FilterError, ReviewerError, SourceError
from reviewer.promotion.decisions.history import Undone
from reviewer.promotion.decisions.triage import Seen
from reviewer.promotion.views import Done, QueueQuery, QueueRow, Status
from reviewer.text.display import display_line
from reviewer.tui.evidence.candidate_pane import CandidatePane, draft_word, lacking
from reviewer.tui.evidence.detail import Detail, read_detail
from reviewer.tui.evidence.steps import evidence_at, places_of, sources_first, step_blocks
from reviewer.tui.evidence.structure import moment_words
from reviewer.tui.kit import keys as shared
from reviewer.tui.kit.actor import unless
from reviewer.tui.kit.line import entitle
from reviewer.tui.kit.list_screen import FIELD_WORDS, ListScreen, nothing_matches
from reviewer.tui.kit.option import Option
from reviewer.tui.kit.row_list import RowList
from reviewer.tui.kit.screen import to_undo
from reviewer.tui.kit.text import count
from reviewer.tui.kit.text_edit import TextEdit, draft_number
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.memory import keys
from reviewer.tui.memory.model import PACKETS, FactModel, Facts, TrustedRow, take_out, ways_out
from reviewer.tui.memory.panes import FactList, outcome_blocks, state_blocks
from reviewer.tui.theme import glyphs

if TYPE_CHECKING:
    from reviewer.promotion.decisions.trusted_state import StateView
    from reviewer.promotion.provenance import ProvenanceStep
    from reviewer.recall.moments import Moment
    from reviewer.recall.outcomes import MemoryUse, UseOutcome

MAX_CHANGES = 200
EVERY = "-kind:conflict"
"""The filter of all memories and entities."""
RETIRED = "is:retired"
WHY, USES = "Where this comes from", "How it was used, and where it comes from"


@dataclass(frozen=True)
class Shown:
    key: int
    steps: tuple[ProvenanceStep, ...]
    """Below the fact itself."""
    values: tuple[StateView, ...] = ()
    """For a key of trusted state: its value, then former values, newest first."""
    draft: bool = False
    """A draft of a new value exists."""
    detail: Detail | None = None
    """For a memory or entity."""
    uses: Sequence[tuple[MemoryUse, UseOutcome]] = ()


class MemoryScreen(ListScreen, pane=keys.MEMORY):
    """Facts on the left; on the right, the fact under the cursor and its provenance."""

    tab = "memory"
    KEEPS_PLACE = True
    FILTER_HINT = "words  -word  is:unused  is:retired  when:guard"
    FILTER_WORDS = FIELD_WORDS
    COLUMN_WORDS = "calls wasted, or saved   given: agents got it   help: it helped"

    def __init__(self, engine: Engine, project: str | None) -> None:
        self.facts = FactModel(engine.queue.rows)
        self.fact = CandidatePane(id="fact")
        self.why = TextPane(title=WHY, id="why")
        self.rows = FactList(self.facts, id="facts")
        super().__init__(
            engine, project, self.rows, [self.fact, self.why], title="Memory", model=self.facts
        )
        self.worth = Static(id="worth")
        self.shown: Shown | None = None
        self._filter = ""
        self._place = 0
        """Index of the selected source line of the fact."""

    def compose_above(self) -> Iterable[Widget]:
        return (self.worth,)

    # reading

    def reload(self) -> None:
        self.read_list()
        self.show_counts()

    def read_list(self, here: Collection[int] = ()) -> None:
        """Load the list; the cursor goes to the first of the ids `here`."""
        self.note_version()
        engine, project, text = self.engine, self.project, self._filter

        def work() -> Facts:
            query = QueueQuery(project, "active", f"{EVERY} {text}", costliest_first=True)
            retired = structs.replace(query, status="invalid")
            recall = engine.recall
            ids = engine.queue.ids(retired if RETIRED in text.split() else query)
            every = engine.queue.ids(structs.replace(query, filter=EVERY)) if text else ids
            uses, left_out = recall.uses(project), recall.left_out(project)
            pinned = engine.queue.ids(structs.replace(query, filter=f"{EVERY} when:pinned"))
            return Facts(
                engine.state.all(project), ids, every, uses, recall.lost(every), left_out,
                frozenset(pinned),
            )  # fmt: skip

        def then(found: Facts) -> None:
            self.facts.load(found, text)
            if (index := self.facts.index_of(here)) is not None:
                self.facts.cursor = index
            self._show_list()

        self.read(work, then, group="rows")

    def _show_list(self) -> None:
        empty = not self.facts.ids
        self.show_empty(empty=empty and not self._filter)
        self.list.empty = self._nothing_words() if empty else ()
        self.list.rows_changed()
        heads = self.rows.heads.rstrip() or "Memory"
        entitle(self.list, heads, f"/ {self._filter}" if self._filter else "")
        summary = f" {glyphs(self.app).dot} ".join(filter(None, self.facts.summary))
        self.worth.update(Content(summary))
        self.worth.display = bool(summary)
        self.show_footer()
        self.follow()

    def _nothing_words(self) -> tuple[str, ...]:
        if self._filter:
            return nothing_matches(self._filter)
        write, queue = shared.WRITE.key, shared.SHOW_QUEUE.key
        return (
            f"Memories you promote in the queue ({queue}) are listed here.",
            f"{write} writes one in your own words.",
        )

    @property
    def layer(self) -> str:
        """The kind of the current row: `state`, `entity` or `memory`; empty without one."""
        row = self.facts.current
        return str(row.kind) if row is not None else ""

    def follow(self) -> None:
        """Load the fact under the cursor with its provenance."""
        row = self.facts.current
        if row is None:
            self.shown = None
            self.fact.show_nothing("")
            self.why.show([], title=WHY)
        else:
            self.read(lambda: self._read_fact(row), self._got_fact, group="fact")

    def _read_fact(self, row: TrustedRow | QueueRow) -> Shown:
        engine = self.engine
        if isinstance(row, TrustedRow):
            project, name = row.state.project, row.state.key
            values = tuple(engine.state.get(project, name))
            steps = sources_first(engine.provenance.of_state(values[0])[1:])
            draft = draft_number(project, name) in engine.state_drafts.ids()
            return Shown(row.id, steps, values=values, draft=draft)
        detail = structs.replace(
            read_detail(engine, row.id), members=(), state=engine.sources.state(row.id)
        )
        steps = sources_first(engine.provenance.of(row.id)[1:])
        return Shown(row.id, steps, detail=detail, uses=engine.recall.outcomes(row.id))

    def _got_fact(self, shown: Shown) -> None:
        if shown.key != self.facts.current_id:
            return
        same = self.shown is not None and self.shown.key == shown.key
        if not same:
            self._place = 0
        self.shown = shown
        now, signs = self.engine.clock(), glyphs(self.app)
        if shown.detail is not None:
            self.fact.show_candidate(shown.detail, now=now, keep_scroll=same)
        else:
            self.fact.show(
                state_blocks(shown.values, signs, now=now),
                title=f"{shown.values[0].key}  trusted state{draft_word(signs, kept=shown.draft)}",
                keep_scroll=same,
            )
        self._draw_why()
        self.show_footer()

    # drawing

    def _draw_why(self) -> None:
        """Draw the uses and the provenance; the selected place has the bar and is visible."""
        shown = self.shown
        if shown is None:
            return
        signs = glyphs(self.app)
        steps, uses = shown.steps, outcome_blocks(shown.uses)
        places = places_of(steps)
        chosen = places[min(self._place, len(places) - 1)] if places else None
        title = USES if uses else WHY
        if len(places) > 1:
            title += f" {signs.rule} {self._place + 1} of {count(len(places), 'place')}"
        self.why.show(
            [*uses, *step_blocks(steps, signs, chosen, self.why.size.width)],
            title=title,
            hint=f"{keys.READ.key} opens it" if places else "",
            reveal=len(uses) + 2 * chosen if chosen is not None and self._place else None,
        )

    # why a key cannot run now

    def trusted(self) -> str | None:
        if self.layer == "state":
            edit, unset = keys.EDIT.key, keys.TAKE_OUT.key
            return f"You wrote this value: {edit} writes a new one, {unset} unsets it."
        return self.no_rows()

    def cannot_be_wrong(self) -> str | None:
        if self.facts.marks:
            return f"Memories are disputed one at a time: {shared.BACK.key} clears the marks."
        return self.trusted() or self.put_back_first()

    def put_back_first(self) -> str | None:
        row = self.facts.current
        if isinstance(row, QueueRow) and row.status == Status.INVALID:
            return f"Retired: {keys.TAKE_OUT.key} puts it back first."
        return self.no_rows()

    def not_a_memory(self) -> str | None:
        if self.layer == "state":
            return "Trusted state cannot become an entity."
        return "This is already an entity." if self.layer == "entity" else self.no_rows()

    async def _current(self) -> Shown:
        """The fact under the cursor; the panes may still show the previous one."""
        row, shown = self.facts.under_cursor, self.shown
        loaded = shown is not None and shown.key == row.id
        return shown if shown is not None and loaded else await to_thread(self._read_fact, row)

    # acts

    def written(self, done: Done) -> None:
        self.settle(done, done.ids)

    def settle(self, done: Done, here: Collection[int] = (), *, remark: str = "") -> None:
        """Reload the list after an act, and show how to undo it."""
        self.read_list(here)
        self.say_done(done, remark)

    def show_reversed(self, undone: Undone) -> None:
        """Go to the restored memory or value."""
        here = list(undone.ids)
        if not here:
            changes = self.engine.history.changes(undone.target, limit=MAX_CHANGES)
            here = [-each.row for each in changes if each.table == "state"]
        self.read_list(here)

    @unless(ListScreen.no_rows)
    async def action_take_out(self) -> None:
        """Retire the marked memories, or this one, put them back into the queue, or leave one out
        of packets; unset the key of trusted state.
        """
        row, engine = self.facts.current, self.engine
        if isinstance(row, TrustedRow) and not self.facts.marks:
            value = row.state
            self.settle(await self.write(lambda: engine.state.unset(value.project, value.key)))
        elif row is not None:
            numbers = self.facts.targets()

            async def then(option: Option) -> None:
                done = await self.write(lambda: take_out(engine, numbers, option.key))
                self.facts.marks.clear()
                self.settle(done, numbers if option.key in PACKETS else [])

            ways = await to_thread(ways_out, engine, numbers, glyphs(self.app))
            what = f"#{numbers[0]}" if len(numbers) == 1 else f"{len(numbers):,} memories"
            await self.choose(f"What to do with {what}", ways, then)

    @unless(not_a_memory)
    async def action_graduate(self) -> None:
        """Choose the entity type for the memory."""
        number = self.facts.under_cursor.id
        from reviewer.extraction.entities.entity import EntityType  # late: few need it

        options = [Option(type_, type_.replace("_", " ")) for type_ in EntityType]

        async def named(kind: str, name: str) -> None:
            done = await self.write(
                lambda: self.engine.entities.graduate(number, kind, name=name or None)
            )
            self.settle(done, remark=f", now in the queue ({shared.SHOW_QUEUE.key})")

        async def then(option: Option) -> None:
            await self.ask_text(
                f"Name of the {option.name}",
                partial(named, option.key),
                hint="a name",
                empty="No name: use the wording",
            )

        await self.choose(f"Graduate #{number}", options, then)

    @unless(trusted)
    async def action_forget(self) -> None:
        """Erase the memory or entity for good, after asking."""
        row = self.facts.current
        if not isinstance(row, QueueRow):
            return
        going = await to_thread(self.engine.forgetting.memories, [row.id])

        def erase() -> Done:
            act = self.engine.forgetting.erase(going)
            self.engine.forgetting.clean_up(going)
            return Done(act, going.title, ())

        async def then(option: Option) -> None:
            if option.key == "keep":
                return
            await self.write(erase)
            self.read_list()
            reach = "; ".join(self.engine.forgetting.out_of_reach(going))
            self.say(display_line(f"{going.title} for good. {reach}"))

        others = len(going.memories) - 1
        what = f"#{row.id}" + (f" and {others} merged into it or graduated" if others else "")
        options = [Option("keep", "Keep it"), Option("erase", f"Erase {what} for good")]
        await self.choose(f"Forget {what}: this cannot be undone", options, then)

    # writing

    async def action_state_new(self) -> None:
        """Type a key of trusted state, then its value."""
        project = self.one_project("value")

        async def then(key: str) -> None:
            await self._write_value(project, key)

        await self.ask_text("What the value is about", then, hint="its key, such as db_engine")

    @unless(put_back_first)
    async def action_state_edit(self) -> None:
        """Write a new value of this key; reword a memory or entity, or set when agents get it."""
        shown = await self._current()
        if shown.values:
            await self._write_value(shown.values[0].project, shown.values[0].key)
        elif shown.detail is not None:
            number, content = shown.key, shown.detail.view.content
            moments = shown.detail.moments or ()

            async def then(option: Option) -> None:
                if option.key == "words":
                    await self._reword(number, content)
                else:
                    await self._ask_moments(number, content, moments)

            options = [
                Option("words", "Wording", content[:200]),
                Option("when", "When agents get it", moment_words(moments, glyphs(self.app))),
            ]
            await self.choose(f"Edit #{number}", options, then)

    async def _ask_moments(self, number: int, content: str, present: Sequence[Moment]) -> None:
        """Set the moments at which agents get a memory; typing adds to the `present` ones."""
        # Late: it compiles failure patterns.
        from reviewer.recall.moments import (
            NEVER,
            MomentKind,
            commands_in,
            doubts,
            offers,
            read_moment,
        )

        roots = await to_thread(self.engine.recall.roots, number)

        def read(text: str) -> list[Moment]:
            return [read_moment(each, roots) for each in text.split(";") if each.strip()]

        def meant(clause: str) -> str:
            """A clause as it is, or the nearest moment."""
            return next((each.shown for each in offers(clause)), clause)

        def find(typed: str) -> Sequence[Option]:
            *before, last = map(str.strip, typed.rstrip("; ").split(";"))
            try:
                if read(typed):
                    return [option(typed.strip("; "))]
            except ReviewerError:
                alone = NEVER.values() if "only" in last.lower().split() else []
                near = [
                    each.shown
                    for each in offers(last)  # alone, a path would come with nothing
                    if not alone or each.kind is not MomentKind.PATH
                ] or [last]
                return [option("; ".join((*map(meant, before), each, *alone))) for each in near]
            default = Option("", "Default: from its wording and evidence")
            return [default, *(option(each.shown) for each in commands_in(content))]

        def option(text: str) -> Option:
            return Option(text, moment_words(read(text), glyphs(self.app)))

        async def then(option: Option) -> None:
            chosen = read(option.key)
            done = await self.write(lambda: self.engine.recall.set_moments(number, chosen))
            new = [each for each in chosen if each not in present]
            remark = "".join(f"; {doubt}" for doubt in doubts(new, roots))
            if any(each.kind in (MomentKind.GUARD, MomentKind.EDIT) for each in chosen):
                remark += await to_thread(_without_agents, self.engine)
            self.settle(done, [number], remark=remark)

        await self.choose(
            f"When agents get #{number}",
            find,
            then,
            text="".join(f"{each.shown}; " for each in present),
            hint="such as error nilerr; edit src/pay/; stop the first git push; no packet",
        )

    @unless(cannot_be_wrong)
    async def action_dispute(self) -> None:
        """Say what is wrong with a memory or entity, and put it back into the queue."""
        number = self.facts.under_cursor.id

        async def then(words: str) -> None:
            because = words or "no reason given"
            done = await self.write(lambda: self.engine.triage.dispute(number, because))
            self.read_list()
            back = f"#{number} is back in the queue ({shared.SHOW_QUEUE.key}), called wrong"
            self.say(f"{back}{to_undo(done.act)}")

        await self.ask_text(
            f"What is wrong with #{number}, which goes back to the queue",
            then,
            hint="the reason, or nothing",
            empty="Wrong, no reason given",
        )

    async def _write_value(self, project: str, key: str) -> None:
        """Edit a value, starting from the one it supersedes; note and evidence are kept."""
        state = self.engine.state
        held = next((each for each in await to_thread(state.all, project) if each.key == key), None)
        note, evidence = (held.note, held.evidence) if held else ("", "")

        async def save(text: str) -> tuple[Done, list[int]]:
            done = await self.write(
                lambda: state.set(project, key, text.strip(), note=note, evidence=evidence)
            )
            return done, [-(await to_thread(state.get, project, key))[0].id]

        await self.edit_text(
            TextEdit(
                key=draft_number(project, key),
                title=f"Value of {key}",
                original=held.value if held else "",
                drafts=self.engine.state_drafts,
                save=save,
                saved=lambda saved: self.settle(*saved),
                again=keys.EDIT if held else keys.NEW_VALUE,
                empty="A value cannot be empty.",
                remark=lambda text: (f"{len(text):,} characters", not text.strip()),
            )
        )

    async def _reword(self, number: int, content: str) -> None:
        seen = Seen(Status.ACTIVE, content)

        async def save(text: str) -> tuple[Done, str]:
            done = await self.write(
                lambda: self.engine.triage.edit(number, text, promote=False, seen=seen)
            )
            return done, await to_thread(lacking, self.engine, number, glyphs(self.app))

        await self.edit_text(
            TextEdit(
                key=number,
                title=f"Edit #{number}",
                original=content,
                drafts=self.engine.drafts,
                save=save,
                saved=lambda saved: self.settle(saved[0], [number], remark=saved[1]),
                again=keys.EDIT,
            )
        )

    def draft_changed(self, key: int) -> None:
        self.follow()

    # looking

    async def _selected_place(self) -> tuple[Shown, ProvenanceStep, int]:
        """The fact, the selected step and its index among the places. Raises SourceError without
        places.
        """
        shown = await self._current()
        places = places_of(shown.steps)
        if not places:
            raise SourceError("Written by hand: it has no source line.")
        place = min(self._place, len(places) - 1) if shown is self.shown else 0
        return shown, shown.steps[places[place]], place

    @unless(ListScreen.no_rows)
    async def action_memory_read(self) -> None:
        shown, step, place = await self._selected_place()
        number = shown.key if shown.detail is not None else None
        self.host.open_source(evidence_at(self.engine, number, place, step))

    @on(RowList.Opened)
    async def _double_clicked(self) -> None:
        await self.perform(keys.READ)

    @unless(ListScreen.no_rows)
    async def action_open_editor(self) -> None:
        _, step, _ = await self._selected_place()
        self.edit_file(os.path.expanduser(step.path or ""), step.line or 0)

    @unless(trusted)
    def action_memory_history(self) -> None:
        self.host.open_history(self.facts.under_cursor.id)

    @unless(ListScreen.no_rows)
    def action_copy(self) -> None:
        row = self.facts.under_cursor
        text = row.content if isinstance(row, QueueRow) else row.state.value
        self.copy_text(text, f"Copied {len(text):,} characters.")

    def action_next_place(self) -> None:
        self._step_place(1)

    def action_previous_place(self) -> None:
        self._step_place(-1)

    def _step_place(self, step: int) -> None:
        places = places_of(self.shown.steps) if self.shown else []
        if 0 <= self._place + step < len(places):
            self._place += step
            self._draw_why()
        else:
            self.say("No more places in this direction.")

    # the filter

    def _nothing_to_filter(self) -> str | None:
        nothing = self.has_class("-empty") and not self._filter
        return "Nothing to filter yet." if nothing else None

    @unless(_nothing_to_filter)
    async def action_filter(self) -> None:
        await super().action_filter()

    @property
    def filter_text(self) -> str:
        return self._filter

    def filter_problem(self, text: str) -> str:
        try:
            self.engine.queue.check(QueueQuery(self.project, filter=text))
        except FilterError as error:
            return str(error)
        return ""

    def run_filter(self, text: str, *, here: int | None) -> None:
        self._filter = text
        self.read_list(() if here is None else [here])


def _without_agents(engine: Engine) -> str:
    """The remark that a guard needs a connected agent, if there is none."""
    from reviewer.agents.connections import Connections  # late: only guards need it

    try:
        connected = Connections(engine.path.absolute()).all()
    except ReviewerError:  # the Agents screen says that the record is damaged
        return ""
    return "" if connected else f"; no agent is connected ({shared.SHOW_AGENTS.key})"
