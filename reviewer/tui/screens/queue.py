"""Moved to `reviewer.tui.queue.screen`; kept for the screens that take their sizes from here."""

from reviewer.tui.kit.screen import COLUMNS as COLUMNS
from reviewer.tui.kit.screen import ROWS as ROWS
