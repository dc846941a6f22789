"""Expanding markers of the summary in sight, in place, and collapsing them again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviewer.compressing import Level, Nearer, nearer
from reviewer.tui.screens.compress_desk import Job
from reviewer.tui.widgets.compress_summary import Fold, Path, folds

if TYPE_CHECKING:
    from reviewer.errors import ReviewerError
    from reviewer.tui.screens.compress import CompressScreen


class Unfolding:
    """Which markers of a `CompressScreen` are open, and which one the keys are about."""

    def __init__(self, screen: CompressScreen) -> None:
        self._screen = screen
        self.opened: dict[Path, Nearer] = {}
        self.chosen: Path | None = None

    def forget(self) -> None:
        """Another summary: everything is closed."""
        self.opened.clear()
        self.chosen = None

    def folds(self) -> list[Fold]:
        """The markers in sight, in order."""
        model = self._screen.model
        found = model.shown(model.choice) if model.choice is not None else None
        return folds(found.compressed.expansion_markers, self.opened) if found is not None else []

    def step(self, step: int) -> None:
        """Go to the next marker, or the one before; beyond the ends it begins again."""
        found = self.folds()
        if not found:
            return
        paths = [fold.path for fold in found]
        if self.chosen in paths:
            at = (paths.index(self.chosen) + step) % len(paths)
        else:
            at = 0 if step > 0 else len(paths) - 1
        self.choose(found[at])

    def choose(self, fold: Fold) -> None:
        """The keys are about this marker."""
        self.chosen = fold.path
        self._screen.showing.draw()
        self._say(fold)

    def _say(self, fold: Fold) -> None:
        """The sentence that the document asks for, and what the key does."""
        if fold.path in self.opened:
            self._screen.say(f"Expanded: -{fold.marker.adds:,} tokens when enter collapses it.")
        else:
            self._screen.say(f"Expand for more detail: +{fold.marker.adds:,} tokens")

    def toggle(self, path: Path | None = None) -> None:
        """Expand the marker, or collapse it with all that is open within."""
        found = self.folds()
        wanted = path or self.chosen
        fold = next((each for each in found if each.path == wanted), found[0] if found else None)
        if fold is None:
            return
        self.chosen = fold.path
        if fold.path in self.opened:
            depth = len(fold.path)
            for each in [each for each in self.opened if each[:depth] == fold.path]:
                del self.opened[each]
            self._screen.showing.draw()
            self._screen.say(f"Expand for more detail: +{fold.marker.adds:,} tokens")
            return
        self._open(fold)

    def _open(self, fold: Fold) -> None:
        screen, model = self._screen, self._screen.model
        choice = model.choice
        found = model.shown(choice) if choice is not None else None
        if found is None:
            return
        compression = screen.engine.compression
        segment, anchors = found.segment, found.compressed.anchors
        level = Level(fold.marker.target + 1)

        def work() -> Nearer:
            return nearer(compression, segment, anchors, level)

        def take(text: Nearer) -> None:
            if screen.model.choice == choice:
                self.opened[fold.path] = text
                screen.showing.draw()
                self._say(fold)

        def failed(error: ReviewerError) -> None:
            screen.say(str(error), bad=True)

        screen.desk.first(Job(("expand", segment.id, fold.path), work, take, failed))
