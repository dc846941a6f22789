"""Keys of the Compress screen."""

from __future__ import annotations

from reviewer.tui.action import Action

TABLE: tuple[Action, ...] = ()
