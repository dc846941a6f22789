"""A summary by hand on the Compress screen: live checks, a draft, refused until it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from reviewer.compressing import BY_HAND, RATIOS, Choice, Plan, SegmentPreview, mended, one_segment
from reviewer.errors import ReviewerError
from reviewer.tui.compress_model import Key
from reviewer.tui.kit.text import figure
from reviewer.tui.screens.compress_desk import Job
from reviewer.tui.theme import glyphs
from reviewer.tui.widgets.compress_checks import check_blocks
from reviewer.tui.widgets.compress_edit import SummaryEditPane
from reviewer.tui.widgets.compress_row import level_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.widget import Widget

    from reviewer.tui.screens.compress import CompressScreen
    from reviewer.tui.screens.compress_showing import Checked


class CompressEditing:
    """Opens, checks, takes and leaves the editor of a `CompressScreen`.

    A draft is kept under the first commit of its segment, also while the summary is only chosen:
    it goes when it was applied.
    """

    def __init__(self, screen: CompressScreen) -> None:
        self._screen = screen
        self._engine = screen.engine
        self._pane: SummaryEditPane | None = None
        self._choice: Choice | None = None
        self._found: tuple[str, SegmentPreview] | None = None
        """The text that was checked last, and what came out."""

    async def begin(self) -> None:
        """Write the summary of the segment under the cursor, from its draft where there is one."""
        screen, model = self._screen, self._screen.model
        choice = model.choice
        found = model.shown(choice) if choice is not None else None
        if choice is None or found is None or not choice.sources:
            return
        draft = self._engine.summary_drafts.load(choice.sources[0])
        if self._pane is None:
            self._pane = SummaryEditPane(id="edit")
            await screen.query_one("#right").mount(self._pane)
        screen.looking.unzoom()
        screen.show_right("editing")
        self._choice, self._found = choice, None
        original = self._machine_text(choice, found)
        self._pane.about = f"{choice.segment} at {level_name(choice.level)}"
        given = draft if draft is not None else found.compressed.content
        self._pane.begin(choice.sources[0], original, given if given != original else None)
        self.check(given)
        if draft is not None:
            screen.say(f"The draft for {choice.segment} goes on where you left it.")
        else:
            screen.say(f"{choice.segment} by hand: ctrl+s takes it, escape keeps a draft.")

    def _machine_text(self, choice: Choice, found: SegmentPreview) -> str:
        """What the engine wrote at that level: what the difference is against."""
        model = self._screen.model
        plain = structs.replace(choice, content=None, engine="")
        engine = model.shown(plain)
        return (engine or found).compressed.content

    @property
    def lower_half(self) -> Widget | None:
        """The part below the editor."""
        return self._pane.checks if self._pane is not None else None

    # checks

    def _part(self, content: str) -> Plan | None:
        """The plan of this segment with a text by hand."""
        plan, choice = self._screen.model.plan, self._choice
        if plan is None or choice is None:
            return None
        by_hand = structs.replace(choice, content=content, engine=BY_HAND)
        return one_segment(structs.replace(plan, engine="offline"), by_hand)

    def check(self, content: str) -> None:
        """Check a text in the worker and show what came out."""
        self._weigh(content, lambda found: None)

    def _weigh(self, content: str, then: Callable[[SegmentPreview], None]) -> None:
        screen, plan = self._screen, self._part(content)
        if plan is None:
            return
        if self._found is not None and self._found[0] == content:
            then(self._found[1])
            return

        def work() -> tuple[SegmentPreview, Checked]:
            found = self._engine.compression.preview(plan).segments[0]
            return found, screen.showing.check(found)

        def take(found: tuple[SegmentPreview, Checked]) -> None:
            if screen.busy == "edit":
                self._found = content, found[0]
                self._show(*found)
                then(found[0])

        def failed(error: ReviewerError) -> None:
            screen.say(str(error), bad=True)

        screen.desk.first(Job(("hand", content), work, take, failed))

    def _show(self, found: SegmentPreview, checked: Checked) -> None:
        pane = self._pane
        if pane is None:
            return
        signs = glyphs(self._screen.app)
        blocks = check_blocks(found, RATIOS[found.level], checked.asked, checked.checks, signs)
        missing = bool(found.failures or found.compressed.anchors_missing)
        compressed, score = found.compressed, found.fidelity.overall_score
        remark = f"{compressed.token_count:,} tok {signs.dot} {compressed.compression_ratio:.1f}:1"
        pane.show_checks(blocks, f"{remark} {signs.dot} {figure(score)}", warn=missing)

    def append_missing(self, content: str) -> None:
        """Append what the text misses, in the words of the source; the editor can undo it."""

        def then(found: SegmentPreview) -> None:
            pane = self._pane
            text = mended(found, content)
            if pane is None or pane.content != content:
                return
            if text == content:
                self._screen.say("Nothing that can be appended is missing.")
                return
            pane.put(text)
            self._screen.say("Appended what was missing; ctrl+s takes it.")

        self._weigh(content, then)

    # taking and leaving

    def save(self, commit: int, content: str) -> None:
        """Take the text, unless a criterion fails: then the editor stays and says which."""
        self._engine.summary_drafts.save(commit, content)
        self._weigh(content, lambda found: self._judged(content, found))

    def _judged(self, content: str, found: SegmentPreview) -> None:
        screen, choice = self._screen, self._choice
        if choice is None or screen.busy != "edit":
            return
        if found.failures:
            missing = "; ".join(each.message for each in found.failures)
            screen.say(f"Summary missing: {missing}. ctrl+t appends it.", bad=True)
            return
        screen.model.write(choice.segment, content, found)
        screen.list.drafts = screen.list.drafts | {choice.sources[0]}
        screen.show_panes()
        anchors = len(found.compressed.anchors_missing)
        left = f", {anchors} anchors left out" if anchors else ""
        screen.say(f"{choice.segment} is by hand now{left}: A applies it.")
        checked = screen.showing.check(found)
        screen.showing.took(Key(choice.segment, found.level, "by hand"), found, checked)
        screen.list.refresh()
        screen.showing.settle()

    def left(self, commit: int, content: str, *, changed: bool) -> None:
        """Keep what was written as a draft.

        Raises StoreError when that is not possible; the editor stays open then.
        """
        screen, drafts, choice = self._screen, self._engine.summary_drafts, self._choice
        name = choice.segment if choice is not None else ""
        taken = choice is not None and choice.engine == BY_HAND
        if changed and not (taken and choice is not None and choice.content == content):
            drafts.save(commit, content)
            screen.show_panes()
            screen.list.drafts = screen.list.drafts | {commit}
            screen.say(f"The draft for {name} is kept: e goes on with it.")
        else:
            if not taken:
                drafts.discard(commit)
                screen.list.drafts = screen.list.drafts - {commit}
            screen.show_panes()
            screen.say(f"{name} is as it was.")
        screen.list.refresh()
        screen.showing.settle()

    def keep_now(self) -> None:
        """Keep what is being written, before the program ends."""
        pane = self._pane
        if pane is not None and self._screen.busy == "edit" and pane.changed:
            self._engine.summary_drafts.save(pane.memory, pane.content)
