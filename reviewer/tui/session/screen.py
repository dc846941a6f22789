"""One session, line by line, and memories worded from its lines."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on

from reviewer.engine import Engine
from reviewer.promotion.lists.source_view import CitedText
from reviewer.promotion.rows.wordings import LONGEST_WORDING
from reviewer.promotion.views import Done, EvidenceView
from reviewer.proposing.session_view import PERSON_SAID, read_view
from reviewer.proposing.values import LineRole, SessionView, ViewLine
from reviewer.proposing.view_pieces import view_text
from reviewer.sources.events import Speaker
from reviewer.text.display import display_line
from reviewer.tui.kit import keys as shared
from reviewer.tui.kit.actor import unless
from reviewer.tui.kit.line import Part, entitle
from reviewer.tui.kit.list_screen import ListScreen, nothing_matches
from reviewer.tui.kit.row_list import RowList, StoredList
from reviewer.tui.kit.text import MARGIN, Run, TextBlock, TextSpan, count, short_ids, tail
from reviewer.tui.kit.text_edit import TextEdit, draft_number
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.session import keys
from reviewer.tui.session.model import SessionModel, SessionRow
from reviewer.tui.theme import Glyphs, RowStyles, glyphs

if TYPE_CHECKING:
    from reviewer.compression.values import SegmentTurn

NARROW = 44
"""Narrower rows leave the line's number out."""
WIDE = 80
"""Narrower screens name the file without its folder."""
AROUND = 2
"""Lines before and after the current one that are shown dimmed beside it."""


