"""The app's interface for screens and panes, so that none of them imports it."""

from __future__ import annotations

from asyncio import Future
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from textual.dom import DOMNode
    from textual.screen import Screen

    from reviewer.compression.values import SegmentTurn
    from reviewer.engine import Engine
    from reviewer.promotion.views import EvidenceView
    from reviewer.tui.kit.action import Action
    from reviewer.tui.kit.running import RunningAct
    from reviewer.tui.pipelines.run import BackgroundRun
    from reviewer.tui.theme import Glyphs

Value = TypeVar("Value")


class Host(Protocol):
    """The app as its screens see it; members are documented in `ReviewerApp`."""

    engine: Engine
    project: str | None
    is_demo: bool
    glyphs: Glyphs
    running: RunningAct | None
    background_act: Future[None] | None
    background_run: BackgroundRun | None

    @property
    def shown(self) -> Screen[Any] | None: ...
    def refuses_to_write(self) -> str | None: ...
    def stop_running(self) -> bool: ...
    async def accompany(
        self, node: DOMNode, act: RunningAct, work: Callable[[], Value]
    ) -> Value: ...
    def open_start(self) -> None: ...
    def begin_queue(self, words: str, *, read: bool) -> None: ...
    def change_project(self, project: str | None) -> None: ...
    def open_source(self, evidence: EvidenceView) -> None: ...
    def open_session(self, evidence: EvidenceView, project: str = "") -> None: ...
    def open_handover(self, read: Callable[[], tuple[str, Sequence[SegmentTurn]]]) -> None: ...
    def open_history(self, memory: int) -> None: ...
    def open_line(self, path: str, line: int) -> None: ...
    async def show_menu(self, actions: Sequence[Action]) -> None: ...
    def action_how_to_quit(self) -> None: ...
    async def action_quit(self) -> None: ...
