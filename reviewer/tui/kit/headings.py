"""A pane of text whose headings are jump marks."""

from __future__ import annotations

from collections.abc import Collection

from reviewer.tui.kit.text_pane import TextPane


class HeadingPane(TextPane):
    """Blocks of text in which some lines are headings."""

    headings: Collection[str] = ()
    """The lines that are headings, as they are written."""

    def __init__(self, *, title: str = "", id: str | None = None) -> None:  # noqa: A002
        super().__init__(title=title, id=id)
        self._heading = -1
        """The row of the heading that was gone to last; -1 for none."""

    def _heading_rows(self) -> list[int]:
        return [at for at, line in enumerate(self._lines) if line.text.strip() in self.headings]

    @property
    def has_headings(self) -> bool:
        return bool(self._heading_rows())

    def forget_heading(self) -> None:
        """Step from the first row in sight the next time, not from the last heading."""
        self._heading = -1

    def step_heading(self, step: int) -> str:
        """Scroll to the next heading in a direction, and return it; empty without one.

        Headings at the end of the text are reached although they cannot be scrolled to the top.
        """
        rows, top = self._heading_rows(), self.scroll_offset.y
        in_sight = self._heading in rows and top <= self._heading < top + max(self.room, 1)
        now = self._heading if in_sight else top - (step > 0)
        beyond = [at for at in rows if (at > now if step > 0 else at < now)]
        if not beyond:
            return ""
        self._heading = beyond[0] if step > 0 else beyond[-1]
        self.scroll_to(y=self._heading, animate=False)
        return self._lines[self._heading].text.strip()

    @property
    def section(self) -> str:
        """The heading of the first row in sight; empty above all headings."""
        above = [at for at in self._heading_rows() if at <= self.scroll_offset.y]
        return self._lines[above[-1]].text.strip() if above else ""

    def go_to_section(self, heading: str) -> None:
        """Scroll to a heading, or to the beginning where there is none of that name."""
        rows = [at for at in self._heading_rows() if self._lines[at].text.strip() == heading]
        self._place(rows[0] if rows else 0)
        self.refresh()