class SessionScreen(ListScreen, pane=keys.SESSION):
    """The lines of a session on the left, the one under the cursor in full on the right."""

    tab = "queue"
    FILTER_HINT: ClassVar[str] = "words  -word  is:user  is:error  is:refused  is:place"

    model: SessionModel

    def __init__(self, engine: Engine, project: str, evidence: EvidenceView) -> None:
        self.path = Path(os.path.abspath(Path(evidence.record.path).expanduser()))
        self._project, self._session = project, evidence.record.session
        self._memory = evidence.memory_id
        self.rows = LineList(SessionModel(), id="lines")
        self.rows.empty = ("Reading the session ...",)
        self.line_pane = TextPane(title="Line", id="line")
        super().__init__(
            engine, project, self.rows, [self.line_pane], title="Session", model=self.rows.model
        )
        self._opened_at: EvidenceView | None = evidence
        self._view: SessionView | None = None

    def reload(self) -> None:
        """Read the file again; the cursor stays on its line."""
        path, sources = self.path, self.engine.sources
        read = None if self._opened_at is not None else self._view
        self.header.project = display_line(self._project)
        self.read(
            lambda: (read or read_view(path), sources.cited(str(path))),
            lambda found: self._show(*found),
            group="rows",
            failed=self._failed,
        )
        self.show_counts()

    def _failed(self, sentence: str) -> None:
        self.rows.empty = ("The session cannot be shown.",)
        self.rows.rows_changed()
        self.say_trouble(sentence)

    def _show(self, view: SessionView, cited: list[CitedText]) -> None:
        model, evidence = self.model, self._opened_at
        self._view, self._opened_at = view, None
        # Of several quotes of a line, the one that was opened comes first.
        model.load(view, sorted(cited, key=lambda each: each.memory != self._memory))
        self.rows.empty = ("There is nothing to show in this file.",)
        if evidence is not None:
            model.show("", model.row_at(evidence.line, evidence.quote))
        self._lines_changed()
        if evidence is not None:
            self.rows.to_middle()

    def _lines_changed(self) -> None:
        signs = glyphs(self.app)
        whole = str(self.path) if self.size.width >= WIDE else self.path.name
        name = tail(short_ids(whole, signs.ellipsis), 40, signs.ellipsis)
        entitle(self.rows, name)
        self.rows.rows_changed()
        self.show_footer()
        self.follow()

    def action_refresh(self) -> None:
        self._view = None
        super().action_refresh()

    def follow(self) -> None:
        if self.editing is not None:
            return  # the proof of the memory that is being worded is shown
        row = self.model.current
        if row is None:
            self.line_pane.show([TextBlock("No line matches.", "dim", first=MARGIN)], title="Line")
            return
        signs = glyphs(self.app)
        title = f"line {row.number:,} {signs.dot} {row.label}"
        at = row.id - 1
        before = self.model.all[max(at - AROUND, 0) : at]
        after = self.model.all[at + 1 : at + 1 + AROUND]
        self.line_pane.show(
            line_blocks(row, before, after, signs, self._memory),
            title=title,
            reveal=len(before),
        )

    # the filter

    @property
    def filter_text(self) -> str:
        return self.model.filter

    def run_filter(self, text: str, *, here: int | None) -> None:
        self.model.show(text, here if here is not None else self.model.current_id)
        self.rows.empty = nothing_matches(text)
        self._lines_changed()

    # looking

    @unless(ListScreen.no_rows)
    def action_next_place(self) -> None:
        self._go_to_place(1)

    @unless(ListScreen.no_rows)
    def action_previous_place(self) -> None:
        self._go_to_place(-1)

    def _go_to_place(self, step: int) -> None:
        at = self.model.next_place(step)
        if at is None:
            where = "below" if step > 0 else "above"
            self.say(f"There is no other place {where}.", passing=True)
        else:
            self.rows.move_to(at)

    @on(RowList.Opened)
    @unless(ListScreen.no_rows)
    def action_read_line(self) -> None:
        self.read_pane(self.line_pane)

    @unless(ListScreen.no_rows)
    def action_open_source(self) -> None:
        self.host.open_line(str(self.path), self.model.under_cursor.number - 1)

    @unless(ListScreen.no_rows)
    def action_open_editor(self) -> None:
        self.edit_file(str(self.path), self.model.under_cursor.number - 1)

    @unless(ListScreen.no_rows)
    def action_copy(self) -> None:
        """Copy the marked lines, or the one under the cursor."""
        lines = self.model.chosen()
        text = view_text(lines) if len(lines) > 1 else lines[0].text
        self.copy_text(text, f"Copied {count(len(lines), 'line')} ({len(text):,} characters).")

    def action_hand_over(self) -> None:
        from reviewer.compression.file_turns import FileTurns

        path, session = self.path, self._session

        def read() -> tuple[str, tuple[SegmentTurn, ...]]:
            turns = FileTurns(path, session)
            return turns.name, tuple(turns)

        self.host.open_handover(read)

    # wording a memory

    @unless(ListScreen.no_rows)
    async def action_word_memory(self) -> None:
        """Word a memory with the marked lines, or this one, as its evidence, starting from the
        words of a person or an agent.
        """
        lines = self.model.chosen()
        quoted = "\n\n".join(words_of(line) for line in lines if is_said(line))
        start = quoted if len(quoted) <= LONGEST_WORDING else ""
        self.cursor_rest.stop()
        self._show_proof()
        self.say(
            f"Word it as a memory: {shared.SAVE_EDIT.key} promotes it, "
            f"{shared.LEAVE_EDIT.key} keeps a draft."
        )
        await self.edit_text(
            TextEdit(
                key=draft_number(str(self.path), ",".join(str(line.line) for line in lines)),
                title=f"New memory from {count(len(lines), 'line')}",
                original=start,
                drafts=self.engine.session_drafts,
                save=lambda text: self._save(lines, text),
                saved=self._saved,
                again=keys.WORD,
                verb="promote",
                beside=(self.line_pane,),
            )
        )

    def _show_proof(self) -> None:
        """Show the lines that the new memory will cite, in full."""
        rows = [self.model.all[number - 1] for number in sorted(self.model.targets())]
        blocks = [
            block
            for row in rows
            for block in (*line_blocks(row, (), (), glyphs(self.app)), TextBlock(""))
        ]
        self.line_pane.show(blocks, title=f"Its proof: {count(len(rows), 'line')}")

    def draft_changed(self, key: int) -> None:
        """The editor was left: show the line under the cursor again."""
        self.follow()

    async def _save(self, lines: Sequence[ViewLine], text: str) -> Done:
        numbers = sorted({line.line for line in lines})
        view, project = self._view, self._project
        return await self.write(
            lambda: self.engine.proposals.word(
                project,
                self.path,
                numbers,
                text,
                promote=True,
                view=view,
            )
        )

    def _saved(self, done: Done) -> None:
        self.model.marks.clear()
        self.note_version()
        self.reload()
        self.say_done(done)


