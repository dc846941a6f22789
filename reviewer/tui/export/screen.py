"""The difference that an export would make, shown before anything is written."""

from __future__ import annotations

from asyncio import to_thread
from pathlib import Path
from typing import TYPE_CHECKING

from reviewer.engine import Engine
from reviewer.text.display import display_line
from reviewer.tui.export import keys
from reviewer.tui.kit import keys as shared
from reviewer.tui.kit.actor import unless
from reviewer.tui.kit.screen import TextScreen
from reviewer.tui.kit.text import Run, TextBlock, count, diff_blocks, tail
from reviewer.tui.theme import glyphs

if TYPE_CHECKING:
    from reviewer.promotion.export.plans import PlannedFile

_READING = "The difference is still being computed: try again."


class ExportScreen(TextScreen, pane=keys.EXPORT):
    """Plans the export when it opens and for every new place; writes the plan on the screen."""

    def __init__(self, engine: Engine, project: str | None, form: str, place: Path) -> None:
        """`form` is `markdown`, `ndjson`, `folder`, or the name of a file with a marked block."""
        super().__init__(engine, project)
        self._form = form
        self._place = place
        self._plans: list[PlannedFile] | None = None
        self._why_not = _READING
        """Why the plan cannot be written now; empty if it can."""

    def on_mount(self) -> None:
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
        self._draw([TextBlock(sentence, "warm", first=(Run(" "),))])

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
            self._draw([TextBlock(self._why_not, "dim", first=(Run(" "),))])
            self.say(self._why_not)
            return
        self._why_not = ""
        self._draw(diff_blocks(lines))
        what = count(len(changed), "file")
        self.say(
            f"{keys.WRITE.key} writes {what}, each after a backup; "
            f"{shared.CLOSE.key} leaves, nothing is written."
        )

    def _draw(self, blocks: list[TextBlock]) -> None:
        pane = self.text
        room = max(pane.size.width - 40, 16)
        place = tail(str(self._place), room, glyphs(self.app).ellipsis)
        pane.show(
            blocks,
            title=f"Export to {place}",
        )

    # keys

    def _nothing_to_write(self) -> str | None:
        return self._why_not or None

    @unless(_nothing_to_write)
    async def action_write_export(self) -> None:
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

    async def action_export_place(self) -> None:
        """Name another file or folder."""

        async def then(text: str) -> None:
            self._place = Path(text).expanduser()
            self._read_plans()

        hint = "a file or folder; the difference there is shown first"
        await self.ask_text("Export to", then, text=str(self._place), hint=hint)
