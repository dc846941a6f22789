"""The difference that an export would make, shown before anything is written."""

from __future__ import annotations

from asyncio import to_thread
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from reviewer.engine import Engine
from reviewer.text.display import display_line
from reviewer.tui.export import keys
from reviewer.tui.kit import keys as shared
from reviewer.tui.kit.actor import runs
from reviewer.tui.kit.edit_pane import Field
from reviewer.tui.kit.screen import TextScreen
from reviewer.tui.kit.text import Block, Run, count, diff_blocks, tail
from reviewer.tui.kit.text_pane import TextPane
from reviewer.tui.theme import glyphs

if TYPE_CHECKING:
    from reviewer.promotion.export.plans import PlannedFile

_READING = "The difference is still being computed: try again."


class PlaceField(Field, inherit_bindings=False):
    """Where to write. Enter takes it, escape keeps the old one."""

    DEFAULT_CSS = "PlaceField { display: none; margin: 0 1; } PlaceField.-open { display: block; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        *Field.BINDINGS,
        Binding("escape", "leave_place", "leave", show=False),
    ]

    def action_leave_place(self) -> None:
        """Back to the difference."""
        self.remove_class("-open")
        self.screen.query_one("#difference").focus()


class Difference(TextPane, inherit_bindings=False, pane=shared.NO_KEYS):
    """The difference; the screen handles the keys."""

    BINDINGS: ClassVar[list[BindingType]] = []


class ExportScreen(TextScreen, pane=keys.EXPORT):
    """Plans the export when it opens and for every new place; writes the plan on the screen."""

    AUTO_FOCUS = "#difference"

    def __init__(self, engine: Engine, project: str | None, form: str, place: Path) -> None:
        """`form` is `markdown`, `ndjson`, `folder`, or the name of a file with a marked block."""
        super().__init__(engine, project)
        self._form = form
        self._place = place
        self._plans: list[PlannedFile] | None = None
        self._why_not = _READING
        """Why the plan cannot be written now; empty if it can."""

    def compose(self) -> ComposeResult:
        yield Difference(id="difference")
        yield PlaceField(id="place")
        yield self.status
        yield self.footer

    def on_mount(self) -> None:
        self.show_footer()
        self._read_plans()

    def _read_plans(self, trouble: str = "") -> None:
        """Plan again; `trouble`, the reason why the last plan was not written, stays visible."""
        self._plans, self._why_not = None, _READING
        exports, project, form, place = self.engine.exports, self.project, self._form, self._place

        def work() -> tuple[list[PlannedFile], list[list[str]]]:
            if form == "folder":
                plans = list(exports.plan_folder(project, place))
            elif form in ("markdown", "ndjson"):
                text = getattr(exports, form)(project)
                plans = [exports.plan_file(text, place)]
            else:
                plans = [exports.plan_into(project, place)]
            return plans, [exports.diff(plan) for plan in plans]

        def show_plans(found: tuple[list[PlannedFile], list[list[str]]]) -> None:
            self._planned(*found)
            if trouble:
                self.say_trouble(trouble)

        self.read(work, show_plans, group="plan", failed=self._refused)

    def _refused(self, sentence: str) -> None:
        self._why_not = sentence
        self.say_trouble(sentence)
        self._draw([Block(sentence, "warm", first=(Run(" "),))])

    def _planned(self, plans: list[PlannedFile], diffs: list[list[str]]) -> None:
        self._plans = plans
        problems = [plan.problem for plan in plans if plan.problem]
        changed = [plan for plan in plans if plan.changed]
        if problems:
            self._refused(problems[0])
            return
        lines = [line for diff in diffs for line in diff]
        if not changed:
            self._why_not = "The export is already up to date."
            self._draw([Block(self._why_not, "dim", first=(Run(" "),))])
            self.say(self._why_not)
            return
        self._why_not = ""
        self._draw(diff_blocks(lines))
        what = count(len(changed), "file")
        self.say(
            f"{keys.WRITE.key} writes {what}, each after a backup; "
            f"{keys.LEAVE_EXPORT.key} leaves, nothing is written."
        )

    def _draw(self, blocks: list[Block]) -> None:
        pane = self.text
        room = max(pane.size.width - 40, 16)
        place = tail(str(self._place), room, glyphs(self.app).ellipsis)
        pane.show(
            blocks,
            title=f"Export to {place}",
            hints=(
                f"{keys.WRITE.key} writes, {keys.OTHER_PLACE.key} another place",
                keys.WRITE.key,
            ),
        )

    # keys

    def _nothing_to_write(self) -> str | None:
        return self._why_not or None

    @runs(keys.WRITE, unless=_nothing_to_write)
    async def write_files(self) -> None:
        """Write the plans on the screen. A file that changed meanwhile is left alone, and named."""
        plans, self._why_not = self._plans or [], _READING
        try:
            backups = await to_thread(self.engine.exports.write, plans)
        except BaseException as problem:
            self._read_plans(str(problem))
            raise
        written = [str(plan.path) for plan in plans if plan.changed]
        where = written[0] if len(written) == 1 else f"{len(written)} files"
        kept = f"; the backup is {backups[0]}" if len(backups) == 1 else ""
        if len(backups) > 1:
            kept = f"; {len(backups)} backups are in {backups[0].parent}"
        self.dismiss()
        self.say(f"Wrote {display_line(where)}{display_line(kept)}")

    @runs(keys.OTHER_PLACE)
    def other_place(self) -> None:
        """Name another file or folder."""
        field = self.query_one(PlaceField)
        field.add_class("-open")
        field.fill(str(self._place))
        field.focus(scroll_visible=False)
        self.say(
            f"{shared.CHOOSE.key} accepts the place and shows the difference "
            f"there, {shared.LEAVE_CHOICE.key} keeps the old one."
        )

    @on(Field.Entered)
    def _place_named(self, event: Field.Entered) -> None:
        event.stop()
        field = self.query_one(PlaceField)
        field.action_leave_place()
        if field.value:
            self._place = Path(field.value).expanduser()
            self._read_plans()

    @runs(keys.LEAVE_EXPORT)
    def leave_export(self) -> None:
        self.dismiss()