def is_said(line: ViewLine) -> bool:
    """Whether a person or an agent said a line."""
    return line.speaker is not Speaker.HARNESS and line.role is not LineRole.TOOL


def words_of(line: ViewLine) -> str:
    """A line, or only the person's words about a refused call."""
    if line.role is not LineRole.REJECTED:
        return line.text
    return line.text.rpartition(PERSON_SAID)[2]


LABELS = {
    LineRole.USER: "you",
    LineRole.ASSISTANT: "agent",
    LineRole.TOOL: "tool",
    LineRole.ERROR: "error",
    LineRole.REJECTED: "refused",
    LineRole.SUMMARY: "summary",
    LineRole.EVENT: "event",
}
LABEL_CELLS = 8


class LineList(StoredList[SessionModel, SessionRow]):
    @property
    def place(self) -> str:
        """The position of the cursor, and which of the places to look it is at."""
        places, here = self.model.places, self.model.current_id
        at = f"place {places.index(here) + 1:,} of {len(places):,}" if here in places else ""
        return f"row {super().place}, {at or count(len(places), 'place')}"

    def parts_of(
        self, row: SessionRow, at: int, width: int, style: RowStyles, sign: Glyphs
    ) -> list[Part]:
        """One row: mark, citation, number, who, and the text on one line."""
        text, _, dim, accent, warm = style
        line, marked = row.line, self.model.is_marked(at)
        mark: Part = (sign.mark, warm) if marked else (" ", dim)
        citation: Part = (f"{sign.important} ", accent) if row.cited else ("  ", dim)
        who = "sub" if line.speaker is Speaker.SUBAGENT else LABELS[line.role]
        if line.role is LineRole.USER and line.speaker is Speaker.AGENT:
            who = "agent"
        if row.is_note:
            who = row.label
        warns = line.role in (LineRole.ERROR, LineRole.REJECTED)
        said = line.role in (LineRole.USER, LineRole.ASSISTANT, LineRole.SUMMARY)
        number = f"{row.number:>6} " if width >= NARROW else ""
        words = warm if marked or warns else text if said else dim
        person = line.role is LineRole.USER and line.speaker is Speaker.PERSON
        return [
            mark,
            citation,
            (number, dim),
            (who.ljust(LABEL_CELLS), warm if warns else accent if person else dim),
            (display_line(line.text[: width * 2]), words),
        ]


def line_blocks(
    row: SessionRow,
    before: Sequence[SessionRow],
    after: Sequence[SessionRow],
    signs: Glyphs,
    memory: int | None = None,
) -> list[TextBlock]:
    """The line in full, between its neighbours; the text that `memory` cites is marked, or else all
    cited texts.
    """
    text = row.line.text
    bar = Run(f"{signs.bar} ", "accent")
    blocks = [_dimmed(each) for each in before]
    blocks.append(
        TextBlock(text, "text", _spans(row, memory), first=(bar,), rest=(bar,), limit=64_000)
    )
    if row.line.left_out:
        left_out = (
            f"{count(row.line.left_out, 'character')} left out: "
            f"{shared.OPEN_SOURCE.key} opens the source"
        )
        blocks.append(TextBlock(left_out, "faint", first=(Run("  "),)))
    for each in row.cited:
        cited = f"{signs.important} #{each.memory} comes from here"
        if all(block.text != cited for block in blocks):
            blocks.append(TextBlock(cited, "accent", first=(Run("  "),), wrap=False))
        if each.text not in text:
            blocks.append(
                TextBlock(each.text, "text", first=(Run("    "),), rest=(Run("    "),), most=8)
            )
    return [*blocks, *(_dimmed(each) for each in after)]


def _dimmed(row: SessionRow) -> TextBlock:
    return TextBlock(row.line.text, "dim", first=(Run("  "),), most=3, limit=600)


def _spans(row: SessionRow, memory: int | None) -> tuple[TextSpan, ...]:
    """The spans of the cited texts in the line, overlapping ones merged."""
    spans: list[TextSpan] = []
    for each in [each for each in row.cited if each.memory == memory] or row.cited:
        at = row.line.text.find(each.text) if each.text else -1
        if at >= 0 and not any(
            at < span.end and span.start < at + len(each.text) for span in spans
        ):
            spans.append(TextSpan(at, at + len(each.text)))
    return tuple(sorted(spans, key=lambda span: span.start))
